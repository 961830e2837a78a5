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

#![forbid(unsafe_code)]

pub mod answer;
mod lines;
pub mod observe;
pub mod place;

pub use lines::Reader;
pub use observe::Observer;
pub use place::{FileId, Place, Quote};

