//! What can be decided only when all runs of a text are there.

use super::run::{Direction, Job, Run};
use crate::refusal::End;

/// Joins what is one run, and marks states in between.
pub(super) fn runs(runs: &mut Vec<Run>) {
    let mut out: Vec<Run> = Vec::with_capacity(runs.len());
    for run in runs.drain(..) {
        let Some(last) = out.last_mut() else {
            out.push(run);
            continue;
        };
        if last.is_json != run.is_json && is_same(last, &run) {
            // `--output-format=normal,json`: JSON says more.
            join(last, run);
            continue;
        }
        if last.is_json && run.is_json && is_state_of(last, &run) {
            last.is_interim = true;
        }
        out.push(run);
    }
    for run in &mut out {
        let has_failed = run.jobs.iter().any(|j| j.error.is_some_and(|e| e != 0));
        if run.is_interim {
            run.end = End::Cut;
        } else if has_failed && run.end == End::Finished {
            run.end = End::Failed;
        }
    }
    *runs = out;
}

fn join(last: &mut Run, run: Run) {
    let (json, text) = if last.is_json { (std::mem::take(last), run) } else { (run, std::mem::take(last)) };
    *last = json;
    last.lines = (last.lines.0.min(text.lines.0), last.lines.1.max(text.lines.1));
    last.groups = text.groups;
    last.notes.extend(text.notes);
    last.failures.extend(text.failures);
    last.failures.dedup();
    last.refused.kept.extend(text.refused.kept);
    if text.end == End::Interrupted {
        last.end = End::Interrupted;
    }
}

fn names(run: &Run) -> impl Iterator<Item = (&str, Option<u32>)> {
    run.jobs.iter().map(|j| (j.name.as_str(), j.group))
}

fn operations(job: &Job) -> impl Iterator<Item = Option<u64>> {
    job.directions.iter().filter(|d| d.operations.is_some()).map(|d| d.operations)
}

/// The same jobs, and each did as many operations.
fn is_same(a: &Run, b: &Run) -> bool {
    !a.jobs.is_empty()
        && names(a).eq(names(b))
        && a.jobs.iter().zip(&b.jobs).all(|(a, b)| operations(a).eq(operations(b)))
}

/// The later run began when the earlier one did: it is the same, further on.
fn is_state_of(early: &Run, late: &Run) -> bool {
    let longest = |run: &Run| {
        run.jobs.iter().flat_map(|j| &j.directions).filter_map(|d| d.milliseconds).fold(0.0, f64::max) / 1e3
    };
    let (Some(a), Some(b)) = (early.reported, late.reported) else { return false };
    let (run_a, run_b) = (longest(early), longest(late));
    let done = |d: &Direction| d.operations.unwrap_or_default();
    let grows = early
        .jobs
        .iter()
        .zip(&late.jobs)
        .all(|(a, b)| a.directions.iter().map(done).sum::<u64>() <= b.directions.iter().map(done).sum::<u64>());
    let shift = ((b - run_b) - (a - run_a)).abs();
    // One that began anew would have begun at least one run time later.
    !early.jobs.is_empty() && names(early).eq(names(late)) && grows && run_b > run_a && shift < (run_a / 2.0).min(0.75)
}
