//! For a terminal: what is not as wanted, the worst first; then what could not be told, by its reason.

use super::{Group, Report, node_set};
use crate::style::{Page, Style, Tone};
use crate::terminal::tone_of;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Expectations that are named of those that could not be told for one reason.
const NAMED: usize = 4;

pub(super) fn render(report: &Report, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(out, style);
    page.item(0, "", Tone::Plain, Tone::Bold, &report.headline())?;
    for (note, nodes) in report.notes() {
        let note = if report.nodes.len() == 1 { note.to_owned() } else { format!("{}: {note}", node_set(&nodes)) };
        page.item(0, "·", Tone::Mild, Tone::Plain, &note)?;
    }
    for line in crate::unread::lines(report.unreadable.iter().map(|u| (u.node.as_str(), u.why.as_str()))) {
        page.item(0, "·", Tone::Bad, Tone::Plain, &line)?;
    }
    for g in &report.failing {
        page.blank()?;
        let tag = format!("{:<8}", g.severity.name().to_uppercase());
        page.item(0, &tag, tone_of(g.severity), Tone::Bold, &g.title())?;
        if !g.what.is_empty() && g.part.is_empty() {
            page.item(9, "", Tone::Plain, Tone::Dim, g.what)?;
        }
        page.field(9, "wanted", &g.with_unit(&g.wanted))?;
        page.field(9, "seen", &g.with_unit(&g.seen))?;
        if report.nodes.len() > 1 || style.verbose {
            let n = g.nodes.len();
            let count = if n > 1 { format!(" ({n})") } else { String::new() };
            page.field(9, "on", &format!("{}{count}", node_set(&g.nodes)))?;
        } else if !g.devices.is_empty() {
            page.field(9, "device", &g.devices.join(", "))?;
        }
        if !g.reason.is_empty() {
            page.field(9, "why", &g.reason)?;
        }
        if !g.owner.is_empty() {
            page.field(9, "owner", &g.owner)?;
        }
        if !g.place.is_empty() {
            page.field(9, "read", &g.place)?;
        }
        page.field(9, "id", &format!("{} (line {})", g.id, g.line))?;
    }
    unknown(report, &mut page)
}

/// The same reason of many expectations is said once.
fn unknown(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    page.heading_of(&report.unknown, "Unknown")?;
    let mut by: BTreeMap<(&str, &[String]), Vec<&Group>> = BTreeMap::new();
    for g in &report.unknown {
        by.entry((&g.seen, &g.nodes)).or_default().push(g);
    }
    for ((why, nodes), groups) in by {
        let n = crate::doctor::words::counted(groups.len(), "expectation", "expectations");
        let on = if report.nodes.len() > 1 { format!(" on {}", node_set(nodes)) } else { String::new() };
        page.item(0, "·", Tone::Doubt, Tone::Plain, &format!("{n}{on}: {why}"))?;
        let shown = page.shown(NAMED);
        for g in groups.iter().take(shown) {
            page.item(2, "", Tone::Plain, Tone::Dim, &g.title())?;
        }
        page.more(2, groups.len(), shown, "")?;
    }
    Ok(())
}
