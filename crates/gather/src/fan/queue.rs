//! Which node is next: those that nobody asked yet, and those that are asked again after a while.

use super::Cause;
use crate::Target;
use linerate_transport::{Cancel, chance};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often a node is asked at most.
const TRIES: u32 = 3;
/// The same of one that takes the time of a connection each time.
const SLOW_TRIES: u32 = 2;

/// How often a node is asked at most that fails for this cause, where asking again may help.
pub(super) fn tries(cause: Cause) -> u32 {
    if cause == Cause::ConnectTimedOut { SLOW_TRIES } else { TRIES }
}

/// Shortest wait before it is asked again; it doubles each time, and up to as much again is added by chance, so that nodes behind one switch do
/// not come back at once.
const WAIT: Duration = Duration::from_millis(700);

/// A node to ask.
#[derive(Debug, Clone)]
pub(super) struct Job<'a> {
    pub(super) target: &'a Target,
    /// How often it was asked.
    pub(super) tries: u32,
    /// How long that took, seconds.
    pub(super) seconds: f64,
    pub(super) not_before: Option<Instant>,
}

#[derive(Debug, Default)]
struct State<'a> {
    fresh: VecDeque<Job<'a>>,
    later: Vec<Job<'a>>,
    /// Nodes that may still come back.
    open: usize,
}

#[derive(Debug)]
pub(super) struct Queue<'a> {
    state: Mutex<State<'a>>,
    changed: Condvar,
}

impl<'a> Queue<'a> {
    pub(super) fn new(targets: Vec<&'a Target>) -> Self {
        let fresh = targets.into_iter().map(|target| Job { target, tries: 0, seconds: 0.0, not_before: None });
        let fresh: VecDeque<_> = fresh.collect();
        let open = fresh.len();
        Queue { state: Mutex::new(State { fresh, later: Vec::new(), open }), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next one; `None`: there will be none, or the run ends.
    pub(super) fn next(&self, cancel: &Cancel) -> Option<Job<'a>> {
        let mut state = self.lock();
        while !cancel.is_cancelled() && state.open > 0 {
            let now = Instant::now();
            if let Some(at) = state.later.iter().position(|j| j.not_before.is_none_or(|t| t <= now)) {
                return Some(state.later.swap_remove(at));
            }
            if let Some(job) = state.fresh.pop_front() {
                return Some(job);
            }
            state =
                self.changed.wait_timeout(state, Duration::from_millis(100)).unwrap_or_else(PoisonError::into_inner).0;
        }
        None
    }

    /// It is asked again after a while.
    pub(super) fn later(&self, job: Job<'a>) {
        let wait = WAIT * 2_u32.pow(job.tries.saturating_sub(1).min(8));
        let by_chance = u64::from_str_radix(&chance(), 16).unwrap_or_default() % 1000;
        let wait = wait + wait.mul_f64(by_chance as f64 / 1000.0);
        self.lock().later.push(Job { not_before: Some(Instant::now() + wait), ..job });
    }

    /// One of them will not come back.
    pub(super) fn ended(&self) {
        self.lock().open -= 1;
        self.changed.notify_all();
    }

    /// Those that are left when the run ends before its time.
    pub(super) fn left(&self) -> Option<Job<'a>> {
        let mut state = self.lock();
        let job = state.fresh.pop_front().or_else(|| state.later.pop())?;
        state.open = state.open.saturating_sub(1);
        Some(job)
    }
}
