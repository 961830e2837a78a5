//! `net/hca-filter-too-narrow`.

use super::{fewer, lists};
use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, ENV_RST, Found};
use linerate_env::NodeFacts;
use linerate_node::nccl::Filter;
use linerate_rules::Severity;
use std::collections::{BTreeMap, BTreeSet};

pub(super) static CAUSE: Cause = Cause {
    id: "net/hca-filter-too-narrow",
    title: "NCCL_IB_HCA leaves NICs unused",
    what: "NCCL_IB_HCA leaves NICs unused that are near GPUs.",
    shows: &[
        "`NCCL_IB_HCA set by environment to …`",
        "`NET/IB : Using …` lists fewer NICs than other hosts, or than the node has near its GPUs",
    ],
    why: "With fewer NICs than GPUs per node the rails that are left out carry nothing. A filter copied from another \
          machine is the usual reason.",
    confirm: &["`ibv_devices` and `nvidia-smi topo -m` on the node: which NICs are near GPUs and are not in the list"],
    refute: &["the NICs that are left out belong to storage or management"],
    remedy: Advice::Environment("Name all compute NICs: NCCL_IB_HCA==mlx5_0,mlx5_1,…", &[], &["NCCL_IB_HCA"]),
    sources: &[ENV_RST],
    severity: Severity::High,
    rules: &["numa/no-shared-switch", "numa/cross-socket-nic"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let (value, g) = c.env("NCCL_IB_HCA").filter(|(v, _)| !v.starts_with('^'))?;
    let filter = Filter::parse(value);
    let by_host = lists(c);
    let used = by_host.values().map(BTreeSet::len).min().filter(|n| *n > 0)?;
    for n in c.nodes {
        let facts = NodeFacts::of(&n.node);
        let Some(chosen) = facts.select(&filter).filter(|s| !s.left.is_empty()) else { continue };
        let left: Vec<String> = chosen.left.iter().map(|n| n.name.clone()).collect();
        let words = format!("NCCL_IB_HCA={value} leaves out {} of {}", crate::ranges::some(&left, 4), n.name);
        return Some(
            Found::new(Likely, words, "these NICs are active, nearest to a GPU, and not in the list").with(c.quotes(g)),
        );
    }
    // What the list takes wherever it is used, it does not leave out here.
    let leaves_out = |nic: &&str| {
        let (name, rest) = nic.split_once(':').unwrap_or((nic, ""));
        !filter.takes(name, rest.split('/').next().and_then(|p| p.parse().ok()))
    };
    if fewer(c).is_some() && !by_host.values().flatten().any(leaves_out) {
        return None;
    }
    // Another host of the job, with another filter, uses more.
    if let Some((hosts, least, most)) = fewer(c) {
        let differing = c.of(&c.o.settings).filter(|(s, _)| c.name(s.name) == "NCCL_IB_HCA").count() > 1;
        let has_less =
            g.processes.iter().filter_map(|p| c.o.process(*p)).all(|p| hosts.iter().any(|h| h == c.name(p.host)));
        if differing || has_less && g.processes.len() < c.job.processes.len() {
            let words = format!(
                "NCCL_IB_HCA={value} leaves {} to {}, while others use {most}",
                linerate_formats::counted(least, "NIC", "NICs"),
                crate::ranges::some(&hosts, 3)
            );
            return Some(
                Found::new(Certain, words, "the filter differs, and so does the number of NICs").with(c.quotes(g)),
            );
        }
        return None;
    }
    // A driver's prefix takes all there are.
    if !filter.entries.iter().all(linerate_node::nccl::Entry::names_one) {
        return None;
    }
    // More NICs may follow where the end of a list is missing.
    if c.processes().any(|(_, p)| p.nics.is_some_and(|n| n.cut)) {
        return None;
    }
    let gpus = gpus_per_host(c)?;
    if gpus < 4 || used * 2 > gpus {
        return None;
    }
    let words =
        format!("NCCL_IB_HCA={value}: {} for {gpus} GPUs per node", linerate_formats::counted(used, "NIC", "NICs"));
    let why = "nodes with so many GPUs usually have a NIC for every one or two of them; the log does not show what the node has";
    Some(Found::new(Possible, words, why).with(c.quotes(g)))
}

/// Ranks per host of the largest communicator.
fn gpus_per_host(c: &Case<'_>) -> Option<usize> {
    let world = c.job.world()?;
    let mut by_host: BTreeMap<&str, usize> = BTreeMap::new();
    for r in world.members.values().filter_map(|r| c.o.ranks.all.get(*r)) {
        *by_host.entry(c.o.process(r.process).map_or("", |p| c.name(p.host))).or_default() += 1;
    }
    by_host.values().copied().max()
}
