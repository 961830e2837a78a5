//! For a terminal: per class the worst difference first, each with its values, who shows them, and what rules say.

use super::{ClassOf, Report};
use crate::diff::{by_severity, head};
use crate::doctor::words::counted;
use crate::style::{Page, Style, Tone};
use crate::terminal::tone_of;
use linerate_rules::Status;
use std::io::{self, Write};

/// Configurations that are listed where not all are wanted.
const CONFIGURATIONS: usize = 8;
/// Values of a fact that are listed where not all are wanted.
const VALUES: usize = 8;

pub(super) fn render(report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(out, style);
    page.item(0, "", Tone::Plain, Tone::Bold, &headline(report))?;
    for remark in remarks(report) {
        page.item(0, "·", Tone::Mild, Tone::Plain, &remark)?;
    }
    for class in &report.classes {
        one(&mut page, class, style)?;
    }
    Ok(())
}

fn one(page: &mut Page<'_>, class: &ClassOf, style: Style) -> io::Result<()> {
    page.heading(&format!("{}: {}", counted(class.count, "node", "nodes"), class.hardware()))?;
    page.item(0, "", Tone::Plain, Tone::Dim, &class.nodes)?;
    if class.count == 1 {
        return page.item(0, "·", Tone::Mild, Tone::Plain, "the only one of its kind: nothing to compare it with");
    }
    if let Some(reference) = &class.reference {
        page.item(0, "·", Tone::Mild, Tone::Plain, &format!("compared with {reference}, the reference"))?;
    }
    if class.is_unknown() {
        let said = "no source shows the hardware: nodes with different hardware may be compared";
        page.item(0, "·", Tone::Doubt, Tone::Plain, said)?;
    }
    if class.facts.is_empty() {
        let facts = counted(class.compared, "fact", "facts");
        page.item(0, "", Tone::Plain, Tone::Good, &format!("no difference in {facts}"))?;
    }
    for row in &class.facts {
        page.blank()?;
        head(page, row.severity, &row.title())?;
        if !row.has_norm {
            page.item(9, "", Tone::Plain, Tone::Dim, "no majority value")?;
        }
        let shown = if style.verbose { row.values.len() } else { VALUES };
        for (i, v) in row.values.iter().take(shown).enumerate() {
            let is_norm = i == 0 && row.has_norm;
            let who = if is_norm { counted(v.count, "node", "nodes") } else { v.nodes.clone() };
            page.item(9, "", Tone::Plain, Tone::Plain, &format!("{}: {who}", v.words(row.unit)))?;
            if let Some(s) = v.verdict.filter(|s| s.status == Status::Fail || s.status == Status::Unknown) {
                let tone = if s.status == Status::Fail { tone_of(s.severity) } else { Tone::Doubt };
                page.item(11, s.status.name(), tone, Tone::Plain, s.rule)?;
            }
        }
        if row.values.len() > shown {
            let more = counted(row.values.len() - shown, "more value", "more values");
            page.item(9, "", Tone::Plain, Tone::Dim, &format!("and {more} (--verbose)"))?;
        }
        if style.verbose {
            page.item(9, "", Tone::Plain, Tone::Dim, &format!("fact {}", row.fact))?;
        }
    }
    configurations(page, class, style)?;
    footer(page, class, style)
}

/// `126 like most, 2 alike, 1 alone`.
fn configurations(page: &mut Page<'_>, class: &ClassOf, style: Style) -> io::Result<()> {
    if class.facts.is_empty() {
        return Ok(());
    }
    page.blank()?;
    page.item(0, "", Tone::Plain, Tone::Bold, "Configurations")?;
    let shown = if style.verbose { class.configurations.len() } else { CONFIGURATIONS };
    for c in class.configurations.iter().take(shown) {
        let how = match c.differs {
            0 => "as most".to_owned(),
            n => counted(n, "difference", "differences"),
        };
        page.item(0, &format!("{:>8}", c.count), Tone::Plain, Tone::Plain, &format!("{how}: {}", c.nodes))?;
    }
    if class.configurations.len() > shown {
        let more = class.configurations.len() - shown;
        page.item(9, "", Tone::Plain, Tone::Dim, &format!("and {more} more (--verbose)"))?;
    }
    Ok(())
}

fn footer(page: &mut Page<'_>, class: &ClassOf, style: Style) -> io::Result<()> {
    let mut said = Vec::new();
    if class.paired_by_number {
        said.push("some devices were paired by number, because their PCI paths differ or are not shown".to_owned());
    }
    for u in class.unseen.iter().take(if style.verbose { usize::MAX } else { 4 }) {
        said.push(format!(
            "{} that other nodes show could not be compared on {}",
            counted(u.facts, "fact", "facts"),
            u.nodes
        ));
    }
    if !class.own.is_empty() {
        let mut ids: Vec<&str> = class.own.iter().map(|(_, id)| *id).collect();
        ids.sort_unstable();
        ids.dedup();
        said.push(format!("different on nearly every node, so not counted as drift: {}", ids.join(", ")));
    }
    if !said.is_empty() {
        page.blank()?;
    }
    said.iter().try_for_each(|s| page.item(0, "·", Tone::Mild, Tone::Dim, s))
}

/// `128 nodes of 2 classes: 3 differences, 1 high, 2 that no rule judges`.
pub(super) fn headline(report: &Report) -> String {
    let nodes = counted(report.count, "node", "nodes");
    let of = match report.classes.len() {
        0 | 1 => nodes,
        n => format!("{nodes} of {n} classes of hardware"),
    };
    let all = || report.classes.iter().flat_map(|c| &c.facts).map(|f| f.severity);
    let n = all().count();
    if n == 0 {
        return match report.classes.iter().map(|c| c.compared).sum::<usize>() {
            0 => format!("{of}: nothing could be compared"),
            facts => format!("{of}: no difference in {}", counted(facts, "fact", "facts")),
        };
    }
    format!("{of}: {}, {}", counted(n, "difference", "differences"), by_severity(all))
}

pub(super) fn remarks(report: &Report) -> Vec<String> {
    let mut out = report.remarks.clone();
    out.extend(crate::unread::lines(report.unreadable.iter().map(|u| (u.source.as_str(), u.why.as_str()))));
    if !report.incomplete.is_empty() {
        out.push(format!("a limit left out part of {}", report.incomplete));
    }
    out
}
