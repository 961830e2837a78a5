//! What was measured before: a list of runs, and bands of what is usual.

use super::words::{self, counted, number, quantity};
use crate::style::{Page, Style, Tone};
use crate::table::{Cell, Table, left};
use linerate_bench::{Better, Unit};
use std::io::{self, Write};

/// Rows shown before the rest becomes a number.
const ROWS: usize = 60;
/// Columns of a band's picture.
const PICTURE: usize = 28;

/// A run of the store.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HistoryRow {
    /// Its name.
    pub id: String,
    /// Whose output.
    pub kind: String,
    /// The program.
    pub tool: Option<String>,
    /// When it began or, where the output does not say, when it was stored: seconds of the Unix epoch.
    pub when: Option<f64>,
    /// Hosts that took part.
    pub hosts: Vec<String>,
    /// What the user called it.
    pub label: Option<String>,
    /// In one number: [`super::headline`].
    pub headline: Option<String>,
    /// Whether it counts as a result.
    pub valid: bool,
}

/// Writes a list of runs, as they come.
///
/// # Errors
/// Those of the writer.
pub fn history_text(rows: &[HistoryRow], style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(out, style);
    if rows.is_empty() {
        return page.text(0, Tone::Doubt, "no stored run matches");
    }
    let columns = [("run", 0), ("when (UTC)", 1), ("kind", 5), ("tool", 3), ("hosts", 4), ("label", 2), ("result", 0)];
    let mut table = Table::of(columns.map(|(head, rank)| left(head, rank)));
    let shown = page.shown(ROWS);
    for r in rows.iter().take(shown) {
        let result = match (r.valid, &r.headline) {
            (false, _) => Cell::new(Tone::Bad, "no valid result"),
            (true, Some(text)) => Cell::new(Tone::Plain, text),
            (true, None) => Cell::new(Tone::Doubt, "no value"),
        };
        table.row(vec![
            Cell::new(Tone::Dim, &r.id),
            Cell::plain(&r.when.map(minute).unwrap_or_default()),
            Cell::plain(&r.kind),
            Cell::plain(r.tool.as_deref().unwrap_or_default()),
            Cell::plain(&crate::doctor::words::names(&r.hosts, 4)),
            Cell::plain(r.label.as_deref().unwrap_or_default()),
            result,
        ]);
    }
    table.write(&mut page, 0)?;
    match rows.len().saturating_sub(shown) {
        0 => Ok(()),
        n => page.text(0, Tone::Dim, &format!("and {} (--verbose)", counted(n, "more run", "more runs"))),
    }
}

/// `2026-11-02 10:11`.
fn minute(epoch: f64) -> String {
    let text = words::moment(epoch);
    text.get(..16).unwrap_or(&text).replace('T', " ")
}

/// What is usual: the runs of one measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// What: `all_reduce_perf busbw at 2 GiB, 8 ranks`.
    pub what: String,
    /// Unit of all values.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    /// The smallest.
    pub low: f64,
    /// The middle one.
    pub median: f64,
    /// The largest.
    pub high: f64,
    /// Runs behind it.
    pub runs: usize,
    /// What is wanted.
    pub target: Option<f64>,
    /// The newest, or the one in question; not among the others.
    pub latest: Option<f64>,
}

impl Band {
    /// `194–309 GB/s (n = 12 runs, median 250)`; of one run its value alone.
    #[must_use]
    pub fn sentence(&self) -> String {
        match self.runs {
            0 => "no run".into(),
            1 => format!("{} (n = 1 run: no band)", quantity(self.median, &self.unit)),
            n => {
                let (low, high) = (number(self.low), quantity(self.high, &self.unit));
                format!("{low}–{high} (n = {n} runs, median {})", number(self.median))
            }
        }
    }

    /// Where the newest lies, in words and as good or bad.
    fn judged(&self) -> Option<(Tone, String)> {
        let v = self.latest.filter(|v| v.is_finite())?;
        let worse = match self.better {
            Better::Higher => Some(v < self.low),
            Better::Lower => Some(v > self.high),
            Better::Neither => None,
        };
        let outside = v < self.low || v > self.high;
        let (tone, place) = match (self.runs, outside, worse) {
            (0, ..) => (Tone::Plain, "the first"),
            (_, false, _) => (Tone::Good, "within"),
            (_, _, Some(true)) => (Tone::Bad, "worse than all of them"),
            (_, _, Some(false)) => (Tone::Good, "better than all of them"),
            (_, _, None) => (Tone::Warn, "outside"),
        };
        Some((tone, format!("latest {}: {place}", quantity(v, &self.unit))))
    }

    fn missed(&self) -> Option<String> {
        let target = self.target.filter(|t| t.is_finite())?;
        let best = match self.better {
            _ if self.runs == 0 => return Some(format!("target {}", quantity(target, &self.unit))),
            Better::Higher => self.high,
            Better::Lower => self.low,
            Better::Neither => return Some(format!("target {}", quantity(target, &self.unit))),
        };
        let reached = if self.better == Better::Higher { best >= target } else { best <= target };
        let how = if reached { "reached" } else { "never reached" };
        Some(format!("target {}: {how}", quantity(target, &self.unit)))
    }

    /// `├────┃───┤   ●`.
    fn picture(&self) -> String {
        let all = [Some(self.low), Some(self.high), self.target, self.latest];
        let all = words::sorted(all.into_iter().flatten());
        let (Some(low), Some(high)) = (all.first(), all.last()) else { return String::new() };
        let span = high / 2.0 - low / 2.0;
        if !(self.runs > 1 && span > 0.0) {
            return String::new();
        }
        let at = |v: f64| (((v / 2.0 - low / 2.0) / span) * (PICTURE - 1) as f64).round().max(0.0) as usize;
        let mut cells = vec![' '; PICTURE];
        let (from, to) = (at(self.low), at(self.high));
        let ends = [(from, '├'), (to, '┤'), (at(self.median), '┃')];
        let marks =
            [(self.target, '◇'), (self.latest, '●')].map(|(v, c)| v.filter(|v| v.is_finite()).map(|v| (at(v), c)));
        for (i, c) in (from..=to).map(|i| (i, '─')).chain(ends).chain(marks.into_iter().flatten()) {
            words::put(&mut cells, i, c);
        }
        cells.into_iter().collect::<String>().trim_end().to_owned()
    }
}

/// Writes bands: what, from where to where, and where the newest and the target lie.
///
/// # Errors
/// Those of the writer.
pub fn bands_text(bands: &[Band], style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut page = Page::new(out, style);
    for b in bands {
        page.text(0, Tone::Bold, &b.what)?;
        page.text(2, Tone::Plain, &b.sentence())?;
        let picture = b.picture();
        if !picture.is_empty() {
            page.spans(&[(Tone::Plain, "  "), (Tone::Mild, &picture)])?;
        }
        if let Some((tone, text)) = b.judged() {
            page.item(2, "●", Tone::Mild, tone, &text)?;
        }
        if let Some(text) = b.missed() {
            page.item(2, "◇", Tone::Mild, Tone::Plain, &text)?;
        }
    }
    Ok(())
}
