//! From logs and symptoms to the cause.
//!
//! ```text
//! bytes ─► lines ─► Observer (bounded: ranks, connections, settings, failures) ─┐
//!                                                                               ├─► Case ─► causes, ranked
//! snapshots ─► Node, verdicts of rules, NCCL's GPUDirect decisions ─────────────┘           what is not the cause
//!                                                                                           what cannot be decided
//! ```
//!
//! Pure: bytes come in pieces, nothing is opened here. Memory does not grow with the logs.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
#![forbid(unsafe_code)]

pub mod answer;
mod case;
mod causes;
mod conclude;
mod docs;
mod figures;
mod inputs;
mod jobs;
mod lines;
mod matrix;
mod nodes;
pub mod observe;
pub mod place;
mod ranges;
mod shown;
mod table;

pub use causes::registry::causes;
pub use causes::{Advice, Cause};
pub use docs::{Symptom, symptoms};
pub use inputs::{Inputs, Source, Text};
pub use lines::Reader;
pub use observe::Observer;
pub use place::{FileId, Place, Quote};

pub use answer::Answer;

/// Whether a text has a line that the doctor reads: of NCCL, of the kernel, of a framework or a tool that names its trouble, of a table of results.
#[must_use]
pub fn reads(bytes: &[u8]) -> bool {
    let mut observer = Observer::default();
    let mut reader = Reader::new(&mut observer, "");
    reader.feed(&mut observer, bytes);
    reader.finish(&mut observer);
    observer.files.iter().any(|f| f.nccl > 0 || f.other > 0) || observer.has_results()
}

/// A node that was given beside the logs.
#[derive(Debug)]
pub struct NodeGiven<'a> {
    /// Name of the snapshot or text.
    pub name: String,
    /// What was decoded of it.
    pub snapshot: &'a linerate_snapshot::Snapshot,
}

pub use conclude::{conclude, conclude_with};
