//! Renderers of audit results. Pure: each writes into what it is given and touches nothing else.
//!
//! Everything that comes from data passes the function of its form in `linerate_out` before it is written: names of
//! devices, lines of files and messages built from them may hold anything.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod about;
pub mod bench;
mod compact;
pub mod diff;
pub mod doctor;
pub mod drift;
pub mod env;
pub mod explain;
mod faults;
mod fix;
pub mod fleet;
mod group;
pub mod identity;
pub mod json;
pub mod junit;
pub mod located;
pub mod markdown;
pub mod nodes;
pub mod plan;
pub mod policy;
pub mod sarif;
pub mod since;
pub mod style;
mod suppressed;
mod table;
pub mod terminal;
pub mod topo;
mod unread;
pub mod vm;
pub mod watch;
mod words;

pub use style::Style;

use linerate_node::Node;
use linerate_rules::{Audit, Severity, Status, Survey, Verdict};
use linerate_snapshot::Snapshot;

/// What is rendered: the answers, the node they are about, and the snapshot that holds the evidence.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// The answers.
    pub audit: &'a Audit,
    /// The node.
    pub node: &'a Node<'a>,
    /// The snapshot from which the node was decoded.
    pub snapshot: &'a Snapshot,
}

impl<'a> Report<'a> {
    /// Failures that count: severity low and above, worst first.
    fn findings(&self) -> impl Iterator<Item = &'a Verdict> {
        self.audit.with(Status::Fail).filter(|v| v.severity() > Severity::Info)
    }

    /// Worth knowing, nothing to do: failures of severity info, and what does not apply although a reader might expect it to
    /// (the rule marked that answer with severity info).
    fn notes(&self) -> impl Iterator<Item = &'a Verdict> {
        let marked = |v: &&Verdict| match v.finding.status {
            Status::Fail => v.severity() == Severity::Info,
            Status::NotApplicable => v.finding.severity == Some(Severity::Info),
            _ => false,
        };
        self.audit.verdicts.iter().filter(marked)
    }
}

/// How many answers of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Failures by severity, from info to critical.
    #[serde(serialize_with = "by_severity")]
    pub fail: [u32; 5],
    /// Could not be seen.
    pub unknown: u32,
    /// Seen, and right.
    pub pass: u32,
    /// Do not hold here.
    pub not_applicable: u32,
}

impl Counts {
    /// Counts an audit.
    #[must_use]
    pub fn of(audit: &Audit) -> Self {
        Self::count(audit.verdicts.iter().map(|v| (v.finding.status, v.severity())))
    }

    /// Counts a node of a fleet.
    #[must_use]
    pub fn of_survey(survey: &Survey) -> Self {
        Self::count(survey.answers.iter().map(|a| (a.status, a.severity)))
    }

    fn count(answers: impl Iterator<Item = (Status, Severity)>) -> Self {
        let mut c = Counts::default();
        for (status, severity) in answers {
            match status {
                Status::Fail => {
                    for (n, s) in c.fail.iter_mut().zip(Severity::ALL.iter().copied()) {
                        *n += u32::from(s == severity);
                    }
                }
                Status::Unknown => c.unknown += 1,
                Status::Pass => c.pass += 1,
                Status::NotApplicable => c.not_applicable += 1,
            }
        }
        c
    }

    /// Failures that count for the exit code.
    #[must_use]
    pub fn findings(&self) -> u32 {
        self.fail.iter().skip(1).sum()
    }

    /// Severity and number of failures, worst first, without zeroes and without info.
    pub fn worst_first(&self) -> impl Iterator<Item = (Severity, u32)> {
        Severity::ALL.iter().copied().zip(self.fail).skip(1).rev().filter(|(_, n)| *n > 0)
    }
}

fn by_severity<S: serde::Serializer>(fail: &[u32; 5], s: S) -> Result<S::Ok, S::Error> {
    s.collect_map(Severity::ALL.iter().map(|v| v.name()).zip(fail).rev())
}

/// The version that reports name.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
