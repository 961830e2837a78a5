//! A table to be filled in: what was measured on one side, with places for the other. Filled in, it is a side of a comparison.

use crate::compare::Options;
use crate::model::{Label, Run};
use linerate_out::csv::field;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Runs with which a comparison can decide anything.
const RUNS: usize = 3;

/// A CSV table in long form: for each metric and size of `runs` the value that was measured, and empty cells for as many runs as there
/// were, at least three.
#[must_use]
pub fn template(runs: &[Run]) -> String {
    let options = Options::default();
    type Key = (crate::Kind, String, String, String, String, Option<u64>, Vec<Label>);
    let mut values: BTreeMap<Key, (Vec<f64>, BTreeSet<usize>)> = BTreeMap::new();
    for (place, run) in runs.iter().enumerate().filter(|(_, r)| r.is_valid()) {
        for s in options.wanted(run) {
            let labels: Vec<Label> = s.telling().cloned().collect();
            for p in s.points.valid() {
                let m = &s.metric;
                let tool = run.tool.as_deref().unwrap_or_default().to_owned();
                let key = (
                    run.kind,
                    tool,
                    m.name.to_string(),
                    m.stat.to_string(),
                    m.unit.name().to_owned(),
                    p.size,
                    labels.clone(),
                );
                let (seen, of) = values.entry(key).or_default();
                seen.push(p.value);
                of.insert(place);
            }
        }
    }
    let names: BTreeSet<&str> = values.keys().flat_map(|k| k.6.iter().map(|l| l.key.as_str())).collect();
    let mut out = String::from(
        "# Fill in the column `value`, one row for each run; delete rows that were not measured.\n\
         # Then: linerate bench compare BEFORE THIS-FILE\n",
    );
    let mut line = vec!["run", "kind", "tool", "metric", "stat", "unit", "size"];
    line.extend(&names);
    line.extend(["before", "value"]);
    let _ = writeln!(out, "{}", line.join(","));
    for ((kind, tool, metric, stat, unit, size, labels), (seen, of)) in &values {
        // A table whose rows are repetitions is one run with many values.
        let n = of.len().max(RUNS);
        let before = seen.iter().sum::<f64>() / seen.len() as f64;
        for run in 1..=n {
            let mut cells =
                vec![run.to_string(), kind.to_string(), field(tool), field(metric), stat.clone(), field(unit)];
            cells.push(size.map_or_else(String::new, |s| s.to_string()));
            let label = |key: &str| labels.iter().find(|l| l.key == key).map_or_else(String::new, |l| field(&l.value));
            cells.extend(names.iter().map(|n| label(n)));
            cells.push(format!("{before}"));
            cells.push(String::new());
            let _ = writeln!(out, "{}", cells.join(","));
        }
    }
    out
}
