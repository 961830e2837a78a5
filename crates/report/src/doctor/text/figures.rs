//! Figures of benchmarks: what explains them, and what to run next.

use super::Terminal;
use crate::doctor::words;
use crate::style::Tone;
use linerate_doctor::answer::Figure;
use std::io;

/// Explanations of a figure that are usually shown.
const FITS: usize = 8;

impl Terminal<'_, '_> {
    pub(super) fn figures(&mut self) -> io::Result<()> {
        let all = &self.answer.figures;
        self.page.heading_of(all, "FIGURES, and what explains them")?;
        for (i, f) in all.iter().enumerate() {
            if i > 0 {
                self.page.blank()?;
            }
            self.figure(f)?;
        }
        Ok(())
    }

    fn figure(&mut self, f: &Figure) -> io::Result<()> {
        let (sign, tone) = if f.reached { ("✓", Tone::Good) } else { ("·", Tone::Doubt) };
        self.page.item(0, sign, tone, Tone::Bold, &format!("{}: {}", f.name, words::figure(f)))?;
        self.page.field(2, "seen", &f.evidence.at)?;
        if !f.shape.is_empty() {
            self.page.field(2, "curve", &f.shape)?;
        }
        if f.fits.is_empty() && !f.reached {
            let what =
                if f.ceiling.is_some() { "no known cause" } else { "nothing unusual, as far as a table alone shows" };
            self.page.field(2, "fits", what)?;
        }
        let shown = self.page.shown(FITS);
        for (i, e) in f.fits.iter().take(shown).enumerate() {
            let label = if i == 0 { "fits" } else { "" };
            self.page.field(2, label, &format!("{} {}", i + 1, e.what))?;
            let mut why = format!("{} [{}]", e.because, e.basis);
            if let Some(on_node) = &e.on_node {
                why.push_str(&format!("; on the node, {on_node}"));
            }
            if let Some(in_log) = &e.in_log {
                why.push_str(&format!("; {in_log}"));
            }
            self.page.text(13, Tone::Dim, &why)?;
        }
        let more = f.fits.len().saturating_sub(shown) + f.fits_left_out;
        if more > 0 {
            self.page.field(2, "", &format!("and {more} more (--verbose)"))?;
        }
        for n in &f.excluded {
            self.page.field(2, "not", &format!("{}: {}", n.what, n.why))?;
        }
        let Some(next) = &f.next else { return Ok(()) };
        self.page.item(2, &format!("{:<8}", "next"), Tone::Good, Tone::Bold, &next.command)?;
        for o in &next.outcomes {
            self.page.field(2, "", &format!("{} → {}", o.shows, words::places(&o.fits)))?;
        }
        if f.fits.iter().all(|e| e.on_node.is_none()) {
            self.page.field(2, "or", "on the node, `linerate doctor TABLE --node /` weighs them by its rules")?;
        }
        Ok(())
    }
}
