//! Equivalence of a ratio.

use crate::interval::Interval;
use crate::ratio::RatioEstimate;
use crate::refused::Refused;

/// Two one-sided tests: is the ratio shown to lie within the margin?
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tost {
    /// Lower end of the margin, 1 − threshold.
    pub low: f64,
    /// Upper end of the margin, 1 + threshold.
    pub high: f64,
    /// One-sided p value of "the ratio is at most `low`"; `None` without spread.
    pub p_low: Option<f64>,
    /// One-sided p value of "the ratio is at least `high`".
    pub p_high: Option<f64>,
    /// The larger of both: the p value of "not equivalent".
    pub p: Option<f64>,
    /// The 1 − 2α interval at α = 0.05: it lies within the margin exactly when `p` < 0.05.
    pub interval90: Option<Interval>,
}

impl Tost {
    /// Whether equivalence is shown at this α. Never without spread.
    #[must_use]
    pub fn shown(&self, alpha: f64) -> bool {
        self.p.is_some_and(|p| p < alpha)
    }
}

/// Two one-sided t tests (Schuirmann, J. Pharmacokinet. Biopharm. 15, 1987) against the margin 1 ± `threshold`, on the scale of
/// the estimate (logarithms, but for Fieller's method).
///
/// # Errors
/// A threshold outside (0, 1).
pub fn equivalent(estimate: &RatioEstimate, threshold: f64) -> Result<Tost, Refused> {
    let (low, high) = margin(threshold)?;
    let (p_low, p_high) = (estimate.p_above(low), estimate.p_below(high));
    let p = p_low.zip(p_high).map(|(l, h)| l.max(h));
    Ok(Tost { low, high, p_low, p_high, p, interval90: estimate.interval_at(0.9) })
}

/// The margin 1 ± threshold.
pub(crate) fn margin(threshold: f64) -> Result<(f64, f64), Refused> {
    crate::refused::fraction("threshold", threshold).map(|t| (1.0 - t, 1.0 + t))
}
