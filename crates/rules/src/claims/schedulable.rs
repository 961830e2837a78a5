//! `claims/schedulable`.

use super::at;
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_formats::{kubernetes, slurm};
use linerate_node::cluster::RowAt;
use linerate_snapshot::{OutputKind, Place, Reading};

pub(super) static RULE: Rule = Rule {
    id: "claims/schedulable",
    title: "The scheduler starts jobs on the node",
    severity: Severities::up_to(Severity::Info, Severity::Low),
    roles: Roles::ALL,
    effect: Effect::direction_only("no new job starts on the node, whatever its hardware could do"),
    sources: &[
        Source {
            title: "sinfo(1), NODE STATE CODES, and -R: reasons of nodes that are down, drained or failing",
            at: "https://slurm.schedmd.com/sinfo.html#SECTION_NODE-STATE-CODES",
        },
        Source {
            title: "Kubernetes, Nodes: Ready, unschedulable (`kubectl cordon`)",
            at: "https://kubernetes.io/docs/concepts/architecture/nodes/",
        },
        Source {
            title: "Kubernetes pkg/printers/internalversion/printers.go, printNode: Ready, NotReady, Unknown, SchedulingDisabled",
            at: "https://github.com/kubernetes/kubernetes/blob/master/pkg/printers/internalversion/printers.go",
        },
    ],
    reads: &["scontrol show node NAME", "kubectl get node NAME -o json", "sinfo -N -l", "kubectl get nodes"],
    docs: "\
## What it checks
The state of the node in Slurm (`scontrol show node`, `sinfo`, also with -N, -l, -R) and in Kubernetes (`kubectl get node`): whether new jobs or pods start there. Down, drained, draining, failing, not
responding, NotReady and SchedulingDisabled are not. Of a list that names this node, its row counts alone: low. Of a list that does not name it, each row of nodes out of use is information about those
nodes, at most 16 of a list. Reserved nodes, nodes that are switched off until a job asks for them, and partitions that are down are not judged.

## Why it matters
Somebody, or a health check, took the node out of use and mostly wrote down why. The reason is where to begin. Until it is put back, nothing that is set right here reaches a job.

## See it yourself
`sinfo -R`, `scontrol show node NAME | grep -E 'State|Reason'`, `kubectl describe node NAME | grep -A9 Conditions`.

## Fix
Fix what the reason says, then `scontrol update nodename=NAME state=resume`, or `kubectl uncordon NAME`.",
    myths: &[Myth {
        claim: "A drained node is broken.",
        truth: "It is out of use because somebody wanted that. The reason says why.",
    }],
    check,
};

/// Rows of a list about other nodes that get a verdict.
const MOST: usize = 16;

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let cluster = &cx.node.cluster;
    if let Reading::Known(node, place) = &cluster.slurm {
        record(node, *place, out);
    }
    if let Reading::Known(node, place) = &cluster.kubernetes {
        object(node, *place, out);
    }
    super::unreadable(cx, out);
    for (of, kind) in [("Slurm", OutputKind::Sinfo), ("Kubernetes", OutputKind::KubectlNodes)] {
        let rows: Vec<&RowAt> = cluster.listed.iter().filter(|r| r.of == of).collect();
        let is_known =
            if of == "Slurm" { cluster.slurm.known().is_some() } else { cluster.kubernetes.known().is_some() };
        // The node's own record says more than its row.
        match cx.output(kind).filter(|_| rows.is_empty()) {
            _ if is_known => {}
            Some(text) => {
                let subject = Subject::Named(format!("{of}'s list"));
                out.unknown(subject, "no node with its state is in this list")
                    .at(text)
                    .see("sinfo -N -l; kubectl get nodes");
            }
            None => list(&rows, of, out),
        }
    }
    if out.is_empty() {
        out.not_applicable("no scheduler's state of a node in this source");
    }
}

/// The answer about one node, or nodes that are listed together.
struct Said<'a> {
    subject: String,
    of: &'static str,
    state: &'a str,
    used: Option<bool>,
    reason: Option<&'a str>,
    severity: Severity,
}

