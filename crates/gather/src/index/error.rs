//! What can be wrong with an index.

use std::path::PathBuf;

/// Why an index could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The file system refused.
    #[error("cannot {doing} {}: {source}", .path.display())]
    Io {
        /// What was being done: `read`, `write`, `lock`.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is none.
    #[error("{} has no index; `linerate fleet index {}` makes one from its snapshots", .dir.display(), .dir.display())]
    None {
        /// The directory.
        dir: PathBuf,
    },
    /// A Parquet file that linerate did not write, or none at all.
    #[error("{} is not an index of linerate: {why}; `linerate fleet index --rebuild` makes it again from the snapshots", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is.
        why: String,
    },
    /// Of another version of the format.
    #[error("{} is of format {found}, this linerate reads format {}; `linerate fleet index --rebuild` makes it again from the snapshots", .path.display(), super::FORMAT)]
    Format {
        /// The file.
        path: PathBuf,
        /// Its version, as it says.
        found: String,
    },
    /// It contradicts itself, or ends early.
    #[error("{} is damaged: {why}; `linerate fleet index --rebuild` makes it again from the snapshots", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        why: String,
    },
    /// It would cost too much.
    #[error("{} is too large: {why}", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Which limit.
        why: String,
    },
    /// A list of nodes beside the snapshots could not be read.
    #[error(transparent)]
    List(#[from] crate::lists::ListError),
    /// The Parquet library could not write.
    #[error("cannot write {}: {why}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}
