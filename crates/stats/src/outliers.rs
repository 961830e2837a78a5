//! Values far from the others: flagged and reported, never dropped in silence.
//!
//! The rule: farther from the side's median than 5 scaled median absolute deviations (Leys et al., J. Exp. Soc. Psychol. 49,
//! 2013, on the median absolute deviation; 5 instead of their 3 because a comparison looks at up to 160 values), on
//! logarithms if all values are positive. The deviation is the larger of the side's own and that of both sides together, since
//! that of five values alone is often too small by chance. Where more than half of the values are equal, the mean absolute
//! deviation takes its place (Iglewicz & Hoaglin, How to Detect and Handle Outliers, 1993).

use crate::describe::{MAD_TO_SD, mad, median};
use crate::refused::Side;

/// Scaled deviations beyond which a value is an outlier, and reported.
pub const LIMIT: f64 = 5.0;
/// Scaled deviations beyond which [`crate::ratio`] trims: farther out than `LIMIT`, since a method that changes with the data
/// costs some of its error rate. From normal data fewer than 1 in 40 comparisons of 5 values go so far, and almost none of 10.
pub const EXTREME: f64 = 8.0;
/// √(π/2): makes the mean absolute deviation of normal data their standard deviation.
const MEAN_AD_TO_SD: f64 = 1.253_314_137_315_500_3;

/// A value far from the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlier {
    /// Whose it is.
    pub side: Side,
    /// Its index on that side, from 0.
    pub index: usize,
    /// The value as given.
    pub value: f64,
    /// Signed distance from the median in scaled deviations.
    pub distance: f64,
}

/// Outliers of one sample; none where a value is not finite.
#[must_use]
pub fn outliers(x: &[f64]) -> Vec<Outlier> {
    let Some(rest) = residuals(x, x.iter().all(|v| *v > 0.0)) else { return Vec::new() };
    flag(Side::Only, x, &rest, deviation(&rest))
}

/// Outliers of two sides that are compared; side A's first.
#[must_use]
pub fn two_sided_outliers(a: &[f64], b: &[f64]) -> Vec<Outlier> {
    let positive = a.iter().chain(b).all(|v| *v > 0.0);
    let (Some(rest_a), Some(rest_b)) = (residuals(a, positive), residuals(b, positive)) else { return Vec::new() };
    let both: Vec<f64> = rest_a.iter().chain(&rest_b).copied().collect();
    let common = deviation(&both);
    let mut out = flag(Side::A, a, &rest_a, deviation(&rest_a).max(common));
    out.extend(flag(Side::B, b, &rest_b, deviation(&rest_b).max(common)));
    out
}

fn residuals(x: &[f64], positive: bool) -> Option<Vec<f64>> {
    if x.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let y: Vec<f64> = if positive { x.iter().map(|v| v.ln()).collect() } else { x.to_vec() };
    let centre = median(&y);
    // What rounding leaves is no distance.
    let rounding = 1e-13 * centre.abs().max(if positive { 1.0 } else { 0.0 });
    Some(y.into_iter().map(|v| v - centre).map(|r| if r.abs() > rounding { r } else { 0.0 }).collect())
}

/// Scaled deviation from zero.
fn deviation(rest: &[f64]) -> f64 {
    let robust = MAD_TO_SD * mad(rest, 0.0);
    if robust > 0.0 {
        return robust;
    }
    let n = rest.len().max(1) as f64;
    MEAN_AD_TO_SD * rest.iter().map(|r| r.abs() / n).sum::<f64>()
}

fn flag(side: Side, x: &[f64], rest: &[f64], deviation: f64) -> Vec<Outlier> {
    let far = |(index, (value, rest)): (usize, (&f64, &f64))| {
        let distance = rest / deviation;
        (distance.abs() > LIMIT).then_some(Outlier { side, index, value: *value, distance })
    };
    if deviation > 0.0 { x.iter().zip(rest).enumerate().filter_map(far).collect() } else { Vec::new() }
}
