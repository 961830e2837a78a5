//! What PyTorch says when NCCL does not return, in the words of [`torch_log`].

use super::names::Names;
use super::trouble::FrameworkTrouble;
use linerate_formats::torch_log::{ErrorKind, Event, Lag, Line};
use std::collections::BTreeMap;

/// Ranks whose place in the sequence of collectives is kept.
const MAX_RANKS: usize = 64 << 10;

/// Where ranks are: what tells the one that all wait for.
#[derive(Debug, Default)]
pub(crate) struct Sequences {
    /// Of each rank of the job: the last collective that it called and the last that ended, of the group in question (`-1`: none).
    pub(crate) of: BTreeMap<u32, (i64, i64)>,
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
                    self.of.insert(rank, (number(p.enqueued), number(p.completed)));
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

/// Words of programs that end. A traceback of many lines counts by its head.
pub(super) const ENDS: &[&str] = &[
    "Traceback (most recent call last)",
    "Process received signal",
    "Segmentation fault",
    "Bus error",
    "exited on signal",
    "is killed by signal",
    "ChildFailedError",
];

/// A program that ends, by its last words.
pub(super) fn ended(line: &str) -> Option<FrameworkTrouble> {
    if line.contains("Bus error") {
        return Some(FrameworkTrouble::BusError);
    }
    ENDS.iter().any(|w| line.contains(w)).then_some(FrameworkTrouble::Ended)
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
        Event::Mismatch { .. } => FrameworkTrouble::Mismatch,
        Event::Lagging { .. } => FrameworkTrouble::Lagging,
        Event::Store { .. } => FrameworkTrouble::Store,
        Event::Progress(_)
        | Event::DumpObserved
        | Event::WatchdogStuck { .. }
        | Event::TakenDown
        | Event::Terminated { .. }
        | Event::LastError { .. } => return None,
    })
}
