//! `job/straggler`.

use super::TORCH;
use super::ras::{self, RAS};
use crate::answer::Confidence::{Certain, Likely, Possible};
use crate::case::Case;
use crate::causes::{Advice, Cause, Found};
use crate::observe::trouble::FrameworkTrouble;
use linerate_formats::torch_log::Lag;
use linerate_rules::Severity;

pub(super) static CAUSE: Cause = Cause {
    id: "job/straggler",
    title: "Collectives time out: a rank did not come, or did not finish",
    what: "Collectives time out because a rank did not join them, or did not finish.",
    shows: &[
        "`Watchdog caught collective operation timeout: …`",
        "`last enqueued NCCL work: …` of each rank, and PyTorch's report of lagging ranks",
        "`Communicator ranks have different … operation counts` in a report of NCCL's RAS",
    ],
    why: "The watchdog's timeout says that a collective did not end, on the rank that prints it. The rank to look at \
          is the one that is behind: the lowest number of the last enqueued collective. Where all have enqueued it, \
          the collective itself hangs: network, GPU, or different arguments. RAS asks the ranks one after the other, so that numbers \
          which differ by a few say something only where they stay the same.",
    confirm: &[
        "last enqueued and last completed of every rank (the watchdog prints them)",
        "stacks of the rank that is behind (py-spy dump)",
        "`ncclras -v` twice, some seconds apart: the numbers of a rank that hangs stay the same",
    ],
    refute: &["all ranks have enqueued the same collective: then it is not a straggler"],
    remedy: Advice::Investigate(
        "Look at the rank that is behind: data loader, checkpoint, exception, a slow or dead node",
    ),
    sources: &[TORCH, RAS],
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
        "ib/retry-exceeded",
        "ib/port-went-down",
        "ib/nic-fault",
        "ib/local-protection",
        "ib/remote-access",
        "ib/rnr-retry-exceeded",
        "job/collective-mismatch",
        "job/process-unresponsive",
        "gpu/out-of-memory",
        "job/version-mismatch",
        "shm/too-small",
        "ib/memlock",
        "gpu/nvlink",
    ],
    check,
};

fn check(c: &Case<'_>) -> Option<Found> {
    let Some(g) = c.framework(|t| matches!(t, FrameworkTrouble::Timeout(_) | FrameworkTrouble::Lagging)) else {
        return by_ras(c);
    };
    let sequences = &c.o.sequences;
    let late: Vec<u32> =
        sequences.lagging.iter().filter(|(_, lag)| !matches!(lag, Lag::DidNotFinish)).map(|(r, _)| *r).collect();
    if !late.is_empty() {
        let words = format!("{} did not join the collective that all wait for", Case::rank_words(late));
        return Some(Found::new(Certain, words, "the framework's report names the ranks").with(c.quotes(g)));
    }
    let behind = sequences.of.values().map(|p| p.enqueued).min();
    let ahead = sequences.of.values().map(|p| p.enqueued).max();
    if let (Some(behind), Some(ahead)) = (behind, ahead)
        && behind < ahead
    {
        let ranks = sequences.of.iter().filter(|(_, p)| p.enqueued == behind).map(|(r, _)| *r);
        let words = format!("{} called collective {behind} last, others {ahead}", Case::rank_words(ranks));
        return Some(
            Found::new(
                Likely,
                words,
                "the last collectives that the ranks called differ; numbers of different groups would look the same",
            )
            .with(c.quotes(g)),
        );
    }
    if let Some(behind) = ras::behind(c).filter(|b| b.is_named) {
        let why =
            "a collective timed out, and NCCL's RAS names a rank that has launched fewer operations than the others";
        return Some(Found::new(Likely, behind.words, why).with(behind.evidence).with(c.first_quote(g)));
    }
    let why = "a collective did not end in time; which rank is behind is not shown";
    Some(Found::new(Possible, "a collective timed out", why).with(c.quotes(g)))
}

/// Nothing timed out yet, and a report of NCCL's RAS shows who is behind.
fn by_ras(c: &Case<'_>) -> Option<Found> {
    let behind = ras::behind(c)?;
    let (sure, severity, why) = if behind.repeated {
        (
            Likely,
            Severity::Critical,
            "two reports of NCCL's RAS say the same numbers: the communicator makes no progress",
        )
    } else {
        let why =
            "that is so at any time while a job runs; it is a straggler where a further report says the same numbers";
        (Possible, Severity::Medium, why)
    };
    Some(Found::new(sure, behind.words, why).with(behind.evidence).severity(severity))
}
