//! The ratio of two sides' typical values.

mod drift;
mod linear;
mod series;
mod side;

pub use drift::{DriftRatio, Times, ratio_with_drift};
pub use series::{SeriesRatio, ratio_series};

use crate::dist::{t_sf, t_two_sided};
use crate::interval::{Interval, satterthwaite};
use crate::outliers::{EXTREME, Outlier, two_sided_outliers};
use crate::refused::{Refused, Side, finite, fraction, logs};
use side::LogSide;

/// How a ratio was estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// Welch's t test on logarithms: ratio of geometric means.
    WelchOnLogs,
    /// Yuen's t test on logarithms with 20 % trimmed from each end: ratio of trimmed geometric means.
    YuenOnLogs,
    /// Fieller's interval of a ratio of arithmetic means, for data with zeros or negative values.
    Fieller,
    /// Least squares on logarithms with a straight drift in time.
    DriftOnLogs,
    /// Means of logarithms of two autocorrelated series.
    SeriesOnLogs,
}

impl Method {
    /// One sentence for a report.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::WelchOnLogs => "ratio of geometric means, Welch's t interval on logarithms",
            Self::YuenOnLogs => {
                "ratio of 20 % trimmed geometric means, Yuen's t interval on logarithms (extreme outliers present)"
            }
            Self::Fieller => "ratio of arithmetic means, Fieller's interval (values that are not positive)",
            Self::DriftOnLogs => {
                "ratio of geometric means beside a straight drift in time, least squares on logarithms"
            }
            Self::SeriesOnLogs => {
                "ratio of geometric means of two autocorrelated series, first-order autoregression on logarithms"
            }
        }
    }

    /// Where it is published.
    #[must_use]
    pub fn source(self) -> &'static str {
        match self {
            Self::WelchOnLogs => "Welch, Biometrika 34 (1947) 28",
            Self::YuenOnLogs => "Yuen, Biometrika 61 (1974) 165",
            Self::Fieller => "Fieller, J. R. Stat. Soc. B 16 (1954) 175",
            Self::DriftOnLogs => "Cox, Biometrika 38 (1951) 312; Draper & Smith, Applied Regression Analysis",
            Self::SeriesOnLogs => {
                "Cheang & Reinsel, J. Am. Stat. Assoc. 95 (2000) 1173; Berger & Yang, Econometric Theory 10 (1994) 461"
            }
        }
    }
}

/// What the tests of a ratio are made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Basis {
    /// `(difference − ln r)/se` is Student's t at `df` when `r` is the true ratio.
    Log {
        /// Difference of the means of logarithms, B less A.
        difference: f64,
        /// Its standard error.
        se: f64,
        /// Degrees of freedom.
        df: f64,
    },
    /// `(b − r·a)/√(se_b² + r²·se_a²)` is about Student's t at `df` when `r` is the true ratio (Fieller).
    Linear {
        /// Mean of A, above zero.
        a: f64,
        /// Its standard error.
        se_a: f64,
        /// Mean of B.
        b: f64,
        /// Its standard error.
        se_b: f64,
        /// Degrees of freedom after Satterthwaite, at the estimated ratio.
        df: f64,
    },
}

impl Basis {
    /// The t statistic against a true ratio `r`, and its degrees of freedom; `None` without spread.
    fn against(&self, r: f64) -> Option<(f64, f64)> {
        let (off, se, df) = match *self {
            Self::Log { difference, se, df } => (difference - r.ln(), se, df),
            Self::Linear { a, se_a, b, se_b, df } => (b - r * a, se_b.hypot(r * se_a), df),
        };
        (se > 0.0).then(|| (off / se, df)).filter(|(t, _)| !t.is_nan())
    }

    fn interval(&self, level: f64) -> Option<Interval> {
        match *self {
            Self::Log { difference, se, df } => Some(Interval::t(difference, se, df, level).exp()),
            Self::Linear { a, se_a, b, se_b, df } => linear::interval(a, se_a, b, se_b, df, level),
        }
    }
}

/// The result of another method, to be read beside the chosen one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beside {
    /// Which method.
    pub method: Method,
    /// Its estimate of B over A.
    pub estimate: f64,
    /// Its interval.
    pub interval: Interval,
}

/// Estimate of the ratio of B's typical value to A's.
#[derive(Debug, Clone, PartialEq)]
pub struct RatioEstimate {
    /// B over A.
    pub estimate: f64,
    /// Confidence interval; a point if `no_spread`.
    pub interval: Interval,
    /// Two-sided p value of a true ratio of 1; `None` if `no_spread`.
    pub p: Option<f64>,
    /// How it was estimated.
    pub method: Method,
    /// Replicates of side A.
    pub n_a: usize,
    /// Replicates of side B.
    pub n_b: usize,
    /// Standard deviation of the logarithms of A (as the method estimates it); `None` for Fieller's method.
    pub log_sd_a: Option<f64>,
    /// The same of B.
    pub log_sd_b: Option<f64>,
    /// What the tests are made of.
    pub basis: Basis,
    /// All values of each side are the same: what was measured is finer than what was reported, and the interval, a point,
    /// says nothing about the truth.
    pub no_spread: bool,
    /// The other method's answer (robust beside classical, or classical beside robust), where it has one.
    pub beside: Option<Beside>,
    /// Values far from the others. None was left out of the classical method; the robust one bounds their influence.
    pub outliers: Vec<Outlier>,
}

