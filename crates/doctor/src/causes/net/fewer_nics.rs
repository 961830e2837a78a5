//! `net/fewer-nics`.

use super::{IB_CC, fewer, without_device};
use crate::answer::Confidence::Certain;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found};
use crate::observe::trouble::Trouble;
use linerate_rules::Severity;
use std::collections::BTreeSet;

pub(super) static CAUSE: Cause = Cause {
    id: "net/fewer-nics",
    title: "A node uses fewer NICs than the others",
    what: "One node uses fewer NICs than the others.",
    shows: &[
        "`NET/IB : Using [0]mlx5_0:1/IB …`: the lists of the hosts differ in length",
        "`Detected mixed local Net device counts` (2.28 and later)",
    ],
    why: "A collective is as fast as its slowest node. A node whose port is down, or whose NIC is missing or \
          filtered away, has fewer rails than the others, and all wait for it.",
    confirm: &[
        "`ibv_devinfo | grep -e hca_id -e state` on the node against another node",
        "`linerate audit` on the node: rdma/port-state, rdma/device-present",
    ],
    refute: &["the nodes are built differently"],
    remedy: Advice::Investigate("Find out why the NIC is not active on that node: port state, cable, driver, filter"),
    sources: &[IB_CC],
    severity: Severity::High,
    rules: &["rdma/port-state", "rdma/device-present", "rdma/port-rate"],
    follows: &["net/hca-filter-too-narrow", "ib/nic-not-started"],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let Some((hosts, least, most)) = fewer(c) else { return counts_differ(c) };
    let differing_filter = c.of(&c.o.settings).filter(|(s, _)| c.name(s.name) == "NCCL_IB_HCA").count() > 1;
    let processes: BTreeSet<usize> =
        c.processes().filter(|(_, p)| hosts.iter().any(|h| h == c.name(p.host))).map(|(i, _)| i).collect();
    let lines = c.of(&c.o.devices).filter(|(d, _)| c.name(d.list).split(' ').count() < most).take(1);
    let why = if differing_filter {
        "the lists of NICs differ, and so does NCCL_IB_HCA"
    } else {
        "the lists of NICs that the ranks print differ"
    };
    let words = format!(
        "{} uses {}, most nodes {most}",
        crate::ranges::some(&hosts, 4),
        linerate_formats::counted(least, "NIC", "NICs")
    );
    Some(
        Found::new(Certain, words, why)
            .with(lines.flat_map(|(_, g)| c.quotes(g)))
            .scope(c.scope(processes))
            .join(c, &["rdma/port-state", "rdma/device-present"]),
    )
}

/// NCCL's own count (`src/init.cc`, 2.28 and later), where the lists are not shown.
fn counts_differ(c: &Case<'_>) -> Option<Found> {
    let told = c.failures(
        |t| matches!(t, Trouble::Other(n) if c.name(*n).starts_with("Detected mixed local Net device counts")),
    );
    // A rank without any device is another matter.
    let (_, g) = told.first().filter(|_| without_device(c).is_empty())?;
    let words = "ranks have different numbers of local NICs";
    Some(Found::new(Certain, words, "NCCL compares the counts of the ranks, and stops").with(c.quotes(g)))
}
