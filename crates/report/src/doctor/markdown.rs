//! Markdown for a ticket: the same order as on the terminal, nothing from data able to format or mention.

use super::words::{self, LIST, cells, names, verdict};
use crate::VERSION;
use crate::fix::Fix;
use crate::markdown::{list, more};
use crate::style::clip;
use linerate_doctor::answer::{Answer, Cause, Evidence, Figure, Job, Note};
use linerate_out::markdown::{block, cell, inline};
use linerate_out::terminal;
use std::io::{self, Write};

/// Lines of evidence and rows of tables before the rest becomes a number.
const EVIDENCE: usize = 4;
const ROWS: usize = 24;
/// Characters of a line of evidence.
const LINE: usize = 200;

/// Writes the answer.
///
/// # Errors
/// Those of the writer.
pub fn render(answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
    let v = verdict(answer);
    writeln!(out, "# linerate doctor\n\n**{}**\n\n{}", inline(&v.first), inline(&v.second))?;
    let (real, known) = words::causes(answer);
    if !real.is_empty() {
        writeln!(out, "\n## Causes")?;
    }
    for (i, c) in real.iter().enumerate() {
        cause(i + 1, c, out)?;
    }
    let known = known.iter();
    let known =
        known.map(|c| format!("`{}`: {} ({}: {})", c.id, inline(&c.summary), c.confidence.name(), inline(&c.because)));
    list("Worth knowing", known, out)?;
    undecided(answer, out)?;
    if !answer.figures.is_empty() {
        writeln!(out, "\n## Figures")?;
    }
    for f in &answer.figures {
        figure(f, out)?;
    }
    notes("Follows from these", &answer.consequences, out)?;
    notes("Not the cause", &answer.not_causes, out)?;
    timeline(answer, out)?;
    if !answer.jobs.is_empty() {
        writeln!(out, "\n## What ran")?;
    }
    for job in &answer.jobs {
        ran(job, out)?;
    }
    let inputs = answer.inputs.iter().take(ROWS).map(|i| {
        let remarks = i.remarks.iter().take(LIST).map(|r| format!("; {}", inline(r))).collect::<String>();
        format!("{}: {}{remarks}", inline(&i.name), inline(&words::input_line(i)))
    });
    list("Inputs", inputs, out)?;
    more(answer.inputs.len(), ROWS, out)?;
    list("Limits of this answer", answer.limits.iter().map(|l| inline(l)), out)?;
    writeln!(out, "\nWritten by linerate {VERSION}.")
}

fn cause(number: usize, c: &Cause, out: &mut dyn Write) -> io::Result<()> {
    let severity = c.severity.name().to_uppercase();
    writeln!(out, "\n### {number}. {severity}: `{}`\n\n{}\n", c.id, inline(&c.summary))?;
    writeln!(out, "- **Sure**: {}: {}", c.confidence.name(), inline(&c.because))?;
    if !c.scope.is_empty() {
        writeln!(out, "- **Where**: {}", inline(&c.scope))?;
    }
    for (what, list) in [("Would confirm it", &c.confirm), ("Would refute it", &c.refute)] {
        for text in list {
            writeln!(out, "- **{what}**: {}", inline(text))?;
        }
    }
    if let Some(r) = &c.remedy {
        writeln!(out, "- **Do**: {}; {}", inline(&r.summary), Fix::of(r, &super::on(c)).words(inline))?;
    }
    for rule in &c.rules {
        writeln!(out, "- **Rule**: `linerate explain {rule}`")?;
    }
    crate::markdown::sources(&c.sources, out)?;
    evidence(&c.evidence, out)
}

fn figure(f: &Figure, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n**{}**: {} ({})\n", inline(&f.name), inline(&words::figure(f)), inline(&f.evidence.at))?;
    if !f.shape.is_empty() {
        writeln!(out, "Curve: {}.\n", inline(&f.shape))?;
    }
    for (i, e) in f.fits.iter().enumerate() {
        let shown = e.on_node.as_ref().map(|n| format!("; on the node, {}", inline(n))).unwrap_or_default();
        let in_log = e.in_log.as_ref().map(|said| format!("; {}", inline(said))).unwrap_or_default();
        writeln!(out, "{}. {} ({}; {}{shown}{in_log})", i + 1, inline(&e.what), inline(&e.because), e.basis)?;
    }
    for n in &f.excluded {
        writeln!(out, "- not: {}: {}", inline(&n.what), inline(&n.why))?;
    }
    let Some(next) = &f.next else { return Ok(()) };
    writeln!(out, "\nRun next:\n\n{}\n", block("text", &next.command))?;
    for o in &next.outcomes {
        writeln!(out, "- {} → {}", inline(o.shows), words::places(&o.fits))?;
    }
    Ok(())
}

