//! For a terminal: the verdict, then each step, the worst first, then what else changed.

use super::ROWS;
use crate::plan::words::{self, OUTCOMES, proof};
use crate::style::{Page, Style, Tone};
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
    page.item(0, "", Tone::Plain, tone, &words::verdict(v))?;
    page.item(0, "", Tone::Plain, Tone::Plain, &words::judged(v))?;
    for (name, word) in OUTCOMES {
        for s in v.with(name) {
            step(&mut page, word, s)?;
        }
    }
    let shown = if style.verbose { usize::MAX } else { ROWS };
    if !v.regressed.is_empty() {
        page.heading("REGRESSED (fails now, and did not before)")?;
    }
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
    if !v.outside.is_empty() {
        page.heading("OUTSIDE THE PLAN (no step explains it)")?;
    }
    for c in v.outside.iter().take(shown) {
        page.item(1, "·", Tone::Warn, Tone::Plain, &c.summary())?;
    }
    more(&mut page, v.outside.len(), shown)?;
    if !v.limits.is_empty() {
        page.heading("LIMITS")?;
    }
    for limit in &v.limits {
        page.item(1, "·", Tone::Dim, Tone::Plain, limit)?;
    }
    Ok(())
}

/// As a text.
#[must_use]
pub fn to_string(v: &Verification, style: Style) -> String {
    let mut out = Vec::new();
    // Writing to memory does not fail.
    let _ = render(v, style, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn step(page: &mut Page<'_>, word: &str, s: &StepResult) -> io::Result<()> {
    let tone = tone_of(s.outcome.name());
    page.blank()?;
    page.item(0, word, tone, Tone::Plain, &format!("{}: {}", s.id, s.summary))?;
    if !s.outcome.reason().is_empty() {
        page.field(2, "because", s.outcome.reason())?;
    }
    for p in &s.proofs {
        one(page, s, p)?;
    }
    Ok(())
}

fn one(page: &mut Page<'_>, s: &StepResult, p: &Proved) -> io::Result<()> {
    let so = p.outcome.name() == "effective";
    let (mark, tone) = if so { ("✓", Tone::Good) } else { ("✗", tone_of(p.outcome.name())) };
    page.item(2, mark, tone, Tone::Plain, &proof(&p.proof))?;
    if !so && p.outcome != s.outcome {
        page.field(4, p.outcome.name(), p.outcome.reason())?;
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
        page.item(1, "", Tone::Plain, Tone::Dim, &format!("+{} more (--verbose)", all - shown))
    } else {
        Ok(())
    }
}
