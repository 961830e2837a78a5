//! Markdown for a ticket: the same order as on the terminal, nothing from data able to format or mention.

use super::words::{self, LIST, cells, names, verdict};
use crate::VERSION;
use crate::markdown::{fence, md};
use crate::style::{clean, clip};
use crate::terminal::terms;
use linerate_doctor::answer::{Answer, Cause, Evidence, Job, Note};
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
    writeln!(out, "# linerate doctor\n\n**{}**\n\n{}", md(&v.first), md(&v.second))?;
    let (real, known) = words::causes(answer);
    if !real.is_empty() {
        writeln!(out, "\n## Causes")?;
    }
    for (i, c) in real.iter().enumerate() {
        cause(i + 1, c, out)?;
    }
    if !known.is_empty() {
        writeln!(out, "\n## Worth knowing\n")?;
    }
    for c in known {
        writeln!(out, "- `{}`: {} ({}: {})", c.id, md(&c.summary), c.confidence.name(), md(&c.because))?;
    }
    undecided(answer, out)?;
    notes("Follows from these", &answer.consequences, out)?;
    notes("Not the cause", &answer.not_causes, out)?;
    timeline(answer, out)?;
    if !answer.jobs.is_empty() {
        writeln!(out, "\n## What ran")?;
    }
    for job in &answer.jobs {
        ran(job, out)?;
    }
    if !answer.inputs.is_empty() {
        writeln!(out, "\n## Inputs\n")?;
    }
    for i in answer.inputs.iter().take(ROWS) {
        let remarks = i.remarks.iter().take(LIST).map(|r| format!("; {}", md(r))).collect::<String>();
        writeln!(out, "- {}: {}{remarks}", md(&i.name), md(&words::input_line(i)))?;
    }
    more(answer.inputs.len(), ROWS, out)?;
    if !answer.limits.is_empty() {
        writeln!(out, "\n## Limits of this answer\n")?;
    }
    for l in &answer.limits {
        writeln!(out, "- {}", md(l))?;
    }
    writeln!(out, "\nWritten by linerate {VERSION}.")
}

fn cause(number: usize, c: &Cause, out: &mut dyn Write) -> io::Result<()> {
    let severity = c.severity.name().to_uppercase();
    writeln!(out, "\n### {number}. {severity}: `{}`\n\n{}\n", c.id, md(&c.summary))?;
    writeln!(out, "- **Sure**: {}: {}", c.confidence.name(), md(&c.because))?;
    if !c.scope.is_empty() {
        writeln!(out, "- **Where**: {}", md(&c.scope))?;
    }
    for (what, list) in [("Would confirm it", &c.confirm), ("Would refute it", &c.refute)] {
        for text in list {
            writeln!(out, "- **{what}**: {}", md(text))?;
        }
    }
    if let Some(r) = &c.remedy {
        writeln!(out, "- **Do**: {}; {}", md(&r.summary), terms(r, md))?;
    }
    for rule in &c.rules {
        writeln!(out, "- **Rule**: `linerate explain {rule}`")?;
    }
    for s in &c.sources {
        if s.at.starts_with("http") {
            writeln!(out, "- Source: [{}]({})", md(s.title), s.at)?;
        } else {
            writeln!(out, "- Source: {}: `{}`", md(s.title), s.at)?;
        }
    }
    evidence(&c.evidence, out)
}

fn evidence(list: &[Evidence], out: &mut dyn Write) -> io::Result<()> {
    if list.is_empty() {
        return Ok(());
    }
    let mut lines: Vec<String> = list
        .iter()
        .take(EVIDENCE)
        .map(|e| clean(&format!("{}  {}", e.at, clip(e.text.trim(), LINE))).into_owned())
        .collect();
    if list.len() > EVIDENCE {
        lines.push(format!("and {} more", list.len() - EVIDENCE));
    }
    let text = lines.join("\n");
    let fence = fence(&text);
    writeln!(out, "\n{fence}text\n{text}\n{fence}")
}

