//! Does what a plan says: one run after the other, each with its limits, and nothing left behind.

mod feed;
mod files;
mod meter;
mod port;
mod prepare;
mod ready;
mod step;

pub use prepare::{Host, Prepared, RunError, prepare};

use crate::event::Event;
use crate::outcome::{Measured, MeasuredHost, Stopped, Why};
use crate::plan::{Plan, Step};
use linerate_transport::Cancel;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// After so many failures of a test with a setting its further runs are left out.
const GIVE_UP: u32 = 2;

/// What all runs of a measurement share.
pub(crate) struct Run<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) hosts: &'a [Host],
    pub(crate) cancel: &'a Cancel,
    pub(crate) began: Instant,
    /// Bytes that earlier runs moved.
    pub(crate) moved: u64,
    /// Runs that ended.
    pub(crate) done: usize,
    /// Expected seconds of runs that ended.
    pub(crate) done_seconds: f64,
}

impl Run<'_> {
    /// When the whole must have ended.
    pub(crate) fn until(&self) -> Instant {
        self.began + Duration::from_secs(self.plan.limits.seconds)
    }

    pub(crate) fn seconds(&self, step: Step) -> f64 {
        self.plan.tests.get(step.test).map_or(0.0, |p| p.cost.seconds)
    }

    /// Progress at this moment.
    pub(crate) fn progress(&self, step: Step, in_step: Duration, moved: Option<u64>) -> Event<'static> {
        let expected = self.seconds(step);
        let here = in_step.as_secs_f64().min(expected);
        let all: f64 = self.plan.steps.iter().map(|s| self.seconds(*s)).sum();
        let elapsed = self.began.elapsed();
        let left = left(elapsed.as_secs_f64(), self.done_seconds + here, all);
        let moved = moved.map(|m| m + self.moved);
        Event::Progress {
            elapsed,
            left: Duration::from_secs_f64(left),
            done: self.done,
            of: self.plan.steps.len(),
            moved,
        }
    }
}

/// Seconds left, at the pace until now: what was expected to take `done` took `elapsed`. In the beginning the pace is not known,
/// and what was expected counts more.
fn left(elapsed: f64, done: f64, all: f64) -> f64 {
    const TRUST: f64 = 10.0;
    let pace = (elapsed + TRUST) / (done + TRUST);
    ((all - done) * pace).clamp(0.0, 1e7)
}

/// Measures. Always comes back: within the plan's limits, and within a few seconds after it was cancelled. What was started has
/// ended by then, on all hosts that can be reached; on others their guards see to it.
pub fn measure(plan: &Plan, hosts: &[Host], cancel: &Cancel, listen: &mut dyn FnMut(Event<'_>)) -> Measured {
    let mut out = Measured::default();
    out.hosts.extend(hosts.iter().map(|h| MeasuredHost {
        name: h.name.clone(),
        node: h.probe.name.clone(),
        snapshot: h.snapshot.clone(),
    }));
    let mut run = Run { plan, hosts, cancel, began: Instant::now(), moved: 0, done: 0, done_seconds: 0.0 };
    let mut failed: BTreeMap<(usize, usize), u32> = BTreeMap::new();
    for (at, step) in plan.steps.iter().enumerate() {
        let key = (step.test, step.variant);
        if failed.get(&key).is_some_and(|n| *n >= GIVE_UP) {
            run.done += 1;
            run.done_seconds += run.seconds(*step);
            continue;
        }
        listen(Event::Started { step: *step, number: at + 1, of: plan.steps.len(), plan });
        match step::execute(&run, *step, at, listen) {
            Ok(output) => {
                run.moved += counted(plan, *step, output.moved);
                listen(Event::Finished(&output));
                out.outputs.push(output);
            }
            Err(failure) => {
                run.moved += counted(plan, *step, failure.output.moved);
                listen(Event::Failed(&failure));
                out.stopped = match failure.why {
                    Why::Cancelled => Some(Stopped::Cancelled),
                    Why::OverTime(_) | Why::OverTraffic(..) => Some(Stopped::OverBudget),
                    Why::Lost(_) => Some(Stopped::Lost),
                    _ => None,
                };
                out.failures.push(*failure);
                if out.stopped.is_some() {
                    break;
                }
                let failures = failed.entry(key).or_default();
                *failures += 1;
                let rest = plan.steps.iter().skip(at + 1).filter(|s| (s.test, s.variant) == key).count();
                if *failures == GIVE_UP && rest > 0 {
                    listen(Event::GaveUp { step: *step, left_out: rest });
                }
            }
        }
        run.done += 1;
        run.done_seconds += run.seconds(*step);
    }
    out
}

/// Bytes of a run: what it cannot exceed by its own arguments; else what the interface counted.
fn counted(plan: &Plan, step: Step, moved: Option<u64>) -> u64 {
    let cost = plan.tests.get(step.test).map(|p| p.cost);
    cost.filter(|c| c.exact).and_then(|c| c.bytes).or(moved).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::left;

    #[test]
    fn what_is_left_follows_the_pace() {
        assert!((left(0.0, 0.0, 100.0) - 100.0).abs() < 1e-9);
        assert!((left(50.0, 50.0, 100.0) - 50.0).abs() < 1e-9);
        assert!(left(100.0, 50.0, 100.0) > 80.0, "twice as slow as expected");
        assert!(left(500.0, 100.0, 100.0).abs() < 1e-9);
    }
}
