//! A plan for a terminal: steps in their order, what each changes to the letter, then what is refused and left to people.

pub use super::verified::text::{render as render_verified, to_string as verified_to_string};

use super::fold::folded;
use super::{change, words};
use crate::style::{self, Page, Style, Tone};
use linerate_remedy::{Act, Plan, Risk, Step};
use std::io::{self, Write};

/// Where fields begin.
const INDENT: usize = 3;
/// Where what belongs to a field begins.
const INNER: usize = INDENT + 9;
/// Groups of changed verdicts shown before the rest becomes a number.
const CHANGES: usize = 20;
/// Findings of a step shown before the rest becomes a number.
const WHY: usize = 4;

/// Writes a plan.
///
/// # Errors
/// Those of the writer.
pub fn render(plan: &Plan, style: Style, out: &mut dyn Write) -> io::Result<()> {
    Terminal { plan, page: Page::new(out, style) }.all()
}

/// As a text.
#[must_use]
pub fn to_string(plan: &Plan, style: Style) -> String {
    style::to_text(|out| render(plan, style, out))
}

/// Columns that a line of a diff has at least.
const LEAST: usize = 24;

/// A line in pieces: the first one of so many characters, the others of two less; behind a blank where there is one in their second half.
fn cut(line: &str, room: usize) -> Vec<&str> {
    let (mut rest, mut room, mut out) = (line, room, Vec::new());
    while let Some((end, _)) = rest.char_indices().nth(room) {
        let head = rest.get(..end).unwrap_or(rest);
        let at = head.rfind(' ').map(|at| at + 1).filter(|at| *at > end / 2).unwrap_or(end);
        let (piece, after) = rest.split_at(at);
        out.push(piece);
        (rest, room) = (after, room.saturating_sub(if out.len() == 1 { 2 } else { 0 }).max(1));
    }
    out.push(rest);
    out
}

struct Terminal<'a, 'w> {
    plan: &'a Plan,
    page: Page<'w>,
}

impl Terminal<'_, '_> {
    fn all(&mut self) -> io::Result<()> {
        let plan = self.plan;
        self.page.text(0, Tone::Bold, &words::headline(plan))?;
        let from = format!("made from {}, hash {}; nothing is changed yet", plan.source, words::short(&plan.hash));
        self.page.text(0, Tone::Dim, &from)?;
        for (i, step) in plan.steps.iter().enumerate() {
            self.step(i + 1, step)?;
        }
        self.simulation()?;
        self.refused()?;
        self.by_hand()?;
        self.page.blank()?;
        let tone = if plan.dangerous().next().is_some() { Tone::Warn } else { Tone::Bold };
        self.page.text(0, tone, &words::ending(plan))
    }

    fn step(&mut self, number: usize, step: &Step) -> io::Result<()> {
        self.page.blank()?;
        let tag = format!("{number}. {}", step.id);
        self.page.item(0, &tag, Tone::Bold, Tone::Plain, &step.summary)?;
        self.why(step)?;
        self.page.fields(INDENT, "needs", step.precondition.iter().map(words::condition))?;
        self.acts("trial", &step.trial)?;
        self.acts("change", &step.change)?;
        let note = if step.risk_note.is_empty() { String::new() } else { format!(": {}", step.risk_note) };
        let tone = match step.risk {
            Risk::Dangerous => Tone::Alarm,
            Risk::High => Tone::Bad,
            Risk::Medium => Tone::Warn,
            Risk::None | Risk::Low => Tone::Plain,
        };
        self.page.item(INDENT, "risk    ", Tone::Dim, tone, &format!("{}{note}", step.risk.words()))?;
        self.page.field(INDENT, "disturbs", step.disruption.words())?;
        self.page.field(INDENT, "lasts", step.persistence.words())?;
        self.page.fields(INDENT, "unseen", step.unsimulated.iter().map(|u| format!("not simulated: {u}")))?;
        self.page.fields(INDENT, "undo", self.folded(change::rollback(step).into_iter()))?;
        self.page.fields(INDENT, "proof", self.folded(step.proof.iter().map(words::proof)))
    }

