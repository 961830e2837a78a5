//! `ib/verbs-call-failed`.

use super::reasons::reasons;
use super::{WRAP, failed_call, gid_index, gpu_registration, memlock};
use crate::answer::Confidence::{Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, TROUBLESHOOTING};
use crate::conclude::is_harmless;
use crate::observe::groups::Group;
use crate::observe::trouble::{KernelTrouble, Trouble};
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "ib/verbs-call-failed",
    title: "A call to the NIC failed, and the job ends with it",
    what: "A call to the NIC failed, and the job ends with it. The doctor names this cause if no more specific one fits.",
    shows: &[
        "`Call to ibv_… failed with error …` of NCCL, `ibv_…() failed: …` of UCX, perftest and others",
        "`CREATE_MKEY … failed, status limits exceeded(0x8)`, `RTR2RTS_QP … failed, status bad parameter(0x3)` of mlx5_core",
    ],
    why: "NCCL stops where a verbs call fails. The call and its error number say what was refused; the reason is a \
          limit, a device that may not be used, or an address.",
    confirm: &["what the line about this call names: the reasons differ by call and error"],
    refute: &["an earlier failure in the log of another rank"],
    remedy: Advice::Investigate("Check what this call depends on, in the job's own environment"),
    sources: &[WRAP, TROUBLESHOOTING],
    severity: Severity::Critical,
    rules: &["memory/memlock", "rdma/device-present", "rdma/gid-table"],
    follows: &[
        "ib/memlock",
        "ib/gpu-registration",
        "ib/gid-index",
        "ib/nic-fault",
        "ib/port-went-down",
        "ib/port-not-active",
        "net/no-rdma-device",
        "kernel/xid",
        "kernel/device-gone",
        "gpu/uncorrected-error",
        "gpu/hung",
        "gpu/page-fault",
        "kernel/oom",
        "kernel/iommu-fault",
    ],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let failed = failed(c);
    let Some((call, error, g)) = failed.first().copied() else { return of_firmware(c) };
    let exact: [&Cause; 3] = [&memlock::CAUSE, &gpu_registration::CAUSE, &gid_index::CAUSE];
    if exact.iter().any(|k| (k.check)(c).is_some()) {
        return None;
    }
    let row = reasons(call, error);
    let what = failed_call(call, error);
    let words = match row {
        Some(r) => format!("{what}; {}", r.words),
        None => what,
    };
    // The call is certain; its reason only where the error names one.
    let named = row.is_some_and(|r| !r.error.is_empty() && !r.candidates.is_empty());
    let sure = if named { Likely } else { Possible };
    Some(Found::new(sure, words, "the call itself fails; its error narrows down the reason").shown(c, g))
}

/// Calls whose failure ends a job. What is only asked (`ibv_query_port_speed`, `ibv_fork_init`) does not.
fn is_fatal(call: &str) -> bool {
    !["ibv_query_port_speed", "ibv_fork_init", "ibv_event_type", "ibv_destroy", "ibv_dereg", "ibv_dealloc", "ibv_close"]
        .iter()
        .any(|c| call.starts_with(c))
}

/// Failed calls, the first first.
pub(crate) fn failed<'a>(c: &Case<'a>) -> Vec<(&'a str, &'a str, &'a Group)> {
    let all = c.failures(|t| matches!(t, Trouble::Verbs { .. }));
    let mut found: Vec<_> = all
        .into_iter()
        .filter_map(|(t, g)| match t {
            Trouble::Verbs { call, error } => Some((c.name(call), c.name(error), g)),
            _ => None,
        })
        .filter(|(call, _, g)| is_fatal(call) && !is_harmless(g))
        .collect();
    found.sort_by_key(|(_, _, g)| g.first);
    found
}

/// The firmware refuses an object, by the kernel's log alone.
fn of_firmware(c: &Case<'_>) -> Option<Found> {
    let Some(g) = c.kernel_line(|k| matches!(k, KernelTrouble::NicLimit(_))) else {
        let g = c.kernel_line(|k| matches!(k, KernelTrouble::NicRefused(_)))?;
        let words = "the NIC's firmware refused a parameter of a queue pair that a program connects";
        let why = "the driver's log says so; the program's own message names the call, and what it asked for";
        return Some(Found::new(Possible, words, why).shown(c, g));
    };
    let words =
        "the NIC has no room for another memory key, queue or protection domain: a limit of its firmware is reached";
    let why = "the driver's log says so; that a job ended with it is not shown";
    Some(Found::new(Possible, words, why).shown(c, g))
}
