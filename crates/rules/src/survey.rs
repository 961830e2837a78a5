//! Judges a node of a fleet: each answer is counted, one is read. The same rules give the same answers as in an audit; what
//! nobody reads (messages, evidence, remedies) is never made.

use crate::engine::{Verdict, exit_code, incomplete, judge};
use crate::finding::{Depth, Findings, Status, Subject};
use crate::rule::{Cx, Rule, Severity};
use crate::terms::{Suppression, Terms, Usage};
use linerate_node::Node;
use linerate_snapshot::Snapshot;
use std::sync::Arc;

/// An answer as it is counted.
#[derive(Debug, Clone, Copy)]
pub struct Answer {
    /// The rule.
    pub rule: &'static Rule,
    /// The verdict.
    pub status: Status,
    /// Severity of this answer.
    pub severity: Severity,
}

/// What a node of a fleet is known by.
#[derive(Debug)]
pub struct Survey {
    /// All answers, those of one rule together.
    pub answers: Vec<Answer>,
    /// What answers are about that fail with a severity above info, or are unknown: the answer's number, the subject.
    pub about: Vec<(usize, Subject)>,
    /// The answer that an audit tells first, in full: the worst finding, or else what is unknown.
    pub first: Option<Verdict>,
    /// Answers that are not counted, and what suppresses each.
    pub suppressed: Vec<(Answer, Arc<Suppression>)>,
    /// As [`crate::Audit::incomplete`].
    pub incomplete: bool,
    /// On which terms.
    pub terms: Terms,
}

impl Survey {
    /// As [`crate::Audit::exit_code`].
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        exit_code(self.incomplete, &self.terms, self.answers.iter().map(|a| (a.rule, a.status, a.severity)))
    }

    /// Takes in what became of the suppressions.
    pub fn used(&self, usage: &mut Usage) {
        let all = self.answers.iter().chain(self.suppressed.iter().map(|(a, _)| a));
        usage.add(&self.terms, self.suppressed.iter().map(|(_, s)| s), all.map(|a| (a.rule, a.status)));
    }

    /// Answers that fail with a severity above info, or are unknown, with what they are about.
    pub fn telling(&self) -> impl Iterator<Item = (&Answer, &Subject)> {
        self.about.iter().filter_map(|(i, subject)| Some((self.answers.get(*i)?, subject)))
    }

    /// The findings in full, worst first: rules that fail are asked again, with words. The same node and snapshot as before.
    #[must_use]
    pub fn findings(&self, node: &Node<'_>, snapshot: &Snapshot) -> Vec<Verdict> {
        let mut failing: Vec<&'static Rule> =
            self.telling().filter(|(a, _)| a.status == Status::Fail).map(|(a, _)| a.rule).collect();
        failing.dedup_by(|a, b| std::ptr::eq(*a, *b));
        let mut verdicts = crate::engine::audit(node, snapshot, &failing).on(self.terms.clone()).verdicts;
        verdicts.retain(|v| v.finding.status == Status::Fail && v.severity() > Severity::Info);
        verdicts
    }
}

/// The first answer of an audit among those of one status so far: its severity, its rule, which of the rule's answers.
type First = Option<(Severity, &'static Rule, usize)>;

/// Judges a node with the given rules, on the terms that hold for it.
#[must_use]
pub fn survey(node: &Node<'_>, snapshot: &Snapshot, rules: &[&'static Rule], terms: Terms) -> Survey {
    let cx = Cx { node, snapshot };
    let mut out = Findings::to(Depth::Counted);
    let mut answers = Vec::with_capacity(rules.len() * 4);
    let (mut about, mut suppressed) = (Vec::new(), Vec::new());
    let (mut bad, mut doubt): (First, First) = (None, None);
    for rule in rules {
        judge(rule, &cx, &mut out);
        for (i, finding) in out.list.drain(..).enumerate() {
            let severity = finding.severity.unwrap_or(rule.severity.usual);
            let answer = Answer { rule, status: finding.status, severity };
            if let Some(s) = terms.takes(rule, &finding) {
                suppressed.push((answer, Arc::clone(s)));
                continue;
            }
            answers.push(answer);
            let first = match finding.status {
                Status::Fail if severity > Severity::Info => &mut bad,
                Status::Unknown => &mut doubt,
                _ => continue,
            };
            about.push((answers.len() - 1, finding.subject));
            if first.is_none_or(|(s, r, _)| severity > s || severity == s && rule.id < r.id) {
                *first = Some((severity, rule, i));
            }
        }
    }
    // Rules are pure: asked again, the rule gives the same answers, this time in words.
    let first = bad.or(doubt).and_then(|(_, rule, i)| {
        let mut out = Findings::default();
        judge(rule, &cx, &mut out);
        Some(Verdict { rule, finding: out.list.into_iter().nth(i)? })
    });
    Survey { answers, about, first, suppressed, incomplete: incomplete(node, snapshot), terms }
}
