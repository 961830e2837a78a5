//! Processes that were killed for want of memory, in the words of the kernel, systemd, Slurm and Kubernetes.

use crate::observe::trouble::KernelTrouble;
use linerate_formats::printed;

/// Bytes of a task's name, with the NUL (`TASK_COMM_LEN`).
const TASK_COMM: usize = 16;

/// `host systemd[1]: job.service: A process of this unit has been killed by the OOM killer.` (src/core/unit.c)
pub(super) fn killed_unit(line: &str) -> bool {
    let own = printed::own(line);
    if own.quoted || line.trim_end().ends_with('|') {
        return false;
    }
    // A time and a host stand before it, of which all may be tags: a sentence has more words, and quotes.
    let behind = match own.text.split_once("systemd[") {
        Some((head, rest)) => {
            let head = printed::own(head).text;
            let headed = head.split_whitespace().count() <= 4 && !head.contains(['"', '\'', '`', '$', '|', '(']);
            headed.then_some(rest)
        }
        None => line.split_once("systemd[").map(|(_, rest)| rest).filter(|rest| own.text.len() < rest.len()),
    };
    let words = behind.and_then(|rest| rest.split_once("]: ")?.1.split_once(": ")).filter(|(u, _)| !u.contains(' '));
    words.is_some_and(|(_, words)| {
        words.starts_with("A process of this unit has been killed by the OOM killer")
            || words.starts_with("Failed with result 'oom-kill'.")
    })
}

/// A process that was killed for want of memory, in the words of mm/oom_kill.c and mm/memcontrol.c, and of slurmstepd.
pub(super) fn killed(m: &str) -> Option<KernelTrouble> {
    // `process 712 (python)`, in old kernels `process 712, UID 0, (python)`.
    let process = |rest: &str| {
        let (_, rest) = rest.split_once("process ")?;
        rest.starts_with(|c: char| c.is_ascii_digit()).then_some(())
    };
    // A line of its own before 5.1.
    let victim = |rest: &str| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let named = rest.get(digits..).is_some_and(|r| r.starts_with(" (") || r.starts_with(", UID "));
        digits > 0 && named && (rest.contains(" total-vm:") || rest.contains("anon-rss:"))
    };
    let by_kernel = m.starts_with("oom-kill:constraint=")
        || ["Out of memory: Kill", "Memory cgroup out of memory: Kill"]
            .iter()
            .any(|w| m.strip_prefix(w).and_then(process).is_some())
        || m.strip_prefix("Killed process ").is_some_and(victim)
        || m.strip_prefix("oom_reaper: reaped process ").is_some_and(victim)
        || m.strip_prefix("Task in /").is_some_and(|r| r.contains(" killed as a result of limit of /"))
        || m.split_once(" invoked oom-killer: gfp_mask=0x").is_some_and(|(name, _)| name.len() < TASK_COMM);
    let by_slurm = m.strip_prefix("slurmstepd: error: Detected ").is_some_and(|r| {
        r.starts_with(|c: char| c.is_ascii_digit()) && (r.contains("oom-kill event") || r.contains("oom_kill event"))
    });
    // A task whose cgroup counts a kill, in srun's words.
    let by_srun =
        m.strip_prefix("srun: error: ").is_some_and(|r| r.contains(": task") && r.ends_with(": Out Of Memory"));
    let listed = m.trim_end() == "Tasks state (memory values in pages):"
        || m.strip_prefix("[").is_some_and(|r| {
            let mut words = r.split_whitespace();
            ["pid", "]", "uid", "tgid", "total_vm", "rss"].iter().all(|w| words.next() == Some(w))
        })
        || is_task(m);
    (by_kernel || by_slurm || by_srun || listed || is_killed_pod(m)).then_some(KernelTrouble::OutOfMemory)
}

/// A row of the tasks that the kernel lists before it kills one of them (mm/oom_kill.c, dump_task):
/// `[    482]     0   482     2372      322    53248        0             0 dhclient`.
fn is_task(m: &str) -> bool {
    let Some((pid, rest)) = m.strip_prefix('[').and_then(|r| r.split_once("] ")) else { return false };
    let numbers: Vec<&str> = rest.split_whitespace().take_while(|w| w.parse::<i64>().is_ok()).collect();
    let Some(name) = rest.trim_end().rsplit_once(' ').map(|(_, name)| name) else { return false };
    let is_name = !name.is_empty() && name.len() < TASK_COMM && name.parse::<i64>().is_err();
    // The leader of a group of threads has the group's number.
    let leads = numbers.get(1).is_some_and(|tgid| *tgid == pid.trim());
    leads && pid.len() >= 5 && is_name && (7..=11).contains(&numbers.len())
}

/// A row of `kubectl get pods`: `train-0   0/1   OOMKilled   3 (2m ago)   10m`.
fn is_killed_pod(m: &str) -> bool {
    let mut words = m.split_whitespace();
    let (Some(name), Some(ready), Some(status), Some(restarts)) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return false;
    };
    let number = |w: &str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_digit());
    let counted = ready.split_once('/').is_some_and(|(a, b)| number(a) && number(b));
    let named = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.'));
    named && counted && matches!(status, "OOMKilled" | "Init:OOMKilled") && number(restarts)
}
