//! Kernel arguments, for each boot loader: what is written, what is tried once before, and why it did not work.
//!
//! Everything here turns texts into texts. Who writes files and runs programs is `linerate-apply`.

pub mod bls;
mod diagnose;
pub mod grub;
mod permanent;
pub mod words;

pub use diagnose::diagnose;
pub(crate) use diagnose::taken_and_ignored;
pub use permanent::{KernelArgs, Written, permanent};
pub(crate) use permanent::{kernel_install, of_another};

/// Name of the menu entry that is started once.
pub const TRIAL_ID: &str = "linerate-trial";
/// What the trial gets besides: a panic reboots after this many seconds, and the next start takes the usual entry.
pub const PANIC: &str = "panic=30";

/// Why there is no entry to try, or a word is not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BootError {
    /// A word that may mean more than itself.
    #[error(
        "the kernel argument \"{0}\" holds characters that are not written into boot configuration: set it by hand"
    )]
    Word(String),
    /// The usual entry was not found.
    #[error("the entry that starts by default was not found in {file}: {why}")]
    NoDefault {
        /// Where.
        file: &'static str,
        /// Why not.
        why: String,
    },
    /// The entry is of a kind that is not understood.
    #[error("the default entry cannot be tried with other arguments: {0}")]
    Entry(String),
    /// The boot loader could start it, but not only once.
    #[error("the boot loader cannot start an entry once here: {0}")]
    NotOnce(String),
    /// Whether it starts an entry only once was not seen.
    #[error("the source does not show whether GRUB can write that the trial was started (/boot/grub2/grub.cfg)")]
    OnceUnseen,
}

/// Checks all words.
fn check_all(add: &[String], remove: &[String]) -> Result<(), BootError> {
    add.iter().chain(remove).try_for_each(|w| words::check(w))
}
