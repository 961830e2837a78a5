//! The index of a fleet: one Parquet file of what all snapshots of a directory say, made from them and made again at any time.
//!
//! A row is a fact or an answer of a rule of one snapshot. What else a record needs is rows whose facts begin with `record.`. Rows are sorted by
//! fact, subject, part and value, so nearly every column is runs, and a question costs what it asks for.

mod ask;
mod batch;
mod columns;
mod decode;
mod encode;
mod error;
mod file;
mod footer;
mod hybrid;
mod open;
mod pages;
mod past;
mod read;
mod readers;
mod records;
mod strings;
mod thrift;
mod update;

pub use ask::{Answered, Node, Question, Reason, Tabled, When};
pub use error::IndexError;
pub use file::{Encoded, Gathered, Writer};
pub use linerate_snapshot::{Source, sources};
pub use open::Index;
pub use past::Taken;
pub use read::{Cell, Head, Wanted};
pub use records::Records;
pub use update::{Stale, Update, Updated, update};

use std::fmt;
use std::str::FromStr;

/// Name of the index in its directory.
pub const NAME: &str = "index.parquet";
/// Version of the format. Another one is not read.
pub const FORMAT: &str = "3";
/// Greatest time that is kept: the end of the year 9999, as data frames have it.
pub const LATEST: u64 = 253_402_300_799;

/// Facts that the index has of itself, one row for each snapshot.
pub(crate) mod facts {
    /// What they begin with.
    pub(crate) const HEAD: &str = "record.";
    /// Its devices.
    pub(crate) const LAYOUT: &str = "record.layout";
    /// Both ids.
    pub(crate) const IDENTITY: &str = "record.identity";
    /// Digests of its addresses.
    pub(crate) const ADDRESSES: &str = "record.addresses";
    /// The operator's key with which what identifies was hashed; no row where there was none.
    pub(crate) const REDACT_KEY: &str = "record.redact_key";
    /// A limit left something out.
    pub(crate) const INCOMPLETE: &str = "record.incomplete";
    /// Size and time of the file.
    pub(crate) const FILE: &str = "record.file";
    /// Why the file could not be read; then there are no other rows.
    pub(crate) const ERROR: &str = "record.error";
}

/// By what a file that changed is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileId {
    /// Its size.
    pub bytes: u64,
    /// When it was written: Unix time, nanoseconds.
    pub modified: u64,
}

impl fmt::Display for FileId {
    /// [`FromStr`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes {} ns", self.bytes, self.modified)
    }
}

impl FromStr for FileId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut words = text.split(' ');
        let mut number = || words.next().and_then(|w| w.parse().ok());
        let bytes = number().ok_or(())?;
        words.next();
        let modified = words.next().and_then(|w| w.parse().ok()).ok_or(())?;
        Ok(FileId { bytes, modified })
    }
}
