//! `linerate bench plot`.

use super::compare::Side;
use super::load;
use crate::bench_args::{PlotArgs, PlotFormat, PlotKind};
use crate::output::Failure;
use crate::progress::Line;
use linerate_bench::ceiling::ceiling;
use linerate_bench::compare::{Options, compare};
use linerate_bench::{Run, Series, fit};
use linerate_report::bench::plot::{
    PlotData, PlotSide, Screen, Select, distribution, plot_svg, plot_text, sweep, timeline,
};
use std::io::Write;

pub(super) fn run(a: &PlotArgs) -> Result<u8, Failure> {
    let line = Line::new(true);
    let mut sides = Vec::new();
    for name in &a.sides {
        let loaded = load::side(&[name], a.store.store.as_deref(), &line)?;
        sides.push(Side::new(vec![name.clone()], loaded, &[], &a.node, &a.links, &line)?);
    }
    drop(line);
    let select = choose(a, &sides)?;
    let runs: Vec<Vec<&Run>> = sides.iter().map(|s| s.runs.iter().collect()).collect();
    let drawn: Vec<PlotSide<'_>> = a.sides.iter().zip(&runs).map(|(name, runs)| PlotSide { name, runs }).collect();
    let first = sides.first().ok_or_else(|| Failure::new("nothing to draw"))?;
    let metric = first.runs.iter().find_map(|r| Some((r, chosen(r, &select)?)));
    let by_size = metric.as_ref().is_some_and(|(_, s)| {
        s.points.iter().filter_map(|p| p.size).collect::<std::collections::BTreeSet<_>>().len() > 2
    });
    let in_time = metric.as_ref().is_some_and(|(_, s)| s.points.iter().filter(|p| p.at.is_some()).count() > 2);
    let kind = match a.kind {
        PlotKind::Auto if by_size => PlotKind::Sweep,
        PlotKind::Auto if in_time => PlotKind::Timeline,
        PlotKind::Auto => PlotKind::Distribution,
        told => told,
    };
    // What is cut from a time series, the comparison says.
    let against = || {
        let second = sides.get(1).unwrap_or(first);
        let options = Options { metrics: vec![select.metric.clone()], ..Options::default() };
        compare(&first.input(), &second.input(), &options)
    };
    let mut said = Vec::new();
    let data: PlotData = match kind {
        PlotKind::Sweep => {
            let limit = metric.as_ref().and_then(|(run, s)| ceiling(run, &s.metric, &first.known));
            let mut plot = sweep(&drawn, &select, limit.as_ref());
            for (role, side) in sides.iter().enumerate() {
                let Some((run, s)) = side.runs.iter().find_map(|r| Some((r, chosen(r, &select)?))) else { continue };
                match fit::fit(run, s) {
                    Ok(f) => {
                        said.push(words(a.sides.get(role).map_or("", String::as_str), &f));
                        plot = plot.with_curve(
                            &format!("fit {}", a.sides.get(role).map_or("", String::as_str)),
                            role,
                            |size| f.value(size).unwrap_or(f64::NAN),
                        );
                    }
                    Err(why) => said.push(format!("no fit: {why}")),
                }
            }
            plot
        }
        PlotKind::Timeline => timeline(&drawn, &select, Some(&against())),
        _ => {
            let largest = metric.as_ref().and_then(|(_, s)| s.points.iter().filter_map(|p| p.size).max());
            distribution(&drawn, &select, largest, Some(&against()))
        }
    };
    let (mut sink, style) = super::open(&a.out)?;
    match a.format {
        PlotFormat::Svg => sink.write_all(plot_svg(&data, "plot").as_bytes())?,
        PlotFormat::Text => {
            let screen = Screen { width: style.width, colour: style.colour, ascii: a.ascii, ..Screen::default() };
            plot_text(&data, screen, &mut sink)?;
            for text in &said {
                writeln!(sink, "{}", linerate_out::terminal(text))?;
            }
        }
    }
    sink.finish()?;
    Ok(0)
}

/// The series of a run that is drawn.
fn chosen<'r>(run: &'r Run, select: &Select) -> Option<&'r Series> {
    run.series.iter().find(|s| {
        s.metric.name == select.metric
            && s.metric.stat == select.stat
            && select.labels.iter().all(|l| s.labels.contains(l))
    })
}

/// What is drawn: the metric that was named, or what one would quote of the first run.
fn choose(a: &PlotArgs, sides: &[Side]) -> Result<Select, Failure> {
    let runs = || sides.iter().flat_map(|s| &s.runs);
    let Some(name) = &a.metric else {
        return runs().find_map(Select::main).ok_or_else(|| {
            Failure::new("there is nothing to draw: no run has a value")
                .hint("`linerate bench import --no-store` says why")
        });
    };
    let found =
        runs().flat_map(|r| &r.series).find(|s| s.metric.name == name.as_str() || s.metric.to_string() == *name);
    let series = found.ok_or_else(|| {
        let mut names: Vec<String> = runs().flat_map(|r| r.series.iter().map(|s| s.metric.to_string())).collect();
        names.sort();
        names.dedup();
        Failure::new(format!("no run has the metric `{name}`")).hint(format!("there are {}", names.join(", ")))
    })?;
    let labels = series.telling().cloned().collect();
    Ok(Select { metric: series.metric.name.to_string(), stat: series.metric.stat, labels })
}

/// A fit in words.
fn words(name: &str, f: &fit::SweepFit) -> String {
    let alpha = f.fit.alpha_s * 1e6;
    let beta = match f.asymptote() {
        Some(v) => format!("{v:.1} {}", f.unit),
        None => match f.fit.beta_bytes_per_s {
            Some(b) => format!("{:.2} GB/s", b / 1e9),
            None => "no measured bandwidth limit".to_owned(),
        },
    };
    let half = f.fit.half_bandwidth_size.map_or_else(String::new, |s| format!(", half of it at {}", approximately(s)));
    let switches: Vec<String> = f
        .fit
        .switch_points()
        .iter()
        .map(|(a, b)| format!("between {} and {}", approximately(*a), approximately(*b)))
        .collect();
    let switches = if switches.is_empty() {
        String::new()
    } else {
        format!("; the protocol seems to change {}", switches.join(", "))
    };
    format!(
        "{name}: T(S) = {alpha:.1} µs + S / ({beta}){half}{switches}; relative error {:.1} %",
        f.fit.relative_error * 100.0
    )
}

/// A size to two digits: a fit knows no more.
fn approximately(bytes: f64) -> String {
    let mut value = bytes;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if value < 1024.0 || unit == "GiB" {
            let digits = usize::from(value < 10.0 && value.fract() > 0.05);
            return format!("{value:.digits$} {unit}");
        }
        value /= 1024.0;
    }
    String::new()
}
