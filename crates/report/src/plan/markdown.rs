//! A plan for a ticket or a review: the same order as on the terminal, nothing from data able to format or mention.

pub use super::verified::markdown::render as render_verified;

use super::{change, words};
use crate::VERSION;
use crate::markdown::list;
use linerate_out::markdown::{block, code, inline};
use linerate_out::terminal;
use linerate_remedy::{Act, Plan, Step};
use std::io::{self, Write};

/// Writes a plan.
///
/// # Errors
/// Those of the writer.
pub fn render(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# linerate plan\n\n**{}**\n", inline(&words::headline(plan)))?;
    writeln!(out, "Made from {}, hash {}.", inline(&plan.source), code(&plan.hash))?;
    for (i, step) in plan.steps.iter().enumerate() {
        one(i + 1, step, out)?;
    }
    if let Some(seen) = &plan.simulation {
        writeln!(
            out,
            "\n## Simulated\n\nAll rules, on the node as the plan would make it: {}.\n",
            inline(&words::counts(seen))
        )?;
        for line in words::changes(seen) {
            writeln!(out, "- {}", inline(&line))?;
        }
    }
    let refused = plan.refused.iter().map(|r| {
        let unless = r.unless.as_ref().map(|u| format!(" Unless: {}.", inline(u))).unwrap_or_default();
        let of = if r.rules.is_empty() { String::new() } else { format!(" ({})", rules(&r.rules)) };
        format!("**{}**: {}.{unless}{of}", inline(&r.summary), inline(&r.reason))
    });
    list("Refused", refused, out)?;
    if !plan.by_hand.is_empty() {
        writeln!(out, "\n## By hand\n")?;
    }
    for h in &plan.by_hand {
        writeln!(out, "- [ ] {} ({})", inline(&h.summary), rules(&h.rules))?;
        for line in &h.how {
            writeln!(out, "  - {}", inline(line))?;
        }
        for line in &h.reread {
            writeln!(out, "  - then see {}", inline(line))?;
        }
    }
    writeln!(out, "\n**{}**\n\nWritten by linerate {VERSION}.", inline(&words::ending(plan)))
}

fn one(number: usize, step: &Step, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n## {number}. {}: {}\n", code(&step.id), inline(&step.summary))?;
    if !step.rules.is_empty() {
        writeln!(out, "- **Why**: {}", rules(&step.rules))?;
    }
    for text in &step.why {
        writeln!(out, "- {}", inline(text))?;
    }
    for c in &step.precondition {
        writeln!(out, "- **Needs**: {}", inline(&words::condition(c)))?;
    }
    let note = if step.risk_note.is_empty() { String::new() } else { format!(": {}", inline(&step.risk_note)) };
    writeln!(out, "- **Risk**: {}{note}", step.risk.words())?;
    writeln!(out, "- **Disturbs**: {}", step.disruption.words())?;
    writeln!(out, "- **Lasts**: {}", step.persistence.words())?;
    for text in &step.unsimulated {
        writeln!(out, "- **Not simulated**: {}", inline(text))?;
    }
    for text in change::rollback(step) {
        writeln!(out, "- **Undo**: {}", inline(&text))?;
    }
    for p in &step.proof {
        writeln!(out, "- **Proof**: {}", inline(&words::proof(p)))?;
    }
    acts("Trial", &step.trial, out)?;
    acts("Change", &step.change, out)
}

fn acts(title: &str, acts: &[Act], out: &mut dyn Write) -> io::Result<()> {
    for act in acts {
        let notes = act.notes();
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", inline(&notes.join("; "))) };
        writeln!(out, "\n{title}: {}{notes}", inline(&act.summary()))?;
        if let Some(diff) = change::diff(act) {
            let text = diff.lines().map(|l| terminal(l.trim_end()).into_owned()).collect::<Vec<_>>().join("\n");
            writeln!(out, "\n{}", block("diff", &text))?;
        }
    }
    Ok(())
}

fn rules(list: &[String]) -> String {
    list.iter().map(|r| code(r)).collect::<Vec<_>>().join(", ")
}
