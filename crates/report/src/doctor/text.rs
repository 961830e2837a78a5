//! The answer for a terminal: the verdict, then why and what to do, then what else was seen.

mod causes;
mod figures;
mod matrix;
mod ran;

use super::words::{self, LIST, Sort, verdict};
use crate::style::{self, Page, Style, Tone, clip};
use crate::terminal::tone_of;
use linerate_doctor::answer::{Answer, Evidence, Failure, Input, Note, Undecided};
use linerate_out::terminal;
use std::io::{self, Write};

/// Lines of evidence shown before the rest becomes a number.
const EVIDENCE: usize = 2;
/// Failures and inputs shown before the rest becomes a number.
const ROWS: usize = 12;
/// Room that the text of a line of evidence needs beside its place; with less it goes below.
const ROOM: usize = 60;

/// Writes the answer.
///
/// # Errors
/// Those of the writer.
pub fn render(answer: &Answer, style: Style, out: &mut dyn Write) -> io::Result<()> {
    Terminal { answer, page: Page::new(out, style) }.all()
}

/// As a text.
#[must_use]
pub fn to_string(answer: &Answer, style: Style) -> String {
    style::to_text(|out| render(answer, style, out))
}

struct Terminal<'a, 'w> {
    answer: &'a Answer,
    page: Page<'w>,
}

impl Terminal<'_, '_> {
    fn all(&mut self) -> io::Result<()> {
        let a = self.answer;
        let v = verdict(a);
        let tone = match v.sort {
            Sort::Causes(severity) => tone_of(severity),
            Sort::Undecided | Sort::Nothing => Tone::Doubt,
            Sort::Good => Tone::Good,
        };
        self.page.text(0, tone, &v.first)?;
        self.page.text(0, Tone::Plain, &v.second)?;
        self.causes()?;
        self.undecided()?;
        self.figures()?;
        self.notes("FOLLOWS FROM THESE (needs no fix of its own)", &a.consequences)?;
        self.notes("NOT THE CAUSE (though often suspected)", &a.not_causes)?;
        self.timeline()?;
        self.what_ran()?;
        self.inputs()?;
        self.page.heading_of(&a.limits, "LIMITS of this answer")?;
        for limit in &a.limits {
            self.page.item(2, "·", Tone::Dim, Tone::Plain, limit)?;
        }
        Ok(())
    }

    /// Lines of evidence below a label.
    fn evidence(&mut self, indent: usize, label: &str, list: &[Evidence]) -> io::Result<()> {
        let shown = self.page.shown(EVIDENCE);
        for (i, e) in list.iter().take(shown).enumerate() {
            self.one_evidence(indent, if i == 0 { label } else { "" }, e)?;
        }
        if list.len() > shown {
            self.page.field(indent, "", &format!("+{} more (--verbose)", list.len() - shown))?;
        }
        Ok(())
    }

    /// `file:line  text` behind a label.
    fn one_evidence(&mut self, indent: usize, label: &str, e: &Evidence) -> io::Result<()> {
        let head = format!("{:indent$}{label:<8} ", "");
        self.quote(&head, Tone::Dim, Tone::Plain, e)
    }

    /// `file:line  text` behind a head, the text cut to the page: a line of a log must not bury the report. Where little of it would be
    /// left, it is below.
    fn quote(&mut self, head: &str, head_tone: Tone, tone: Tone, e: &Evidence) -> io::Result<()> {
        let (at, text) = (terminal(&e.at), terminal(e.text.trim()));
        let left = head.chars().count();
        let room = self.page.style.width.saturating_sub(left);
        let beside = room.saturating_sub(at.chars().count() + 2);
        let verbose = self.page.style.verbose;
        if beside >= text.chars().count() || beside >= ROOM && !verbose {
            let text = clip(&text, beside);
            return self.page.spans(&[(head_tone, head), (Tone::Dim, &at), (Tone::Plain, "  "), (tone, &text)]);
        }
        if room >= at.chars().count() {
            self.page.spans(&[(head_tone, head), (Tone::Dim, &at)])?;
        } else {
            self.page.item(0, head.strip_suffix(' ').unwrap_or(head), head_tone, Tone::Dim, &at)?;
        }
        if verbose {
            return self.page.text(left + 2, tone, &text);
        }
        let blank = format!("{:1$}", "", left + 2);
        let text = clip(&text, room.saturating_sub(2).max(16));
        self.page.spans(&[(Tone::Plain, &blank), (tone, &text)])
    }

    fn undecided(&mut self) -> io::Result<()> {
        let all = &self.answer.undecided;
        self.page.heading_of(all, "CANNOT BE DECIDED from this")?;
        all.iter().try_for_each(|u| self.one_undecided(u))
    }

