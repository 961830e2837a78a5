//! Which values are compared with which: the same kind, program, metric, labels and size on both sides; of each run one value, or one
//! time series.

use super::answer::Excluded;
use super::split::Splits;
use super::{Input, Options};
use crate::model::{Better, Dimension, Kind, Label, Metric, Param, Run, RunId, Series, Stat, Unit};
use linerate_formats::bounds::COMPARED;
use smol_str::SmolStr;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Points of a series with a place in time, from which on it is a time series.
const SERIES: usize = 8;

/// What makes two values the same measurement.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) kind: Kind,
    pub(super) tool: Option<SmolStr>,
    pub(super) metric: SmolStr,
    /// Written, because a percentile is a number.
    pub(super) stat: String,
    pub(super) labels: Vec<Label>,
    pub(super) size: Option<u64>,
}

/// Values of one key on both sides.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) unit: Unit,
    pub(super) stat: Stat,
    pub(super) better: Better,
    pub(super) sides: [Vec<OfRun>; 2],
}

/// What one run says about a key.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OfRun {
    pub(super) run: RunId,
    /// Place of the run in the order of all measurements, where that is known.
    pub(super) order: Option<f64>,
    /// One value, or the values of a time series.
    pub(super) values: Vec<f64>,
    /// Whether the order of the values means anything.
    pub(super) is_series: bool,
}

/// All keys that both sides have, and what was left out.
pub(super) fn cells(a: &Input<'_>, b: &Input<'_>, options: &Options) -> (BTreeMap<Key, Cell>, Vec<Excluded>) {
    let mut excluded = Vec::new();
    let programs = Programs::of([a, b]);
    let splits = Splits::of([a, b]);
    let mut cells: BTreeMap<Key, Cell> = BTreeMap::new();
    for (place, side) in [a, b].into_iter().enumerate() {
        let name = if place == 0 { "A" } else { "B" };
        let mut left = 0;
        let served = |r: &Run| r.params.get("role") == Some(&Param::Text("server".into()));
        let other_end: BTreeSet<Kind> =
            side.runs.iter().filter(|r| r.is_valid() && !served(r)).map(|r| r.kind).collect();
        for run in side.runs {
            // Both ends tell of one test: it counts once.
            if served(run) && other_end.contains(&run.kind) {
                let why = "the server's end of a test that the client's output has, too".to_owned();
                excluded.push(Excluded { side: name, what: format!("run {} ({})", run.id(), run.source.name), why });
                continue;
            }
            if let Some(fault) = run.void() {
                let what = format!("run {} ({})", run.id(), run.source.name);
                excluded.push(Excluded { side: name, what, why: fault.what.clone() });
                continue;
            }
            let invalid = run.series.iter().flat_map(|s| s.points.iter()).filter(|p| !p.valid).count();
            if invalid > 0 {
                let why = run.faults.first().map_or_else(String::new, |f| f.what.clone());
                excluded.push(Excluded { side: name, what: format!("{invalid} values of run {}", run.id()), why });
            }
            left += take(run, place, (&programs, &splits), options, &mut cells);
        }
        if left > 0 {
            let why = format!("one comparison has at most {COMPARED} measurements: name a metric, or fewer files");
            excluded.push(Excluded { side: name, what: format!("{left} measurements"), why });
        }
    }
    alone(&mut cells, &mut excluded);
    (cells, excluded)
}

