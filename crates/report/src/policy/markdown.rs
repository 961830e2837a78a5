//! For a ticket: a table of what is not as wanted.

use super::{Group, Report, node_set};
use linerate_out::markdown::{cell, inline};
use std::io::{self, Write};

pub(super) fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# linerate policy check\n\n**{}**\n", inline(&report.headline()))?;
    for (note, nodes) in report.notes() {
        writeln!(out, "- {}: {}", inline(&node_set(&nodes)), inline(note))?;
    }
    for line in crate::unread::lines(report.unreadable.iter().map(|u| (u.node.as_str(), u.why.as_str()))) {
        writeln!(out, "- {}", inline(&line))?;
    }
    if !report.failing.is_empty() {
        writeln!(out, "\n| | what | wanted | seen | nodes | why |\n|---|---|---|---|---|---|")?;
    }
    for g in &report.failing {
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            g.severity.name(),
            cell(&g.title()),
            cell(&g.with_unit(&g.wanted)),
            cell(&g.with_unit(&g.seen)),
            cell(&node_set(&g.nodes)),
            cell(&why(g))
        )?;
    }
    if !report.unknown.is_empty() {
        writeln!(out, "\n## Unknown\n")?;
    }
    for g in &report.unknown {
        writeln!(out, "- {} on {}: {}", inline(&g.title()), inline(&node_set(&g.nodes)), inline(&g.seen))?;
    }
    Ok(())
}

fn why(g: &Group) -> String {
    let owner = if g.owner.is_empty() { String::new() } else { format!("owner {}", g.owner) };
    let all: Vec<&str> = [g.reason.as_str(), &owner, &g.id].into_iter().filter(|t| !t.is_empty()).collect();
    all.join("; ")
}
