//! `ib/remote-access`.

use super::{VERBS, completions, peers};
use crate::answer::Confidence::Likely;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found};
use linerate_formats::nccl_log::status::Status;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "ib/remote-access",
    title: "The peer's NIC refused the address or the key",
    what: "Completion status 10 (or 11): the peer's NIC got the request and could not carry it out.",
    shows: &["`Got completion from peer … with status=10`, `remote access error`, `remote operation error`"],
    why: "The peer's memory is not registered for its NIC any more, or is GPU memory that the NIC does not reach \
          (ACS, IOMMU, stale nvidia-peermem).",
    confirm: &["the peer's own log and its kernel's log at that time", "NCCL_NET_GDR_LEVEL=LOC: does it go away?"],
    refute: &["the peer failed before"],
    remedy: Advice::Investigate("Read the peer's log; judge ACS and IOMMU on its node"),
    sources: &[VERBS],
    severity: Severity::Critical,
    rules: &["acs/redirect-on-p2p-path", "iommu/translated-domain", "iommu/faults"],
    follows: &["kernel/iommu-fault", "kernel/xid", "kernel/device-gone", "gpu/out-of-memory"],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let g = completions(c, &[Status::RemoteAccess, Status::RemoteOperation])?;
    let words = format!("the peer's NIC refused a request{}", peers(g));
    let found = Found::new(Likely, words, "the completion says so; the reason is on the peer").with(c.quotes(g));
    Some(
        found
            .scope(c.scope(g.processes.iter().copied()))
            .join(c, &["acs/redirect-on-p2p-path", "iommu/translated-domain", "iommu/faults"]),
    )
}
