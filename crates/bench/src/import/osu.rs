//! The OSU micro-benchmarks: MPI between hosts and GPUs.

use super::{Benchmark, Sink};
use crate::model::{Better, Metric, Point, Run, Stat, Unit};
use crate::summary::Area;
use linerate_formats::osu::{self as theirs, Column};

pub(super) const BENCHMARK: Benchmark =
    Benchmark { tool: &theirs::TOOL, read, area: Area::Collectives, secondary: &["message_rate"] };

fn read(bytes: &[u8], to: &mut Sink<'_>) {
    for found in theirs::parse(bytes) {
        to.record("rows", &found.refused, &found.left_out);
        to.run(run(&found), found.lines.0);
    }
}

fn run(found: &theirs::Run) -> Run {
    let mut run = Run { version: found.version.clone(), ..Run::default() };
    run.tool = found.title.as_ref().map(|t| t.value.trim_end_matches(" Test").into());
    run.param("dtype", found.datatype.clone());
    for row in &found.rows {
        for (column, value) in found.columns.iter().zip(&row.values) {
            if let (Some((metric, unit)), Some(value)) = (metric(*column), value) {
                let point = Point { size: Some(row.size), at: None, value: value * unit, valid: !row.is_wrong };
                run.series_mut(metric, &[]).points.push(point);
            }
        }
        if row.is_wrong {
            let what = format!("wrong data at {} bytes", row.size);
            run.flaw(what, Some(row.line));
        }
    }
    run
}

/// What a column is called here, and what its unit is in the metric's.
fn metric(column: Column) -> Option<(Metric, f64)> {
    let latency = || Metric::new("latency", Unit::Microseconds, Better::Lower);
    Some(match column {
        Column::Bandwidth => (Metric::new("bandwidth", Unit::GBps, Better::Higher), 1e-3),
        Column::Messages => (Metric::new("message_rate", Unit::MessagesPerSecond, Better::Higher), 1.0),
        Column::Latency => (latency(), 1.0),
        Column::LatencyMin => (latency().stat(Stat::Min), 1.0),
        Column::LatencyMax => (latency().stat(Stat::Max), 1.0),
        Column::Validation | Column::Other => return None,
    })
}
