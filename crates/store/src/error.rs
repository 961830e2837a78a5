//! What can go wrong with the history, and what to do then.

use linerate_bench::RunId;
use rusqlite::ErrorCode;
use std::path::{Path, PathBuf};

/// Why the history did not do what was asked. Nothing that was stored before is lost by any of these: a write is a transaction, and a
/// file that is not understood is left as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no such file.
    #[error("{}: there is no history here yet; store a run first, or give another file with LINERATE_STORE", path.display())]
    Missing {
        /// Where.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("{}: this is not a history of linerate ({what}); it was not touched. Give another file with LINERATE_STORE, or move this one away", path.display())]
    Foreign {
        /// Where.
        path: PathBuf,
        /// What it is, as far as is known.
        what: String,
    },
    /// A newer program wrote it.
    #[error("{}: written by a newer linerate (format {found}, this one knows up to {known}); it was not touched. Update linerate", path.display())]
    Newer {
        /// Where.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest that this program knows.
        known: i64,
    },
    /// An older program wrote it, and it was opened for reading only.
    #[error("{}: written by an older linerate (format {found}, this one needs {known}); open it once for writing to bring it up to date", path.display())]
    Older {
        /// Where.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The format that is needed.
        known: i64,
    },
    /// Its content is damaged.
    #[error("{}: the history is damaged: {what}. Nothing was overwritten. Copy it away, then save what is readable: sqlite3 {} .recover | sqlite3 saved.db", path.display(), path.display())]
    Damaged {
        /// Where.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// Other programs hold it for too long.
    #[error("{}: another program has been writing for longer than {waited_s} s; nothing was changed. Try again, or see who holds it: fuser {}", path.display(), path.display())]
    Locked {
        /// Where.
        path: PathBuf,
        /// How long was waited, in seconds.
        waited_s: u64,
    },
    /// No space.
    #[error("{}: no space left for the history; nothing from this import was stored, what was there before is intact. Make space and import again", path.display())]
    Full {
        /// Where.
        path: PathBuf,
    },
    /// It may not be written or read.
    #[error("{}: {what}; nothing was changed. Make file and directory writable for you, or name another file with LINERATE_STORE", path.display())]
    Denied {
        /// Where.
        path: PathBuf,
        /// What was refused.
        what: String,
    },
    /// Somebody else could have it written elsewhere.
    #[error("{}: {what}; nothing was changed. Correct that, or name another file with LINERATE_STORE", path.display())]
    Exposed {
        /// Where.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// No run has this name.
    #[error("no run {text:?} in {}", path.display())]
    NoSuchRun {
        /// Where.
        path: PathBuf,
        /// What was asked for.
        text: String,
    },
    /// Several runs begin so.
    #[error("{text:?} is the beginning of several runs: {}{}; give more digits", list(candidates), if *more { ", …" } else { "" })]
    Ambiguous {
        /// What was asked for.
        text: String,
        /// The first of them.
        candidates: Vec<RunId>,
        /// There are more.
        more: bool,
    },
    /// A run, target or fact cannot be kept as it is.
    #[error("{what} cannot be stored: {why}")]
    Unfit {
        /// What.
        what: String,
        /// Why.
        why: String,
    },
    /// An export's destination failed.
    #[error("writing the export: {0}")]
    Export(#[from] std::io::Error),
    /// Parquet's writer refused.
    #[error("writing Parquet: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
    /// Anything else that SQLite reports.
    #[error("{}: {source}", path.display())]
    Sqlite {
        /// Where.
        path: PathBuf,
        /// In SQLite's words.
        source: rusqlite::Error,
    },
}

fn list(ids: &[RunId]) -> String {
    ids.iter().map(RunId::to_string).collect::<Vec<_>>().join(", ")
}

/// How long a writer waits for another, in seconds. A transaction of a million samples holds the lock for about two.
pub(crate) const WAIT_S: u64 = 20;

impl StoreError {
    /// An error of SQLite as a [`StoreError`].
    pub(crate) fn sqlite(path: &Path, waited_s: u64, source: rusqlite::Error) -> StoreError {
        let path = path.to_path_buf();
        let what = source.to_string();
        match &source {
            rusqlite::Error::SqliteFailure(e, _) => match e.code {
                ErrorCode::DatabaseCorrupt => StoreError::Damaged { path, what },
                ErrorCode::NotADatabase => StoreError::Damaged { path, what },
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::Locked { path, waited_s },
                ErrorCode::DiskFull => StoreError::Full { path },
                ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen => {
                    StoreError::Denied { path, what }
                }
                ErrorCode::TooBig => StoreError::Unfit {
                    what: "a text or a series".to_owned(),
                    why: "it is larger than 64 MiB".to_owned(),
                },
                // Tables of the history are missing, or the schema does not parse.
                ErrorCode::Unknown if ["no such", "malformed", "has no column"].iter().any(|w| what.contains(w)) => {
                    StoreError::Damaged { path, what }
                }
                // Nothing that we write violates a constraint, unless an index or a table is not what it was.
                ErrorCode::ConstraintViolation => StoreError::Damaged { path, what },
                _ => StoreError::Sqlite { path, source },
            },
            // Tables or columns of the history are missing, or a column holds what no version of linerate has written.
            rusqlite::Error::SqlInputError { msg, .. } => StoreError::Damaged { path, what: msg.clone() },
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
            | rusqlite::Error::InvalidColumnType(..) => StoreError::Damaged { path, what },
            _ => StoreError::Sqlite { path, source },
        }
    }
}
