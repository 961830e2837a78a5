//! Intervals from resampled statistics.

use super::BootstrapRatio;
use crate::describe::moments;
use crate::dist::{normal_cdf, normal_quantile};
use crate::interval::Interval;
use crate::refused::Refused;

/// What was resampled, on logarithms.
pub(super) struct Resampled {
    pub(super) estimate: f64,
    pub(super) se: f64,
    /// Difference of each resample, and
    pub(super) differences: Vec<f64>,
    /// its distance from the estimate in its own standard errors.
    pub(super) t: Vec<f64>,
    /// Acceleration, where there is one.
    pub(super) acceleration: Option<f64>,
}

impl Resampled {
    pub(super) fn ratio(mut self, level: f64) -> Result<BootstrapRatio, Refused> {
        let resamples = self.differences.len() as u32;
        let tail = 0.5 - 0.5 * level;
        let point = Interval { low: self.estimate, high: self.estimate, level };
        let (interval, bca, percentile, log_se);
        if self.se > 0.0 {
            log_se = moments(&self.differences).sd;
            let below = self.differences.iter().filter(|d| **d < self.estimate).count() as f64;
            let equal = self.differences.iter().filter(|d| **d == self.estimate).count() as f64;
            let at = |x: &mut [f64], p: f64| order_quantile(x, p);
            // The far end of the t distribution makes the lower end.
            let (t_low, t_high) = (at(&mut self.t, tail), at(&mut self.t, 1.0 - tail));
            interval = Interval { low: self.estimate - t_high * self.se, high: self.estimate - t_low * self.se, level };
            let d = &mut self.differences;
            percentile = Interval { low: at(d, tail), high: at(d, 1.0 - tail), level };
            let z0 = normal_quantile((below + 0.5 * equal) / f64::from(resamples));
            bca = self.acceleration.filter(|_| z0.is_finite()).and_then(|a| {
                let adjusted = |p: f64| {
                    let z = z0 + normal_quantile(p);
                    let room = 1.0 - a * z;
                    (room > 0.0).then(|| normal_cdf(z0 + z / room))
                };
                let (low, high) = (adjusted(tail)?, adjusted(1.0 - tail)?);
                Some(Interval { low: at(d, low), high: at(d, high), level }.exp())
            });
        } else {
            (interval, bca, percentile, log_se) = (point, None, point, 0.0);
        }
        let out = BootstrapRatio {
            estimate: self.estimate.exp(),
            interval: interval.exp(),
            bca,
            percentile: percentile.exp(),
            log_se,
            resamples,
            no_spread: self.se <= 0.0,
        };
        if out.estimate.is_finite() && out.interval.low.is_finite() { Ok(out) } else { Err(Refused::OutOfRange) }
    }
}

/// Quantile by selection, of values in any order; definition 7 of Hyndman & Fan.
pub(super) fn order_quantile(x: &mut [f64], p: f64) -> f64 {
    let Some(last) = x.len().checked_sub(1) else { return f64::NAN };
    let at = last as f64 * p.clamp(0.0, 1.0);
    let (below, w) = (at.floor() as usize, at - at.floor());
    let (_, low, above) = x.select_nth_unstable_by(below.min(last), f64::total_cmp);
    let low = *low;
    if w == 0.0 {
        return low;
    }
    let high = above.iter().copied().min_by(f64::total_cmp).unwrap_or(low);
    low * (1.0 - w) + high * w
}
