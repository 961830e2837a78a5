//! Plots from runs and comparisons.

use super::data::{Axis, Limit, PlotData, Scale, Series, Shade, Shape, Ticks, Xy};
use super::select::{Choice, Chosen, PlotSide, Select};
use crate::bench::compare::{self, Section, ceiling_value, sections};
use crate::bench::words::{self, counted, quantity};
use linerate_bench::ceiling::Ceiling;
use linerate_bench::compare::{Comparison, Comparisons, Transient};
use linerate_bench::model::Dimension;
use linerate_bench::{Kind, Metric, RunId, Unit};
use std::collections::BTreeMap;

/// Runs of a side that are drawn one by one.
const RUNS: usize = 12;
/// With no more values a side, each is a mark; with more, their distribution is a line.
const MARKS: usize = 15;
/// Said where nothing can be said of repetitions.
const ONE_RUN: &str = "One line is one run: the spread of repetitions is not known";

fn axis(label: String) -> Axis {
    Axis { label, ..Axis::default() }
}

fn sizes() -> Axis {
    Axis { label: "size, bytes".into(), scale: Scale::Log2, ticks: Ticks::Bytes, from_zero: false }
}

/// Times span powers of ten, bandwidths begin at zero.
fn values(label: String, unit: Option<&Unit>) -> Axis {
    match unit.map(|u| u.dimension().0) {
        Some(Dimension::Time) => Axis { label, scale: Scale::Log10, ..Axis::default() },
        _ => Axis { label, from_zero: true, ..Axis::default() },
    }
}

fn invalid(choice: &Choice<'_>) -> Option<String> {
    (choice.invalid > 0).then(|| format!("left out: {} without a valid result", counted(choice.invalid, "run", "runs")))
}

fn ceiling_limit(c: &Ceiling, unit: &Unit) -> Option<Limit> {
    let at = c.unit.convert(c.high, unit)?;
    Some(Limit { at, label: format!("ceiling {}: {}", ceiling_value(c), c.by), upright: false })
}

/// Values over size, each side a line through the means of its runs, with a band from the smallest to the largest run.
#[must_use]
pub fn sweep(sides: &[PlotSide<'_>], select: &Select, ceiling: Option<&Ceiling>) -> PlotData {
    let choice = Choice::of(sides, select);
    let unit = choice.metric.map(|m| &m.unit);
    let mut plot = PlotData {
        title: format!("{} over size", select.name()),
        x: sizes(),
        y: values(choice.label(select), unit),
        ..PlotData::default()
    };
    let mut many = false;
    for (role, (name, runs)) in choice.sides.iter().enumerate() {
        let mut by_size: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for run in runs {
            run.by_size().into_iter().for_each(|(size, v)| by_size.entry(size).or_default().push(v));
        }
        many |= runs.len() > 1;
        let points = by_size.into_iter().map(|(size, v)| point(size as f64, &v)).collect();
        let name = format!("{name} ({})", counted(runs.len(), "run", "runs"));
        plot.series.push(Series { name, role, shape: Shape::Line, points });
    }
    let what = if many { "Lines: means of the runs; bands: smallest to largest run" } else { ONE_RUN };
    plot.note = [Some(what.to_owned()), invalid(&choice)].into_iter().flatten().collect::<Vec<_>>().join("; ");
    plot.limits.extend(ceiling.zip(unit).and_then(|(c, u)| ceiling_limit(c, u)));
    plot
}

/// The mean of values, and from the smallest to the largest.
fn point(x: f64, values: &[f64]) -> Xy {
    let n = values.len() as f64;
    let mean = values.iter().map(|v| v / n).sum();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Xy { x, y: mean, band: (values.len() > 1).then_some((low, high)) }
}

/// The same from a comparison alone: a plot for each metric that was compared at several sizes.
#[must_use]
pub fn sweeps_of(c: &Comparisons) -> Vec<PlotData> {
    sections(&c.comparisons).iter().filter(|s| s.over_sizes).map(|s| sweep_of(c, s)).collect()
}

fn sweep_of(c: &Comparisons, section: &Section<'_>) -> PlotData {
    let first = section.rows.first();
    let many = section.rows.iter().any(|c| c.a.runs > 1 || c.b.runs > 1);
    let unit = first.map(|c| &c.unit);
    let mut plot = PlotData {
        title: section.title(),
        note: if many { "Lines: means of the runs; bands: smallest to largest value" } else { ONE_RUN }.into(),
        x: sizes(),
        y: values(first.map(|c| label(c)).unwrap_or_default(), unit),
        ..PlotData::default()
    };
    for (role, name) in [&c.a.name, &c.b.name].into_iter().enumerate() {
        let point = |c: &&Comparison| {
            let side = if role == 0 { &c.a } else { &c.b };
            let band = side.min.zip(side.max).filter(|(low, high)| low < high);
            Some(Xy { x: c.size? as f64, y: side.typical?, band })
        };
        let mut points: Vec<Xy> = section.rows.iter().filter_map(point).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        plot.series.push(Series { name: name.clone(), role, shape: Shape::Line, points });
    }
    let ceiling = section.rows.iter().rev().find_map(|c| c.ceiling.as_ref());
    plot.limits.extend(ceiling.zip(unit).and_then(|(c, u)| ceiling_limit(&c.ceiling, u)));
    plot
}

fn label(c: &Comparison) -> String {
    let name = words::metric(&c.metric, c.stat);
    if c.unit == Unit::One { name } else { format!("{name}, {}", c.unit) }
}

/// All transients that a comparison cut from a metric's series.
fn transients<'c>(c: Option<&'c Comparisons>, select: &Select) -> BTreeMap<RunId, &'c Transient> {
    let rows = c.into_iter().flat_map(|c| &c.comparisons).filter(|c| Select::of(c) == *select);
    rows.flat_map(|c| c.a.transients.iter().chain(&c.b.transients)).map(|t| (t.run, t)).collect()
}