fn undecided(answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
    if !answer.undecided.is_empty() {
        writeln!(out, "\n## Cannot be decided from this")?;
    }
    for u in &answer.undecided {
        writeln!(out, "\n**{}**\n", md(&u.summary))?;
        if !u.candidates.is_empty() {
            let list: Vec<String> = u.candidates.iter().map(|c| format!("`{c}`")).collect();
            writeln!(out, "- Can be: {}", list.join(", "))?;
        }
        for read in &u.read {
            writeln!(out, "- [ ] read {}", md(read))?;
        }
        writeln!(out, "- `linerate explain {}`", u.symptom)?;
        evidence(&u.evidence, out)?;
    }
    Ok(())
}

fn notes(title: &str, notes: &[Note], out: &mut dyn Write) -> io::Result<()> {
    if !notes.is_empty() {
        writeln!(out, "\n## {title}\n")?;
    }
    for n in notes {
        writeln!(out, "- {}: {}", md(&n.what), md(&n.why))?;
    }
    Ok(())
}

fn timeline(answer: &Answer, out: &mut dyn Write) -> io::Result<()> {
    if answer.timeline.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## First failures\n\n| after | who | times | where | what |\n|---|---|---|---|---|")?;
    for f in answer.timeline.iter().take(ROWS) {
        let after = f.after.map_or_else(|| "?".to_owned(), |s| format!("+{s:.3} s"));
        let text = md(&clip(f.evidence.text.trim(), LINE));
        writeln!(out, "| {after} | {} | {} | {} | {text} |", md(&f.who), f.count, md(&f.evidence.at))?;
    }
    more(answer.timeline.len(), ROWS, out)
}

fn ran(job: &Job, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n{}\n", md(&words::job_line(job)))?;
    if !job.hosts.is_empty() {
        writeln!(out, "- Hosts: {} ({})", md(&names(&job.hosts, LIST)), job.hosts.len())?;
    }
    for (net, n) in &job.networks {
        writeln!(out, "- Network: {} ({n} processes)", md(net))?;
    }
    for list in &job.nics {
        let (text, differs) = words::nics(list, words::usual(&job.nics, list), LIST);
        let differs = differs.map(|d| format!(": **differs**, {}", md(&d))).unwrap_or_default();
        writeln!(out, "- NICs: {}{differs}", md(&text))?;
    }
    for s in job.environment.iter().take(ROWS) {
        let only = s.only.as_deref().map(|o| format!(" ({} only)", md(o))).unwrap_or_default();
        let does = s.does.as_deref().map(|d| format!(": {}", md(d))).unwrap_or_default();
        let verdict = s.verdict.as_deref().map(|v| format!(" **{}**", md(v))).unwrap_or_default();
        writeln!(out, "- {}={}{only}{does}{verdict}", md(&s.name), md(&s.value))?;
    }
    more(job.environment.len(), ROWS, out)?;
    for line in job.benchmarks.iter().take(ROWS) {
        writeln!(out, "- Measured: {}", md(line))?;
    }
    if job.matrix.rows.is_empty() {
        return Ok(());
    }
    let heads: Vec<String> = job.matrix.columns.iter().map(|c| md(c)).collect();
    writeln!(out, "\n| ranks | hosts | {} | |\n|---|---|{}---|", heads.join(" | "), "---|".repeat(heads.len()))?;
    for row in job.matrix.rows.iter().take(ROWS) {
        let all: Vec<String> = cells(row, &job.matrix.columns).iter().map(|c| md(c)).collect();
        let odd = row.odd.as_deref().map(|o| format!("**{}**", md(o))).unwrap_or_default();
        writeln!(out, "| {} | {} | {} | {odd} |", md(&row.ranks), md(&names(&row.hosts, LIST)), all.join(" | "))?;
    }
    more(job.matrix.rows.len(), ROWS, out)
}

fn more(all: usize, shown: usize, out: &mut dyn Write) -> io::Result<()> {
    if all > shown {
        writeln!(out, "\nand {} more", all - shown)?;
    }
    Ok(())
}
