//! `net/hca-filter-matches-nothing`.

use super::{IB_CC, disabled, no_device_lines, socket_lines, verbs_missing, without_device};
use crate::answer::Confidence::{Certain, Likely};
use crate::case::Case;
use crate::causes::{Advice, Cause, ENV_RST, Found};
use linerate_env::NodeFacts;
use linerate_node::nccl::Filter;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "net/hca-filter-matches-nothing",
    title: "NCCL_IB_HCA matches no NIC of the node",
    what: "NCCL_IB_HCA selects NICs by name, and no active NIC matches. NCCL finds no device and goes on with \
           sockets, or stops.",
    shows: &[
        "`NCCL_IB_HCA set by environment to …`",
        "`NET/IB : No device found.`",
        "with a node: its active NICs, none of which the filter names",
    ],
    why: "The names in the variable are prefixes (`=` exact, `^` exclude). A filter from another machine, or from \
          before NICs were renamed, names nothing here.",
    confirm: &["`ibv_devices` on the node against the variable", "unset NCCL_IB_HCA: NICs are found"],
    refute: &["no NIC is found without the variable either"],
    remedy: Advice::Environment(
        "Name NICs that exist: NCCL_IB_HCA==mlx5_0,mlx5_1,… or unset it",
        &[],
        &["NCCL_IB_HCA"],
    ),
    sources: &[ENV_RST, IB_CC],
    severity: Severity::High,
    rules: &["rdma/device-present", "rdma/port-state"],
    follows: &["ib/nic-not-started"],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let (value, g) = c.env("NCCL_IB_HCA")?;
    let without = without_device(c);
    if without.is_empty() || disabled(c) || verbs_missing(c) || c.multi_node() == Some(false) {
        return None;
    }
    // The same filter finds NICs on other hosts: then the NICs are missing here, not the names wrong.
    if c.rdma_processes().iter().any(|p| !without.contains(p) && g.processes.contains(p)) {
        return None;
    }
    let filter = Filter::parse(value);
    let facts: Vec<NodeFacts> = c.nodes.iter().map(|n| NodeFacts::of(&n.node)).collect();
    let nics = || facts.iter().flat_map(|f| f.nics.iter().flatten());
    let (sure, why) = if nics().next().is_none() {
        (Likely, "a filter is set and no device is found; a node without any device would look the same".to_owned())
    } else if nics().any(|n| n.taken_by(&filter)) {
        return None;
    } else {
        let names: Vec<&str> = nics().map(|n| n.name.as_str()).collect();
        (Certain, format!("the node has {} and the filter names no active port of them", names.join(", ")))
    };
    let words = format!("NCCL_IB_HCA={value} matches no active NIC");
    Some(
        Found::new(sure, words, why)
            .with(c.quotes(g))
            .with(no_device_lines(c))
            .with(socket_lines(c))
            .scope(c.scope(without)),
    )
}
