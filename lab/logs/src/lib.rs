//! Writes the logs that NCCL writes, release by release, for jobs that are well and jobs that are not, with the truth beside them.
//!
//! The words are NCCL's own format strings (`forms.tsv`, checked against its sources by `linerate-logs verify`); which of them a job
//! prints, in what order and with what values, is decided here from a short description. Invariants: pure except [`verify`] and the
//! reading of the scenarios; the same scenario, release, seed and clothes give the same bytes; no other crate of ours is used, so that
//! this one is a witness of its own.

mod bench;
pub mod big;
mod dress;
mod forms;
pub mod gallery;
mod head;
mod job;
mod kernel;
mod printf;
mod release;
pub mod rng;
mod scenario;
pub mod verify;

pub use dress::Dress;
pub use forms::{Form, Level, form, forms, unreadable};
pub use job::{Bench, Fault, Gpu, Job, Moment};
pub use printf::{Format, Kind, Piece, PrintfError, Value};
pub use release::{Distance, Release, releases};
pub use scenario::{GeneratedFile, Releases, Scenario, ScenarioError, read_all, scenarios};

#[cfg(test)]
mod tests;
