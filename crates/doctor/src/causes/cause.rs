//! What a cause is.

use super::{Advice, Found};
use crate::case::Case;
use linerate_rules::{Severity, Source};

/// A cause of the catalogue: its page, and its check over one job.
#[derive(Debug)]
pub struct Cause {
    /// Stable id, `area/slug`.
    pub id: &'static str,
    /// The cause in one line.
    pub title: &'static str,
    /// What it is: the state or event itself, and what it does to the job.
    pub what: &'static str,
    /// How it shows: what the check reads, in the words of the programs that print it.
    pub shows: &'static [&'static str],
    /// Why it happens, and why it has this effect.
    pub why: &'static str,
    /// How to see it yourself: what would confirm it.
    pub confirm: &'static [&'static str],
    /// What would refute it.
    pub refute: &'static [&'static str],
    /// The fix, where an answer has no better one.
    pub remedy: Advice,
    /// Primary sources. Never empty.
    pub sources: &'static [Source],
    /// Of what it costs, unless an answer says otherwise.
    pub severity: Severity,
    /// Rules that judge it on a node.
    pub rules: &'static [&'static str],
    /// Causes that it may itself follow from: beside one of them it is a consequence.
    pub follows: &'static [&'static str],
    /// Whether a job has it, and how sure that is. `None` where the evidence allows no answer.
    pub(crate) check: fn(&Case<'_>) -> Option<Found>,
}

impl Cause {
    /// The part before the slash.
    #[must_use]
    pub fn area(&self) -> &'static str {
        self.id.split('/').next().unwrap_or(self.id)
    }
}
