//! Intervals for means and their difference.

use crate::describe::{Moments, moments};
use crate::dist::{t_quantile, t_two_sided};
use crate::refused::{Refused, Side, finite, fraction};

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

/// t interval of the mean of independent values: `x̄ ± t(n−1)·s/√n` (Student 1908).
///
/// # Errors
/// Fewer than two values, values that are not finite, a level outside (0, 1).
pub fn mean_interval(x: &[f64], level: f64) -> Result<Interval, Refused> {
    fraction("level", level)?;
    finite(Side::Only, x, 2)?;
    let m = moments(x);
    Ok(Interval::t(m.mean, m.se(), m.n - 1.0, level))
}

/// Welch's t test: difference of two means without assuming equal variances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Welch {
    /// Mean of B less mean of A.
    pub difference: f64,
    /// Standard error of the difference.
    pub se: f64,
    /// Difference over standard error; `NaN` where neither side has spread.
    pub t: f64,
    /// Degrees of freedom after Welch and Satterthwaite; 0 where neither side has spread.
    pub df: f64,
    /// Two-sided p value; `None` where neither side has spread.
    pub p: Option<f64>,
    /// Interval of the difference; a point where neither side has spread.
    pub interval: Interval,
}

/// Welch's t test of B against A (Welch, Biometrika 34, 1947; degrees of freedom: Satterthwaite, Biometrics Bull. 2, 1946).
///
/// # Errors
/// Fewer than two values on a side, values that are not finite, a level outside (0, 1).
pub fn welch(a: &[f64], b: &[f64], level: f64) -> Result<Welch, Refused> {
    fraction("level", level)?;
    finite(Side::A, a, 2)?;
    finite(Side::B, b, 2)?;
    let out = welch_of(&moments(a), &moments(b), level);
    if out.difference.is_finite() && out.se.is_finite() { Ok(out) } else { Err(Refused::OutOfRange) }
}

pub(crate) fn welch_of(a: &Moments, b: &Moments, level: f64) -> Welch {
    let (se, df) = satterthwaite((a.se(), a.n - 1.0), (b.se(), b.n - 1.0));
    let difference = b.mean - a.mean;
    let t = difference / se;
    let spread = se > 0.0;
    Welch {
        difference,
        se,
        t: if spread { t } else { f64::NAN },
        df,
        p: spread.then(|| t_two_sided(t, df)),
        interval: Interval::t(difference, se, df, level),
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
