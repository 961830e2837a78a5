//! `ib/nic-fault`.

use super::{VERBS, completions, is_down};
use crate::answer::Confidence::Likely;
use crate::case::Case;
use crate::causes::{Advice, Cause, Found};
use crate::observe::trouble::{KernelTrouble, Trouble};
use linerate_formats::nccl_log::status::Status;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "ib/nic-fault",
    title: "A NIC reports a fatal error of its own",
    what: "A NIC reports a fatal error of its own: firmware, hardware, or a queue in error.",
    shows: &[
        "`NET/IB : … async fatal event: …`",
        "a completion with status 19",
        "a health report or a failed firmware command of mlx5_core in the kernel's log",
    ],
    why: "The firmware or the hardware of the card failed, or its driver met a state that it cannot recover.",
    confirm: &[
        "`dmesg | grep mlx5_core`: health, firmware commands",
        "`mstflint -d BDF q`: firmware against the release notes",
    ],
    refute: &["a port event at the same time: then the link is the cause"],
    remedy: Advice::Investigate("Read the driver's messages about the NIC; update firmware or replace the card"),
    sources: &[VERBS],
    severity: Severity::Critical,
    rules: &["rdma/nic-fault", "rdma/firmware-mixed"],
    follows: &["ib/port-went-down", "kernel/iommu-fault", "kernel/xid", "kernel/device-gone", "kernel/pcie-error"],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let bad = |event: &str, fatal: bool| {
        !is_down(event) && (fatal || event.contains("fatal") || event.contains("catastrophic"))
    };
    let fatal = c.failures(|t| matches!(t, Trouble::Async { event, fatal } if bad(c.name(*event), *fatal)));
    let kernel = c.kernel(|k| matches!(k, KernelTrouble::NicFirmware(_)));
    let g = fatal
        .first()
        .map(|(_, g)| *g)
        .or_else(|| completions(c, &[Status::Fatal]))
        .or_else(|| kernel.first().map(|(_, g)| *g))?;
    // A queue pair in error is what every failed request leaves behind.
    let queue = g.quotes.iter().all(|q| q.text.contains(" on QP") || q.text.contains(" on CQ"));
    if queue
        && completions(
            c,
            &[
                Status::LocalLength,
                Status::LocalQueuePair,
                Status::LocalProtection,
                Status::RemoteInvalid,
                Status::RemoteAccess,
                Status::RemoteOperation,
                Status::RetryExceeded,
                Status::RnrRetryExceeded,
            ],
        )
        .is_some()
    {
        return None;
    }
    Some(Found::new(Likely, "a NIC reported a fatal error", "the event itself is in the log").shown(c, g))
}
