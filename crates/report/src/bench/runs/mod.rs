//! What was imported.

mod headline;
mod json;
mod text;
mod view;

pub use headline::headline;
pub use json::{SCHEMA as RUNS_SCHEMA, runs_json};
pub use text::runs_text;
pub(super) use view::{Group, View, telling};

use serde::Serialize;

/// A part of an input that is no run, or none that counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// File, pipe or command.
    pub name: String,
    /// 1-based line; 0 where lines mean nothing.
    pub line: u32,
    /// What it looked like and why it was not taken, in one sentence.
    pub why: String,
}
