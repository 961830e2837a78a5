//! `ib/local-protection`.

use super::{VERBS, completions, peers};
use crate::answer::Confidence::Likely;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, TROUBLESHOOTING};
use linerate_formats::nccl_log::status::Status;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "ib/local-protection",
    title: "A NIC may not use its own buffer",
    what: "Completion status 4: the NIC could not read or write the local memory of the request.",
    shows: &["`Got completion from peer … with status=4`, `local protection error`"],
    why: "With GPUDirect RDMA that is GPU memory which the NIC does not reach: ACS that redirects to a root complex \
          that drops it, an IOMMU that has no mapping, a stale nvidia-peermem, or memory that was freed.",
    confirm: &[
        "NCCL_NET_GDR_LEVEL=LOC: does it go away?",
        "the kernel's log: IO_PAGE_FAULT, DMAR",
        "`linerate audit`: acs/redirect-on-p2p-path, iommu/translated-domain",
    ],
    refute: &["it fails with GPUDirect RDMA off, too"],
    remedy: Advice::Investigate("Judge the node's ACS and IOMMU: `linerate audit --rule 'acs/*' --rule 'iommu/*'`"),
    sources: &[VERBS, TROUBLESHOOTING],
    severity: Severity::Critical,
    rules: &["acs/redirect-on-p2p-path", "iommu/translated-domain", "iommu/faults", "gpumem/peermem-symbols"],
    follows: &["kernel/iommu-fault", "kernel/xid", "kernel/device-gone"],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let g = completions(c, &[Status::LocalProtection])?;
    let words = format!("a NIC could not use the local buffer{}", peers(g));
    let found =
        Found::new(Likely, words, "the completion says so; ACS, IOMMU and peer memory are what the node must show")
            .with(c.quotes(g));
    Some(
        found
            .scope(c.scope(g.processes.iter().copied()))
            .join(c, &["acs/redirect-on-p2p-path", "iommu/translated-domain", "iommu/faults"]),
    )
}
