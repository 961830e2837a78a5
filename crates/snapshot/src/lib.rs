//! A snapshot is a small filesystem: what a node showed, under its own paths, and what could not be read, with the reason.
//!
//! Everything that linerate concludes, it concludes from a [`Snapshot`]; live, offline and fleet-wide answers are the same code.

mod index;
mod manifest;
mod output;
mod reading;

pub use index::{EntryId, EntryKind, Lookup, Snapshot};
pub use manifest::{Coverage, Manifest, Unread, covers};
pub use output::{Output, OutputKind};
pub use reading::{Place, Pos, Reading, Why};
