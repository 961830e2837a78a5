//! Whether a node that was read again is the one that a plan was made for.

use crate::model::{NodeId, Plan};
use crate::plan::node_id;
use linerate_snapshot::{Snapshot, boot_digest};
use serde::Serialize;

/// Whether it is the same machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "same", content = "why", rename_all = "kebab-case")]
pub enum Identity {
    /// It is: by its machine id, or by the boot that both were read in.
    Yes(String),
    /// It is another one: in one sentence, which.
    No(String),
    /// It cannot be decided: why.
    Unknown(String),
}

/// Whether a snapshot is of the node of a plan, and so is the one from before.
#[must_use]
pub fn identity(plan: &Plan, before: Option<&Snapshot>, after: &Snapshot) -> Identity {
    let now = node_id(after);
    let of_plan = compare("the plan was made for", &plan.node, &now, "what was read is");
    let of_before = before.map(|b| compare("the snapshot from before is of", &node_id(b), &now, "what was read is"));
    match (of_plan, of_before) {
        (no @ Identity::No(_), _) | (_, Some(no @ Identity::No(_))) => no,
        (of_plan, _) => of_plan,
    }
}

/// By what decides, in this order: the machine id, the boot, the name.
fn compare(what: &str, then: &NodeId, now: &NodeId, then_now: &str) -> Identity {
    let name = |n: &NodeId| match (&n.host, n.redacted) {
        (Some(host), false) => host.clone(),
        _ => "a node whose name is not shown".to_owned(),
    };
    let other = |by: &str| {
        Identity::No(format!("{what} {}, {then_now} {}: another machine, by its {by}", name(then), name(now)))
    };
    match (&then.machine, &now.machine) {
        (Some(a), Some(b)) if a == b => return Identity::Yes("the machine id is the same".to_owned()),
        (Some(_), Some(_)) => return other("machine id"),
        _ => {}
    }
    // Plans of earlier versions hold the id itself.
    let boot = |n: &NodeId| n.boot.as_deref().map(boot_digest);
    if then.boot.is_some() && boot(then) == boot(now) {
        return Identity::Yes("both were read in the same boot".to_owned());
    }
    let redacted = match (then.redacted, now.redacted) {
        (false, false) => None,
        (true, false) => Some("the plan's source is redacted"),
        (false, true) => Some("what was read is redacted"),
        (true, true) => Some("both sources are redacted"),
    };
    if let Some(which) = redacted {
        return Identity::Unknown(format!(
            "{which}, and a redacted snapshot shows neither machine id nor name: collect with --no-redact"
        ));
    }
    match (&then.host, &now.host) {
        (Some(a), Some(b)) if a != b => other("name; no machine id is shown"),
        (Some(_), Some(_)) => Identity::Unknown(
            "the name is the same, and one of the two shows no machine id (/etc/machine-id)".to_owned(),
        ),
        _ => Identity::Unknown("one of the two shows neither machine id (/etc/machine-id) nor name".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(host: &str, machine: &str, boot: &str, redacted: bool) -> NodeId {
        let some = |s: &str| (!s.is_empty()).then(|| s.to_owned());
        NodeId { host: some(host), machine: some(machine), boot: some(boot), redacted, ..NodeId::default() }
    }

    fn of(then: &NodeId, now: &NodeId) -> &'static str {
        match compare("the plan was made for", then, now, "this is") {
            Identity::Yes(_) => "yes",
            Identity::No(_) => "no",
            Identity::Unknown(_) => "unknown",
        }
    }

    #[test]
    fn the_machine_id_decides_then_the_boot_then_the_name() {
        let a = id("n1", "m1", "b1", false);
        for (now, wanted) in [
            (id("n1", "m1", "b2", false), "yes"),
            (id("renamed", "m1", "b2", false), "yes"),
            (id("n1", "m2", "b2", false), "no"),
            (id("n1", "", "b1", false), "yes"),
            (id("n2", "", "b2", false), "no"),
            (id("n1", "", "b2", false), "unknown"),
            (id("", "", "", false), "unknown"),
            (id("host-1", "", "b2", true), "unknown"),
            (id("host-1", "", "b1", true), "yes"),
        ] {
            assert_eq!(of(&a, &now), wanted, "{now:?}");
        }
    }
}
