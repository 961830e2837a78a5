//! What PyTorch says when NCCL does not return, in the words of [`torch_log`].

mod cuda;
mod ended;

pub(crate) use cuda::cuda;
pub(crate) use ended::ended;

use super::names::Names;
use super::trouble::FrameworkTrouble;
use linerate_formats::printed;
use linerate_formats::torch_log::{ErrorKind, Event, Lag, Line};
use std::collections::BTreeMap;

/// Ranks whose place in the sequence of collectives is kept.
const MAX_RANKS: usize = 64 << 10;

/// Where a rank is in the group in question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Progress {
    /// The last collective that it called; `-1` before the first.
    pub(crate) enqueued: i64,
}

/// Where ranks are: what tells the one that all wait for.
#[derive(Debug, Default)]
pub(crate) struct Sequences {
    /// Of each rank of the job.
    pub(crate) of: BTreeMap<u32, Progress>,
    /// Ranks that a report calls lagging, and how.
    pub(crate) lagging: Vec<(u32, Lag)>,
}

impl Sequences {
    pub(super) fn read(&mut self, line: &Line) {
        match &line.event {
            Event::Progress(p) => {
                let Some(rank) = line.job_rank() else { return };
                let number = |n: Option<u64>| n.and_then(|n| i64::try_from(n).ok()).unwrap_or(-1);
                if self.of.len() < MAX_RANKS || self.of.contains_key(&rank) {
                    self.of.insert(rank, Progress { enqueued: number(p.enqueued) });
                }
            }
            Event::Lagging { ranks, lag, .. } => {
                let room = MAX_RANKS.saturating_sub(self.lagging.len());
                self.lagging.extend(ranks.iter().take(room).map(|r| (*r, *lag)));
            }
            _ => {}
        }
    }
}

/// A result of NCCL in nccl-tests' own line: `host: Test NCCL failure common.cu:1005 'unhandled system error (run with …) / '`, older
/// `host: NCCL failure common.cu:958 'unhandled system error'`.
pub(super) fn nccl_tests(line: &str) -> Option<FrameworkTrouble> {
    let text = printed::own(line).text;
    let (before, rest) = text.split_once("NCCL failure ")?;
    let before = before.strip_suffix("Test ").unwrap_or(before).trim_end();
    let host = before.is_empty() || before.ends_with(':') && !before.contains(' ');
    let (place, rest) = rest.split_once(" '")?;
    let located =
        place.rsplit_once(':').is_some_and(|(f, l)| f.contains(".c") && l.bytes().all(|b| b.is_ascii_digit()));
    let result = RESULTS.iter().find(|(w, _)| rest.starts_with(w)).map(|(_, r)| *r);
    (host && located).then(|| FrameworkTrouble::Error(result.unwrap_or("another error")))
}

/// Words of `ncclGetErrorString`, and the results.
const RESULTS: &[(&str, &str)] = &[
    ("unhandled cuda error", "ncclUnhandledCudaError"),
    ("unhandled system error", "ncclSystemError"),
    ("internal error", "ncclInternalError"),
    ("invalid argument", "ncclInvalidArgument"),
    ("invalid usage", "ncclInvalidUsage"),
    ("remote process exited", "ncclRemoteError"),
];

/// NCCL's words in an exception that is in one line: `… NCCL version 2.21.5 ncclSystemError: … Last error: WORDS`, or with the line
/// breaks written out, as Python shows a text in a list: `…\\nLast error:\\nWORDS')`.
pub(super) fn last_error(line: &str) -> Option<&str> {
    let (_, words) = line.split_once("Last error:")?;
    let words = words.trim_start_matches("\\n").trim_start();
    let words = words.split("\\n").next().unwrap_or(words).trim_end_matches(['"', '\'', ')', ',']);
    (!words.is_empty()).then_some(words)
}

/// NCCL's words as XLA quotes them (`xla/backends/gpu/collectives/nccl_errors.h`, XLA_NCCL_STATUS): `… Last NCCL warning(error): 'WORDS'`, later
/// `… Last NCCL warning(error) log entry (may be unrelated) 'Cuda failure 2 'out of memory''.`.
pub(super) fn last_warning(text: &str) -> Option<&str> {
    let (before, rest) = text.split_once("Last NCCL warning(error)")?;
    let words = rest.strip_prefix(": '").or_else(|| {
        // XLA's status, behind classes and places: `INTERNAL: external/xla/…/nccl.cc:98: NCCL operation … failed: …. Last …`.
        let (heads, _) = before.split_once("NCCL operation ")?;
        let plain = heads.split_whitespace().all(|w| w.ends_with([':', ']']) && !w.starts_with(['`', '"', '\'', '(']));
        rest.strip_prefix(" log entry (may be unrelated) '").filter(|_| plain)
    })?;
    // The words may have quotes of their own; XLA adds what follows.
    let end = ["'.", "';", "' "].iter().filter_map(|e| words.find(e)).min();
    Some(
        end.map_or_else(|| words.trim_end().strip_suffix('\'').unwrap_or(words), |at| words.get(..at).unwrap_or(words)),
    )
}

/// What of a line counts as trouble.
pub(super) fn trouble(line: &Line, names: &mut Names) -> Option<FrameworkTrouble> {
    Some(match &line.event {
        Event::Timeout(t) => FrameworkTrouble::Timeout(names.id(&t.operation)),
        Event::Error(e) => FrameworkTrouble::Error(match e.kind {
            ErrorKind::Cuda => "ncclUnhandledCudaError",
            ErrorKind::System => "ncclSystemError",
            ErrorKind::Internal => "ncclInternalError",
            ErrorKind::InvalidArgument => "ncclInvalidArgument",
            ErrorKind::InvalidUsage => "ncclInvalidUsage",
            ErrorKind::Remote => "ncclRemoteError",
            ErrorKind::Other => "another error",
        }),
        Event::WatchdogStuck { .. } => FrameworkTrouble::Stuck,
        Event::Mismatch { .. } => FrameworkTrouble::Mismatch,
        Event::Lagging { .. } => FrameworkTrouble::Lagging,
        Event::Store { text }
            if text.contains("client socket has timed out") && text.contains("trying to connect to") =>
        {
            FrameworkTrouble::Unreachable
        }
        Event::Store { .. } => FrameworkTrouble::Store,
        Event::Progress(_)
        | Event::DumpObserved
        | Event::TakenDown
        | Event::Terminated { .. }
        | Event::LastError { .. } => return None,
    })
}
