//! `gdr/no-peer-memory`.

use super::GDR_CC;
use super::seen::{incapable, incapable_processes, lacking, missing, seen, works};
use crate::answer::Confidence::{Certain, Likely};
use crate::answer::Evidence;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, TROUBLESHOOTING};
use crate::observe::trouble::ToolTrouble;
use linerate_rules::Severity;
use linerate_topology::gdr::GdrReason;

pub(super) static CAUSE: Cause = Cause {
    id: "gdr/no-peer-memory",
    title: "Neither nvidia-peermem nor DMA-BUF lets the NIC use GPU memory",
    what: "NICs cannot register GPU memory: neither a peer-memory module nor DMA-BUF is available. All data is \
           copied through host memory.",
    shows: &[
        "`GPU Direct RDMA Disabled for HCA …`",
        "`neither nv_peer_mem, or nvidia_peermem detected` of NVSHMEM",
        "connections `via NET/IB/…` without /GDRDMA",
    ],
    why: "NCCL asks for each NIC whether GPU memory can be registered: by the file of a peer-memory module \
          (nv_peer_mem, nvidia-peermem), or by DMA-BUF (NCCL 2.13, open GPU driver, kernel 5.12 or later, CUDA \
          driver 11.7, a NIC driver that supports it). The log does not show which of the conditions is missing; the \
          node does.",
    confirm: &[
        "on the node: `ls /sys/module/nvidia_peermem/version /sys/kernel/mm/memory_peers/*/version`",
        "`linerate audit` on the node: gpumem/registration-path, gpumem/open-module, gpumem/peermem-symbols",
        "in a container: is the host's /sys visible?",
    ],
    refute: &["`GPU Direct RDMA Enabled for HCA` for the same NIC, or connections with /GDRDMA"],
    remedy: Advice::Investigate(
        "gpumem/registration-path on the node says which way is open: DMA-BUF (open GPU driver, Turing or later, kernel 5.12, a NIC driver that takes it), or nvidia-peermem at each boot, \
             which needs MLNX_OFED or DOCA-OFED. Volta or Pascal with ConnectX-3, GeForce and DGX Spark have neither",
    ),
    sources: &[GDR_CC, TROUBLESHOOTING],
    severity: Severity::High,
    rules: NO_PEER_MEMORY_RULES,
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    if c.env_number("NCCL_DMABUF_ENABLE").is_some_and(|(v, _)| v == 0) && c.since(13) != Some(false) {
        return None;
    }
    let groups = incapable(c);
    let lacking_here = |r: &GdrReason| matches!(r, GdrReason::NicLacksGdr { .. });
    let joined: Vec<(&str, String)> =
        c.nodes.iter().flat_map(|n| n.not_direct(lacking_here).into_iter().map(|w| (n.name, w))).collect();
    let lacks = missing(c);
    if let (true, Some((node, words)), false) = (groups.is_empty(), joined.first(), lacks.is_empty()) {
        let why = "the node's own state says so, and the connections agree";
        let line = Evidence { at: (*node).to_owned(), text: words.clone() };
        let found = Found::new(Certain, "the node has neither nvidia-peermem nor DMA-BUF for its NICs", why);
        return Some(found.with([line]).with(lacking(c)).scope(c.scope(lacks)).join(c, NO_PEER_MEMORY_RULES));
    }
    if let (true, Some((_, g))) = (groups.is_empty(), c.tools(|t| matches!(t, ToolTrouble::NoPeerMemory)).first()) {
        if works(c) {
            return None;
        }
        let why = "a program that uses NICs with GPU memory looked for both, and says so";
        return Some(
            Found::new(Likely, "neither DMA-BUF nor a peer-memory module serves here", why)
                .with(c.quotes(g))
                .join(c, NO_PEER_MEMORY_RULES),
        );
    }
    let first = groups.first()?;
    let hit = incapable_processes(c);
    let s = seen(c);
    // Where connections show it nevertheless (an external plugin), the line is about something else.
    if hit.is_empty()
        || c.multi_node() == Some(false)
        || s.any && hit.is_subset(&s.with)
        || c.rdma_processes().is_disjoint(&hit) && !(c.rdma_processes().is_empty() && c.socket_processes().is_empty())
    {
        return None;
    }
    let alone = hit.len() < c.rdma_processes().len();
    let words = if alone {
        "NICs cannot use GPU memory here, though they can elsewhere in the job"
    } else {
        "NICs cannot use GPU memory: no peer-memory module and no DMA-BUF"
    };
    // Without the line that names the network it may be another one that is used.
    let sure = if c.rdma_processes().is_empty() { Likely } else { Certain };
    let found = Found::new(sure, words, "NCCL says so for each NIC; the node shows which condition is missing");
    Some(
        found
            .with(c.quotes(first).into_iter().take(2))
            .with(lacking(c))
            .scope(c.scope(hit))
            .join(c, NO_PEER_MEMORY_RULES),
    )
}

const NO_PEER_MEMORY_RULES: &[&str] = &[
    "gpumem/registration-path",
    "gpumem/open-module",
    "gpumem/peermem-symbols",
    "gpumem/peermem-visible-to-nccl",
    "gpumem/peermem-inbox",
];
