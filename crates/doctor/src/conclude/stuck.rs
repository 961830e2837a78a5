//! A watchdog that makes no progress.

use crate::answer::Undecided;
use crate::case::Case;
use crate::observe::trouble::FrameworkTrouble;
use std::collections::BTreeSet;

/// PyTorch's heartbeat monitor ended a process, as the thread that watches its collectives hung (`ProcessGroupNCCL.cpp: HeartbeatMonitor::runLoop`): it names
/// three reasons, and not which it is. `ids`: causes that are likely at least.
pub(super) fn stuck(case: &Case<'_>, ids: &BTreeSet<&str>, suffix: &str) -> Option<Undecided> {
    let g = case.framework(|t| matches!(t, FrameworkTrouble::Stuck)).filter(|_| ids.is_empty())?;
    Some(Undecided {
        symptom: "symptom/hang",
        summary: format!(
            "PyTorch's watchdog made no progress: a call of NCCL or CUDA hangs, a thread holds Python's lock (GIL) within CUDA, or the time-out is too short; which, these lines do not show{suffix}"
        ),
        evidence: case.quotes(g).into_iter().take(3).collect(),
        candidates: vec!["job/straggler", "kernel/xid", "gpu/hung", "kernel/device-gone"],
        read: vec![
            "stacks of the process while it hangs: `py-spy dump --native --pid PID` (the thread that is in CUDA or NCCL, and who holds the GIL)".to_owned(),
            "the kernel's log of the node, and the other ranks' first failure by time".to_owned(),
            "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC larger than the longest pause of the program (checkpoint, compilation): does it go on?".to_owned(),
        ],
    })
}