    fn one_undecided(&mut self, u: &Undecided) -> io::Result<()> {
        self.page.item(0, "?", Tone::Doubt, Tone::Bold, &u.summary)?;
        self.evidence(2, "seen", &u.evidence)?;
        if !u.candidates.is_empty() {
            self.page.field(2, "can be", &u.candidates.join(", "))?;
        }
        for (i, read) in u.read.iter().enumerate() {
            self.page.item(2, &format!("{:<8}", if i == 0 { "read" } else { "" }), Tone::Good, Tone::Plain, read)?;
        }
        if u.symptom.is_empty() {
            return Ok(());
        }
        self.page.field(2, "more", &format!("linerate explain {}", u.symptom))
    }

    fn notes(&mut self, title: &str, notes: &[Note]) -> io::Result<()> {
        self.page.heading_of(notes, title)?;
        for n in notes {
            let text = if n.why.is_empty() { n.what.clone() } else { format!("{}: {}", n.what, n.why) };
            self.page.item(2, "·", Tone::Mild, Tone::Plain, &text)?;
            self.evidence(4, "seen", &n.evidence)?;
        }
        Ok(())
    }

    /// Failures in the order of time: the first, not the loudest.
    fn timeline(&mut self) -> io::Result<()> {
        let all = &self.answer.timeline;
        if all.is_empty() {
            return Ok(());
        }
        self.page.heading("FIRST FAILURES (in order of time; those that follow from others are dimmed)")?;
        let shown = self.page.shown(ROWS);
        let after = |f: &Failure| f.after.map_or_else(|| "?".to_owned(), |s| format!("+{s:.3} s"));
        let times = |f: &Failure| {
            let processes =
                if f.processes > 1 { format!(" in {}", words::thousands(f.processes.into())) } else { String::new() };
            format!("{}\u{a0}×{processes}", words::thousands(f.count))
        };
        let width = |cell: &dyn Fn(&Failure) -> String, max: usize| {
            all.iter().take(shown).map(|f| cell(f).chars().count()).max().unwrap_or(0).min(max)
        };
        let who = |f: &Failure| clip(&terminal(&f.who), 28).into_owned();
        let (a, b, c) = (width(&after, 14), width(&who, 28), width(&times, 20));
        for f in all.iter().take(shown) {
            let tone = if f.consequence { Tone::Dim } else { Tone::Plain };
            let head = format!("  {:>a$}  {:<b$}  {:>c$}  ", after(f), who(f), times(f));
            let one_line = head.chars().count() + terminal(&f.evidence.at).chars().count() + 2 + ROOM;
            if one_line <= self.page.style.width {
                self.quote(&head, tone, tone, &f.evidence)?;
            } else {
                self.page.spans(&[(tone, head.trim_end())])?;
                self.quote("      ", tone, tone, &f.evidence)?;
            }
        }
        self.page.more(2, all.len(), shown, " kinds")
    }

    fn inputs(&mut self) -> io::Result<()> {
        let mut inputs: Vec<&Input> = self.answer.inputs.iter().collect();
        if inputs.is_empty() {
            return Ok(());
        }
        let shown = self.page.shown(ROWS);
        if inputs.len() > shown {
            // What needs a remark is not among those that become a number.
            inputs.sort_by_key(|i| i.remarks.is_empty());
        }
        self.page.heading("INPUTS")?;
        for i in inputs.iter().take(shown) {
            let line = words::input_line(i);
            let line = if line.is_empty() { "nothing recognised" } else { &line };
            let name = format!("{}:", i.name);
            // A long path would leave no room beside it.
            if name.chars().count() > self.page.style.width / 3 {
                self.page.text(2, Tone::Plain, &name)?;
                self.page.text(4, Tone::Dim, line)?;
            } else {
                self.page.item(2, &name, Tone::Plain, Tone::Dim, line)?;
            }
            let remarks = self.page.shown(LIST);
            for r in i.remarks.iter().take(remarks) {
                self.page.item(4, "!", Tone::Warn, Tone::Plain, r)?;
            }
            if i.remarks.len() > remarks {
                let more = format!("and {} more remarks (--verbose)", i.remarks.len() - remarks);
                self.page.item(4, "!", Tone::Warn, Tone::Dim, &more)?;
            }
        }
        if inputs.len() > shown {
            let rest = inputs.iter().skip(shown).map(|i| i.bytes).sum();
            let more = format!("and {} more, {} (--verbose)", inputs.len() - shown, words::bytes(rest));
            self.page.text(2, Tone::Dim, &more)?;
        }
        Ok(())
    }
}
