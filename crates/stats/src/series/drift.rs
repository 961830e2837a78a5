//! Does a series drift?

use super::ar1::{Coefficient, Posterior};
use crate::describe::moments;
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
/// [`crate::ratio_series`]: correlated noise alone does not pass for a drift.
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
