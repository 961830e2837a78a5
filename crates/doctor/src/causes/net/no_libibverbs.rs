//! `net/no-libibverbs`.

use super::{IB_CC, socket_lines};
use crate::answer::Confidence::{Certain, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found};
use crate::observe::trouble::Trouble;
use linerate_rules::Severity;
use std::collections::BTreeSet;

pub(super) static CAUSE: Cause = Cause {
    id: "net/no-libibverbs",
    title: "libibverbs cannot be opened",
    what: "NCCL cannot open libibverbs.so, so it has neither InfiniBand nor RoCE, whatever the host has.",
    shows: &["`Failed to open libibverbs.so`", "`Using network Socket` in the same process"],
    why: "NCCL opens the library at run time, and the image lacks it. On machines without RDMA the line is in every \
          log and means nothing.",
    confirm: &[
        "in the container: `ldconfig -p | grep libibverbs`",
        "install rdma-core's libibverbs1 and ibverbs-providers in the image and run again",
    ],
    refute: &["`NET/IB : Using …` in the same process", "the nodes have no RDMA NIC: then sockets are what there is"],
    remedy: Advice::Software("Install libibverbs1 and ibverbs-providers (rdma-core) in the image"),
    sources: &[IB_CC],
    severity: Severity::High,
    rules: &[],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let found = c.failures(|t| matches!(t, Trouble::Library(n) if c.name(*n).contains("libibverbs")));
    let (_, g) = found.first()?;
    let hit: BTreeSet<usize> = g.processes.iter().copied().filter(|p| c.job.processes.contains(p)).collect();
    if !hit.is_empty() && hit.is_subset(&c.rdma_processes()) || c.multi_node() == Some(false) && !c.failed() {
        return None;
    }
    let words = "libibverbs cannot be opened, so there is no InfiniBand or RoCE for NCCL";
    let found = |sure, why: &str| {
        Found::new(sure, words, why).with(c.quotes(g)).with(socket_lines(c)).scope(c.scope(hit.clone()))
    };
    // A machine without RDMA has no use for the library: the line is in the log of every job there, and they run.
    match wants_rdma(c) {
        Some(why) => Some(found(Certain, &format!("the log says so, and {why}"))),
        None if c.multi_node() == Some(true) => {
            let why =
                "the log says so; whether these nodes have RDMA is not shown, and where they have none, this is right";
            Some(found(Possible, why).severity(Severity::Medium))
        }
        None => None,
    }
}

/// What shows that there is RDMA to be used, or that the job asks for it.
fn wants_rdma(c: &Case<'_>) -> Option<&'static str> {
    let mut settings = c.of(&c.o.settings).map(|(s, _)| (c.name(s.name), c.name(s.value)));
    let asked = |(name, value): (&str, &str)| match name {
        "NCCL_IB_DISABLE" => value.trim() == "0",
        "NCCL_NET" => value.trim().eq_ignore_ascii_case("IB"),
        name => name.starts_with("NCCL_IB_") || name.starts_with("NCCL_NET_GDR_") || name == "FI_PROVIDER",
    };
    if settings.any(asked) {
        return Some("the environment prepares for RDMA");
    }
    if !c.rdma_processes().is_empty() {
        return Some("other ranks of the job use RDMA");
    }
    if c.nodes.iter().any(|n| n.node.rdma.known().is_some_and(|d| !d.is_empty())) {
        return Some("the node has RDMA devices");
    }
    // `[0]ib0:10.0.0.1<0>`, `ibp24s0`: IP over InfiniBand.
    let is_ib = |word: &str| {
        let name = word.strip_prefix("ib").and_then(|rest| rest.bytes().next());
        name.is_some_and(|b| b.is_ascii_digit() || matches!(b, b'p' | b's'))
    };
    let listed = c.of(&c.o.devices).flat_map(|(_, g)| &g.quotes).flat_map(|q| q.text.split([' ', ']']));
    let bootstrap = c.processes().filter_map(|(_, p)| p.bootstrap).flat_map(|b| c.name(b.name).split([' ', ']']));
    if listed.chain(bootstrap).any(is_ib) {
        return Some("an interface of the host is InfiniBand's");
    }
    None
}
