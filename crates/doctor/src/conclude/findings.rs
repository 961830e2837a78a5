//! What the nodes that were given add.

use crate::answer::{Answer, Confidence, Evidence, Note};
use crate::nodes::NodeView;
use crate::observe::Observer;
use crate::{NodeGiven, answer};
use linerate_rules::Severity;

/// The nodes that may be those of the logs, and what is said of the others: a node of another host is no evidence.
pub(super) fn by_host<'a>(o: &Observer, given: &'a [NodeGiven<'a>]) -> (Vec<&'a NodeGiven<'a>>, Vec<String>) {
    let hosts = o.hosts(0..o.threads.processes.len());
    let mut said = Vec::new();
    let short = |h: &str| h.split('.').next().unwrap_or(h).to_ascii_lowercase();
    let is_of_job = |g: &&NodeGiven<'_>| {
        let m = &g.snapshot.manifest;
        // A redacted name cannot be compared.
        if m.host.is_empty() || m.redacted || hosts.is_empty() || hosts.iter().any(|h| short(h) == short(&m.host)) {
            return true;
        }
        let of = crate::ranges::some(&hosts, 4);
        said.push(format!("{} is of host {}, the logs are of {of}: it was not used as evidence", g.name, m.host));
        false
    };
    (given.iter().filter(is_of_job).collect(), said)
}

/// What is badly wrong on the nodes that were given, and was not joined to a cause: it may be the reason, and is wrong in any case.
pub(super) fn findings(nodes: &[NodeView<'_>], direct: bool, answer: &mut Answer) {
    for n in nodes {
        for f in n.failing(&["*"]) {
            let told = answer.causes.iter().any(|c| {
                c.id == f.rule || c.rules.contains(&f.rule) || c.evidence.iter().any(|e| e.text.starts_with(f.rule))
            });
            if f.severity < Severity::High || told {
                continue;
            }
            if direct && denies_gpudirect(f.rule) {
                answer.not_causes.push(Note {
                    what: format!("{} on {}: {}", f.rule, n.name, f.message),
                    why: "the log contradicts the node: connections over RDMA have /GDRDMA; the node was captured at another time, in another container, or is another machine".to_owned(),
                    evidence: vec![Evidence { at: f.at, text: f.message }],
                });
                continue;
            }
            let because = if answer.jobs.is_empty() {
                "found on the node; there is no log of a job, which could show an effect"
            } else {
                "the node's own state says so; the log does not show that it is the reason"
            };
            answer.causes.push(answer::Cause {
                id: f.rule,
                title: f.title,
                summary: format!("{}: {}", n.name, f.message),
                severity: f.severity,
                confidence: Confidence::Possible,
                because: because.to_owned(),
                scope: String::new(),
                evidence: vec![Evidence { at: f.at, text: f.message }],
                confirm: vec![format!("`linerate audit --rule {}` on the node", f.rule)],
                refute: Vec::new(),
                rules: vec![f.rule],
                remedy: f.remedy,
                role: n.role(),
                sources: f.sources.to_vec(),
            });
        }
    }
}

/// Rules of which a failing one says that GPU and NIC cannot talk directly.
fn denies_gpudirect(rule: &str) -> bool {
    rule.starts_with("gpumem/") && !matches!(rule, "gpumem/xid" | "gpumem/nvlink-fabric" | "gpumem/driver-loaded")
        || rule == "numa/no-shared-switch"
}
