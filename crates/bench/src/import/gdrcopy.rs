//! GDRCopy: rates and times by which the CPU copies to and from a GPU's memory.

use super::{Benchmark, Sink};
use crate::model::{Better, Label, Metric, Run, Stat, Unit};
use crate::summary::Area;
use linerate_formats::gdrcopy::{self as theirs, Direction};

pub(super) const BENCHMARK: Benchmark = Benchmark { tool: &theirs::TOOL, read, area: Area::Gpu, secondary: &[] };

fn read(bytes: &[u8], to: &mut Sink<'_>) {
    for found in theirs::parse(bytes) {
        to.record("rows", &found.refused, &found.left_out);
        to.run(run(&found), found.lines.0);
    }
}

fn run(found: &theirs::Run) -> Run {
    let mut run = Run { tool: Some("GDRCopy".into()), ..Run::default() };
    run.param("cuda_device", found.device.map(u64::from));
    let gpu = found.gpus.iter().find(|(id, _)| Some(*id) == found.device);
    run.param("gpu", gpu.map(|(_, name)| name.clone()));
    for (key, value) in &found.settings {
        run.param(key, Some(value.clone()));
    }
    let label = |d: Direction| {
        let name = match d {
            Direction::Write => "write",
            Direction::Read => "read",
        };
        [Label::new("direction", name)]
    };
    for r in &found.rates {
        let metric = || Metric::new("bandwidth", Unit::MiBps, Better::Higher);
        let size = r.size.map(|s| s.0);
        let stat = if r.min.is_some() { Stat::Median } else { Stat::Value };
        run.value(metric().stat(stat), &label(r.direction), size, Some(r.rate.0));
        run.value(metric().stat(Stat::Min), &label(r.direction), size, r.min.map(|m| m.0));
    }
    for t in &found.times {
        let metric = || Metric::new("latency", Unit::Microseconds, Better::Lower);
        let stat = if t.min.is_some() { Stat::Median } else { Stat::Mean };
        run.value(metric().stat(stat), &label(t.direction), Some(t.size.0), Some(t.time.0));
        run.value(metric().stat(Stat::Min), &label(t.direction), Some(t.size.0), t.min.map(|m| m.0));
    }
    for line in &found.unfinished {
        run.flaw("a test has no result: the program was ended, or the text is cut", Some(*line));
    }
    run.said(&found.failures, []);
    run.ended(found.end);
    run
}
