//! Fieller's interval: the ratio of two means where logarithms cannot be taken.

use super::{Basis, Method, RatioEstimate};
use crate::describe::{moments, sorted};
use crate::dist::t_quantile;
use crate::interval::{Interval, satterthwaite};
use crate::outliers::two_sided_outliers;
use crate::refused::Refused;

pub(super) fn fieller(a: &[f64], b: &[f64], level: f64) -> Result<RatioEstimate, Refused> {
    let (ma, mb) = (moments(&sorted(a)), moments(&sorted(b)));
    let near_zero = Refused::BaselineNearZero { mean: ma.mean, se: ma.se() };
    if ma.mean <= 0.0 {
        return Err(near_zero);
    }
    // In units of A's mean: nothing overflows, and the ratio stays.
    let (mean, se_a, se_b) = (mb.mean / ma.mean, ma.se() / ma.mean, mb.se() / ma.mean);
    let (_, df) = satterthwaite((mean.abs() * se_a, ma.n - 1.0), (se_b, mb.n - 1.0));
    let basis = Basis::Linear { a: 1.0, se_a, b: mean, se_b, df };
    if df > 0.0 && interval(1.0, se_a, mean, se_b, df, level).is_none() {
        return Err(near_zero);
    }
    let mut out = RatioEstimate::of(basis, Method::Fieller, mean, level)?;
    (out.n_a, out.n_b, out.outliers) = (a.len(), b.len(), two_sided_outliers(a, b));
    Ok(out)
}

/// All r with |b − r·a| ≤ t·√(se_b² + r²·se_a²); `None` unless that is a bounded interval.
pub(super) fn interval(a: f64, se_a: f64, b: f64, se_b: f64, df: f64, level: f64) -> Option<Interval> {
    if se_a == 0.0 && se_b == 0.0 {
        return Some(Interval { low: b / a, high: b / a, level });
    }
    let t = t_quantile(0.5 + 0.5 * level, df);
    let (ta, tb) = (t * se_a, t * se_b);
    let lead = a * a - ta * ta;
    let root = (b * b * ta * ta + lead * tb * tb).sqrt();
    (lead > 0.0 && root.is_finite()).then(|| Interval {
        low: (a * b - root) / lead,
        high: (a * b + root) / lead,
        level,
    })
}
