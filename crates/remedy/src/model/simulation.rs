//! What rules say of a node before a plan, and of the node that it would make.

use serde::{Deserialize, Serialize};

/// Verdicts before and after a plan.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Simulation {
    /// Verdicts of the node as it was read.
    pub before: Counts,
    /// Verdicts of the node as the plan would make it.
    pub after: Counts,
    /// Those that differ, the worst first.
    pub changed: Vec<Changed>,
}

/// Numbers of verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Findings of severity critical.
    pub critical: u32,
    /// Of severity high.
    pub high: u32,
    /// Of severity medium.
    pub medium: u32,
    /// Of severity low.
    pub low: u32,
    /// What could not be seen.
    pub unknown: u32,
    /// Seen, and right.
    pub pass: u32,
}

impl Counts {
    /// Findings of severity low and above.
    #[must_use]
    pub fn findings(&self) -> u32 {
        self.critical.saturating_add(self.high).saturating_add(self.medium).saturating_add(self.low)
    }
}

/// A rule's answer about one subject, before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    /// Rule.
    pub rule: String,
    /// About what.
    pub subject: String,
    /// Before.
    pub before: State,
    /// After.
    pub after: State,
    /// What the rule says then; where it says nothing then, what it said.
    pub message: String,
    /// Whether it is worse.
    pub worse: bool,
}

/// A verdict in short.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// `pass`, `fail`, `unknown`, `not-applicable`; `nothing`: the rule does not speak of the subject.
    pub status: String,
    /// Severity of what fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
}

impl std::fmt::Display for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.severity {
            Some(severity) => write!(f, "{} ({severity})", self.status),
            None => f.write_str(&self.status),
        }
    }
}
