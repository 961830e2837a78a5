//! What is stored with a run, and what became of it.

use linerate_bench::{Run, RunId};
use std::collections::BTreeMap;

/// A run to be stored, with what is known about it beside its output.
#[derive(Debug, Clone, Copy)]
pub struct Imported<'a> {
    /// The run.
    pub run: &'a Run,
    /// The text it was read from.
    pub text: Option<TextRef<'a>>,
    /// Snapshots of its nodes, taken when it ran.
    pub snapshots: &'a [SnapshotRef],
    /// Words that people find it by: `iommu=off`, `before`, `rack 3`.
    pub labels: &'a [&'a str],
    /// Its place in an experiment.
    pub place: Option<Place<'a>>,
}

impl<'a> From<&'a Run> for Imported<'a> {
    fn from(run: &'a Run) -> Self {
        Imported { run, text: None, snapshots: &[], labels: &[], place: None }
    }
}

/// A text and which of its runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextRef<'a> {
    /// SHA-256 of the text, or whatever else names its content.
    pub digest: &'a str,
    /// 0-based place of the run among those of the text.
    pub ordinal: u32,
}

/// A run's place in an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// What belongs together: one call of `bench run`.
    pub session: &'a str,
    /// `A`, `B`.
    pub side: Option<&'a str>,
    /// 0-based place in the order of execution.
    pub position: Option<u32>,
}

/// Where a node's snapshot is, and what of it should be at hand without opening it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SnapshotRef {
    /// Digest of the archive: finds it again wherever it was moved.
    pub digest: String,
    /// The node.
    pub host: String,
    /// In the user's words.
    pub label: Option<String>,
    /// Where it was written.
    pub path: Option<String>,
    /// When it was taken, in seconds of the Unix epoch.
    pub taken: Option<f64>,
    /// What mattered: `kernel`, `cmdline`, `driver` …
    pub facts: BTreeMap<String, String>,
}

/// What became of the runs that were given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Added {
    /// New ones.
    pub new: Vec<RunId>,
    /// Those that were there already. What was given with them (labels, snapshots, place) was added to them.
    pub known: Vec<RunId>,
    /// Texts that were stored before and were understood differently then: the stored reading stays. [`Store::delete`] it to have the
    /// new one.
    pub read_differently: Vec<Reread>,
}

/// A run of a text that another version of the reader understood differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reread {
    /// What is stored, and stays.
    pub stored: RunId,
    /// What was given.
    pub given: RunId,
}
