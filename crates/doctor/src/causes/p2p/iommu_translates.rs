//! `p2p/iommu-translates`.

use crate::answer::Confidence::Possible;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::trouble::Trouble;
use linerate_formats::nccl_log::Phase;
use linerate_rules::{Severity, Source};

pub(super) static CAUSE: Cause = Cause {
    id: "p2p/iommu-translates",
    title: "The IOMMU may translate the addresses of GPUs and NICs",
    what: "RCCL looks for `iommu=pt` in the kernel's arguments and does not find it. Where an IOMMU is on and translates, \
           traffic between GPUs, or between GPU and NIC, hangs or fails.",
    shows: &["RCCL: `Missing \"iommu=pt\" from kernel command line which can lead to system instablity or hang!`"],
    why: "A GPU that writes to another one's memory, or a NIC, uses physical addresses, which a translating IOMMU does not \
          know. RCCL reads the kernel's arguments alone: the warning is wrong where passthrough is the kernel's default, \
          is set as iommu.passthrough=1, or the IOMMU is off.",
    confirm: &[
        "`cat /sys/kernel/iommu_groups/*/type | sort | uniq -c`: DMA or DMA-FQ for the groups of GPUs and NICs",
        "`linerate audit --rule 'iommu/*'` on the node",
        "NCCL_P2P_DISABLE=1: does the job run then?",
    ],
    refute: &[
        "the groups of GPUs and NICs are `identity`, or there are none",
        "the job runs: RCCL prints the warning all the same",
        "`Missing \"amd_iommu=on\"` alone: the kernel knows no such value, an AMD IOMMU is on by default",
    ],
    remedy: Advice::Investigate(
        "See which domain GPUs and NICs are in (/sys/kernel/iommu_groups/*/type); where it is DMA or DMA-FQ on a host without SEV-SNP, add iommu=pt (x86; iommu.passthrough=1 on Arm) and restart the node",
    ),
    sources: &[
        nccl("RCCL, src/init.cc: ncclInit", "https://github.com/ROCm/rccl/blob/develop/src/init.cc"),
        REPORT,
        nccl("RCCL reads the kernel's arguments alone (report)", "https://github.com/ROCm/rocm-systems/issues/7916"),
    ],
    severity: Severity::Medium,
    rules: &["iommu/translated-domain"],
    follows: &[],
    check,
};

const REPORT: Source =
    nccl("RCCL: a hang between GPUs that ended with iommu=pt (report)", "https://github.com/ROCm/rccl/issues/1129");

fn check(c: &Case<'_>) -> Option<Found> {
    let warned =
        |t: &Trouble| matches!(t, Trouble::Other(n) if c.name(*n).starts_with("Missing \"iommu=pt\" from kernel"));
    let g = c.failure(warned)?;
    // A job that ended in order, and a node that does not translate.
    let ended = c.ranks().any(|r| r.phase == Some(Phase::Destroyed));
    if ended || c.nodes.iter().any(|n| n.passes("iommu/translated-domain")) {
        return None;
    }
    let words = "RCCL finds no iommu=pt among the kernel's arguments: an IOMMU may translate what GPUs and NICs access";
    let why = "RCCL reads the arguments alone; /sys/kernel/iommu_groups/*/type decides";
    Some(Found::new(Possible, words, why).shown(c, g).join(c, &["iommu/translated-domain"]))
}
