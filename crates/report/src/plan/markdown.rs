//! A plan for a ticket or a review: the same order as on the terminal, nothing from data able to format or mention.

pub use super::verified::markdown::render as render_verified;

use super::{change, words};
use crate::VERSION;
use crate::markdown::{fence, md};
use crate::style::clean;
use linerate_remedy::{Act, Plan, Step};
use std::io::{self, Write};

/// Writes a plan.
///
/// # Errors
/// Those of the writer.
pub fn render(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# linerate plan\n\n**{}**\n", md(&words::headline(plan)))?;
    writeln!(out, "Made from {}, hash `{}`.", md(&plan.source), code(&plan.hash))?;
    for (i, step) in plan.steps.iter().enumerate() {
        one(i + 1, step, out)?;
    }
    if let Some(seen) = &plan.simulation {
        writeln!(
            out,
            "\n## Simulated\n\nAll rules, on the node as the plan would make it: {}.\n",
            md(&words::counts(seen))
        )?;
        for line in words::changes(seen) {
            writeln!(out, "- {}", md(&line))?;
        }
    }
    if !plan.refused.is_empty() {
        writeln!(out, "\n## Refused\n")?;
    }
    for r in &plan.refused {
        let unless = r.unless.as_ref().map(|u| format!(" Unless: {}.", md(u))).unwrap_or_default();
        let of = if r.rules.is_empty() { String::new() } else { format!(" ({})", rules(&r.rules)) };
        writeln!(out, "- **{}**: {}.{unless}{of}", md(&r.summary), md(&r.reason))?;
    }
    if !plan.by_hand.is_empty() {
        writeln!(out, "\n## By hand\n")?;
    }
    for h in &plan.by_hand {
        writeln!(out, "- [ ] {} ({})", md(&h.summary), rules(&h.rules))?;
        for line in &h.how {
            writeln!(out, "  - {}", md(line))?;
        }
        for line in &h.reread {
            writeln!(out, "  - then see {}", md(line))?;
        }
    }
    writeln!(out, "\n**{}**\n\nWritten by linerate {VERSION}.", md(&words::ending(plan)))
}

fn one(number: usize, step: &Step, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n## {number}. `{}`: {}\n", code(&step.id), md(&step.summary))?;
    if !step.rules.is_empty() {
        writeln!(out, "- **Why**: {}", rules(&step.rules))?;
    }
    for text in &step.why {
        writeln!(out, "- {}", md(text))?;
    }
    for c in &step.precondition {
        writeln!(out, "- **Needs**: {}", md(&words::condition(c)))?;
    }
    let note = if step.risk_note.is_empty() { String::new() } else { format!(": {}", md(&step.risk_note)) };
    writeln!(out, "- **Risk**: {}{note}", words::risk(step.risk))?;
    writeln!(out, "- **Disturbs**: {}", words::disturbs(step.disruption))?;
    writeln!(out, "- **Lasts**: {}", words::lasts(step.persistence))?;
    for text in &step.unsimulated {
        writeln!(out, "- **Not simulated**: {}", md(text))?;
    }
    for text in change::rollback(step) {
        writeln!(out, "- **Undo**: {}", md(&text))?;
    }
    for p in &step.proof {
        writeln!(out, "- **Proof**: {}", md(&words::proof(p)))?;
    }
    acts("Trial", &step.trial, out)?;
    acts("Change", &step.change, out)
}

fn acts(title: &str, acts: &[Act], out: &mut dyn Write) -> io::Result<()> {
    for act in acts {
        let notes = change::notes(act);
        let notes = if notes.is_empty() { String::new() } else { format!(" ({})", md(&notes.join("; "))) };
        writeln!(out, "\n{title}: {}{notes}", md(&act.summary()))?;
        if let Some(diff) = change::diff(act) {
            let text = diff.lines().map(|l| clean(l.trim_end()).into_owned()).collect::<Vec<_>>().join("\n");
            let fence = fence(&text);
            writeln!(out, "\n{fence}diff\n{text}\n{fence}")?;
        }
    }
    Ok(())
}

fn rules(list: &[String]) -> String {
    list.iter().map(|r| format!("`{}`", code(r))).collect::<Vec<_>>().join(", ")
}

/// Text within back-ticks.
fn code(text: &str) -> String {
    clean(text).replace(['`', '|', '@', '<', '>'], "'")
}
