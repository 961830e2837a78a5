//! A summary of a cluster as a page.

use super::page::{Mood, Page, Remark, Section, Table};
use super::plot::PlotData;
use super::words::{self, quantity};
use linerate_bench::summary::{Area, Figure, Summary};
use linerate_formats::units::Bytes;
use std::collections::BTreeMap;

/// Below this share of what the links allow a figure is worth a look; below the second it is bad (facts: perftest's thresholds).
const LOOK: f64 = 0.95;
const BAD: f64 = 0.80;
/// Remarks of tools that are shown.
const NOTES: usize = 12;

/// Lays a summary out. `plots` are shown with their part.
#[must_use]
pub fn summary_page(s: &Summary, title: &str, mut plots: BTreeMap<Area, Vec<PlotData>>) -> Page {
    let mut page = Page { title: title.to_owned(), ..Page::default() };
    if !s.hosts.is_empty() {
        page.lead.push(Remark::new(Mood::Plain, format!("{} runs on {}", s.runs, s.hosts.join(", "))));
    }
    for text in &s.invalid {
        page.lead.push(Remark::new(Mood::Bad, format!("no valid result, not counted: {text}")));
    }
    for (area, figures) in &s.areas {
        for f in figures {
            if let Some((mood, text)) = against_ceiling(f) {
                page.lead.push(Remark::new(mood, format!("{}: {text}", area.name())));
            }
        }
    }
    page.sections.extend(s.areas.iter().map(|(area, figures)| Section {
        heading: area.name().to_owned(),
        table: Some(table(figures)),
        plots: plots.remove(area).unwrap_or_default(),
        ..Section::default()
    }));
    page.sections.extend(network(s));
    page.footer.extend(s.notes.iter().take(NOTES).cloned());
    if s.notes.len() > NOTES {
        page.footer.push(format!("{} more remarks of the tools", s.notes.len() - NOTES));
    }
    page
}

fn against_ceiling(f: &Figure) -> Option<(Mood, String)> {
    let c = f.ceiling.as_ref()?;
    let share = c.share(f.value, &f.metric.unit)?;
    let mood = match share {
        s if s > 1.02 => Mood::Doubt,
        s if s >= LOOK => Mood::Good,
        s if s >= BAD => Mood::Warn,
        _ => Mood::Bad,
    };
    let value = f.metric.unit.convert(f.value, &c.unit)?;
    let above =
        if mood == Mood::Doubt { "; above 100 %: the links are not as given, or another algorithm ran" } else { "" };
    Some((
        mood,
        format!(
            "{} of {}: {:.0} % of {}{above}",
            quantity(value, &c.unit),
            quantity(c.high, &c.unit),
            share * 100.0,
            c.by
        ),
    ))
}

fn table(figures: &[Figure]) -> Table {
    let heads = ["measured", "tool", "size", "value", "range", "runs"];
    let row = |f: &Figure| {
        let labels = words::labels(&f.labels);
        let what = format!("{}{}{labels}", f.metric, if labels.is_empty() { "" } else { " " });
        let range = if f.runs > 1 {
            format!("{} – {}", words::number(f.range.0), words::number(f.range.1))
        } else {
            "n = 1: not known".to_owned()
        };
        vec![
            what,
            f.tool.as_deref().unwrap_or(f.kind.name()).to_owned(),
            f.size.map_or_else(String::new, |s| Bytes(s).to_string()),
            quantity(f.value, &f.metric.unit),
            range,
            f.runs.to_string(),
        ]
    };
    Table { heads: heads.iter().map(ToString::to_string).collect(), rows: figures.iter().map(row).collect() }
}

/// What the networks mean to training.
fn network(s: &Summary) -> Option<Section> {
    let first = s.synchronisation.first()?;
    let mut section = Section { heading: "What it means for training".to_owned(), ..Section::default() };
    section.remarks.extend(s.against.iter().map(|t| Remark::new(Mood::Plain, t.clone())));
    let rows = s.synchronisation.iter().map(|x| {
        vec![
            x.over.clone(),
            format!("{:.1} Gb/s", x.bandwidth),
            format!("{:.2} s", x.seconds),
            format!("{:.2} per second", 1.0 / x.seconds),
        ]
    });
    section.table = Some(Table {
        heads: ["network", "measured", "one synchronisation", "at most"].iter().map(ToString::to_string).collect(),
        rows: rows.collect(),
    });
    section.remarks.push(Remark::new(
        Mood::Plain,
        format!(
            "estimate: {:.1} GB of gradients, ring all-reduce among {} nodes, 2(n − 1)/n of it through each node's network at the measured bandwidth; without latency, overlap with computation and traffic within a node",
            first.bytes as f64 / 1e9,
            first.nodes
        ),
    ));
    Some(section)
}
