//! Several nodes: one first, then a few at a time, none after one that was not proven.

use super::{Ended, Event, Lifecycle, Node, Options, Outcome, apply};
use linerate_remedy::Plan;
use linerate_transport::Cancel;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A node with its plan.
pub struct Job<'a> {
    /// Node.
    pub node: &'a dyn Node,
    /// Plan, made for it.
    pub plan: &'a Plan,
    /// How.
    pub options: Options,
}

/// How they follow each other.
#[derive(Debug, Clone, Copy)]
pub struct Fleet {
    /// Nodes that are out of service at a time, at most; the first goes alone.
    pub max_unavailable: usize,
}

/// Applies plans to their nodes. What was not begun is told as untouched.
pub fn many(
    jobs: &[Job<'_>],
    fleet: Fleet,
    lifecycle: &dyn Lifecycle,
    cancel: &Cancel,
    tell: &(dyn Fn(&str, Event<'_>) + Sync),
) -> Vec<Outcome> {
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let found: Mutex<Vec<(usize, Outcome)>> = Mutex::new(Vec::new());
    let keep = |at: usize, outcome: Outcome| {
        // A thread that panicked holds nothing that is not whole.
        found.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((at, outcome));
    };
    let take = |most: usize| {
        while let Some(at) = Some(next.fetch_add(1, Ordering::SeqCst)).filter(|at| *at < most) {
            let Some(job) = jobs.get(at) else { return };
            if stopped.load(Ordering::SeqCst) || cancel.is_cancelled() {
                keep(at, untouched(job, cancel.is_cancelled()));
                continue;
            }
            let name = job.node.name();
            let outcome = apply(job.node, job.plan, lifecycle, &job.options, cancel, &mut |e| tell(name, e));
            if outcome.ended != Ended::Proven {
                stopped.store(true, Ordering::SeqCst);
            }
            keep(at, outcome);
        }
    };
    // The canary.
    take(1);
    next.store(1, Ordering::SeqCst);
    std::thread::scope(|threads| {
        for _ in 0..fleet.max_unavailable.clamp(1, jobs.len().max(1)) {
            threads.spawn(|| take(jobs.len()));
        }
    });
    let mut all = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, outcome)| outcome).collect()
}

fn untouched(job: &Job<'_>, cancelled: bool) -> Outcome {
    let why = if cancelled { "ended on request before it was begun" } else { "another node was not proven" };
    Outcome {
        node: job.node.name().to_owned(),
        ended: Ended::Untouched(why.to_owned()),
        verification: None,
        remarks: Vec::new(),
    }
}
