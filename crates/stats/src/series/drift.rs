//! Does a series drift?

use super::ar1::{Coefficient, Posterior};
use crate::describe::{median, moments};
use crate::dist::normal_cdf;
use crate::interval::Interval;
use crate::refused::{Refused, Side, finite, fraction};

/// A straight drift of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Change per step, in the unit of the series.
    pub slope: f64,
    /// Its interval.
    pub interval: Interval,
    /// Two-sided p value of "no drift"; `None` for a series without spread.
    pub p: Option<f64>,
    /// Change over the whole series, relative to the magnitude of its mean; `None` around zero.
    pub relative: Option<f64>,
}

/// Slope of a series by generalised least squares with first-order autoregressive noise, its correlation integrated out as in
/// [`super::series_interval`]: correlated noise alone does not pass for a drift.
///
/// # Errors
/// Fewer than 6 values, values that are not finite, a level outside (0, 1).
pub fn drift(x: &[f64], level: f64) -> Result<Drift, Refused> {
    fraction("level", level)?;
    finite(Side::Only, x, 6)?;
    let m = moments(x);
    let steps = x.len() as f64 - 1.0;
    let relative = |slope: f64| Some(slope * steps / m.mean.abs()).filter(|r| r.is_finite());
    let y: Vec<f64> = x.iter().map(|v| v / m.sd - m.mean / m.sd).collect();
    let spread = m.sd > 1e-13 * m.mean.abs() && y.iter().all(|v| v.is_finite());
    if let Some(posterior) = spread.then(|| Posterior::of(&y, Coefficient::Slope)).flatten() {
        let tail = 0.5 - 0.5 * level;
        let above = posterior.sf(0.0);
        let slope = m.sd * posterior.mean();
        let (low, high) = (m.sd * posterior.upper(1.0 - tail), m.sd * posterior.upper(tail));
        let p = Some((2.0 * above.min(1.0 - above)).clamp(0.0, 1.0));
        return Ok(Drift { slope, interval: Interval { low, high, level }, p, relative: relative(slope) });
    }
    // Without residual the values tell the slope themselves.
    let slope = x.first().zip(x.last()).map_or(0.0, |(a, b)| b / steps - a / steps);
    let slope = if m.sd > 0.0 { slope } else { 0.0 };
    Ok(Drift { slope, interval: Interval { low: slope, high: slope, level }, p: None, relative: relative(slope) })
}

/// Mann and Kendall's test of a trend in independent values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MannKendall {
    /// Rising less falling pairs.
    pub s: f64,
    /// Standardised with continuity correction.
    pub z: f64,
    /// Two-sided p value, normal approximation; only for values that are independent of each other.
    pub p: f64,
    /// Median slope of all pairs, per step (Sen, J. Am. Stat. Assoc. 63, 1968).
    pub sen_slope: f64,
}

/// Mann–Kendall test with ties (Mann, Econometrica 13, 1945; Kendall 1975). Up to 2,000 values: it looks at all pairs.
///
/// # Errors
/// Fewer than 4 or more than 2,000 values, values that are not finite.
pub fn mann_kendall(x: &[f64]) -> Result<MannKendall, Refused> {
    finite(Side::Only, x, 4)?;
    if x.len() > 2_000 {
        return Err(Refused::Argument { name: "n", value: x.len() as f64, permitted: "at most 2000" });
    }
    let mut s = 0.0;
    let mut slopes = Vec::with_capacity(x.len() * (x.len() - 1) / 2);
    for (i, a) in x.iter().enumerate() {
        for (j, b) in x.iter().enumerate().skip(i + 1) {
            s += if b > a { 1.0 } else { -f64::from(u8::from(b < a)) };
            let steps = (j - i) as f64;
            slopes.push(b / steps - a / steps);
        }
    }
    let n = x.len() as f64;
    let weight = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
    let sorted = crate::describe::sorted(x);
    let ties: f64 = sorted.chunk_by(|a, b| a == b).map(|t| weight(t.len() as f64)).sum();
    let variance = (weight(n) - ties) / 18.0;
    let z = if s == 0.0 || variance <= 0.0 { 0.0 } else { (s - f64::signum(s)) / variance.sqrt() };
    Ok(MannKendall { s, z, p: (2.0 * normal_cdf(-z.abs())).min(1.0), sen_slope: median(&slopes) })
}
