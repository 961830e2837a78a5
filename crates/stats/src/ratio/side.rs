//! Centre and standard error of one side's logarithms.

use crate::describe::moments;

/// Logarithms differ by less than this through rounding alone: a spread below it counts as zero.
const ROUNDING: f64 = 1e-13;

pub(super) struct LogSide {
    pub(super) centre: f64,
    pub(super) se: f64,
    pub(super) df: f64,
    /// Such that `sd/√n` is the standard error.
    pub(super) sd: f64,
}

impl LogSide {
    pub(super) fn plain(sorted: &[f64]) -> Self {
        let m = moments(sorted);
        let sd = if m.sd > ROUNDING { m.sd } else { 0.0 };
        Self { centre: m.mean, se: sd / m.n.sqrt(), df: m.n - 1.0, sd }
    }

    /// 20 % of the values trimmed from each end; `s_w·√((n−1)/(h(h−1)))` with the Winsorized standard deviation `s_w` and
    /// `h` values left (Yuen 1974). `None` below five values, where nothing would be trimmed.
    pub(super) fn trimmed(sorted: &[f64]) -> Option<Self> {
        let n = sorted.len();
        let cut = n / 5;
        let (low, high) = (*sorted.get(cut)?, *sorted.get(n.checked_sub(cut + 1)?)?);
        if cut == 0 {
            return None;
        }
        let centre = moments(sorted.get(cut..n - cut)?).mean;
        let winsorized: Vec<f64> = sorted.iter().map(|v| v.clamp(low, high)).collect();
        let (n, h) = (n as f64, (n - 2 * cut) as f64);
        let sd = moments(&winsorized).sd;
        let sd = if sd > ROUNDING { sd } else { 0.0 };
        let se = sd * ((n - 1.0) / (h * (h - 1.0))).sqrt();
        Some(Self { centre, se, df: h - 1.0, sd: se * n.sqrt() })
    }
}
