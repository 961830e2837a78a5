//! For a ticket: a table for each class, the majority beside the outliers.

use super::{ClassOf, Held, Report, Row};
use crate::VERSION;
use crate::doctor::words::counted;
use linerate_out::markdown::{cell, inline};
use std::io::{self, Write};

pub(super) fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# linerate drift\n\n**{}**\n", inline(&super::text::headline(report)))?;
    for remark in super::text::remarks(report) {
        writeln!(out, "- {}", inline(&remark))?;
    }
    for class in &report.classes {
        writeln!(out, "\n## {}\n\n{}\n", inline(&counted(class.count, "node", "nodes")), inline(&class.hardware()))?;
        if let Some(reference) = &class.reference {
            writeln!(out, "Compared with {}, the reference.\n", inline(reference))?;
        }
        table(class, out)?;
    }
    writeln!(out, "\nWritten by linerate {VERSION}.")
}

fn table(class: &ClassOf, out: &mut dyn Write) -> io::Result<()> {
    if class.facts.is_empty() {
        return writeln!(out, "No difference in {}.", counted(class.compared, "fact", "facts"));
    }
    writeln!(out, "| | what | majority (count/total) | outliers |\n|---|---|---|---|")?;
    for row in &class.facts {
        let total: usize = row.values.iter().map(|v| v.count).sum();
        let value = |v: &Held| {
            let wrong = v.verdict.filter(|s| s.status == linerate_rules::Status::Fail);
            let rule = wrong.map(|s| format!(" ({}: {})", s.severity, s.rule)).unwrap_or_default();
            format!("{}{rule}", v.words(row.unit))
        };
        let (norm, rest) = norm(row);
        let norm = norm.map_or_else(|| "none".to_owned(), |v| format!("{} ({}/{total})", value(v), v.count));
        let rest: Vec<String> = rest.iter().map(|v| format!("{}: {}", value(v), v.nodes)).collect();
        let severity = row.severity.map_or("", |s| s.name());
        writeln!(out, "| {severity} | {} | {} | {} |", cell(&row.title()), cell(&norm), cell(&rest.join("; ")))?;
    }
    Ok(())
}

/// The norm, and the others.
fn norm(row: &Row) -> (Option<&Held>, &[Held]) {
    match row.values.split_first() {
        Some((first, rest)) if row.has_norm => (Some(first), rest),
        _ => (None, &row.values),
    }
}