/// A key that one side lacks compares nothing. Told once for each metric.
fn alone(cells: &mut BTreeMap<Key, Cell>, excluded: &mut Vec<Excluded>) {
    let mut counts: BTreeMap<(&'static str, Kind, String), usize> = BTreeMap::new();
    cells.retain(|key, cell| {
        let [a, b] = &cell.sides;
        let side = match (a.is_empty(), b.is_empty()) {
            (false, false) => return true,
            // Printed as zero on both sides.
            (true, true) => return false,
            (false, true) => "A",
            _ => "B",
        };
        let mut what = key.tool.as_deref().map_or_else(|| key.metric.to_string(), |t| format!("{t} {}", key.metric));
        for l in &key.labels {
            what.push_str(&format!(", {} {}", l.key, l.value));
        }
        *counts.entry((side, key.kind, what)).or_default() += 1;
        false
    });
    for ((side, kind, what), n) in counts {
        let what = if n > 1 { format!("{kind}: {what} at {n} sizes") } else { format!("{kind}: {what}") };
        excluded.push(Excluded { side, what, why: "the other side has no such measurement".to_owned() });
    }
}

/// Adds what a run says; the number of measurements for which there was no room.
fn take(
    run: &Run,
    place: usize,
    (programs, splits): (&Programs, &Splits),
    options: &Options,
    cells: &mut BTreeMap<Key, Cell>,
) -> usize {
    let mut left = 0;
    let apart = splits.labels(run);
    let id = run.id();
    let order = run.order();
    let mut mine: BTreeMap<Key, (&Metric, Vec<&Series>)> = BTreeMap::new();
    let whole = whole(run);
    for s in options.wanted(run) {
        // Streams and ranks are for looking at where the run has the value of all of them.
        let has_whole = || whole.get(&of_metric(&s.metric)).is_some_and(|fewest| *fewest < s.labels.len());
        if s.labels.iter().any(Label::is_member) && has_whole() {
            continue;
        }
        let key = Key {
            kind: run.kind,
            tool: programs.of_run(run),
            metric: s.metric.name.clone(),
            stat: s.metric.stat.to_string(),
            labels: s.telling().chain(&apart).cloned().collect(),
            size: None,
        };
        mine.entry(key).or_insert_with(|| (&s.metric, Vec::new())).1.push(s);
    }
    for (key, (metric, series)) in mine {
        let rows = run.rows_are_runs();
        let in_time = series.iter().any(|s| s.points.iter().filter(|p| p.at.is_some()).count() >= SERIES);
        for (size, points) in by_size(&series) {
            let key = Key { size, ..key.clone() };
            if cells.len() >= COMPARED && !cells.contains_key(&key) {
                left += 1;
                continue;
            }
            let cell = cells.entry(key).or_insert_with(|| Cell {
                unit: metric.unit.clone(),
                stat: metric.stat,
                better: metric.better,
                sides: [Vec::new(), Vec::new()],
            });
            let convert = |v: f64| metric.unit.convert(v, &cell.unit);
            // A bandwidth that is printed as zero was printed too coarsely: it was not zero.
            let coarse = |v: &f64| *v == 0.0 && metric.unit.dimension().0 == Dimension::Bandwidth;
            let values: Vec<f64> = points.into_iter().filter(|v| !coarse(v)).filter_map(convert).collect();
            let Some(side) = cell.sides.get_mut(place) else { continue };
            let one = |values: Vec<f64>, is_series| OfRun { run: id, order, values, is_series };
            if values.is_empty() {
                continue;
            } else if rows {
                side.extend(values.into_iter().map(|v| one(vec![v], false)));
            } else if size.is_none() && in_time && values.len() >= SERIES {
                side.push(one(values, true));
            } else {
                side.push(one(vec![mean(&values)], false));
            }
        }
    }
    left
}

/// What makes two metrics the same, for a map.
fn of_metric(m: &Metric) -> (&str, &str, String, Better) {
    (&m.name, m.unit.name(), m.stat.to_string(), m.better)
}

/// Of each metric, the fewest labels of a series that is of no member alone.
fn whole(run: &Run) -> HashMap<(&str, &str, String, Better), usize> {
    let mut fewest = HashMap::new();
    for s in run.series.iter().filter(|s| !s.labels.iter().any(Label::is_member)) {
        let there = fewest.entry(of_metric(&s.metric)).or_insert(s.labels.len());
        *there = s.labels.len().min(*there);
    }
    fewest
}

/// Values by size, members (ranks, streams) averaged where they stand at the same place in time.
fn by_size(series: &[&Series]) -> BTreeMap<Option<u64>, Vec<f64>> {
    let mut sizes: BTreeMap<Option<u64>, Vec<f64>> = BTreeMap::new();
    if let [one] = series {
        for p in one.points.valid() {
            sizes.entry(p.size).or_default().push(p.value);
        }
        return sizes;
    }
    // Millionths tell places in time apart, and order.
    let mut places: BTreeMap<(Option<u64>, i64), (f64, u32)> = BTreeMap::new();
    for s in series {
        for (n, p) in s.points.valid().enumerate() {
            // Without a place in time, the n-th of each belong together.
            let at = p.at.map_or(n as f64, |at| at * 1e6);
            let sum = places.entry((p.size, at as i64)).or_insert((0.0, 0));
            *sum = (sum.0 + p.value, sum.1 + 1);
        }
    }
    for ((size, _), (sum, n)) in places {
        sizes.entry(size).or_default().push(sum / f64::from(n));
    }
    sizes
}

/// Arithmetic mean; of no values, not a number.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The programs of a kind: a table that does not name its program is of the only one that is named.
struct Programs(BTreeMap<Kind, Vec<SmolStr>>);

impl Programs {
    fn of(sides: [&Input<'_>; 2]) -> Programs {
        let mut all: BTreeMap<Kind, Vec<SmolStr>> = BTreeMap::new();
        for run in sides.into_iter().flat_map(|s| s.runs) {
            let list = all.entry(run.kind).or_default();
            if let Some(tool) = run.tool.as_ref().filter(|t| !list.contains(t)) {
                list.push(tool.clone());
            }
        }
        Programs(all)
    }

    fn of_run(&self, run: &Run) -> Option<SmolStr> {
        run.tool.clone().or_else(|| match self.0.get(&run.kind).map(Vec::as_slice) {
            Some([only]) => Some(only.clone()),
            _ => None,
        })
    }
}
