//! Causes with what proves them, what would refute them, and what to do.

use super::Terminal;
use crate::doctor::{self, words};
use crate::fix::Fix;
use crate::style::Tone;
use crate::terminal::tone_of;
use linerate_doctor::answer::Cause;
use std::io;

impl Terminal<'_, '_> {
    pub(super) fn causes(&mut self) -> io::Result<()> {
        let (real, known) = words::causes(self.answer);
        self.page.heading_of(&real, "CAUSES (the most important first)")?;
        for (i, c) in real.iter().enumerate() {
            if i > 0 {
                self.page.blank()?;
            }
            self.cause(i + 1, c)?;
        }
        self.page.heading_of(&known, "WORTH KNOWING (nothing to do)")?;
        for c in known {
            self.page.item(2, "·", Tone::Mild, Tone::Plain, &format!("{}: {}", c.id, c.summary))?;
            self.page.text(4, Tone::Dim, &sure(c))?;
            self.evidence(4, "seen", &c.evidence)?;
        }
        Ok(())
    }

    fn cause(&mut self, number: usize, c: &Cause) -> io::Result<()> {
        let verbose = self.page.style.verbose;
        let tag = format!("{number} {}", c.severity.name().to_uppercase());
        self.page.item(0, &tag, tone_of(c.severity), Tone::Bold, c.id)?;
        self.page.text(2, Tone::Bold, &c.summary)?;
        if verbose {
            self.page.field(2, "cause", c.title)?;
        }
        self.page.field(2, "sure", &sure(c))?;
        if !c.scope.is_empty() {
            self.page.field(2, "where", &c.scope)?;
        }
        self.evidence(2, "seen", &c.evidence)?;
        self.page.fields(2, "confirm", &c.confirm)?;
        self.page.fields(2, "refute", &c.refute)?;
        match &c.remedy {
            Some(r) => {
                self.page.item(2, &format!("{:<8}", "do"), Tone::Good, Tone::Bold, &r.summary)?;
                self.page.field(2, "", &Fix::of(r, &doctor::on(c)).words(str::to_owned))?;
                if !r.reread.is_empty() {
                    self.page.field(2, "", &format!("to prove it, read again: {}", r.reread.join(", ")))?;
                }
            }
            None => self.page.field(2, "do", &format!("no ready step: read `linerate explain {}`", c.id))?,
        }
        self.page.fields(2, "rules", &c.rules)?;
        if verbose {
            self.page.fields(2, "sources", c.sources.iter().map(|s| format!("{}: {}", s.title, s.at)))?;
        }
        self.page.field(2, "more", &format!("linerate explain {}", c.id))
    }
}

/// `likely: the settings say so, and no NIC is named`.
fn sure(c: &Cause) -> String {
    if c.because.is_empty() {
        c.confidence.name().to_owned()
    } else {
        format!("{}: {}", c.confidence.name(), c.because)
    }
}
