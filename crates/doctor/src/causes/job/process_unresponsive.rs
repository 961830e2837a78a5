//! `job/process-unresponsive`.

use super::ras::{Lines, RAS, RAS_CC, gone};
use crate::answer::Confidence::{Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found};
use linerate_formats::counted;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "job/process-unresponsive",
    title: "A process of the job does not answer NCCL's RAS",
    what: "A process of the job does not answer NCCL's RAS. Collectives that need its ranks do not end.",
    shows: &[
        "`INCOMPLETE`, `Missing communicator data from … job process`, `Process … on node … managing GPU …`",
        "`DEAD`, `… job process is considered dead (unreachable via the RAS network)`; in JSON `unresponsive`, `considered_dead`",
        "`PEER_DEAD` of `ncclras -m`",
    ],
    why: "RAS runs a thread in each process of the job, which answers over TCP on the bootstrap's interface while the program waits for the GPU. \
          Where it does not answer, the process has ended or is stopped, or its node is down or not reached. RAS calls a process \
          dead that it did not reach for 60 s.",
    confirm: &[
        "log and exit code of that process, and its node's kernel log (dmesg): out of memory, Xid",
        "where the process is still there: its stacks (py-spy dump), and its state (`ps -o stat,wchan`)",
        "`ncclras -v` once more: the same process is missing, later it is DEAD",
    ],
    refute: &["a further report has the process again", "the job was ending when RAS was asked"],
    remedy: Advice::Investigate("Look at that process and its node first; the ranks that wait for it only follow"),
    sources: &[RAS, RAS_CC],
    severity: Severity::Critical,
    rules: &[],
    follows: &[
        "kernel/oom",
        "kernel/xid",
        "kernel/device-gone",
        "gpu/uncorrected-error",
        "gpu/hung",
        "gpu/page-fault",
        "kernel/iommu-fault",
        "shm/too-small",
        "gpu/out-of-memory",
        "gpu/nvlink",
        "job/open-files",
        "job/version-mismatch",
    ],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    // Those that are given up first.
    let all: Vec<_> = c.ras().filter_map(|(file, r)| gone(c, file, r)).collect();
    let Some(gone) = all.iter().find(|g| g.dead).or(all.first()) else { return timeouts(c) };
    let one = gone.count == 1;
    let (words, why) = if gone.dead {
        (
            format!("NCCL's RAS considers {} dead", gone.who),
            "RAS did not reach it for a minute: the process ended or is stopped, or its node is down or not reached",
        )
    } else {
        (
            format!("{} {} not answer NCCL's RAS", gone.who, if one { "does" } else { "do" }),
            "RAS waited for it in vain: the process ended or is stopped, or its node is down or not reached",
        )
    };
    Some(Found::new(Likely, words, why).with(gone.evidence.clone()))
}

/// All answered in the end, and some late.
fn timeouts(c: &Case<'_>) -> Option<Found> {
    let (file, at) = c.ras().find_map(|(file, r)| Some((file, r.timeouts?)))?;
    let n = counted(at.value, "communication timeout", "communication timeouts");
    let words = format!("NCCL's RAS met {n} while it asked the processes");
    let why = "a process answered late or not at all; the report names none";
    let line = format!("Encountered {n} while gathering communicator data");
    let evidence = Lines::new(c, file).at(at.line, line);
    Some(Found::new(Possible, words, why).with([evidence]).severity(Severity::Medium))
}