fn evidence(list: &[Evidence], out: &mut dyn Write) -> io::Result<()> {
    if list.is_empty() {
        return Ok(());
    }
    let mut lines: Vec<String> = list
        .iter()
        .take(EVIDENCE)
        .map(|e| terminal(&format!("{}  {}", e.at, clip(e.text.trim(), LINE))).into_owned())
        .collect();
    if list.len() > EVIDENCE {
        lines.push(format!("and {} more", list.len() - EVIDENCE));
    }
    let text = lines.join("\n");
    writeln!(out, "\n{}", block("text", &text))
}

fn undecided(answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
    if !answer.undecided.is_empty() {
        writeln!(out, "\n## Cannot be decided from this")?;
    }
    for u in &answer.undecided {
        writeln!(out, "\n**{}**\n", inline(&u.summary))?;
        if !u.candidates.is_empty() {
            let list: Vec<String> = u.candidates.iter().map(|c| format!("`{c}`")).collect();
            writeln!(out, "- Can be: {}", list.join(", "))?;
        }
        for read in &u.read {
            writeln!(out, "- [ ] read {}", inline(read))?;
        }
        if !u.symptom.is_empty() {
            writeln!(out, "- `linerate explain {}`", u.symptom)?;
        }
        evidence(&u.evidence, out)?;
    }
    Ok(())
}

fn notes(title: &str, notes: &[Note], out: &mut dyn Write) -> io::Result<()> {
    list(title, notes.iter().map(|n| format!("{}: {}", inline(&n.what), inline(&n.why))), out)
}

fn timeline(answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
    if answer.timeline.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## First failures\n\n| after | who | times | where | what |\n|---|---|---|---|---|")?;
    for f in answer.timeline.iter().take(ROWS) {
        let after = f.after.map_or_else(|| "?".to_owned(), |s| format!("+{s:.3} s"));
        let text = cell(&clip(f.evidence.text.trim(), LINE));
        writeln!(out, "| {after} | {} | {} | {} | {text} |", cell(&f.who), f.count, cell(&f.evidence.at))?;
    }
    more(answer.timeline.len(), ROWS, out)
}

fn ran(job: &Job, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n{}\n", inline(&words::job_line(job)))?;
    if !job.hosts.is_empty() {
        writeln!(out, "- Hosts: {} ({})", inline(&names(&job.hosts, LIST)), job.hosts.len())?;
    }
    for (net, n) in &job.networks {
        writeln!(out, "- Network: {} ({n} processes)", inline(net))?;
    }
    for list in &job.nics {
        let (text, differs) = words::nics(list, words::usual(&job.nics, list), LIST);
        let differs = differs.map(|d| format!(": **differs**, {}", inline(&d))).unwrap_or_default();
        writeln!(out, "- NICs: {}{differs}", inline(&text))?;
    }
    for text in words::paths(&job.paths, LIST).iter().take(ROWS) {
        writeln!(out, "- Paths: {}", inline(text))?;
    }
    for s in job.searches.iter().take(ROWS) {
        writeln!(out, "- Search: {}", inline(&words::search(s)))?;
    }
    for s in job.environment.iter().take(ROWS) {
        let only = s.only.as_deref().map(|o| format!(" ({})", inline(o))).unwrap_or_default();
        let does = s.does.as_deref().map(|d| format!(": {}", inline(d))).unwrap_or_default();
        let verdict = s.verdict.as_deref().map(|v| format!(" **{}**", inline(v))).unwrap_or_default();
        writeln!(out, "- {}={}{only}{does}{verdict}", inline(&s.name), inline(&s.value))?;
    }
    more(job.environment.len(), ROWS, out)?;
    for line in job.benchmarks.iter().take(ROWS) {
        writeln!(out, "- Measured: {}", inline(line))?;
    }
    if job.matrix.rows.is_empty() {
        return Ok(());
    }
    let heads: Vec<String> = job.matrix.columns.iter().map(|c| cell(c)).collect();
    writeln!(out, "\n| ranks | hosts | {} | |\n|---|---|{}---|", heads.join(" | "), "---|".repeat(heads.len()))?;
    for row in job.matrix.rows.iter().take(ROWS) {
        let all: Vec<String> = cells(row, &job.matrix.columns).iter().map(|c| cell(c)).collect();
        let odd = row.odd.as_deref().map(|o| format!("**{}**", cell(o))).unwrap_or_default();
        writeln!(out, "| {} | {} | {} | {odd} |", cell(&row.ranks), cell(&names(&row.hosts, LIST)), all.join(" | "))?;
    }
    more(job.matrix.rows.len(), ROWS, out)
}
