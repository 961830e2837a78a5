//! The ratio of two autocorrelated series.

use super::{Basis, Method, RatioEstimate};
use crate::interval::satterthwaite;
use crate::outliers::two_sided_outliers;
use crate::refused::{Refused, Side, fraction, logs};
use crate::series::{SteadyMean, steady_mean};

/// Ratio of two series, and how correlated they are.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesRatio {
    /// The ratio: of these two executions, since one execution does not tell how much the next would differ.
    pub ratio: RatioEstimate,
    /// Correlation from step to step in A.
    pub phi_a: f64,
    /// The same in B.
    pub phi_b: f64,
    /// On a side the correlation is not learnt well enough to vouch for the level: fewer than 20 values, where the interval is wide
    /// enough for correlations up to about 0.7 and a stronger one goes unnoticed; or more values, whose correlation may well be
    /// above 0.85 (with probability 0.3 or more).
    pub correlation_unknown: bool,
}

/// Ratio of the geometric means of two stationary autocorrelated series of positive values, B over A. Each mean of logarithms with
/// first-order autoregressive noise, its correlation integrated out; their difference with Satterthwaite's degrees of freedom. Cut the
/// transient first ([`crate::series::transient`]).
///
/// # Errors
/// Fewer than 5 values on a side, values that are not finite or not positive, a level outside (0, 1), a series without a steady
/// mean.
pub fn ratio_series(a: &[f64], b: &[f64], level: f64) -> Result<SeriesRatio, Refused> {
    fraction("level", level)?;
    let mean = |side: Side, x: &[f64]| -> Result<SteadyMean, Refused> { steady_mean(side, &logs(side, x, 5)?) };
    let (ma, mb) = (mean(Side::A, a)?, mean(Side::B, b)?);
    let (se, df) = satterthwaite((ma.se, ma.df), (mb.se, mb.df));
    let difference = mb.mean - ma.mean;
    let basis = Basis::Log { difference, se, df };
    let mut ratio = RatioEstimate::of(basis, Method::SeriesOnLogs, difference.exp(), level)?;
    (ratio.n_a, ratio.n_b, ratio.outliers) = (a.len(), b.len(), two_sided_outliers(a, b));
    // Such that sd/√n is the standard error: what further steps would bring at this correlation.
    ratio.log_sd_a = Some(ma.se * (a.len() as f64).sqrt());
    ratio.log_sd_b = Some(mb.se * (b.len() as f64).sqrt());
    Ok(SeriesRatio {
        ratio,
        phi_a: ma.phi,
        phi_b: mb.phi,
        correlation_unknown: ma.correlation_unknown || mb.correlation_unknown,
    })
}
