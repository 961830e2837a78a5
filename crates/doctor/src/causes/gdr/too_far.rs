//! `gdr/too-far`.

use super::PATHS_CC;
use super::distance::{distance_words, is_low, low_limit};
use super::seen::{incapable_processes, is_grace, lacking, missing, seen};
use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::answer::Evidence;
use crate::case::Case;
use crate::causes::{Advice, Cause, ENV_RST, Found};
use crate::observe::Pair;
use crate::observe::groups::Group;
use crate::observe::keys::Near;
use linerate_formats::nccl_log::graph;
use linerate_rules::Severity;
use linerate_topology::gdr::GdrReason;

pub(super) static CAUSE: Cause = Cause {
    id: "gdr/too-far",
    title: "GPU and NIC are further apart than NCCL allows for GPUDirect RDMA",
    what: "GPU and NIC are further apart than NCCL allows for GPUDirect RDMA.",
    shows: &[
        "`GPU Direct RDMA Disabled for GPU … / HCA … (distance 6 > 4)`",
        "connections `via NET/IB/…` without /GDRDMA although the NICs support it",
        "the table of paths that NCCL prints with NCCL_DEBUG_SUBSYS=GRAPH: `GPU/… :… NET/0 (5/24.0/PHB)`",
        "with a node: the distance in its topology",
    ],
    why: "By default NCCL lets GPU and NIC talk directly across PCIe switches (PXB), not through a CPU's root \
          complex (PHB) nor across sockets (SYS). On machines without switches, each device behind its own root \
          port, that means never. The numbers in `distance 6 > 4` mean different distances in different releases. \
          NCCL looks at neither the IOMMU nor ACS.",
    confirm: &[
        "`linerate topo --explain GPU0 mlx5_0` on the node",
        "`nvidia-smi topo -m`: PHB, NODE or SYS between the GPU and the NIC that it uses",
        "NCCL_NET_GDR_LEVEL=PHB and a benchmark: it gains on most recent EPYC machines, and may lose on old root complexes",
    ],
    refute: &["`GPU Direct RDMA Disabled for HCA`: then the NIC cannot at all"],
    remedy: Advice::Environment(
        "On hardware where all pairs are PHB apart in one NUMA node: NCCL_NET_GDR_LEVEL=PHB, and measure; in a virtual machine the host's virtual switches or a topology file",
        &["NCCL_NET_GDR_LEVEL=PHB"],
        &[],
    ),
    sources: &[PATHS_CC, ENV_RST],
    severity: Severity::High,
    rules: &["numa/no-shared-switch", "numa/cross-socket-nic", "topo/virtual-hides-affinity", "topo/flat-guest"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    if c.env("NCCL_NET_GDR_LEVEL").is_some_and(|(v, _)| is_low(v))
        || low_limit(c).is_some()
        || is_grace(c) && c.since(27) != Some(true)
    {
        return None;
    }
    let s = seen(c);
    let mut hit = missing(c);
    let unable = incapable_processes(c);
    hit.retain(|p| !unable.contains(p));
    let all: Vec<(Pair, &Group)> = c.of(&c.o.pairs).collect();
    let far = all.iter().find(|(p, _)| p.is_too_far());
    let near_too = all.iter().any(|(p, _)| p.enabled);
    let far_here = |r: &GdrReason| matches!(r, GdrReason::TooFar { .. });
    let joined: Vec<String> = c.nodes.iter().flat_map(|n| n.not_direct(far_here)).collect();
    if s.any && hit.is_empty() {
        return None;
    }
    if let Some((p, g)) = far {
        // Far pairs are normal where near ones exist: then only connections tell.
        if !s.any && (near_too || !unable.is_empty()) {
            return None;
        }
        let what = distance_words(c, p, g).map_or_else(
            || {
                format!(
                    "{} with a limit of {}, on a scale that depends on the release, which is not shown",
                    p.distance, p.limit
                )
            },
            |(far, limit)| format!("{far} apart, and {limit} is the limit"),
        );
        let words = format!("GPU and NIC are {what}");
        // Other pairs may be in lines that are missing here, and near: connections tell.
        let (sure, why) = if s.any || !joined.is_empty() {
            (Certain, "NCCL prints the decision for the pair")
        } else {
            (Possible, "NCCL prints the decision for the pair; whether a connection uses it, these lines do not show")
        };
        let found =
            Found::new(sure, words, why).with(c.quotes(g).into_iter().take(2)).with(lacking(c)).scope(c.scope(hit));
        return Some(node_words(found, c, &joined));
    }
    if let Some(first) = joined.first().filter(|_| s.any) {
        let found = Found::new(
            Certain,
            first.clone(),
            "the node's own topology, by NCCL's rules, says so; the connections agree",
        )
        .with(lacking(c))
        .scope(c.scope(hit));
        return Some(node_words(found, c, &joined));
    }
    let capable = c.of(&c.o.gdr_nics).any(|(nic, _)| nic.able);
    if unable.is_empty()
        && all.is_empty()
        && let Some(found) = by_table(c, s.any, capable)
    {
        return Some(found.with(lacking(c)).scope(c.scope(hit)));
    }
    // The NIC can, no switch in the environment: what is left is the distance.
    let node_denies = c.nodes.iter().any(|n| !n.not_direct(|r| matches!(r, GdrReason::NicLacksGdr { .. })).is_empty());
    // A node that was given and would talk directly: then it is not the distance, or not this node.
    let node_allows = c.nodes.iter().any(|n| n.all_direct() == Some(true));
    if s.any && capable && unable.is_empty() && !node_denies && !node_allows {
        let why = "the NICs can use GPU memory and no variable forbids it: only the distance is left; this release does not print it";
        return Some(
            Found::new(Likely, "connections lack /GDRDMA although the NICs can: GPU and NIC are too far apart", why)
                .with(lacking(c))
                .scope(c.scope(hit)),
        );
    }
    None
}

/// What NCCL's table of paths shows, where no level is set. `lacks`: connections lack GPUDirect RDMA; otherwise none are shown.
fn by_table<'a>(c: &Case<'a>, lacks: bool, capable: bool) -> Option<Found> {
    let may_matter = lacks || c.multi_node() == Some(true) && c.socket_processes().is_empty();
    if !may_matter || c.env("NCCL_NET_GDR_LEVEL").is_some() {
        return None;
    }
    let near: Vec<(Near, &'a Group)> = c.of(&c.o.near).collect();
    let is_far = |n: &Near| matches!(c.name(n.kind), "PHB" | "SYS");
    let (first, g) = near.iter().find(|(n, _)| is_far(n))?;
    let far = near.iter().filter(|(n, _)| is_far(n)).count();
    let gpu = graph::address(c.name(first.gpu)).map_or_else(|| c.name(first.gpu).to_owned(), |a| a.to_string());
    let which = if far < near.len() { format!(" ({far} of {} GPUs are so)", near.len()) } else { String::new() };
    let words = format!(
        "the NIC nearest to GPU {gpu}, {}, is {} apart{which}; by default NCCL uses GPUDirect RDMA up to PXB",
        c.name(first.net),
        c.name(first.kind)
    );
    let (confidence, because) = match (lacks, capable) {
        (true, true) => {
            (Certain, "NCCL's own table of paths says so; the NICs can use GPU memory, and the connections lack it")
        }
        (true, false) => (Likely, "NCCL's own table of paths says so, and the connections lack it"),
        (false, true) => (Likely, "NCCL's own table of paths says so; no connection is shown"),
        (false, false) => {
            (Possible, "NCCL's own table of paths says so; neither a connection nor what the NICs can is shown")
        }
    };
    Some(Found::new(confidence, words, because).with(c.quotes(g).into_iter().take(2)))
}

/// Adds what the node's topology says.
fn node_words(mut found: Found, c: &Case<'_>, joined: &[String]) -> Found {
    for n in c.nodes.iter().take(2) {
        let lines = joined.iter().take(3).map(|text| Evidence { at: n.name.to_owned(), text: text.clone() });
        found.evidence.extend(lines);
        if let Some(kind) = n.too_far() {
            found.because = format!("{}; the node's topology has them {kind} apart", found.because);
        }
    }
    found
}
