//! `kernel/oom`.

use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, nccl};
use crate::observe::trouble::{FrameworkTrouble, KernelTrouble, ToolTrouble};
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "kernel/oom",
    title: "The kernel killed a process because memory ran out",
    what: "The host, or the memory cgroup of the container, ran out of memory, and the kernel killed a process.",
    shows: &[
        "`Out of memory: Killed process …`, `Memory cgroup out of memory: …`, `oom-kill:constraint=…`",
        "`OOMKilled` of Kubernetes, `Detected … oom_kill event` of Slurm",
        "a process that ended by SIGKILL, with no other failure (possible only)",
    ],
    why: "Where the process was a rank, all others see a closed connection or wait.",
    confirm: &["name and pid of the killed process against the ranks", "memory.max and memory.events of the cgroup"],
    refute: &["the killed process is not part of the job"],
    remedy: Advice::Investigate(
        "Give the job more host memory, or use less: data loaders, pinned buffers, checkpoints",
    ),
    sources: &[nccl("Linux, mm/oom_kill.c", "https://github.com/torvalds/linux/blob/master/mm/oom_kill.c")],
    severity: Severity::Critical,
    rules: &[],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let found = c.kernel(|k| matches!(k, KernelTrouble::OutOfMemory));
    let Some((_, g)) = found.first() else { return killed(c) };
    let pids: Vec<u32> = c.processes().map(|(_, p)| p.pid).collect();
    let rank = g.quotes.iter().any(|q| {
        q.text
            .split(|ch: char| !ch.is_ascii_digit())
            .filter_map(|n| n.parse::<u32>().ok())
            .any(|n| n > 1 && pids.contains(&n))
    });
    let (sure, why) = if rank {
        (Certain, "the killed process is one of the ranks")
    } else {
        (Likely, "the kernel's log says so; its pid shows whether the process was a rank")
    };
    Some(Found::new(sure, "the kernel killed a process because memory ran out", why).shown(c, g))
}

/// A program that was ended by SIGKILL, where nothing else is shown: the kernel sends it for want of memory, and so do schedulers and people.
fn killed(c: &Case<'_>) -> Option<Found> {
    let g = c.framework(|t| matches!(t, FrameworkTrouble::Killed))?;
    let other = !c.failures(|t| !t.is_survivable()).is_empty()
        || !c.kernel(|_| true).is_empty()
        || !c.frameworks(|t| !matches!(t, FrameworkTrouble::Killed | FrameworkTrouble::Ended)).is_empty();
    // Slurm's own line of a job that it, or somebody, ended.
    let cancelled = c.tools(|t| matches!(t, ToolTrouble::Cancelled));
    if other || !cancelled.is_empty() {
        return None;
    }
    let why = "SIGKILL comes from outside the program: from the kernel when memory runs out, from a scheduler, or from somebody; the kernel's log shows which";
    Some(
        Found::new(Possible, "a process was ended by SIGKILL, as the kernel does when memory runs out", why)
            .with(c.quotes(g)),
    )
}
