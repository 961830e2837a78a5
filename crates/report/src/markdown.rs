//! Markdown for a ticket: the same order as on the terminal, nothing from data able to format or mention.

use crate::faults::faults;
use crate::fix::Fix;
use crate::group::{Group, group};
use crate::style::clip;
use crate::terminal::quality;
use crate::words::Words;
use crate::{Counts, Report, VERSION, about, suppressed};
use linerate_out::markdown::{block, cell, inline};
use linerate_out::terminal;
use linerate_remedy::On;
use linerate_rules::{Source, Status, Verdict};
use std::collections::BTreeMap;
use std::io::{self, Write};

const EVIDENCE: usize = 3;

/// Writes the report.
///
/// # Errors
/// Those of the writer.
pub fn render(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Report { node, snapshot, audit } = report;
    let counts = Counts::of(audit);
    writeln!(out, "# linerate: {}\n", inline(&snapshot.label))?;
    let bad: Vec<String> = counts.worst_first().map(|(s, n)| format!("{n} {}", s.name())).collect();
    let bad = if bad.is_empty() { "none".to_owned() } else { bad.join(", ") };
    writeln!(out, "| | |\n|---|---|")?;
    writeln!(out, "| Failing | **{bad}** |")?;
    writeln!(
        out,
        "| Other answers | {} unknown, {} passed, {} not applicable |",
        counts.unknown, counts.pass, counts.not_applicable
    )?;
    if let Some(below) = suppressed::below(&counts, &audit.terms) {
        writeln!(out, "| Limit | {} |", cell(&below))?;
    }
    if let Some(filter) = suppressed::filter(&audit.terms) {
        writeln!(out, "| Rules | {} |", cell(&filter))?;
    }
    writeln!(out, "| Role | {} |", cell(&about::role(node)))?;
    writeln!(out, "| Kernel | {} |", cell(&about::kernel(node)))?;
    writeln!(out, "| Devices | {} |", cell(&about::devices(node)))?;
    writeln!(out, "| Source | {} |", cell(&about::source(snapshot)))?;
    for cut in about::cuts(snapshot, node) {
        writeln!(out, "| Left out | {} |", cell(&cut))?;
    }
    writeln!(out, "| Written by | linerate {VERSION}, exit code {} |", audit.exit_code())?;
    let words = Words::of(snapshot);
    let (faults, notes) = faults(report);
    if !faults.is_empty() {
        writeln!(out, "\n## Findings")?;
    }
    let on = On::node(node);
    for fault in &faults {
        for g in &fault.cause {
            finding(g, &words, &on, out)?;
        }
        for g in fault.after.iter().flatten() {
            after(g, &words, out)?;
        }
    }
    let of = |t: &suppressed::Taken<'_>| {
        let why = inline(&suppressed::why(t.by));
        let one = |g: &Group<'_>| format!("`{}`: {}: *{why}*", g.first().rule.id, inline(&said(g)));
        t.groups.iter().map(one).collect::<Vec<_>>()
    };
    list("Suppressed (not counted)", suppressed::taken(audit).iter().flat_map(of), out)?;
    let remarks = suppressed::remarks(&audit.usage());
    list("Suppressions to review", remarks.iter().map(|r| inline(r)), out)?;
    let notes = group(notes.into_iter());
    list("Worth knowing", notes.iter().map(|g| format!("`{}`: {}", g.first().rule.id, inline(&said(g)))), out)?;
    unseen(report, out)
}

/// A heading and a list below it; nothing where the list is empty. The items are safe already.
pub(crate) fn list(title: &str, items: impl Iterator<Item = String>, out: &mut dyn Write) -> io::Result<()> {
    for (i, item) in items.enumerate() {
        if i == 0 {
            writeln!(out, "\n## {title}\n")?;
        }
        writeln!(out, "- {item}")?;
    }
    Ok(())
}

/// What of a list is not shown, where something is not.
pub(crate) fn more(all: usize, shown: usize, out: &mut dyn Write) -> io::Result<()> {
    match all.saturating_sub(shown) {
        0 => Ok(()),
        n => writeln!(out, "\nand {n} more"),
    }
}

/// Sources, a line each.
pub(crate) fn sources(list: &[Source], out: &mut dyn Write) -> io::Result<()> {
    for s in list {
        if s.at.starts_with("http") {
            writeln!(out, "- Source: [{}]({})", inline(s.title), s.at)?;
        } else {
            writeln!(out, "- Source: {}: `{}`", inline(s.title), s.at)?;
        }
    }
    Ok(())
}

fn said(g: &Group<'_>) -> String {
    let about = g.about(64);
    if about.is_empty() { g.message() } else { format!("{about}: {}", g.message()) }
}

fn finding(g: &Group<'_>, words: &Words<'_>, on: &On<'_>, out: &mut dyn Write) -> io::Result<()> {
    let first = g.first();
    writeln!(out, "\n### {}: `{}`\n\n{}\n", first.severity().name().to_uppercase(), first.rule.id, inline(&said(g)))?;
    let effect = first.rule.effect;
    writeln!(out, "- **Costs**: {} *({})*", inline(effect.text), quality(effect.quality))?;
    let mut summaries: Vec<&str> = Vec::new();
    for r in g.verdicts.iter().filter_map(|v| v.finding.remedy.as_ref()) {
        if summaries.contains(&r.summary.as_ref()) {
            continue;
        }
        summaries.push(&r.summary);
        writeln!(out, "- **Fix**: {}; {}", inline(&r.summary), Fix::of(r, on).words(inline))?;
    }
    sources(first.rule.sources, out)?;
    evidence(g, words, out)
}

/// What follows from the finding before: its fix is that one's.
fn after(g: &Group<'_>, words: &Words<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (first, said) = (g.first(), inline(&said(g)));
    writeln!(out, "\n#### And so {}: `{}`\n\n{said}\n", first.severity().name().to_uppercase(), first.rule.id)?;
    evidence(g, words, out)
}

fn evidence(g: &Group<'_>, words: &Words<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut lines: Vec<String> = Vec::new();
    let mut more = 0;
    for e in g.verdicts.iter().flat_map(|v| &v.finding.evidence) {
        if lines.len() == EVIDENCE {
            more += 1;
            continue;
        }
        let seen = format!("{}: {}", words.short(e.place), clip(&words.shown(e.place), 160));
        let note = e.note.as_deref().map(|n| format!(" ({n})")).unwrap_or_default();
        lines.push(terminal(&format!("{}{note}", seen.trim_end_matches(": "))).into_owned());
    }
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", block("text", &lines.join("\n")))
}

fn unseen(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut ways: BTreeMap<&str, Vec<&Verdict>> = BTreeMap::new();
    for v in report.audit.with(Status::Unknown) {
        ways.entry(v.finding.see.as_deref().unwrap_or("the rule knows no way to collect it")).or_default().push(v);
    }
    if ways.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## Not checked\n\nMissing data, and how to collect it:\n")?;
    for (see, verdicts) in ways {
        let mut rules: BTreeMap<&str, u32> = BTreeMap::new();
        for v in &verdicts {
            *rules.entry(v.rule.id).or_default() += 1;
        }
        let rules: Vec<String> = rules.into_iter().map(|(id, n)| format!("`{id}` × {n}")).collect();
        writeln!(out, "- [ ] {}: {}", inline(see), rules.join(", "))?;
    }
    Ok(())
}
