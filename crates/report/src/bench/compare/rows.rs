//! The columns of a comparison's table.

use super::section::Section;
use crate::bench::words::{decimals, fixed};
use crate::style::Tone;
use crate::table::{Cell, Table, left, right};
use linerate_bench::compare::{Comparison, Verdict};

/// The verdict's colour.
pub(super) fn tone(v: Verdict) -> Tone {
    match v {
        Verdict::Better => Tone::Good,
        Verdict::Worse => Tone::Bad,
        Verdict::Equivalent => Tone::Mild,
        Verdict::Inconclusive => Tone::Doubt,
    }
}

/// Whether an interval is of these runs only and says nothing about repetitions.
pub(in crate::bench) fn is_within(c: &Comparison) -> bool {
    c.interval_of.is_some_and(|of| of.starts_with("within"))
}

/// An interval whose ends are numbers.
pub(super) fn interval(c: &Comparison) -> Option<[f64; 2]> {
    c.interval.filter(|i| i.iter().all(|v| v.is_finite()))
}

/// An estimate that is a number.
pub(super) fn estimate(c: &Comparison) -> Option<f64> {
    c.estimate.filter(|e| e.is_finite())
}

/// How the ratios of a table are written: `±` where all intervals lie evenly about their estimates.
pub(super) struct Ratios {
    even: bool,
    decimals: usize,
}

impl Ratios {
    pub(super) fn of(rows: &[&Comparison]) -> Self {
        let even = rows.iter().all(|c| match (estimate(c), interval(c)) {
            (Some(e), Some([low, high])) => {
                let (below, above) = (e - low, high - e);
                // A difference that rounding hides is not shown.
                below >= 0.0 && above >= 0.0 && (below - above).abs() <= 0.1 * below.max(above) + 5e-4
            }
            _ => true,
        });
        let least = rows.iter().filter_map(|c| estimate(c)).map(f64::abs).fold(f64::INFINITY, f64::min);
        let most = rows.iter().filter_map(|c| estimate(c)).map(f64::abs).fold(0.0, f64::max);
        let decimals = match (least, most) {
            (l, _) if l < 0.1 => 4,
            (_, m) if m >= 10.0 => 2,
            _ => 3,
        };
        Ratios { even, decimals }
    }

    /// `0.991 ± 0.008`, `0.991 [0.97, 1.04]`, with a mark where the interval is of these runs only.
    pub(super) fn text(&self, c: &Comparison) -> String {
        let number = |v| fixed(v, self.decimals);
        let Some(e) = estimate(c) else { return "–".into() };
        let mark = if is_within(c) { "*" } else { "" };
        match interval(c) {
            None => number(e),
            Some([low, high]) if self.even => {
                format!("{}{mark} ± {}", number(e), number((high - e).max(e - low)))
            }
            Some([low, high]) => format!("{}{mark} [{}, {}]", number(e), number(low), number(high)),
        }
    }
}

/// The table without the forest.
pub(super) fn table(section: &Section<'_>) -> Table {
    let rows = &section.rows;
    let first = if section.over_sizes { right("size", 0) } else { left("metric", 0) };
    let mut t = Table::of([first, right("A", 1), right("B", 1), left("B/A", 0), left("verdict", 0), right("n", 2)]);
    let ratios = Ratios::of(rows);
    let all = |of: fn(&Comparison) -> Option<f64>| decimals(rows.iter().filter_map(|c| of(c)));
    let common = all(|c| c.a.typical).max(all(|c| c.b.typical));
    for c in rows {
        let digits =
            if section.over_sizes { common } else { decimals([c.a.typical, c.b.typical].into_iter().flatten()) };
        let value = |v: Option<f64>| Cell::plain(&v.map_or_else(|| "–".into(), |v| fixed(v, digits)));
        t.row(vec![
            Cell::plain(&section.row_name(c)),
            value(c.a.typical),
            value(c.b.typical),
            Cell::plain(&ratios.text(c)),
            Cell::new(tone(c.verdict), &c.verdict.to_string()),
            Cell::new(Tone::Dim, &runs(c)),
        ]);
    }
    t
}

/// `12`, or `12/9` where the sides have different numbers of runs.
pub(super) fn runs(c: &Comparison) -> String {
    if c.a.runs == c.b.runs { c.a.runs.to_string() } else { format!("{}/{}", c.a.runs, c.b.runs) }
}