/// Values over time, each run a line. With the comparison, what was cut from their beginning is shaded, and the mean of the rest drawn.
#[must_use]
pub fn timeline(sides: &[PlotSide<'_>], select: &Select, comparison: Option<&Comparisons>) -> PlotData {
    let choice = Choice::of(sides, select);
    let cuts = transients(comparison, select);
    let all = || choice.sides.iter().flat_map(|(_, runs)| runs);
    let timed = all().any(|c| c.run.series.iter().any(|s| s.points.in_time()));
    let label = match all().next().map(|c| c.run.kind) {
        _ if !timed => "number of the value",
        Some(Kind::Torchtitan) => "step",
        // The table's own column: it may be either.
        Some(Kind::Series) => "time (s) or step",
        _ => "time, s",
    };
    let mut plot = PlotData {
        title: format!("{} over time", select.name()),
        x: axis(label.into()),
        y: Axis { from_zero: true, ..axis(choice.label(select)) },
        ..PlotData::default()
    };
    let mut notes = Vec::new();
    for (role, (name, runs)) in choice.sides.iter().enumerate() {
        for (i, chosen) in runs.iter().take(RUNS).enumerate() {
            let points = chosen.over_time();
            let cut = cuts.get(&chosen.run.id());
            // The cut lies between the last value that left and the first that stayed.
            let at = cut.and_then(|t| {
                let (last, first) = (points.get(t.cut.checked_sub(1)?)?, points.get(t.cut)?);
                Some(last.0 / 2.0 + first.0 / 2.0)
            });
            let name = if i > 0 { String::new() } else { side_name(name, runs, &points, cut.copied(), choice.metric) };
            let drawn = points.iter().map(|(x, y)| Xy { x: *x, y: *y, band: None }).collect();
            if let (Some(at), Some((begin, _)), Some((end, _))) = (at, points.first(), points.last()) {
                plot.shades.push(Shade { from: *begin, to: at, role: Some(role), name: String::new() });
                let mean = cut.map_or(f64::NAN, |t| t.mean_after);
                let ends = [at, *end].map(|x| Xy { x, y: mean, band: None });
                plot.series.push(Series { name: String::new(), role, shape: Shape::Curve, points: ends.to_vec() });
            }
            plot.series.push(Series { name, role, shape: Shape::Line, points: drawn });
        }
        if runs.len() > RUNS {
            notes.push(format!("{} of {name} not drawn", counted(runs.len() - RUNS, "run", "runs")));
        }
    }
    if !plot.shades.is_empty() {
        notes.insert(0, "Shaded: transients that were cut; dashed: means without them".into());
    }
    notes.extend(invalid(&choice));
    plot.note = notes.join("; ");
    plot
}

/// A side with its mean, before and after the cut.
fn side_name(
    name: &str,
    runs: &[Chosen<'_>],
    points: &[(f64, f64)],
    cut: Option<&Transient>,
    metric: Option<&Metric>,
) -> String {
    let unit = metric.map_or(&Unit::One, |m| &m.unit);
    match cut {
        _ if runs.len() > 1 => format!("{name} ({})", counted(runs.len(), "run", "runs")),
        Some(t) => {
            format!("{name}: mean {} without the first {} of {} values", quantity(t.mean_after, unit), t.cut, t.of)
        }
        None => {
            let n = points.len() as f64;
            let mean = points.iter().map(|(_, y)| y / n).sum::<f64>();
            format!("{name}: mean {} of {}", quantity(mean, unit), counted(points.len(), "value", "values"))
        }
    }
}

/// How values are spread: a mark for each run where they are few, else the share of values below. Of a single time series its steady
/// part is shown; of several, the mean of each.
#[must_use]
pub fn distribution(
    sides: &[PlotSide<'_>],
    select: &Select,
    size: Option<u64>,
    comparison: Option<&Comparisons>,
) -> PlotData {
    let choice = Choice::of(sides, select);
    let cuts = transients(comparison, select);
    let single = choice.sides.iter().all(|(_, runs)| runs.len() <= 1);
    let mut within = false;
    let mut spread: Vec<(String, Vec<f64>)> = Vec::new();
    for (name, runs) in &choice.sides {
        let mut values = Vec::new();
        for chosen in runs {
            if !chosen.is_timed() {
                let by_size = chosen.by_size();
                let found = match size {
                    Some(size) => by_size.get(&size).copied(),
                    None => by_size.values().next_back().copied().or_else(|| chosen.over_time().first().map(|p| p.1)),
                };
                values.extend(found);
                continue;
            }
            let cut = cuts.get(&chosen.run.id()).map_or(0, |t| t.cut);
            let steady: Vec<f64> = chosen.over_time().into_iter().skip(cut).map(|(_, v)| v).collect();
            if single {
                within = true;
                values.extend(steady);
            } else if !steady.is_empty() {
                let n = steady.len() as f64;
                values.push(steady.iter().map(|v| v / n).sum());
            }
        }
        spread.push(((*name).to_owned(), words::sorted(values.into_iter())));
    }
    let of = if within { "values within one run a side" } else { "runs" };
    let at = size.map(|s| format!(" at {}", words::size(s))).unwrap_or_default();
    let mut plot = PlotData {
        title: format!("{}{at}: {of}", select.name()),
        x: axis(choice.label(select)),
        ..PlotData::default()
    };
    let few = spread.iter().all(|(_, v)| v.len() <= MARKS);
    if few {
        strip(&mut plot, &spread)
    } else {
        shares(&mut plot, &spread)
    }
    let told = if few {
        format!("Marks: {of}; strokes: means")
    } else {
        format!("Share of {of} at or below; strokes: medians")
    };
    plot.note = [Some(told), invalid(&choice)].into_iter().flatten().collect::<Vec<_>>().join("; ");
    plot
}

fn strip(plot: &mut PlotData, spread: &[(String, Vec<f64>)]) {
    let names = spread.iter().map(|(name, v)| format!("{name} (n = {})", v.len())).collect();
    plot.y.ticks = Ticks::Names(names);
    for (role, (_, values)) in spread.iter().enumerate() {
        let y = role as f64;
        let points = values.iter().map(|v| Xy { x: *v, y, band: None }).collect();
        plot.series.push(Series { name: String::new(), role, shape: Shape::Dots, points });
        if values.len() > 1 {
            let n = values.len() as f64;
            let x = values.iter().map(|v| v / n).sum();
            let points = vec![Xy { x, y, band: None }];
            plot.series.push(Series { name: String::new(), role, shape: Shape::Bars, points });
        }
    }
}

fn shares(plot: &mut PlotData, spread: &[(String, Vec<f64>)]) {
    plot.y = Axis { label: "share of values".into(), ticks: Ticks::Percent, from_zero: true, ..Axis::default() };
    for (role, (name, values)) in spread.iter().enumerate() {
        let n = values.len() as f64;
        let mut points: Vec<Xy> = values.first().map(|v| Xy { x: *v, y: 0.0, band: None }).into_iter().collect();
        points.extend(values.iter().enumerate().map(|(i, v)| Xy { x: *v, y: (i + 1) as f64 / n, band: None }));
        let name = format!("{name} (n = {})", values.len());
        plot.series.push(Series { name, role, shape: Shape::Steps, points });
        let middle = words::median(values).map(|x| Xy { x, y: 0.5, band: None });
        plot.series.push(Series {
            name: String::new(),
            role,
            shape: Shape::Bars,
            points: middle.into_iter().collect(),
        });
    }
}

/// All ratios of a comparison with their intervals around 1, the threshold shaded.
#[must_use]
pub fn forest(c: &Comparisons) -> PlotData {
    /// More rows than this are no picture.
    const ROWS: usize = 60;
    let mut names = Vec::new();
    let mut between: Vec<Xy> = Vec::new();
    let mut within: Vec<Xy> = Vec::new();
    for section in sections(&c.comparisons) {
        for row in &section.rows {
            let Some(x) = row.estimate.filter(|e| e.is_finite()) else { continue };
            if names.len() == ROWS {
                break;
            }
            let name = if section.over_sizes { words::metric(&row.metric, row.stat) + " " } else { String::new() };
            let y = names.len() as f64;
            names.push(format!("{name}{}", section.row_name(row)));
            let list = if compare::is_within(row) || row.interval.is_none() { &mut within } else { &mut between };
            list.push(Xy { x, y, band: row.interval.map(|[low, high]| (low, high)) });
        }
    }
    let mut plot = PlotData {
        title: format!("{} against {}", c.b.name, c.a.name),
        note: format!("Dots: B divided by A; whiskers: {} intervals", words::percent(c.level)),
        x: axis("B/A".into()),
        y: Axis { ticks: Ticks::Names(names), ..Axis::default() },
        ..PlotData::default()
    };
    for (role, name, points) in [(0, "between runs", between), (1, "of single runs only", within)] {
        if !points.is_empty() {
            plot.series.push(Series { name: name.into(), role, shape: Shape::Whiskers, points });
        }
    }
    plot.limits.push(Limit { at: 1.0, label: String::new(), upright: true });
    if c.threshold.is_finite() && c.threshold > 0.0 && c.threshold < 1.0 {
        let name = format!("no more than {} apart", words::percent(c.threshold));
        plot.shades.push(Shade { from: 1.0 / (1.0 + c.threshold), to: 1.0 + c.threshold, role: None, name });
    }
    plot
}
