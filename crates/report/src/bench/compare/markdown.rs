//! The comparison for a ticket: the same order as on the terminal.

use super::rows::{self, is_within};
use super::section::{sections, subjects, tally};
use super::text::{ceiling_value, design, power, side, weight};
use crate::VERSION;
use crate::bench::words::{counted, percent, quantity};
use linerate_bench::compare::{Check, Comparison, Comparisons, Verdict};
use linerate_out::markdown::{cell, inline};
use std::io::{self, Write};

/// Hosts of a side before the rest becomes a number.
const FEW: usize = 8;

/// Writes the answer as Markdown.
///
/// # Errors
/// Those of the writer.
pub fn comparison_markdown(c: &Comparisons, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# {} against {}\n", inline(&c.b.name), inline(&c.a.name))?;
    for (i, sentence) in c.conclusions.iter().enumerate() {
        if i == 0 { writeln!(out, "**{}**\n", inline(sentence))? } else { writeln!(out, "- {}", inline(sentence))? }
    }
    if c.conclusions.len() > 1 {
        writeln!(out)?;
    }
    writeln!(out, "| | |\n|---|---|")?;
    writeln!(out, "| A | {} |", cell(&side(&c.a, FEW)))?;
    writeln!(out, "| B | {} |", cell(&side(&c.b, FEW)))?;
    writeln!(out, "| Design | {} |", cell(&design(c)))?;
    let n = counted(c.comparisons.len(), "comparison", "comparisons");
    let tally = if c.comparisons.is_empty() { "nothing".to_owned() } else { tally(&c.comparisons) };
    writeln!(out, "| Verdicts | {n}: {tally} |")?;
    writeln!(out, "| Threshold, confidence | {}, {} |", percent(c.threshold), percent(c.level))?;
    writeln!(out, "| Written by | linerate {VERSION} |")?;
    for section in sections(&c.comparisons) {
        writeln!(out, "\n## {}\n", inline(&section.title()))?;
        rows::table(&section).markdown(out)?;
        if section.rows.iter().any(|c| is_within(c)) {
            writeln!(out, "\n\\* holds for these runs alone; what repetitions would give it does not say")?;
        }
    }
    reasons(c, out)?;
    ceilings(c, out)?;
    confounds(c, out)?;
    remarks(c, out)?;
    if !c.excluded.is_empty() {
        writeln!(out, "\n## Not compared\n")?;
        for x in &c.excluded {
            writeln!(out, "- {}: {}: {}", x.side, inline(&x.what), inline(&x.why))?;
        }
    }
    if !c.methods.is_empty() {
        writeln!(out, "\n## Methods\n")?;
        for m in &c.methods {
            writeln!(out, "- {} *({})*", inline(m.text), inline(m.source))?;
        }
    }
    Ok(())
}

fn reasons(c: &Comparisons, out: &mut dyn Write) -> io::Result<()> {
    let mut groups: Vec<(Verdict, &str, Vec<&Comparison>)> = Vec::new();
    for c in &c.comparisons {
        match groups.iter_mut().find(|(v, reason, _)| *v == c.verdict && *reason == c.reason) {
            Some((.., list)) => list.push(c),
            None => groups.push((c.verdict, &c.reason, vec![c])),
        }
    }
    if groups.is_empty() {
        return Ok(());
    }
    groups.sort_by_key(|(v, ..)| *v != Verdict::Inconclusive);
    writeln!(out, "\n## Why\n")?;
    for (verdict, reason, list) in groups {
        let power = power(&list);
        let power = if power.is_empty() { power } else { format!("; {power}") };
        writeln!(out, "- **{verdict}**: {}: {}{}", inline(&subjects(&list)), inline(reason), inline(&power))?;
    }
    Ok(())
}

fn ceilings(c: &Comparisons, out: &mut dyn Write) -> io::Result<()> {
    let mut told: Vec<&str> = Vec::new();
    for c in c.comparisons.iter().rev() {
        let Some(x) = c.ceiling.as_ref().filter(|x| !told.contains(&x.sentence.as_str())) else { continue };
        if told.is_empty() {
            writeln!(out, "\n## Ceilings\n")?;
        }
        told.push(&x.sentence);
        let limit = format!("{}: {}", ceiling_value(&x.ceiling), x.ceiling.by);
        writeln!(out, "- {}: {} *(limit {})*", inline(&subjects(&[c])), inline(&x.sentence), inline(&limit))?;
    }
    Ok(())
}

fn confounds(c: &Comparisons, out: &mut dyn Write) -> io::Result<()> {
    if c.confounds.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## What else differs\n\nWorst first: each could be the cause instead.\n")?;
    writeln!(out, "| weight | what | A | B | why it matters |\n|---|---|---|---|---|")?;
    for x in &c.confounds {
        let rule =
            x.rule.as_ref().map(|r| format!(" (`linerate explain {}`)", r.replace('`', "'"))).unwrap_or_default();
        let (word, _) = weight(x.weight);
        writeln!(
            out,
            "| {word} | {} | {} | {} | {}{} |",
            cell(&x.what),
            cell(&x.a),
            cell(&x.b),
            cell(&x.why),
            cell(&rule)
        )?;
    }
    Ok(())
}

fn remarks(c: &Comparisons, out: &mut dyn Write) -> io::Result<()> {
    let mut checks: Vec<(&Check, usize)> = Vec::new();
    for check in c.comparisons.iter().flat_map(|c| &c.checks).filter(|c| c.holds != Some(true)) {
        match checks.iter_mut().find(|(g, _)| g.assumption == check.assumption && g.holds == check.holds) {
            Some((_, n)) => *n += 1,
            None => checks.push((check, 1)),
        }
    }
    let mut lines: Vec<String> = Vec::new();
    for (check, n) in checks {
        let holds = if check.holds.is_some() { "does not hold" } else { "cannot be told" };
        lines.push(format!("**{holds}**: {} ({n} ×; {})", inline(check.assumption), inline(&check.detail)));
    }
    for c in &c.comparisons {
        for (name, side) in [("A", &c.a), ("B", &c.b)] {
            for t in &side.transients {
                let doubt = if t.unsettled { "; no steady state was reached" } else { "" };
                let means = (quantity(t.mean_before, &c.unit), quantity(t.mean_after, &c.unit));
                lines.push(format!(
                    "{name}, {}: the first {} of {} values of run `{}` were cut as a transient: mean {} instead of {}{doubt}",
                    inline(&subjects(&[c])), t.cut, t.of, t.run, inline(&means.1), inline(&means.0)
                ));
            }
            for o in &side.outliers {
                let value = quantity(o.value, &c.unit);
                lines.push(format!(
                    "{name}, {}: outlier {} in run `{}`, kept",
                    inline(&subjects(&[c])),
                    inline(&value),
                    o.run
                ));
            }
        }
    }
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## Assumptions, transients, outliers\n")?;
    lines.iter().try_for_each(|l| writeln!(out, "- {l}"))
}
