//! For a ticket: a table, as an engineer would write it by hand, then what rules say.

use super::{Report, Row};
use crate::VERSION;
use linerate_out::markdown::{cell, inline};
use linerate_rules::Status;
use std::io::{self, Write};

pub(super) fn render(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let [a, b] = report.labels;
    writeln!(out, "# linerate diff\n\n**{}**\n", inline(&report.headline()))?;
    for remark in report.remarks() {
        writeln!(out, "- {}", inline(&remark))?;
    }
    if !report.differences.is_empty() {
        writeln!(out, "\n| | what | {} | {} | what rules say |\n|---|---|---|---|---|", cell(a), cell(b))?;
    }
    for d in &report.differences {
        let severity = d.severity.map_or("", |s| s.name());
        let [x, y] = &d.sides;
        writeln!(
            out,
            "| {severity} | {} | {} | {} | {} |",
            cell(&d.title()),
            cell(&x.words(d.unit)),
            cell(&y.words(d.unit)),
            cell(&verdicts(d))
        )?;
    }
    if !report.verdicts.is_empty() {
        writeln!(out, "\n## Other verdicts that differ\n")?;
    }
    for v in &report.verdicts {
        for (side, s) in ["A", "B"].iter().zip(&v.rules).flat_map(|(side, all)| all.iter().map(move |s| (side, s))) {
            let at: Vec<&str> = [v.at.as_str(), v.subject].into_iter().filter(|t| !t.is_empty()).collect();
            writeln!(
                out,
                "- {side}: {} {} ({}): {}",
                s.status.name(),
                s.rule,
                inline(&at.join(", ")),
                inline(s.message)
            )?;
        }
    }
    writeln!(out, "\nWritten by linerate {VERSION}.")
}

/// Which side is wrong, and by which rule.
fn verdicts(d: &Row<'_>) -> String {
    let mut out: Vec<String> = Vec::new();
    for (side, rules) in ["A", "B"].iter().zip(&d.rules) {
        out.extend(
            rules.iter().filter(|s| s.status == Status::Fail).map(|s| format!("{side}: {}: {}", s.rule, s.message)),
        );
    }
    if out.is_empty() && d.severity.is_some() {
        let rules: Vec<&str> = d.rules.iter().flatten().map(|s| s.rule).collect();
        return format!("either is right ({})", rules.first().copied().unwrap_or_default());
    }
    out.join("; ")
}
