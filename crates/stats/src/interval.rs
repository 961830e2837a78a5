//! Intervals by Student's t.

use crate::dist::t_quantile;

/// A confidence interval: of repeated measurements, `level` of such intervals contain the true value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Confidence level, 0.95 for 95 %.
    pub level: f64,
}

impl Interval {
    /// Whether a value lies within, ends included.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// `centre ± t·se` with Student's t at `df`.
    pub(crate) fn t(centre: f64, se: f64, df: f64, level: f64) -> Self {
        let half = if se > 0.0 { t_quantile(0.5 + 0.5 * level, df) * se } else { 0.0 };
        Self { low: centre - half, high: centre + half, level }
    }

    pub(crate) fn exp(self) -> Self {
        Self { low: self.low.exp(), high: self.high.exp(), level: self.level }
    }
}

/// Standard error of a difference of two independent estimates, and its degrees of freedom; (0, 0) where both are exact.
/// Scaled by the larger error, so that nothing over- or underflows.
pub(crate) fn satterthwaite((se_a, df_a): (f64, f64), (se_b, df_b): (f64, f64)) -> (f64, f64) {
    let scale = se_a.max(se_b);
    if !(scale > 0.0 && scale.is_finite()) {
        return (scale, 0.0);
    }
    let (va, vb) = ((se_a / scale).powi(2), (se_b / scale).powi(2));
    let df = (va + vb).powi(2) / (va * va / df_a + vb * vb / df_b);
    (scale * (va + vb).sqrt(), df)
}
