//! For a ticket.

use super::{ROWS, are_alike, many_pass, says_what_was_read};
use crate::VERSION;
use crate::markdown::{list, more};
use crate::plan::words::{self, OUTCOMES, proof};
use linerate_out::markdown::{cell, code_cell, inline};
use linerate_remedy::verify::{Proved, StepResult, Verification};
use std::io::{self, Write};

/// Writes what was verified.
///
/// # Errors
/// Those of the writer.
pub fn render(v: &Verification, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# linerate verify\n\n**{}**\n\n{}", inline(&words::verdict(v)), inline(&words::judged(v)))?;
    for (name, word) in OUTCOMES {
        for s in v.with(name) {
            step(word, s, out)?;
        }
    }
    if !v.regressed.is_empty() {
        writeln!(out, "\n## Regressed\n\n| severity | rule | subject | was | now |\n|---|---|---|---|---|")?;
    }
    for r in v.regressed.iter().take(ROWS) {
        writeln!(
            out,
            "| {} | {} | {} | {} | {} |",
            r.severity,
            code_cell(r.rule),
            cell(&r.subject),
            r.before,
            cell(&r.message)
        )?;
    }
    more(v.regressed.len(), ROWS, out)?;
    list("Outside the plan", v.outside.iter().take(ROWS).map(|c| inline(&c.summary())), out)?;
    more(v.outside.len(), ROWS, out)?;
    list("Limits", v.limits.iter().map(|limit| inline(limit)), out)?;
    writeln!(out, "\nWritten by linerate {VERSION}.")
}

fn step(word: &str, s: &StepResult, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n## {word}: {}\n\n{}\n", inline(&s.id), inline(&s.summary))?;
    if !s.outcome.reason().is_empty() {
        writeln!(out, "- **Because**: {}", inline(s.outcome.reason()))?;
    }
    for alike in s.proofs.chunk_by(are_alike) {
        match many_pass(alike) {
            Some((pass, read)) => writeln!(out, "- [x] {}: effective; read: {}", inline(&pass), inline(&read))?,
            None => alike.iter().try_for_each(|p| one(p, out))?,
        }
    }
    Ok(())
}

fn one(p: &Proved, out: &mut dyn Write) -> io::Result<()> {
    let mark = if p.outcome.name() == "effective" { "x" } else { " " };
    let line = proof(&p.proof);
    let read = match (p.at.is_empty(), p.read.is_empty()) {
        _ if says_what_was_read(&line, p) => String::new(),
        (true, true) => String::new(),
        (false, true) => format!("; looked for at {}", inline(&p.at)),
        (true, false) => format!("; read: {}", inline(&p.read)),
        (false, false) => format!("; read: {}: {}", inline(&p.at), inline(&p.read)),
    };
    writeln!(out, "- [{mark}] {}: {}{read}", inline(&line), p.outcome.name())
}
