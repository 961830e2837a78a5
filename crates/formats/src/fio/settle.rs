//! What can be decided only when all runs of a text are there.

use super::run::{Direction, Job, Kind, Run};
use crate::record::add_left_out;
use crate::refusal::End;

/// Joins what is one run, and marks states in between.
pub(super) fn runs(runs: &mut Vec<Run>) {
    let mut out: Vec<Run> = Vec::with_capacity(runs.len());
    for run in runs.drain(..) {
        let Some(last) = out.last_mut() else {
            out.push(run);
            continue;
        };
        if !last.is_terse && !run.is_terse && last.is_json != run.is_json && is_same(last, &run) {
            // `--output-format=normal,json`: JSON says more.
            join(last, run);
            continue;
        }
        if last.is_terse != run.is_terse && is_same_call(last, &run) {
            join_terse(last, run);
            continue;
        }
        if last.is_terse && run.is_terse && is_earlier_state(last, &run) {
            last.is_interim = true;
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
    last.refused.extend(text.refused);
    add_left_out(&mut last.left_out, text.left_out);
    if text.end == End::Interrupted {
        last.end = End::Interrupted;
    }
}

/// `--output-format=terse,normal`: the words say more, the line has more digits.
fn join_terse(last: &mut Run, run: Run) {
    let (terse, full) = if last.is_terse { (std::mem::take(last), run) } else { (run, std::mem::take(last)) };
    *last = full;
    last.lines = (last.lines.0.min(terse.lines.0), last.lines.1.max(terse.lines.1));
    last.notes.extend(terse.notes);
    last.refused.extend(terse.refused);
    add_left_out(&mut last.left_out, terse.left_out);
    if last.is_json {
        return;
    }
    let exact = terse.jobs.into_iter().flat_map(|j| j.directions);
    let shown = last.jobs.iter_mut().flat_map(|j| &mut j.directions).filter(|d| d.kind != Kind::Sync);
    for (shown, exact) in shown.zip(exact) {
        shown.bandwidth = exact.bandwidth.or(shown.bandwidth);
        // Operations per second are cut to whole ones, where the words have three digits.
        shown.iops = exact.iops.filter(|i| i.0 >= 1000.0).or(shown.iops);
    }
}

/// The same jobs, and each ran as long in each direction. The line does not count operations.
fn is_same_call(a: &Run, b: &Run) -> bool {
    let ran = |job: &Job| -> Vec<(Kind, Option<f64>)> {
        job.directions.iter().filter(|d| d.kind != Kind::Sync).map(|d| (d.kind, d.milliseconds)).collect()
    };
    !a.jobs.is_empty() && names(a).eq(names(b)) && a.jobs.iter().zip(&b.jobs).all(|(a, b)| ran(a) == ran(b))
}

/// `--status-interval` in terse lines, which have no time of day: everything has grown, also what the disks did, and no extreme was
/// taken back. Repetitions run about as long.
fn is_earlier_state(early: &Run, late: &Run) -> bool {
    let counts = |run: &Run| -> Vec<u64> {
        let all = run.disks.as_deref().unwrap_or_default().split(';');
        all.filter_map(|f| f.parse().ok()).collect()
    };
    let (a, b) = (counts(early), counts(late));
    if a.len() != b.len() || a.iter().zip(&b).any(|(a, b)| a > b) {
        return false;
    }
    let grows = |(a, b): (&Direction, &Direction)| {
        let longer = a.milliseconds.zip(b.milliseconds).is_some_and(|(a, b)| b > a + 20.0);
        let more = a.bytes.zip(b.bytes).is_some_and(|(a, b)| b > a);
        let wider = a.total.as_ref().zip(b.total.as_ref()).is_none_or(|(a, b)| b.min <= a.min && b.max >= a.max);
        a.kind == b.kind && longer && more && wider
    };
    let job = |(a, b): (&Job, &Job)| {
        a.directions.len() <= b.directions.len() && a.directions.iter().zip(&b.directions).all(grows)
    };
    early.jobs.iter().any(|j| !j.directions.is_empty())
        && names(early).eq(names(late))
        && early.jobs.iter().zip(&late.jobs).all(job)
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
