//! TorchTitan's training log: a time series for each rank.

use super::{Benchmark, Sink};
use crate::model::{Better, Label, Metric, Point, Points, Run, Unit};
use crate::summary::Area;
use linerate_formats::bounds::{Limit, beyond};
use linerate_formats::torchtitan::{self as theirs, FailureKind, Field, NoteKind, Step, Who};

pub(super) const BENCHMARK: Benchmark = Benchmark {
    tool: &theirs::TOOL,
    read,
    area: Area::Training,
    secondary: &["mfu", "tflops", "memory", "loss", "grad_norm"],
};

fn read(bytes: &[u8], to: &mut Sink<'_>) {
    for found in theirs::parse(bytes) {
        to.record("lines", &found.refused, &found.left_out);
        to.run(run(&found), found.lines.0);
    }
}

fn run(found: &theirs::Run) -> Run {
    let mut run = Run { tool: Some("torchtitan".into()), ..Run::default() };
    run.param("ranks_logged", Some(found.ranks.len() as u64));
    run.param("gpu", found.device.as_ref().map(|d| d.value.clone()));
    if let Some(setup) = found.setup.as_ref().map(|s| &s.value) {
        run.param("local_batch", setup.local_batch);
        run.param("global_batch", setup.global_batch);
        run.param("sequence", setup.sequence);
    }
    faults(found, &mut run);
    notes(found, &mut run);
    // From the step on at which the loss is no number, the model is broken too, and its speed that of another computation.
    let lost = |f: &&theirs::Failure| matches!(f.kind, FailureKind::NotFinite(Field::Loss, _));
    let diverged = found.failures.iter().filter(lost).filter_map(|f| f.step).min();
    let many = found.ranks.len() > 1;
    run.all_hosts(found.ranks.iter().filter_map(|r| r.who.host.as_deref()));
    for rank in &found.ranks {
        let labels: Vec<Label> = if many { vec![Label::new("rank", name(&rank.who, rank.copy))] } else { Vec::new() };
        for (metric, value) in metrics() {
            let points: Points = rank.steps.iter().filter_map(|s| point(s, value, diverged)).collect();
            if !points.is_empty() {
                run.series_mut(metric, &labels).points = points;
            }
        }
    }
    run
}

fn point(step: &Step, value: fn(&Step) -> Option<f64>, diverged: Option<u64>) -> Option<Point> {
    let valid = diverged.is_none_or(|at| step.step < at);
    Some(Point { size: None, at: Some(step.step as f64), value: value(step).filter(|v| v.is_finite())?, valid })
}

type Value = fn(&Step) -> Option<f64>;

fn metrics() -> [(Metric, Value); 7] {
    let metric = Metric::new;
    [
        (metric("tps", Unit::TokensPerSecond, Better::Higher), |s| s.tps.map(|v| v.0)),
        (metric("mfu", Unit::Percent, Better::Higher), |s| s.mfu.map(|v| v.0)),
        (metric("tflops", Unit::Tflops, Better::Higher), |s| s.tflops.map(|v| v.0)),
        (metric("memory", Unit::GiB, Better::Lower), |s| s.memory?.reserved.map(|v| v.0)),
        (metric("step_time", Unit::Seconds, Better::Lower), |s| s.end_to_end.map(|v| v.0)),
        (metric("loss", Unit::One, Better::Neither), |s| s.loss),
        (metric("grad_norm", Unit::One, Better::Neither), |s| s.grad_norm),
    ]
}

/// What tells a rank from the others.
fn name(who: &Who, copy: u32) -> String {
    let number = who.rank.or(who.task).or(who.local);
    let mut name = match (&who.host, number) {
        (Some(host), Some(n)) => format!("{host}/{n}"),
        (Some(host), None) => host.to_string(),
        (None, Some(n)) => n.to_string(),
        (None, None) => return format!("#{copy}"),
    };
    if copy > 0 {
        name.push_str(&format!("#{copy}"));
    }
    name
}

fn faults(found: &theirs::Run, run: &mut Run) {
    for f in &found.failures {
        let at = f.step.map_or_else(String::new, |s| format!(" at step {s}"));
        let what = match &f.kind {
            FailureKind::NotFinite(Field::Loss, _) => {
                format!("the loss is not a finite number{at}: nothing from there on counts")
            }
            FailureKind::NotFinite(field, _) => format!("{} is not a finite number{at}", word(*field)),
            FailureKind::OutOfMemory => format!("a device ran out of memory{at}"),
            FailureKind::Exception(text) => format!("the training ended with an exception{at}: {text}"),
        };
        run.flaw(what, Some(f.line));
    }
    let more = beyond(&found.left_out, Limit::TORCHTITAN_FAILURES);
    if more > 0 {
        let what = format!("{more} more failures");
        run.flaw(what, None);
    }
}

fn word(field: Field) -> &'static str {
    match field {
        Field::Loss => "loss",
        Field::GradNorm => "grad_norm",
        Field::Memory => "memory",
        Field::Tps => "tps",
        Field::Tflops => "tflops",
        Field::Mfu => "mfu",
        Field::EndToEnd => "step time",
    }
}

fn notes(found: &theirs::Run, run: &mut Run) {
    for n in &found.notes {
        let what = match n.kind {
            NoteKind::AllocationRetries => "the CUDA allocator had to free and try again: steps are slowed",
            NoteKind::DatasetLooped => "the dataset started again from its beginning",
            NoteKind::LossNotVisible => "a rank does not see the loss: a stage of a pipeline",
            NoteKind::PeakUnknown => "the program does not know this device's peak: mfu is wrong",
            NoteKind::RanksNotNamed => "lines carry no rank: repeated steps show which lines are of different ranks",
        };
        if !run.notes.iter().any(|x| x.what == what) {
            run.note(what, Some(n.line));
        }
    }
}
