//! `gdr/default-off-behind-cpu`.

use super::PATHS_CC;
use super::seen::{incapable, is_grace, lacking, missing};
use crate::answer::Confidence::{Certain, Likely};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found};
use linerate_rules::{Severity, Source};

pub(super) static CAUSE: Cause = Cause {
    id: "gdr/default-off-behind-cpu",
    title: "On Grace machines NCCL before 2.27 uses no GPUDirect RDMA by default",
    what: "On Grace machines NCCL before 2.27 copies through host memory by default.",
    shows: &[
        "GH200, GB200 or GB300 in a benchmark's header, or a path over C2C",
        "connections `via NET/IB/…` without /GDRDMA, and a release before 2.27",
    ],
    why: "There GPU and NIC meet in the CPU (GPU, C2C, CPU, PCIe, NIC), which NCCL counts as PHB or further. NCCL to \
          2.25 then copies by design; 2.26 has NCCL_NET_GDR_C2C (off), 2.27 has it on.",
    confirm: &["NCCL 2.27 or later, or NCCL_NET_GDR_LEVEL=SYS (NCCL_NET_GDR_C2C=1 in 2.26), and the same benchmark"],
    refute: &["the machine is not a Grace"],
    remedy: Advice::Environment(
        "Use NCCL 2.27 or later; until then NCCL_NET_GDR_LEVEL=SYS, measured",
        &["NCCL_NET_GDR_LEVEL=SYS"],
        &[],
    ),
    sources: &[PATHS_CC, Source { title: "NCCL issue 1579", at: "https://github.com/NVIDIA/nccl/issues/1579" }],
    severity: Severity::Medium,
    rules: &["iommu/arm-peer-to-peer"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let hit = missing(c);
    if hit.is_empty()
        || !is_grace(c)
        || c.since(27) == Some(true)
        || c.env("NCCL_NET_GDR_LEVEL").is_some()
        || !incapable(c).is_empty()
    {
        return None;
    }
    let sure = if c.since(27) == Some(false) { Certain } else { Likely };
    let words = "GPU and NIC meet in the Grace CPU, where this release uses no GPUDirect RDMA by default";
    Some(
        Found::new(sure, words, "the machine is a Grace, the release is before 2.27, and connections lack /GDRDMA")
            .with(lacking(c)),
    )
}
