//! Verdicts before and after.

use crate::model::{Changed, Counts, Simulation, State};
use linerate_rules::{Audit, Severity, Status};
use std::collections::BTreeMap;

/// Verdicts of a node, kept by what they are about.
#[derive(Debug, Clone, Default)]
pub struct Judged {
    /// By rule and subject: the worst answer, and its words.
    of: BTreeMap<(&'static str, String), (State, String)>,
    counts: Counts,
}

impl Judged {
    /// Of an audit.
    #[must_use]
    pub fn from_audit(audit: &Audit) -> Judged {
        let mut out = Judged::default();
        for v in &audit.verdicts {
            let state = State::of(v.finding.status, v.severity());
            out.counts.add(&state);
            let key = (v.rule.id, v.finding.subject.to_string());
            let there = out.of.entry(key).or_insert_with(|| (State::nothing(), String::new()));
            if there.0.is_nothing() || state.rank() > there.0.rank() {
                *there = (state, v.finding.message.to_string());
            }
        }
        out
    }

    /// What changed. Of a subject that is new, or gone, the rule's other verdicts decide what it was.
    #[must_use]
    pub fn compare(&self, after: &Judged) -> Simulation {
        let mut changed = Vec::new();
        let mut keys: Vec<_> = self.of.keys().chain(after.of.keys()).collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            let (old, new) = (self.of.get(key), after.of.get(key));
            let before = old.map_or_else(State::nothing, |(s, _)| s.clone());
            let now = new.map_or_else(State::nothing, |(s, _)| s.clone());
            if before == now {
                continue;
            }
            let worse = match old {
                Some(_) => now.is_worse_than(&before),
                // A subject of another name: worse where more subjects of the rule are so bad.
                None => now.is_worse_than(&before) && after.at_least(key.0, &now) > self.at_least(key.0, &now),
            };
            let message = new.or(old).map(|(_, m)| m.clone()).unwrap_or_default();
            changed.push(Changed {
                rule: key.0.to_owned(),
                subject: key.1.clone(),
                before,
                after: now,
                message,
                worse,
            });
        }
        changed.sort_by_key(|c| std::cmp::Reverse((c.worse, c.before.rank().max(c.after.rank()))));
        Simulation { before: self.counts, after: after.counts, changed }
    }

    fn at_least(&self, rule: &str, state: &State) -> usize {
        self.of.iter().filter(|((r, _), (s, _))| *r == rule && s.rank() >= state.rank()).count()
    }
}

impl State {
    fn of(status: Status, severity: Severity) -> State {
        let severity = (status == Status::Fail).then(|| severity.name().to_owned());
        State { status: status.name().to_owned(), severity }
    }

    /// No verdict.
    fn nothing() -> State {
        State { status: "nothing".to_owned(), severity: None }
    }

    fn is_nothing(&self) -> bool {
        self.status == "nothing"
    }

    /// Notes (severity info) are as good as nothing.
    fn rank(&self) -> u8 {
        match (self.status.as_str(), self.severity.as_deref()) {
            ("fail", Some("critical")) => 5,
            ("fail", Some("high")) => 4,
            ("fail", Some("medium")) => 3,
            ("fail", Some("low")) => 2,
            ("unknown", _) => 1,
            _ => 0,
        }
    }

    /// Whether it fails and did not, fails worse, or cannot be decided where it passed. What did not hold and cannot be decided now is not worse: it was
    /// never good.
    fn is_worse_than(&self, before: &State) -> bool {
        match self.rank() {
            0 => false,
            1 => before.status == "pass",
            rank => rank > before.rank(),
        }
    }
}

impl Counts {
    fn add(&mut self, state: &State) {
        let n = match (state.status.as_str(), state.severity.as_deref()) {
            ("fail", Some("critical")) => &mut self.critical,
            ("fail", Some("high")) => &mut self.high,
            ("fail", Some("medium")) => &mut self.medium,
            ("fail", Some("low")) => &mut self.low,
            ("unknown", _) => &mut self.unknown,
            ("pass", _) => &mut self.pass,
            _ => return,
        };
        *n += 1;
    }
}
