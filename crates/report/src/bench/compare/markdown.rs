//! The comparison for a ticket: the same order as on the terminal.

use super::rows::{self, is_within};
use super::section::{checks, sections, subjects, tally};
use super::text::{ceiling_value, design, power, side, weight};
use crate::VERSION;
use crate::bench::words::{counted, percent, quantity};
use crate::group::alike;
use crate::markdown::list;
use linerate_bench::compare::{Comparisons, Verdict};
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
            writeln!(out, "\n\\* holds for these runs alone; it does not say what repetitions would give")?;
        }
    }
    reasons(c, out)?;
    ceilings(c, out)?;
    confounds(c, out)?;
    remarks(c, out)?;
    let excluded = c.excluded.iter().map(|x| format!("{}: {}: {}", x.side, inline(&x.what), inline(&x.why)));
    list("Not compared", excluded, out)?;
    list("Methods", c.methods.iter().map(|m| format!("{} *({})*", inline(m.text), inline(m.source))), out)
}

fn reasons(c: &Comparisons, out: &mut dyn Write) -> io::Result<()> {
    let mut groups = alike(c.comparisons.iter().map(|c| ((c.verdict, &c.reason), c)));
    groups.sort_by_key(|((v, _), _)| *v != Verdict::Inconclusive);
    let lines = groups.iter().map(|((verdict, reason), list)| {
        let power = power(list);
        let power = if power.is_empty() { power } else { format!("; {power}") };
        format!("**{verdict}**: {}: {}{}", inline(&subjects(list)), inline(reason), inline(&power))
    });
    list("Why", lines, out)
}

fn ceilings(c: &Comparisons, out: &mut dyn Write) -> io::Result<()> {
    let said = alike(c.comparisons.iter().rev().filter_map(|c| c.ceiling.as_ref().map(|x| (&x.sentence, (c, x)))));
    let lines = said.iter().filter_map(|(sentence, all)| {
        let (c, x) = all.first()?;
        let limit = format!("{}: {}", ceiling_value(&x.ceiling), x.ceiling.by);
        Some(format!("{}: {} *(limit {})*", inline(&subjects(&[c])), inline(sentence), inline(&limit)))
    });
    list("Ceilings", lines, out)
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
    let mut lines: Vec<String> = Vec::new();
    for (check, n) in checks(&c.comparisons).into_iter().filter(|(check, _)| check.holds != Some(true)) {
        let holds = if check.holds.is_some() { "does not hold" } else { "cannot be decided" };
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
    list("Assumptions, transients, outliers", lines.into_iter(), out)
}
