//! What speaks against a result: confounds, assumptions that do not hold, values that were cut or are far from the others.

use super::{FEW, Text, weight};
use crate::bench::compare::section::{checks, subjects};
use crate::bench::words::{counted, number, quantity};
use crate::style::Tone;
use std::io;

impl Text<'_, '_> {
    pub(super) fn confounds(&mut self) -> io::Result<()> {
        let all = &self.c.confounds;
        self.page.heading_of(all, "WHAT ELSE DIFFERS (worst first: each could be the cause instead)")?;
        let shown = self.page.shown(FEW);
        for x in all.iter().take(shown) {
            let (word, tone) = weight(x.weight);
            let text = format!("{}: A {}; B {}", x.what, or_none(&x.a), or_none(&x.b));
            self.page.item(2, &format!("{:<8}", word.to_uppercase()), tone, Tone::Plain, &text)?;
            let rule = x.rule.as_ref().map(|r| format!(" (linerate explain {r})")).unwrap_or_default();
            if !x.why.is_empty() || !rule.is_empty() {
                self.page.text(11, Tone::Dim, &format!("{}{rule}", x.why))?;
            }
        }
        self.page.more(2, all.len(), shown, "")
    }

    /// Assumptions that do not hold, and those that could not be checked; with `--verbose` the others.
    pub(super) fn checks(&mut self) -> io::Result<()> {
        let mut groups = checks(&self.c.comparisons);
        let held = groups.iter().filter(|(c, _)| c.holds == Some(true)).count();
        if !self.page.style.verbose {
            groups.retain(|(c, _)| c.holds != Some(true));
        }
        if groups.is_empty() {
            return Ok(());
        }
        groups.sort_by_key(|(c, _)| match c.holds {
            Some(false) => 0,
            None => 1,
            Some(true) => 2,
        });
        self.page.heading("ASSUMPTIONS, CHECKED")?;
        for (check, n) in groups {
            let (tag, tone) = match check.holds {
                Some(false) => ("does not hold:", Tone::Bad),
                None => ("cannot be decided:", Tone::Doubt),
                Some(true) => ("holds:", Tone::Good),
            };
            let times = if n > 1 {
                format!(" ({n} comparisons; the first: {})", check.detail)
            } else {
                format!(" ({})", check.detail)
            };
            self.page.item(2, tag, tone, Tone::Plain, &format!("{}{times}", check.assumption))?;
        }
        if !self.page.style.verbose && held > 0 {
            let text = format!("and {} (--verbose)", counted(held, "that holds", "that hold"));
            self.page.text(2, Tone::Dim, &text)?;
        }
        Ok(())
    }

    /// What was cut, and what is far from the rest.
    pub(super) fn values(&mut self) -> io::Result<()> {
        let mut lines: Vec<(Tone, String)> = Vec::new();
        for c in &self.c.comparisons {
            for (name, side) in [("A", &c.a), ("B", &c.b)] {
                for t in &side.transients {
                    let (tone, doubt) = if t.unsettled {
                        (Tone::Warn, "; no steady state was reached: do not trust this cut")
                    } else {
                        (Tone::Mild, "")
                    };
                    let text = format!(
                        "{name}, {}: the first {} of {} values of run {} were cut as a transient: mean {} instead of {}{doubt}",
                        subjects(&[c]),
                        t.cut,
                        t.of,
                        t.run,
                        quantity(t.mean_after, &c.unit),
                        quantity(t.mean_before, &c.unit)
                    );
                    lines.push((tone, text));
                }
                for o in &side.outliers {
                    let text = format!(
                        "{name}, {}: {} in run {} is {} robust standard deviations from the median; it was kept",
                        subjects(&[c]),
                        quantity(o.value, &c.unit),
                        o.run,
                        number(o.deviations)
                    );
                    lines.push((Tone::Dim, text));
                }
            }
        }
        self.page.heading_of(&lines, "TRANSIENTS AND OUTLIERS")?;
        let shown = self.page.shown(FEW);
        for (tone, text) in lines.iter().take(shown) {
            self.page.item(2, "·", *tone, Tone::Plain, text)?;
        }
        self.page.more(2, lines.len(), shown, "")
    }
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "–" } else { text }
}