fn say(said: &Said<'_>, place: Place, out: &mut Findings) {
    let (subject, of, state) = (Subject::Named(format!("{} in {}", said.subject, said.of)), said.of, said.state);
    let jobs = if of == "Slurm" { "jobs" } else { "pods" };
    match said.used {
        Some(true) => _ = out.pass(subject, format_args!("new {jobs} start on it: {state}")).at(place),
        None => {
            _ = out
                .not_applicable_to(subject, format_args!("{state} does not say whether new {jobs} start on it"))
                .at(place)
        }
        Some(false) => {
            let state = if state.is_empty() { "out of use" } else { state };
            let reason = said.reason.map_or_else(String::new, |r| format!(": {r}"));
            let text = format_args!("no new {jobs} start on it: {state}{reason}");
            let back = if of == "Slurm" { "scontrol show node NAME" } else { "kubectl get node NAME -o json" };
            out.fail(subject, text).severity(said.severity).at(place).fix(|| {
                Remedy::investigate("fix what the reason says, then return the node to use", "why it is out of use")
                    .prove(back)
            });
        }
    }
}

fn record(node: &slurm::Node, place: Place, out: &mut Findings) {
    let Some(state) = &node.state else { return };
    let said = Said {
        subject: node.name.clone(),
        of: "Slurm",
        state: &state.value.join("+"),
        used: slurm::used(&state.value),
        reason: node.reason.as_ref().map(|r| r.value.as_str()),
        severity: Severity::Low,
    };
    say(&said, at(place, state.line), out);
}

fn object(node: &kubernetes::Node, place: Place, out: &mut Findings) {
    let ready = node.conditions.iter().find(|c| c.name == "Ready");
    let is_ready = ready.map(|c| c.status == "True");
    let state = match (is_ready, node.unschedulable) {
        (Some(false), true) => "NotReady,SchedulingDisabled",
        (Some(false), false) => "NotReady",
        (_, true) => "SchedulingDisabled",
        (Some(true), false) => "Ready",
        // Without its conditions nothing says that it is ready.
        (None, false) => return,
    };
    let said = Said {
        subject: node.name.clone(),
        of: "Kubernetes",
        state,
        used: Some(state == "Ready"),
        reason: ready.filter(|c| c.status != "True").and_then(|c| c.reason.as_deref()),
        severity: Severity::Low,
    };
    say(&said, at(place, ready.map_or(0, |c| c.line)), out);
}

impl<'a> Said<'a> {
    fn of_row(r: &'a RowAt) -> Self {
        Said {
            subject: r.row.nodes.clone(),
            of: r.of,
            state: &r.row.state,
            used: r.row.used,
            reason: r.row.reason.as_deref(),
            severity: if r.is_own { Severity::Low } else { Severity::Info },
        }
    }
}

fn list(rows: &[&RowAt], of: &'static str, out: &mut Findings) {
    // Of rows about the same nodes one counts: that which says why they are out of use, else the first that says that they are.
    let mut shown: Vec<&RowAt> = Vec::new();
    for row in rows.iter().filter(|r| r.is_own || r.row.used == Some(false)) {
        let weight = |r: &RowAt| (r.row.used == Some(false), r.row.reason.is_some(), !r.row.state.is_empty());
        let known = shown.iter().position(|t| t.is_own && row.is_own || t.row.nodes == row.row.nodes);
        let has_room = shown.len() < MOST;
        match known.and_then(|at| shown.get_mut(at)) {
            Some(known) if weight(row) > weight(known) => *known = row,
            Some(_) => {}
            None if has_room => shown.push(row),
            None => {
                let text = format_args!("the list has more than {MOST} rows of nodes that {of} does not use");
                out.not_applicable_to(Subject::Named(format!("{of}'s list")), text).at(row.place);
                break;
            }
        }
    }
    if let (true, Some(first)) = (shown.is_empty(), rows.first()) {
        let text = format_args!("no row of {} is of nodes that {of} does not use", rows.len());
        out.pass(Subject::Named(format!("{of}'s list")), text).at(first.place);
    }
    for row in shown {
        say(&Said::of_row(row), row.place, out);
    }
}
