//! For a ticket: how many nodes, then a table of what fails where and on which of them.

use super::Fleet;
use crate::{VERSION, suppressed};
use linerate_fleet::audit::Failing;
use linerate_out::markdown::{cell, code_cell, inline};
use linerate_rules::Status;
use std::io::{self, Write};

pub(super) fn render(fleet: &Fleet<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# linerate audit\n\n**{}**\n", inline(&fleet.headline()))?;
    writeln!(out, "| | nodes |\n|---|---|")?;
    for (what, members) in ["Good", "With findings", "Unknown"].into_iter().zip(&fleet.by_code) {
        if !members.is_empty() {
            writeln!(out, "| {what} | {} |", code_cell(&fleet.sets.names(members)))?;
        }
    }
    for (label, why) in &fleet.broken {
        writeln!(out, "| Could not be read | {}: {} |", code_cell(label), cell(why))?;
    }
    writeln!(out, "| Written by | linerate {VERSION}, exit code {} |", fleet.exit_code())?;
    if let Some(filter) = suppressed::filter(fleet.terms) {
        writeln!(out, "| Rules | {} |", cell(&filter))?;
    }
    for remark in &fleet.remarks {
        writeln!(out, "\n- {}", inline(remark))?;
    }
    let used = fleet.usage.used().map(|(s, n)| format!("{n} × `{}`: {}", s.what(), inline(&suppressed::why(s))));
    crate::markdown::list("Suppressed (not counted)", used, out)?;
    let review = suppressed::remarks(&fleet.usage);
    crate::markdown::list("Suppressions to review", review.iter().map(|r| inline(r)), out)?;
    table(fleet, "Findings", &fleet.sets.failing(Status::Fail), out)?;
    table(fleet, "Not checked", &fleet.sets.failing(Status::Unknown), out)
}

fn table(fleet: &Fleet<'_>, title: &str, all: &[Failing], out: &mut dyn Write) -> io::Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## {title}\n")?;
    writeln!(out, "| | rule | where | count/total | nodes |\n|---|---|---|---|---|")?;
    let total = fleet.sets.count();
    for f in all {
        let severity = if f.status == Status::Fail { f.severity.name() } else { "unknown" };
        for set in &f.sets {
            let others = fleet.sets.others(&set.nodes);
            let nodes = match (fleet.sets.is_common(&set.nodes), others.len()) {
                (true, 0) => "all".to_owned(),
                (true, _) => format!("all but {}", code_cell(&fleet.sets.names(&others))),
                _ => code_cell(&fleet.sets.names(&set.nodes)),
            };
            let place = cell(&set.place());
            writeln!(out, "| {severity} | `{}` | {place} | {}/{total} | {nodes} |", f.rule, set.nodes.len())?;
        }
    }
    Ok(())
}
