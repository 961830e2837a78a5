//! Ratios as dots with whiskers around 1, the band of equivalence behind them.

use super::rows::{estimate, interval, is_within};
use crate::bench::words;
use linerate_bench::compare::Comparison;

/// The scale of a forest: logarithms of ratios, 1 in its middle.
pub(super) struct Forest {
    half: f64,
    band: f64,
    width: usize,
}

impl Forest {
    /// A scale on which all estimates lie, and most intervals. `None` where there is no estimate.
    pub(super) fn of(rows: &[&Comparison], threshold: f64, width: usize) -> Option<Self> {
        let band = if threshold.is_finite() { threshold.abs().min(0.9).ln_1p() } else { 0.0 };
        let logs = |v: f64| if v > 0.0 { v.ln().abs() } else { 0.0 };
        let estimates: Vec<f64> = rows.iter().filter_map(|c| estimate(c)).map(logs).collect();
        let mut ends: Vec<f64> = rows.iter().filter_map(|c| interval(c)).flatten().map(logs).collect();
        ends.sort_by(f64::total_cmp);
        // A few wide intervals must not press the others together: those run out of the picture.
        let usual = ends.get(ends.len() * 9 / 10).copied().unwrap_or(0.0);
        let most = ends.last().copied().unwrap_or(0.0).min(usual * 1.5);
        let furthest = estimates.iter().copied().fold(0.0, f64::max);
        if estimates.is_empty() || width < 9 {
            return None;
        }
        // An odd number of columns has a middle.
        let width = if width.is_multiple_of(2) { width - 1 } else { width };
        Some(Forest { half: (furthest.max(most) * 1.08).max(band * 1.6).max(1e-3), band, width })
    }

    /// Column of a ratio; outside of the picture where it is beyond.
    fn column(&self, ratio: f64) -> f64 {
        let middle = (self.width / 2) as f64;
        let log = if ratio > 0.0 { ratio.ln() } else { f64::NEG_INFINITY };
        (middle + log / self.half * middle).round().clamp(-1.0, self.width as f64)
    }

    /// The row of a comparison.
    pub(super) fn strip(&self, c: &Comparison) -> String {
        let mut cells = vec![' '; self.width];
        let middle = self.width / 2;
        let reach = ((self.band / self.half) * middle as f64).round() as usize;
        for (i, cell) in cells.iter_mut().enumerate() {
            if i.abs_diff(middle) <= reach {
                *cell = '░';
            }
        }
        let mut put = |at: f64, c: char| {
            if at >= 0.0 {
                words::put(&mut cells, at as usize, c);
            }
        };
        put(middle as f64, '│');
        let (line, dot) = if is_within(c) { ('╌', '○') } else { ('─', '●') };
        let last = self.width as f64 - 1.0;
        if let Some([low, high]) = interval(c) {
            let (from, to) = (self.column(low), self.column(high));
            let mut at = from.max(0.0);
            while at <= to.min(last) {
                put(at, line);
                at += 1.0;
            }
            put(from.max(0.0), if from < 0.0 { '◂' } else { '├' });
            put(to.min(last), if to > last { '▸' } else { '┤' });
        }
        if let Some(e) = estimate(c) {
            let at = self.column(e);
            put(
                at.clamp(0.0, last),
                match at {
                    at if at < 0.0 => '◂',
                    at if at > last => '▸',
                    _ => dot,
                },
            );
        }
        cells.into_iter().collect::<String>().trim_end().to_owned()
    }

    /// The ends and the middle of the scale.
    pub(super) fn axis(&self) -> String {
        let digits = if self.half < 0.02 { 3 } else { 2 };
        let (low, high) = (format!("{:.digits$}", (-self.half).exp()), format!("{:.digits$}", self.half.exp()));
        let middle = "1.00";
        let left = (self.width / 2).saturating_sub(low.chars().count() + 2);
        let right = self.width.saturating_sub(self.width / 2 + 2 + high.chars().count());
        format!("{low}{:left$}{middle}{:right$}{high}", "", "")
    }
}
