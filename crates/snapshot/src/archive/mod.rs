//! Snapshots on disk: `tar.zst` written so that any tool opens it; archives of many makers read, all of them untrusted.

mod again;
mod assemble;
mod beside;
mod dir;
mod error;
pub(crate) mod nested;
mod own;
mod pack;
mod packed_text;
mod part;
mod prefix;
mod read;
mod stream;
mod tar;
mod ttar;
mod unpack;
mod write;

pub(crate) use beside::of_node;
pub(crate) use dir::unpacked;
pub use error::OpenError;
use linerate_formats::bounds;
pub use nested::{Each, dated, is_archive_name, node_name};
pub(crate) use packed_text::{PackedText, packed_text};
pub(crate) use part::directory as part_of_tree;
pub use read::Reader;
pub(crate) use unpack::{Unpacked, is_archive_head};

/// Whether a file that begins so is an archive, or packed, and not a plain text.
pub(crate) fn is_archive(head: &[u8]) -> bool {
    stream::Packing::of(head) != stream::Packing::Plain || is_archive_head(head)
}

/// The manifest's path: the first entry of an archive.
pub(crate) const MANIFEST: &str = "linerate/manifest.json";

/// What an archive may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes that pass through the decompressor.
    pub unpacked: u64,
    /// Bytes kept.
    pub kept: usize,
    /// One file.
    pub file: usize,
    /// Entries, kept or not.
    pub entries: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { unpacked: bounds::ARCHIVE, kept: bounds::KEPT, file: bounds::FILE, entries: bounds::ENTRIES }
    }
}

#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
