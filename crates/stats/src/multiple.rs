//! Many comparisons at once.

use crate::refused::{Refused, fraction};

/// Holm's adjusted p values (Scand. J. Stat. 6, 1979): those below α are found with a family-wise error of at most α, whatever
/// the dependence. In the order given; `NaN` stays `NaN` and does not count.
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let order = ascending(p);
    let m = order.len();
    let mut out = vec![f64::NAN; p.len()];
    let mut running = 0.0f64;
    for (rank, (index, value)) in order.into_iter().enumerate() {
        running = running.max(value * (m - rank) as f64).min(1.0);
        set(&mut out, index, running);
    }
    out
}

/// Benjamini and Hochberg's adjusted p values (J. R. Stat. Soc. B 57, 1995): those below q have an expected false share of at
/// most q, for independent or positively dependent tests. In the order given; `NaN` stays `NaN` and does not count.
#[must_use]
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let order = ascending(p);
    let m = order.len() as f64;
    let mut out = vec![f64::NAN; p.len()];
    let mut running = 1.0f64;
    for (rank, (index, value)) in order.into_iter().enumerate().rev() {
        running = running.min(value * (m / (rank + 1) as f64));
        set(&mut out, index, running);
    }
    out
}

/// Level for each of `count` intervals so that all cover together at `level` (Bonferroni): `1 − (1 − level)/count`.
///
/// # Errors
/// A level outside (0, 1), or no intervals.
pub fn bonferroni_level(level: f64, count: usize) -> Result<f64, Refused> {
    fraction("level", level)?;
    if count == 0 {
        return Err(Refused::Argument { name: "count", value: 0.0, permitted: "1 or more" });
    }
    Ok(1.0 - (1.0 - level) / count as f64)
}

fn ascending(p: &[f64]) -> Vec<(usize, f64)> {
    let mut order: Vec<(usize, f64)> = p.iter().copied().enumerate().filter(|(_, v)| !v.is_nan()).collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    order
}

fn set(out: &mut [f64], index: usize, value: f64) {
    if let Some(slot) = out.get_mut(index) {
        *slot = value;
    }
}
