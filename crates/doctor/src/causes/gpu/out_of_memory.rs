//! `gpu/out-of-memory`.

use super::{CUDA, cuda};
use crate::answer::Confidence::{Certain, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found};
use crate::observe::trouble::Trouble;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "gpu/out-of-memory",
    title: "A GPU has no memory left for NCCL",
    what: "A GPU has no memory left for NCCL's buffers.",
    shows: &["`Cuda failure 2 'out of memory'`, `Failed to CUDA calloc …`, `CUDA out of memory. Tried to allocate …`"],
    why: "NCCL allocates buffers on the GPU for each communicator and channel, outside the framework's pool. Where \
          the framework has taken nearly all, NCCL's cudaMalloc fails.",
    confirm: &[
        "`nvidia-smi` while the job starts: what else is on the GPU",
        "fewer communicators, NCCL_BUFFSIZE or fewer channels: does it start?",
    ],
    refute: &["a warning of the `[Rem Allocator]` alone: a stranger connected to NCCL's port, and nothing is wrong"],
    remedy: Advice::Investigate(
        "Leave room on the GPU: a smaller batch or pool, no second process on the GPU, fewer communicators",
    ),
    sources: &[CUDA],
    severity: Severity::Critical,
    rules: &[],
    follows: &[],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let g = cuda(c, &[2], &["out of memory"]).or_else(|| {
        let alloc = |t: &Trouble| matches!(t, Trouble::Other(n) if c.name(*n).contains("Failed to CUDA") && c.name(*n).contains("alloc"));
        c.failure(alloc)
    })?;
    // A stranger's connection makes this thread allocate nonsense.
    let stranger = c.failures(|t| matches!(t, Trouble::Other(n) if c.name(*n).contains("[Rem Allocator]")));
    if !stranger.is_empty() && g.quotes.iter().all(|q| q.text.contains("Rem Allocator"))
        || !stranger.is_empty() && c.ran()
    {
        return None;
    }
    let sure = if stranger.is_empty() { Certain } else { Possible };
    Some(Found::new(sure, "a GPU had no memory left", "the CUDA error says so").shown(c, g))
}
