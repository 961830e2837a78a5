//! Why a word on the command line is no value of its option. clap shows the sentence, with the option and the word.

use linerate_topology::{NotAVersion, Version};

/// What is wrong, and what to write.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotAValue {
    /// `--max-input`.
    #[error("`{0}` is not a size: write 500M, 20G or a number of bytes")]
    Size(String),
    /// `--host-of`.
    #[error("`{0}` is not FILE=NAME: write, for example, lspci2.txt=gpu002")]
    HostOf(String),
    /// `--columns`.
    #[error("two columns, with a comma between: passthrough,disabled")]
    Columns,
    /// A share.
    #[error("a share above 0 and below 100 %, such as 2% or 0.02")]
    Share,
    /// A duration.
    #[error("a time such as 90s, 10m, 2h or 7d")]
    Time,
    /// A moment.
    #[error("a moment such as 2026-11-01, 2026-11-01T12:30:00Z (UTC), or seconds since 1970")]
    Moment,
    /// A number of bytes.
    #[error("bytes such as 8388608, 8M or 8MiB (powers of 1024), 8MB (10^6)")]
    Bytes,
    /// No release's form.
    #[error(transparent)]
    Version(#[from] NotAVersion),
    /// A release that there never was.
    #[error(transparent)]
    NotReleased(#[from] linerate_env::NotReleased),
    /// A release whose topology is not rebuilt.
    #[error("linerate does not model the topology of NCCL {asked}: the oldest release that it models is {oldest}")]
    NotRebuilt { asked: Version, oldest: Version },
}
