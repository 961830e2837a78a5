//! fio: storage.

use super::{Benchmark, Sink};
use crate::model::{Better, Label, Metric, Run, Stat, Unit};
use crate::summary::Area;
use linerate_formats::fio::{self as theirs, Direction, Job, Kind, Times};
use std::collections::HashMap;

/// Options that say what was measured.
const OPTIONS: [&str; 12] = [
    "rw",
    "readwrite",
    "bs",
    "blocksize",
    "iodepth",
    "ioengine",
    "direct",
    "numjobs",
    "size",
    "runtime",
    "rwmixread",
    "sync",
];

pub(super) const BENCHMARK: Benchmark =
    Benchmark { tool: &theirs::TOOL, read, area: Area::Storage, secondary: &["iops"] };

fn read(bytes: &[u8], to: &mut Sink<'_>) {
    let all = theirs::parse(bytes);
    let last = all.len().saturating_sub(1);
    for (n, found) in all.iter().enumerate() {
        to.record("lines", &found.refused, &found.left_out);
        let line = found.lines.0;
        // A state in between is the same run, less far; where the text ends with it, it is all there is.
        if found.is_interim && n < last {
            continue;
        }
        to.run(run(found), line);
    }
}

fn run(found: &theirs::Run) -> Run {
    let mut run = Run { tool: Some("fio".into()), began: None, ..Run::default() };
    run.version = found.version.as_ref().map(|v| v.value.clone());
    for name in OPTIONS {
        let mut values = found.jobs.iter().map(|j| found.option(j, name));
        let first = values.next().flatten();
        if let Some(first) = first.filter(|f| values.all(|v| v == Some(f))) {
            run.params.insert(name.into(), first.into());
        }
    }
    // JSON tells each job; the reporting time tells two equal runs apart.
    run.param("reported", found.reported);
    let mut names: HashMap<&str, u32> = HashMap::new();
    found.jobs.iter().for_each(|j| *names.entry(j.name.as_str()).or_default() += 1);
    for (n, job) in found.jobs.iter().enumerate() {
        let mut labels = vec![Label::new("job", job.name.clone())];
        if names.get(job.name.as_str()).is_some_and(|n| *n > 1) {
            labels.push(Label::new("pid", job.pid.map_or(n as u64, |p| p).to_string()));
        }
        job_of(job, &labels, &mut run);
    }
    run.said(&found.failures, &found.notes);
    if found.is_interim {
        run.note("a state in between (--status-interval): the end is not in the text", None);
    }
    run.ended(found.end);
    run
}

fn job_of(job: &Job, labels: &[Label], run: &mut Run) {
    if let Some(code) = job.error.filter(|e| *e != 0) {
        let text = job.error_text.as_deref().map_or_else(String::new, |t| format!(": {t}"));
        let what = format!("job {} ended with error {code}{text}: its values are of what was done before", job.name);
        run.fault(what, (job.line > 0).then_some(job.line));
    }
    for d in &job.directions {
        let mut labels = labels.to_vec();
        labels.push(Label::new(
            "direction",
            match d.kind {
                Kind::Read => "read",
                Kind::Write => "write",
                Kind::Trim => "trim",
                Kind::Sync => "sync",
                Kind::Mixed => "mixed",
            },
        ));
        direction(d, &labels, run);
    }
}

fn direction(d: &Direction, labels: &[Label], run: &mut Run) {
    let mut put = |metric: Metric, value: Option<f64>| run.value(metric, labels, None, value);
    put(Metric::new("bandwidth", Unit::MiBps, Better::Higher), d.bandwidth.map(|v| v.0));
    put(Metric::new("iops", Unit::Iops, Better::Higher), d.iops.map(|v| v.0));
    // What a program waits for is both parts together; where only one is there, that.
    let (name, times) = match (&d.total, &d.completion, &d.submission) {
        (Some(t), ..) => ("latency", t),
        (None, Some(t), _) => ("completion_latency", t),
        (None, None, Some(t)) => ("submission_latency", t),
        (None, None, None) => return,
    };
    latency(name, times, &mut put);
    // Percentiles are shown of the completion alone, as a rule.
    if let Some(c) = d.completion.as_ref().filter(|_| name == "latency") {
        latency("completion_latency", c, &mut put);
    }
}

fn latency(name: &'static str, t: &Times, put: &mut impl FnMut(Metric, Option<f64>)) {
    let metric = |stat| Metric::new(name, Unit::Microseconds, Better::Lower).stat(stat);
    let values = [(Stat::Mean, t.mean), (Stat::Min, t.min), (Stat::Max, t.max), (Stat::Stdev, t.stdev)];
    for (stat, value) in values {
        put(metric(stat), value.map(|v| v.0));
    }
    for (p, value) in &t.percentiles {
        put(metric(if *p == 50.0 { Stat::Median } else { Stat::Percentile(*p) }), Some(value.0));
    }
}
