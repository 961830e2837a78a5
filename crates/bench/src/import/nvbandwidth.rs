//! nvbandwidth: a matrix for each test.

use super::{Benchmark, Sink};
use crate::model::{Better, Fault, Label, Metric, Note, Point, Points, Run, Series, Unit};
use crate::summary::Area;
use linerate_formats::nvbandwidth::{self as theirs, Matrix, Status, Values};
use smol_str::SmolStr;

pub(super) const BENCHMARK: Benchmark =
    Benchmark { tool: &theirs::TOOL, read, area: Area::Gpu, secondary: &["bandwidth"] };

fn read(bytes: &[u8], to: &mut Sink<'_>) {
    for found in theirs::parse(bytes) {
        to.record("rows", &found.refused, &found.left_out);
        to.run(run(&found), found.lines.0);
    }
}

fn run(found: &theirs::Run) -> Run {
    let mut run = Run { tool: Some("nvbandwidth".into()), ..Run::default() };
    run.version = found.version.as_ref().map(|v| v.value.clone());
    run.param("driver", found.driver.as_ref().map(|v| v.value.clone()));
    run.param("cuda", found.cuda.as_ref().map(|v| v.value));
    run.param("gpus", (!found.devices.is_empty()).then_some(found.devices.len() as u64));
    run.param("gpu", found.devices.first().map(|d| d.name.clone()));
    run.param("buffer", found.buffer.as_ref().map(|b| b.value.0));
    run.param("samples", found.samples.as_ref().map(|s| s.value));
    run.param("mean", found.is_mean.as_ref().map(|m| m.value));
    let hosts = found.host.iter().map(|h| &h.value).chain(found.devices.iter().filter_map(|d| d.host.as_ref()));
    run.all_hosts(hosts.map(|h| h.as_str()));
    for test in &found.tests {
        let name = test.name.clone().unwrap_or_else(|| SmolStr::new_static("unnamed"));
        if test.status == Status::Unfinished {
            let what = format!("{name} has no result: the run was ended, or the text is cut");
            run.flaw(what, Some(test.line));
        }
        for matrix in &test.matrices {
            let key = matrix.key.clone().unwrap_or_else(|| name.clone());
            run.series.extend(series(&key, matrix));
            if !matrix.is_whole {
                let what = format!("{key} is cut: its cells do not add up to its sum");
                run.flaw(what, Some(matrix.line));
            }
        }
    }
    for f in &found.failures {
        let test = f.test.as_deref().unwrap_or("the run");
        run.faults.push(Fault {
            what: format!("{test} failed: {}", f.text),
            line: Some(f.line),
            whole_run: f.test.is_none(),
        });
    }
    run.notes.extend(found.notes.iter().map(|n| Note { what: n.value.clone(), line: Some(n.line) }));
    run
}

fn series(key: &str, m: &Matrix) -> Vec<Series> {
    let (cells, name, unit, better): (Vec<Option<f64>>, _, _, _) = match &m.values {
        Values::Bandwidth(all) => {
            (all.iter().map(|v| v.map(|v| v.0)).collect(), "bandwidth", Unit::GBps, Better::Higher)
        }
        // Nanoseconds, given in the unit of all latencies.
        Values::Latency(all) => {
            (all.iter().map(|v| v.map(|v| v.0 / 1000.0)).collect(), "latency", Unit::Microseconds, Better::Lower)
        }
    };
    let point = |value: f64| Points::from_iter([Point { size: None, at: None, value, valid: m.is_whole }]);
    let pairs = m.rows.iter().flat_map(|r| m.columns.iter().map(move |c| (r, c)));
    let mut all: Vec<Series> = pairs
        .zip(&cells)
        .filter_map(|((row, column), value)| {
            let labels =
                vec![Label::new("test", key), Label::new("row", row.clone()), Label::new("column", column.clone())];
            Some(Series { metric: Metric::new(name, unit.clone(), better), labels, points: point((*value)?) })
        })
        .collect();
    let sum = m.sum.map(|s| if unit == Unit::Microseconds { s / 1000.0 } else { s });
    if let Some(sum) = sum.filter(|s| s.is_finite()) {
        let labels = vec![Label::new("test", key)];
        all.push(Series { metric: Metric::new("sum", unit, better), labels, points: point(sum) });
    }
    all
}
