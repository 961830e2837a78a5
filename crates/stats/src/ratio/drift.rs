//! The ratio of interleaved replicates while everything drifts.

use super::{Basis, Method, RatioEstimate};
use crate::dist::t_two_sided;
use crate::interval::Interval;
use crate::outliers::two_sided_outliers;
use crate::refused::{Refused, Side, finite, fraction, logs};

/// When the replicates were measured: a time or a place in the order for each value, in any unit.
#[derive(Debug, Clone, Copy)]
pub struct Times<'a> {
    /// Of side A.
    pub a: &'a [f64],
    /// Of side B.
    pub b: &'a [f64],
}

/// Ratio beside a drift.
#[derive(Debug, Clone, PartialEq)]
pub struct DriftRatio {
    /// The ratio at equal times.
    pub ratio: RatioEstimate,
    /// Factor by which both sides change from the first time to the last, less 1.
    pub drift: f64,
    /// Its interval.
    pub drift_interval: Interval,
    /// Two-sided p value of "no drift"; `None` without residual.
    pub drift_p: Option<f64>,
    /// Variance that the drift costs: 1 if the sides are balanced in time, large if one came before the other.
    pub variance_inflation: f64,
}

/// Beyond this side and time are the same thing for practical purposes.
const MOST_INFLATION: f64 = 10.0;

/// Ratio B over A of interleaved replicates, by least squares on logarithms with a side and a straight drift in time (analysis of
/// covariance): the drift neither biases the ratio nor widens its interval. Assumes the same spread on both sides.
///
/// # Errors
/// Fewer than two values on a side or four in all, values that are not finite or not positive, times that do not
/// match, a level outside (0, 1); [`Refused::OrderDecides`] if one side was measured (nearly) before the other.
pub fn ratio_with_drift(order: Times<'_>, a: &[f64], b: &[f64], level: f64) -> Result<DriftRatio, Refused> {
    fraction("level", level)?;
    for (side, values, times) in [(Side::A, a, order.a), (Side::B, b, order.b)] {
        if values.len() != times.len() {
            return Err(Refused::Lengths { side, values: values.len(), others: times.len() });
        }
        finite(side, times, 2)?;
    }
    let (log_a, log_b) = (logs(Side::A, a, 2)?, logs(Side::B, b, 2)?);
    if a.len() + b.len() < 5 {
        return Err(Refused::TooFew { side: Side::B, n: b.len(), needs: 3 });
    }
    let all = || order.a.iter().chain(order.b);
    let (first, last) = all().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), t| (l.min(*t), h.max(*t)));
    // In halves: the span of two huge times may overflow.
    let half_span = 0.5 * last - 0.5 * first;
    if half_span <= 0.0 {
        return Err(Refused::Argument { name: "span of the times", value: 0.0, permitted: "a positive span" });
    }
    let unit = |t: &f64| (0.5 * t - 0.5 * first) / half_span;
    let (ga, gb) = (Group::of(order.a.iter().map(unit), &log_a), Group::of(order.b.iter().map(unit), &log_b));
    let within = ga.tt + gb.tt;
    let between = ga.n * gb.n / (ga.n + gb.n) * (gb.t - ga.t).powi(2);
    let variance_inflation = 1.0 + between / within;
    if variance_inflation > MOST_INFLATION || within <= 0.0 {
        return Err(Refused::OrderDecides);
    }
    let slope = (ga.ty + gb.ty) / within;
    let difference = (gb.y - ga.y) - slope * (gb.t - ga.t);
    let df = ga.n + gb.n - 3.0;
    let residuals =
        ga.residuals(slope, order.a.iter().map(unit), &log_a) + gb.residuals(slope, order.b.iter().map(unit), &log_b);
    // What rounding of the logarithms leaves is no residual.
    let s = (residuals / df).sqrt();
    let s = if s > 1e-13 { s } else { 0.0 };
    let se = s * (1.0 / ga.n + 1.0 / gb.n + (gb.t - ga.t).powi(2) / within).sqrt();
    let se_slope = s / within.sqrt();
    let mut ratio = RatioEstimate::of(Basis::Log { difference, se, df }, Method::DriftOnLogs, difference.exp(), level)?;
    (ratio.n_a, ratio.n_b, ratio.log_sd_a, ratio.log_sd_b) = (a.len(), b.len(), Some(s), Some(s));
    ratio.outliers = two_sided_outliers(a, b);
    let i = Interval::t(slope, se_slope, df, level).exp();
    Ok(DriftRatio {
        ratio,
        drift: slope.exp_m1(),
        drift_interval: Interval { low: i.low - 1.0, high: i.high - 1.0, level },
        drift_p: (se_slope > 0.0).then(|| t_two_sided(slope / se_slope, df)),
        variance_inflation,
    })
}

/// Means of one side, and sums of squares about them.
struct Group {
    n: f64,
    t: f64,
    y: f64,
    tt: f64,
    ty: f64,
}

impl Group {
    fn of(times: impl Iterator<Item = f64> + Clone, y: &[f64]) -> Self {
        let n = y.len() as f64;
        let t = times.clone().sum::<f64>() / n;
        let mean = y.iter().sum::<f64>() / n;
        let (mut tt, mut ty) = (0.0, 0.0);
        for (time, y) in times.zip(y) {
            tt += (time - t).powi(2);
            ty += (time - t) * (y - mean);
        }
        Self { n, t, y: mean, tt, ty }
    }

    fn residuals(&self, slope: f64, times: impl Iterator<Item = f64>, y: &[f64]) -> f64 {
        times.zip(y).map(|(t, y)| (y - self.y - slope * (t - self.t)).powi(2)).sum()
    }
}
