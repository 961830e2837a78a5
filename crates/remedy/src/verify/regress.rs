//! What fails now and did not before.

use linerate_rules::{Audit, Status, Verdict};
use linerate_snapshot::Snapshot;
use serde::Serialize;
use std::collections::HashMap;

/// A rule that fails now and did not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Regressed {
    /// Rule.
    pub rule: &'static str,
    /// About what.
    pub subject: String,
    /// How bad.
    pub severity: &'static str,
    /// What is so now.
    pub message: String,
    /// What the rule answered before: `pass`, `unknown`, `not-applicable`, or `nothing`. Of `unknown` it cannot be said that it is new.
    pub before: &'static str,
    /// Where it is read, in words.
    pub at: String,
}

/// Failures that were none before. Notes (severity info) do not count.
pub(super) fn regressed(then: &Audit, now: &Audit, after: &Snapshot) -> Vec<Regressed> {
    let key = |v: &Verdict| (v.rule.id, v.finding.subject.to_string());
    let before: HashMap<(&str, String), Status> = then.verdicts.iter().map(|v| (key(v), v.finding.status)).collect();
    let new =
        |v: &&Verdict| v.severity() > linerate_rules::Severity::Info && before.get(&key(v)) != Some(&Status::Fail);
    now.with(Status::Fail)
        .filter(new)
        .map(|v| Regressed {
            rule: v.rule.id,
            subject: v.finding.subject.to_string(),
            severity: v.severity().name(),
            message: v.finding.message.to_string(),
            before: before.get(&key(v)).map_or("nothing", |s| s.name()),
            at: v.finding.evidence.first().map(|e| after.describe(e.place)).unwrap_or_default(),
        })
        .collect()
}
