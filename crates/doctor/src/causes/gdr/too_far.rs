//! `gdr/too-far`.

use super::PATHS_CC;
use super::distance::{distance_words, is_low, low_limit};
use super::seen::{incapable_processes, is_grace, lacking, missing, seen};
use crate::answer::Confidence::{Certain, Likely};
use crate::answer::Evidence;
use crate::case::Case;
use crate::causes::{Advice, Cause, ENV_RST, Found};
use crate::observe::Pair;
use crate::observe::groups::Group;
use linerate_rules::Severity;
use linerate_topology::gdr::GdrReason;

pub(super) static CAUSE: Cause = Cause {
    id: "gdr/too-far",
    title: "GPU and NIC are further apart than NCCL allows for GPUDirect RDMA",
    what: "GPU and NIC are further apart than NCCL allows for GPUDirect RDMA.",
    shows: &[
        "`GPU Direct RDMA Disabled for GPU … / HCA … (distance 6 > 4)`",
        "connections `via NET/IB/…` without /GDRDMA although the NICs support it",
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
        let found = Found::new(Certain, words, "NCCL prints the decision for the pair")
            .with(c.quotes(g).into_iter().take(2))
            .with(lacking(c))
            .scope(c.scope(hit));
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
    // The NIC can, no switch in the environment: what is left is the distance.
    let capable = c.of(&c.o.gdr_nics).any(|(nic, _)| nic.able);
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
