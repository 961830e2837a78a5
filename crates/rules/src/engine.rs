//! Runs the catalogue over a node.

use crate::finding::{Finding, Findings, Status, Subject};
use crate::rule::{Cx, Rule, Severity};
use linerate_node::Node;
use linerate_snapshot::Snapshot;
use std::cmp::Reverse;

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
        self.finding.severity.unwrap_or(self.rule.severity)
    }
}

/// All answers about a node.
#[derive(Debug)]
pub struct Audit {
    /// Worst first.
    pub verdicts: Vec<Verdict>,
}

impl Audit {
    /// Verdicts of one status.
    pub fn with(&self, status: Status) -> impl Iterator<Item = &Verdict> {
        self.verdicts.iter().filter(move |v| v.finding.status == status)
    }

    /// 0 all good; 1 findings of severity low or above; 2 nothing found, but something could not be seen.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        if self.with(Status::Fail).any(|v| v.severity() > Severity::Info) {
            1
        } else {
            u8::from(self.with(Status::Unknown).next().is_some()) * 2
        }
    }
}

/// Audits a node with the given rules.
#[must_use]
pub fn audit(node: &Node<'_>, snapshot: &Snapshot, rules: &[&'static Rule]) -> Audit {
    let cx = Cx { node, snapshot };
    let mut verdicts = Vec::with_capacity(rules.len() * 2);
    for rule in rules {
        let mut out = Findings::default();
        judge(rule, &cx, &mut out);
        verdicts.extend(out.list.into_iter().map(|finding| Verdict { rule, finding }));
    }
    // Verdicts are large: keys are sorted, and each verdict is moved once.
    verdicts.sort_by_cached_key(|v| (Reverse(v.finding.status), Reverse(v.severity()), v.rule.id));
    Audit { verdicts }
}

fn judge(rule: &Rule, cx: &Cx<'_>, out: &mut Findings) {
    let role = &cx.node.context.role;
    if let Some(value) = role.value
        && !rule.roles.contains(value)
    {
        let f = out.not_applicable(format!("holds on {}; this node is: {value}", join(rule)));
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
        if f.status == Status::Pass && f.evidence.is_empty() {
            f.status = Status::Unknown;
            f.message = format!("{} (but the rule gave no evidence: please report this as a bug)", f.message).into();
        }
        if needs_role && matches!(f.status, Status::Pass | Status::Fail) {
            f.message = format!(
                "holds on {} only, and the role of this node is unknown; there it would {}: {}",
                join(rule),
                f.status.name(),
                f.message
            )
            .into();
            f.status = Status::Unknown;
            f.remedy = None;
            f.see = Some("add /proc/cpuinfo and /sys/class/dmi/id, or say --role".into());
        }
    }
}

fn join(rule: &Rule) -> String {
    rule.roles.names().collect::<Vec<_>>().join(" or ")
}
