//! Runs the catalogue over a node, for a reader of every answer. [`crate::Survey`] is for those who count.

use crate::finding::{About, DependsOn, Depth, Finding, Findings, Status, Subject};
use crate::rule::{Cx, Rule, Severity};
use crate::terms::{Suppression, Terms, Usage};
use linerate_node::Node;
use linerate_snapshot::Snapshot;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

/// A rule's answer about one subject.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The rule.
    pub rule: &'static Rule,
    /// Its answer.
    pub finding: Finding,
}

impl Verdict {
    /// Severity of this answer.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.finding.severity.unwrap_or(self.rule.severity.usual)
    }
}

/// All answers about a node.
#[derive(Debug, Default)]
pub struct Audit {
    /// Worst first, unless asked for otherwise ([`answers`]).
    pub verdicts: Vec<Verdict>,
    /// Answers that are not counted, in the same order, and what suppresses each.
    pub suppressed: Vec<(Verdict, Arc<Suppression>)>,
    /// A limit left part of the source out: nothing is right for certain.
    pub incomplete: bool,
    /// On which terms.
    pub terms: Terms,
}

impl Audit {
    /// The audit on the terms that hold for the node ([`Terms::on`]).
    #[must_use]
    pub fn on(mut self, terms: Terms) -> Audit {
        if !terms.suppressions.is_empty() {
            for v in std::mem::take(&mut self.verdicts) {
                match terms.takes(v.rule, &v.finding) {
                    Some(s) => self.suppressed.push((v, Arc::clone(s))),
                    None => self.verdicts.push(v),
                }
            }
        }
        self.terms = terms;
        self
    }

    /// What became of the suppressions.
    #[must_use]
    pub fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        let mut answers: Vec<(&'static Rule, Status)> =
            self.verdicts.iter().map(|v| (v.rule, v.finding.status)).collect();
        answers.extend(self.suppressed.iter().map(|(v, _)| (v.rule, v.finding.status)));
        usage.add(&self.terms, self.suppressed.iter().map(|(_, s)| s), answers.iter().copied());
        usage
    }

    /// Verdicts of one status.
    pub fn with(&self, status: Status) -> impl Iterator<Item = &Verdict> {
        self.verdicts.iter().filter(move |v| v.finding.status == status)
    }

    /// What failing answers follow from.
    #[must_use]
    pub fn causes(&self) -> Causes<'_> {
        let mut causes = Causes::default();
        for v in self.with(Status::Fail) {
            causes.first.entry(v.rule.id).or_insert(v);
            causes.of_subject.entry((v.rule.id, &v.finding.subject)).or_insert(v);
        }
        causes
    }

    /// 0 all good; 1 findings of the severity that the terms name (low) or above; 2 none, but something could not be seen that might be one.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        let answers = self.verdicts.iter().map(|v| (v.rule, v.finding.status, v.severity()));
        exit_code(self.incomplete, &self.terms, answers)
    }
}

/// Failing answers, by what others may follow from.
#[derive(Debug, Default)]
pub struct Causes<'a> {
    first: HashMap<&'static str, &'a Verdict>,
    of_subject: HashMap<(&'static str, &'a Subject), &'a Verdict>,
}

impl<'a> Causes<'a> {
    /// The failing answer that this one follows from, where there is one.
    #[must_use]
    pub fn of(&self, v: &'a Verdict) -> Option<&'a Verdict> {
        v.finding.follows.iter().find_map(|(rule, about)| match about {
            About::Any => self.first.get(rule).copied(),
            About::Of(subject) => self.of_subject.get(&(*rule, subject)).copied(),
        })
    }
}

/// Of all answers about a node.
pub(crate) fn exit_code(
    incomplete: bool,
    terms: &Terms,
    answers: impl Iterator<Item = (&'static Rule, Status, Severity)>,
) -> u8 {
    let mut unknown = incomplete && terms.fail_on.is_some();
    for (rule, status, severity) in answers {
        match status {
            Status::Fail if terms.fails(severity) => return 1,
            Status::Unknown => unknown |= terms.may_fail(rule),
            _ => {}
        }
    }
    u8::from(unknown) * 2
}

/// Whether a limit left part of the source out.
pub(crate) fn incomplete(node: &Node<'_>, snapshot: &Snapshot) -> bool {
    snapshot.incomplete || !node.cuts.is_empty()
}

/// Audits a node with the given rules.
#[must_use]
pub fn audit(node: &Node<'_>, snapshot: &Snapshot, rules: &[&'static Rule]) -> Audit {
    let mut by_id = rules.to_vec();
    by_id.sort_by_key(|r| r.id);
    let mut audit = answers(node, snapshot, &by_id, Depth::Whole);
    // Within one severity they stay in the order of the rules' ids. Verdicts are large: keys are sorted, and each is moved once.
    audit.verdicts.sort_by_cached_key(|v| (Reverse(v.finding.status), Reverse(v.severity())));
    audit
}

/// The same answers in the order of the given rules, and no more of each than is asked for.
#[must_use]
pub fn answers(node: &Node<'_>, snapshot: &Snapshot, rules: &[&'static Rule], depth: Depth) -> Audit {
    let cx = Cx { node, snapshot };
    let mut out = Findings::to(depth);
    let mut verdicts = Vec::with_capacity(rules.len() * 4);
    for rule in rules {
        judge(rule, &cx, &mut out);
        verdicts.extend(out.list.drain(..).map(|finding| Verdict { rule, finding }));
    }
    let incomplete = incomplete(node, snapshot);
    Audit { verdicts, suppressed: Vec::new(), incomplete, terms: Terms::default() }
}

/// The answers of one rule; `out` is empty before.
pub(crate) fn judge(rule: &Rule, cx: &Cx<'_>, out: &mut Findings) {
    let role = &cx.node.context.role;
    if let Some(value) = role.value
        && !rule.roles.contains(value)
    {
        let f = out.not_applicable(format_args!("applies to {}; this node is: {value}", join(rule)));
        for place in role.places() {
            f.at(place);
        }
        return;
    }
    (rule.check)(cx, out);
    if out.is_empty() {
        out.unknown(Subject::Node, "the rule reached no conclusion on this node: please report this as a bug");
    }
    let needs_role = role.value.is_none() && rule.roles != crate::rule::Roles::ALL;
    for f in &mut out.list {
        if f.status == Status::Pass && !f.is_proven() {
            f.status = Status::Unknown;
            f.reword(|was| format!("{was} (but the rule gave no evidence: please report this as a bug)"));
        }
        if needs_role && matches!(f.status, Status::Pass | Status::Fail) {
            let would = f.status.name();
            f.depends_on = (f.status == Status::Fail).then_some(DependsOn::Role);
            f.reword(|was| {
                let roles = join(rule);
                format!("applies to {roles} only, and the role of this node is unknown; there it would {would}: {was}")
            });
            f.status = Status::Unknown;
            f.remedy = None;
            f.see("add /proc/cpuinfo and /sys/class/dmi/id, or give --role");
        }
    }
}

fn join(rule: &Rule) -> String {
    rule.roles.names().collect::<Vec<_>>().join(" or ")
}
