//! For a terminal: the verdict, then each step, the worst first, then what else changed.

use super::{ROWS, are_alike, many_pass, says_what_was_read};
use crate::plan::fold::folded;
use crate::plan::words::{self, OUTCOMES, proof};
use crate::style::{self, Page, Style, Tone};
use linerate_remedy::Proof;
use linerate_remedy::verify::{Proved, StepResult, Verification};
use std::io::{self, Write};

/// Writes what was verified.
///
/// # Errors
/// Those of the writer.
pub fn render(v: &Verification, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(out, style);
    let tone = match v.exit_code() {
        0 => Tone::Good,
        2 => Tone::Doubt,
        _ => Tone::Bad,
    };
    page.text(0, tone, &words::verdict(v))?;
    page.text(0, Tone::Plain, &words::judged(v))?;
    for (name, word) in OUTCOMES {
        for s in v.with(name) {
            step(&mut page, word, s)?;
        }
    }
    let shown = page.shown(ROWS);
    page.heading_of(&v.regressed, "REGRESSED (fails now, and did not before)")?;
    for r in v.regressed.iter().take(shown) {
        page.item(
            1,
            &r.severity.to_uppercase(),
            Tone::Bad,
            Tone::Plain,
            &format!("{} {}: {}", r.rule, r.subject, r.message),
        )?;
        page.field(3, "was", r.before)?;
        if !r.at.is_empty() {
            page.field(3, "read", &r.at)?;
        }
    }
    more(&mut page, v.regressed.len(), shown)?;
    page.heading_of(&v.outside, "OUTSIDE THE PLAN (no step explains it)")?;
    for c in v.outside.iter().take(shown) {
        page.item(1, "·", Tone::Warn, Tone::Plain, &c.summary())?;
    }
    more(&mut page, v.outside.len(), shown)?;
    page.heading_of(&v.limits, "LIMITS")?;
    for limit in &v.limits {
        page.item(1, "·", Tone::Dim, Tone::Plain, limit)?;
    }
    Ok(())
}

/// As a text.
#[must_use]
pub fn to_string(v: &Verification, style: Style) -> String {
    style::to_text(|out| render(v, style, out))
}

fn step(page: &mut Page<'_>, word: &str, s: &StepResult) -> io::Result<()> {
    let tone = tone_of(s.outcome.name());
    page.blank()?;
    page.item(0, word, tone, Tone::Plain, &format!("{}: {}", s.id, s.summary))?;
    if !s.outcome.reason().is_empty() {
        page.field(2, "because", s.outcome.reason())?;
    }
    let all = page.shown(1) > 1;
    let so = |p: &Proved| p.outcome.name() == "effective" && matches!(p.proof, Proof::Value { .. });
    for alike in s.proofs.chunk_by(|a, b| so(a) && so(b) || are_alike(a, b)) {
        if let Some((pass, read)) = many_pass(alike) {
            page.item(2, "✓", Tone::Good, Tone::Plain, &pass)?;
            page.field(4, "read", &read)?;
            continue;
        }
        let lines = folded(alike.iter().map(|p| proof(&p.proof)), all);
        if lines.len() < alike.len() {
            // What was read there is what the line says.
            lines.iter().try_for_each(|line| page.item(2, "✓", Tone::Good, Tone::Plain, line))?;
        } else {
            alike.iter().try_for_each(|p| one(page, s, p))?;
        }
    }
    Ok(())
}

fn one(page: &mut Page<'_>, s: &StepResult, p: &Proved) -> io::Result<()> {
    let so = p.outcome.name() == "effective";
    let (mark, tone) = if so { ("✓", Tone::Good) } else { ("✗", tone_of(p.outcome.name())) };
    let line = proof(&p.proof);
    page.item(2, mark, tone, Tone::Plain, &if so { line.clone() } else { format!("expected: {line}") })?;
    if !so && p.outcome != s.outcome {
        page.field(4, p.outcome.name(), p.outcome.reason())?;
    }
    if says_what_was_read(&line, p) {
        return Ok(());
    }
    match (p.at.is_empty(), p.read.is_empty()) {
        (true, true) => Ok(()),
        (false, true) => page.field(4, "at", &p.at),
        (true, false) => page.field(4, "read", &p.read),
        (false, false) => page.field(4, "read", &format!("{}: {}", p.at, p.read)),
    }
}

fn tone_of(outcome: &str) -> Tone {
    match outcome {
        "effective" => Tone::Good,
        "pending" => Tone::Warn,
        "unknown" => Tone::Doubt,
        _ => Tone::Bad,
    }
}

fn more(page: &mut Page<'_>, all: usize, shown: usize) -> io::Result<()> {
    if all > shown {
        page.text(1, Tone::Dim, &format!("+{} more (--format json has all)", all - shown))
    } else {
        Ok(())
    }
}