    fn why(&mut self, step: &Step) -> io::Result<()> {
        let shown = self.page.shown(WHY);
        let rules = (!step.rules.is_empty()).then(|| step.rules.join(", "));
        self.page.fields(INDENT, "why", rules.iter().chain(step.why.iter().take(shown)))?;
        if step.why.len() > shown {
            self.page.field(INDENT, "", &format!("+{} more (--format json has all)", step.why.len() - shown))?;
        }
        Ok(())
    }

    fn acts(&mut self, label: &str, acts: &[Act]) -> io::Result<()> {
        let mut label = label;
        let is_plain = |a: &Act| change::diff(a).is_none() && a.notes().is_empty();
        for alike in acts.chunk_by(|a, b| is_plain(a) && is_plain(b)) {
            for line in self.folded(alike.iter().map(Act::summary)) {
                self.page.field(INDENT, label, &line)?;
                label = "";
            }
            for act in alike {
                for line in change::diff(act).iter().flat_map(|d| d.lines()) {
                    self.diff_line(line)?;
                }
                for note in act.notes() {
                    self.page.text(INNER, Tone::Dim, &note)?;
                }
            }
        }
        Ok(())
    }

    /// Lines of which alike ones are one, where not all are asked for.
    fn folded(&self, lines: impl Iterator<Item = String>) -> Vec<String> {
        folded(lines, self.page.shown(1) > 1)
    }

    /// A line of a diff, to the letter; what does not fit goes on below it, behind an ellipsis in the place of its sign.
    fn diff_line(&mut self, line: &str) -> io::Result<()> {
        let tone = match line.as_bytes().first() {
            Some(b'+') => Tone::Good,
            Some(b'-') => Tone::Bad,
            Some(b'@') => Tone::Mild,
            _ => Tone::Plain,
        };
        let indent = " ".repeat(INNER);
        let room = self.page.style.width.saturating_sub(INNER).max(LEAST);
        let mut sign = "";
        for piece in cut(&linerate_out::terminal(line.trim_end()), room) {
            self.page.spans(&[(Tone::Plain, &indent), (Tone::Dim, sign), (tone, piece)])?;
            sign = "… ";
        }
        Ok(())
    }

    fn simulation(&mut self) -> io::Result<()> {
        let Some(seen) = &self.plan.simulation else { return Ok(()) };
        self.page.heading("SIMULATED (all rules, on the node as the plan would make it)")?;
        self.page.item(1, "·", Tone::Bold, Tone::Plain, &words::counts(seen))?;
        let all = words::changes(seen);
        let shown = self.page.shown(CHANGES);
        for line in all.iter().take(shown) {
            self.page.item(1, "·", Tone::Dim, Tone::Plain, line)?;
        }
        if all.len() > shown {
            let more = format!("and {} more (--format json has all)", all.len() - shown);
            self.page.item(1, "·", Tone::Dim, Tone::Dim, &more)?;
        }
        Ok(())
    }

    fn refused(&mut self) -> io::Result<()> {
        self.page.heading_of(&self.plan.refused, "REFUSED")?;
        for r in &self.plan.refused {
            self.page.item(1, "×", Tone::Bad, Tone::Plain, &r.summary)?;
            self.page.field(INDENT, "because", &r.reason)?;
            if let Some(unless) = &r.unless {
                self.page.field(INDENT, "unless", unless)?;
            }
            if !r.rules.is_empty() {
                self.page.field(INDENT, "for", &r.rules.join(", "))?;
            }
        }
        Ok(())
    }

    fn by_hand(&mut self) -> io::Result<()> {
        self.page.heading_of(&self.plan.by_hand, "BY HAND")?;
        for h in &self.plan.by_hand {
            self.page.item(1, "[ ]", Tone::Bold, Tone::Plain, &h.summary)?;
            for line in &h.how {
                self.page.fitting(5, line)?;
            }
            if !h.reread.is_empty() {
                self.page.field(5, "then see", &h.reread.join("; "))?;
            }
            if !h.rules.is_empty() {
                self.page.field(5, "for", &h.rules.join(", "))?;
            }
        }
        Ok(())
    }
}
