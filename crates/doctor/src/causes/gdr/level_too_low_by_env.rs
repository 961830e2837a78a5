//! `gdr/level-too-low-by-env`.

use super::PATHS_CC;
use super::distance::{is_low, low_limit};
use super::seen::{incapable, incapable_processes, lacking, missing, seen};
use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, ENV_RST, Found};
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "gdr/level-too-low-by-env",
    title: "NCCL_NET_GDR_LEVEL is below what the machine needs",
    what: "NCCL_NET_GDR_LEVEL is set below the distance between GPU and NIC, so they do not talk directly.",
    shows: &[
        "`NCCL_NET_GDR_LEVEL set by environment to LOC`",
        "`GPU Direct RDMA Disabled for GPU … (distance 4 > 2)` with a limit below PXB",
        "connections `via NET/IB/…` without /GDRDMA",
    ],
    why: "NCCL_NET_GDR_LEVEL is the greatest distance between GPU and NIC at which they talk directly. LOC (0) \
          switches GPUDirect RDMA off, PIX (1) allows it below one PCIe switch only. The default is PXB. Numbers are \
          of an old scale: 0 LOC, 1 PIX, 2 PXB, 3 PHB, 4 SYS.",
    confirm: &["unset NCCL_NET_GDR_LEVEL", "`linerate topo --explain GPU0 mlx5_0` on the node shows the distance"],
    refute: &["connections lack /GDRDMA without the variable, too"],
    remedy: Advice::Environment("Unset NCCL_NET_GDR_LEVEL", &[], &["NCCL_NET_GDR_LEVEL"]),
    sources: &[ENV_RST, PATHS_CC],
    severity: Severity::High,
    rules: &["numa/no-shared-switch"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let set = c.env("NCCL_NET_GDR_LEVEL").filter(|(v, _)| is_low(v));
    let Some((value, g)) = set else {
        // The limit that NCCL prints is below its default: somebody set it, though the line that says so is not here.
        let (limit, g) = low_limit(c).filter(|_| c.env("NCCL_NET_GDR_LEVEL").is_none())?;
        let words = format!("the limit for GPUDirect RDMA is {limit}: NCCL_NET_GDR_LEVEL is set below the default");
        let why = "NCCL prints the limit with its decision, and it is below PXB";
        return Some(Found::new(Likely, words, why).with(c.quotes(g).into_iter().take(2)).with(lacking(c)));
    };
    let s = seen(c);
    let hit = missing(c);
    if s.any && hit.is_empty()
        || !incapable(c).is_empty() && incapable_processes(c).is_superset(&hit) && !hit.is_empty()
    {
        return None;
    }
    let disabled = c.of(&c.o.pairs).find(|(p, _)| p.is_too_far());
    let sure = if s.any {
        Certain
    } else if disabled.is_some() {
        Likely
    } else {
        Possible
    };
    let lines = disabled.iter().flat_map(|(_, g)| c.first_quote(g)).collect::<Vec<_>>();
    let words = format!("NCCL_NET_GDR_LEVEL={value} keeps GPUs and NICs from talking directly");
    Some(
        Found::new(sure, words, "the limit is set below the default, and connections lack /GDRDMA")
            .with(c.quotes(g))
            .with(lines)
            .with(lacking(c))
            .scope(c.scope(hit)),
    )
}
