//! STREAM: bandwidth of the host's memory, and of a GPU's.

use super::{Benchmark, Sink};
use crate::model::{Better, Fault, Label, Metric, Run, Stat, Unit};
use crate::summary::Area;
use linerate_formats::stream::{self as theirs, Memory};

pub(super) const HOST: Benchmark =
    Benchmark { tool: &theirs::TOOL, read: |b, to| read(b, Memory::Host, to), area: Area::Other, secondary: &["time"] };
pub(super) const CUDA: Benchmark =
    Benchmark { tool: &theirs::CUDA, read: |b, to| read(b, Memory::Cuda, to), area: Area::Gpu, secondary: &["time"] };

fn read(bytes: &[u8], memory: Memory, to: &mut Sink<'_>) {
    for found in theirs::parse(bytes).into_iter().filter(|r| r.memory == memory) {
        to.record("rows", &found.refused, &found.left_out);
        to.run(run(&found), found.lines.0);
    }
}

fn run(found: &theirs::Run) -> Run {
    let mut run = Run { tool: Some("STREAM".into()), version: found.version.clone(), ..Run::default() };
    run.param("elements", found.elements);
    run.param("element_bytes", found.element_bytes);
    run.param("array_mb", found.array_mb);
    run.param("threads", found.threads);
    for row in &found.rows {
        let kernel = [Label::new("kernel", row.kernel.to_ascii_lowercase())];
        run.value(Metric::new("bandwidth", Unit::GBps, Better::Higher), &kernel, None, Some(row.best.0));
        for (stat, time) in [Stat::Mean, Stat::Min, Stat::Max].into_iter().zip(row.time) {
            let metric = Metric::new("time", Unit::Microseconds, Better::Lower).stat(stat);
            run.value(metric, &kernel, None, Some(time.0));
        }
    }
    run.said(&found.failures, []);
    if found.is_mixed {
        let what = "outputs of several processes are mixed: a row may be of any of them".to_owned();
        run.faults.push(Fault { what, line: Some(found.lines.0), whole_run: true });
    }
    run
}
