//! `linerate bench summary`.

use super::compare::Side;
use super::load;
use crate::bench_args::{BenchFormat, SummaryArgs};
use crate::output::Failure;
use crate::progress::Line;
use linerate_bench::Run;
use linerate_bench::ceiling::ceiling;
use linerate_bench::summary::{Area, summary};
use linerate_report::bench::page::{page_html, page_markdown, page_text};
use linerate_report::bench::plot::{PlotData, PlotSide, Select, sweep, timeline};
use linerate_report::bench::summary_page;
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn run(a: &SummaryArgs) -> Result<u8, Failure> {
    let line = Line::new(true);
    let names: Vec<&str> = a.runs.iter().map(String::as_str).collect();
    let loaded = load::side(&names, a.store.store.as_deref(), &line)?;
    let side = Side::new(a.runs.clone(), loaded, &[], &a.node, &a.links, &line)?;
    drop(line);
    if side.runs.is_empty() {
        return Err(Failure::new("there is nothing to sum up: no run was read")
            .hint("`linerate bench import --no-store` says why"));
    }
    let s = summary(&side.runs, &side.known, a.gradient, a.links.nodes);
    let page = summary_page(&s, "What was measured", plots(&side));
    let (mut sink, style) = super::open(&a.out)?;
    match a.format {
        BenchFormat::Text => page_text(&page, style, &mut sink)?,
        BenchFormat::Markdown => page_markdown(&page, &mut sink)?,
        BenchFormat::Html => page_html(&page, &mut sink)?,
        BenchFormat::Json => {
            return Err(Failure::new("a page is for people")
                .hint("`linerate bench import --no-store --format json` has the runs"));
        }
    }
    sink.finish()?;
    Ok(u8::from(!s.invalid.is_empty()))
}

/// A drawing for each program that measured over sizes or over time.
fn plots(side: &Side) -> BTreeMap<Area, Vec<PlotData>> {
    let mut groups: BTreeMap<(Area, String), Vec<&Run>> = BTreeMap::new();
    for run in side.runs.iter().filter(|r| r.is_valid()) {
        let tool = run.program().to_owned();
        groups.entry((Area::of(run.kind), tool)).or_default().push(run);
    }
    let mut all: BTreeMap<Area, Vec<PlotData>> = BTreeMap::new();
    for ((area, tool), runs) in groups {
        let Some((run, select)) = runs.iter().find_map(|r| Some((*r, Select::main(r)?))) else { continue };
        let points =
            || run.series.iter().filter(|s| s.metric.name == select.metric.as_str()).flat_map(|s| s.points.iter());
        let sizes: BTreeSet<u64> = points().filter_map(|p| p.size).collect();
        let drawn = [PlotSide { name: &tool, runs: &runs }];
        let plot = if sizes.len() > 2 {
            let metric = run
                .series
                .iter()
                .map(|s| &s.metric)
                .find(|m| m.name == select.metric.as_str() && m.stat == select.stat);
            sweep(&drawn, &select, metric.and_then(|m| ceiling(run, m, &side.known)).as_ref())
        } else if points().filter(|p| p.at.is_some()).count() > 2 {
            timeline(&drawn, &select, None)
        } else {
            continue;
        };
        all.entry(area).or_default().push(plot);
    }
    all
}