impl RatioEstimate {
    pub(crate) fn of(basis: Basis, method: Method, estimate: f64, level: f64) -> Result<Self, Refused> {
        let interval = basis.interval(level);
        let p = basis.against(1.0).map(|(t, df)| t_two_sided(t, df));
        let interval = interval.filter(|i| estimate.is_finite() && i.low.is_finite() && !i.high.is_nan());
        let (log_sd_a, log_sd_b, no_spread) = (None, None, p.is_none());
        let (beside, outliers) = (None, Vec::new());
        let interval = interval.ok_or(Refused::OutOfRange)?;
        Ok(Self {
            estimate,
            interval,
            p,
            method,
            n_a: 0,
            n_b: 0,
            log_sd_a,
            log_sd_b,
            basis,
            no_spread,
            beside,
            outliers,
        })
    }

    /// Standard error of the logarithm of the ratio; after Fieller's method the first-order one.
    #[must_use]
    pub fn log_se(&self) -> f64 {
        match self.basis {
            Basis::Log { se, .. } => se,
            Basis::Linear { a, se_a, b, se_b, .. } => (se_a / a).hypot(se_b / b),
        }
    }

    /// Degrees of freedom of the t statistic.
    #[must_use]
    pub fn df(&self) -> f64 {
        match self.basis {
            Basis::Log { df, .. } | Basis::Linear { df, .. } => df,
        }
    }

    /// The interval at another level; `None` where the level is not in (0, 1), or Fieller's method has no bounded interval at it.
    #[must_use]
    pub fn interval_at(&self, level: f64) -> Option<Interval> {
        fraction("level", level).ok().and_then(|l| self.basis.interval(l))
    }

    /// One-sided p value of "the true ratio is at most `ratio`": small where it is shown to be above.
    #[must_use]
    pub fn p_above(&self, ratio: f64) -> Option<f64> {
        self.basis.against(ratio).map(|(t, df)| t_sf(t, df))
    }

    /// One-sided p value of "the true ratio is at least `ratio`": small where it is shown to be below.
    #[must_use]
    pub fn p_below(&self, ratio: f64) -> Option<f64> {
        self.basis.against(ratio).map(|(t, df)| t_sf(-t, df))
    }
}

/// Ratio of B's typical value to A's, from independent replicates.
///
/// The rule: on logarithms, Welch's t test, unless both sides have five values or more and some value is an extreme outlier
/// ([`crate::outliers::EXTREME`]); then Yuen's t test with 20 % trimmed from each end, whose coverage outliers do not spoil. The other
/// one's answer is given beside it. On logarithms because benchmark noise multiplies, and because two skewed sides of the same
/// shape differ by a shift there. Data with zeros or negative values: Fieller's interval of the ratio of means.
/// `examples/coverage.rs` tabulates how often the interval covers the truth.
///
/// # Errors
/// Fewer than two values on a side (one run says nothing about the next), values that are not finite, a level outside
/// (0, 1), or a baseline that cannot be distinguished from zero.
pub fn ratio(a: &[f64], b: &[f64], level: f64) -> Result<RatioEstimate, Refused> {
    fraction("level", level)?;
    finite(Side::A, a, 2)?;
    finite(Side::B, b, 2)?;
    if a.iter().chain(b).any(|v| *v <= 0.0) {
        return linear::fieller(a, b, level);
    }
    // Sorted, so that the order of the replicates cannot matter, not even in the last digit.
    let (log_a, log_b) =
        (crate::describe::sorted(&logs(Side::A, a, 2)?), crate::describe::sorted(&logs(Side::B, b, 2)?));
    let outliers = two_sided_outliers(a, b);
    let extreme = outliers.iter().any(|o| o.distance.abs() > EXTREME);
    let plain = on_logs(&LogSide::plain(&log_a), &LogSide::plain(&log_b), Method::WelchOnLogs, level)?;
    let trimmed = LogSide::trimmed(&log_a)
        .zip(LogSide::trimmed(&log_b))
        .and_then(|(a, b)| on_logs(&a, &b, Method::YuenOnLogs, level).ok())
        .filter(|t| !t.no_spread);
    let (mut chosen, other) = match trimmed {
        Some(robust) if extreme => (robust, Some(plain)),
        robust => (plain, robust),
    };
    chosen.beside = other.map(|o| Beside { method: o.method, estimate: o.estimate, interval: o.interval });
    (chosen.n_a, chosen.n_b, chosen.outliers) = (a.len(), b.len(), outliers);
    Ok(chosen)
}

fn on_logs(a: &LogSide, b: &LogSide, method: Method, level: f64) -> Result<RatioEstimate, Refused> {
    let (se, df) = satterthwaite((a.se, a.df), (b.se, b.df));
    let difference = b.centre - a.centre;
    let mut out = RatioEstimate::of(Basis::Log { difference, se, df }, method, difference.exp(), level)?;
    (out.log_sd_a, out.log_sd_b) = (Some(a.sd), Some(b.sd));
    Ok(out)
}
