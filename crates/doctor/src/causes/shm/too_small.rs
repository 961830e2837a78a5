//! `shm/too-small`.

use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found, TROUBLESHOOTING};
use crate::observe::trouble::{FrameworkTrouble, Trouble};
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "shm/too-small",
    title: "/dev/shm has no room for NCCL's buffers",
    what: "/dev/shm has no room for NCCL's buffers. NCCL fails to extend or map a segment.",
    shows: &[
        "`Error: failed to extend /dev/shm/nccl-…`, `Call to posix_fallocate failed : No space left on device`",
        "a bus error (2.12 to 2.20)",
        "`Not enough memory to write total of … bytes. Please check that /dev/shm …` of UCX",
    ],
    why: "Ranks of a node exchange data and messages through files in /dev/shm. Containers have 64 MiB of it by \
          default, which several ranks use up.",
    confirm: &["`df -h /dev/shm` in the same container"],
    refute: &["/dev/shm is large and empty: then look for a limit of the memory cgroup"],
    remedy: Advice::Software(
        "Give the container shared memory: --shm-size=8g or --ipc=host; in Kubernetes an emptyDir with medium: Memory at /dev/shm",
    ),
    sources: &[TROUBLESHOOTING],
    severity: Severity::Critical,
    rules: &["memory/shm-size"],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let found = c.failures(|t| matches!(t, Trouble::SharedMemory { .. }));
    let bus = c.frameworks(|t| matches!(t, FrameworkTrouble::BusError));
    if let (Some((_, g)), true) = (bus.first(), found.is_empty()) {
        let why = "NCCL 2.12 to 2.20 make segments without asking for the room, and a full /dev/shm is then a bus error; other mapped files look the same";
        return Some(Found::new(Possible, "a bus error: /dev/shm may be full", why).with(c.quotes(g)));
    }
    let full = found.iter().find(|(t, _)| matches!(t, Trouble::SharedMemory { no_space: true }));
    let (t, g) = full.or_else(|| found.first())?;
    let told = g.quotes.iter().any(|q| q.text.contains("No space"));
    // A segment of another rank that is gone, or that a container does not see.
    let missing =
        found.iter().flat_map(|(_, g)| &g.quotes).any(|q| q.text.contains("No such file") || q.text.contains("size 0"));
    if !told && missing {
        return None;
    }
    let (sure, why) = match t {
        Trouble::SharedMemory { no_space: true } if told => (Certain, "the log says that no space is left"),
        Trouble::SharedMemory { no_space: true } => {
            (Likely, "a segment could not be made large enough; the reason is not printed")
        }
        _ => (Possible, "a segment of shared memory could not be made or mapped; the reason is not printed"),
    };
    Some(Found::new(sure, "no room in /dev/shm", why).shown(c, g).join(c, &["memory/shm-size"]))
}
