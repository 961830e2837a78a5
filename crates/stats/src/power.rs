//! What a comparison of a given size can show, and how many runs it would take.

use crate::dist::{gauss_legendre, normal_cdf, normal_quantile, t_quantile};
use crate::equivalence::margin;
use crate::interval::satterthwaite;
use crate::ratio::RatioEstimate;
use crate::refused::{Refused, fraction};
use statrs::function::gamma::ln_gamma;

/// No more runs per side than this are ever proposed.
pub const MOST_RUNS: u32 = 10_000;
/// Error rate of the tests that are planned.
const ALPHA: f64 = 0.05;
const NODES: usize = 48;

/// Runs per side and spread of a planned comparison on logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Standard deviation of the logarithms of A; for small spreads the coefficient of variation.
    pub sd_a: f64,
    /// Runs of A.
    pub n_a: u32,
    /// Standard deviation of the logarithms of B.
    pub sd_b: f64,
    /// Runs of B.
    pub n_b: u32,
}

impl Plan {
    fn error(&self) -> (f64, f64) {
        let (a, b) = (f64::from(self.n_a), f64::from(self.n_b));
        satterthwaite((self.sd_a / a.sqrt(), a - 1.0), (self.sd_b / b.sqrt(), b - 1.0))
    }

    /// Probability that the two-sided test at `alpha` shows a true log ratio: noncentral t at Satterthwaite's degrees of
    /// freedom (exact for equal n and spread).
    #[must_use]
    pub fn power(&self, log_ratio: f64, alpha: f64) -> f64 {
        let (se, df) = self.error();
        if se == 0.0 {
            return if log_ratio == 0.0 { 0.0 } else { 1.0 };
        }
        let (critical, shift) = (t_quantile(1.0 - 0.5 * alpha, df), log_ratio / se);
        over_scale(df, f64::INFINITY, |s| normal_cdf(shift - critical * s) + normal_cdf(-shift - critical * s))
    }

    /// Probability that two one-sided tests at `alpha` show equivalence within 1 ± `threshold` at a true log ratio (Phillips,
    /// J. Pharmacokinet. Biopharm. 18, 1990). 0 for a threshold that is not one.
    #[must_use]
    pub fn power_equivalent(&self, log_ratio: f64, threshold: f64, alpha: f64) -> f64 {
        let Ok((low, high)) = margin(threshold) else { return 0.0 };
        let (low, high) = (low.ln(), high.ln());
        let (se, df) = self.error();
        if se == 0.0 {
            return if low < log_ratio && log_ratio < high { 1.0 } else { 0.0 };
        }
        let critical = t_quantile(1.0 - alpha, df);
        let most = 0.5 * (high - low) / (se * critical);
        let inside = |s: f64| {
            let upper = (high - log_ratio) / se - critical * s;
            let lower = (low - log_ratio) / se + critical * s;
            (normal_cdf(upper) - normal_cdf(lower)).max(0.0)
        };
        over_scale(df, most, inside)
    }
}

/// Expectation of `f(s)` over s = √(χ²(df)/df), restricted to s < `most`.
fn over_scale(df: f64, most: f64, f: impl Fn(f64) -> f64) -> f64 {
    let ln_norm = 2.0f64.ln() + 0.5 * df * (0.5 * df).ln() - ln_gamma(0.5 * df);
    // s is near 1 with standard deviation 1/√(2·df); beyond ten of them nothing is left.
    let reach = 10.0 / (2.0 * df).sqrt();
    let (low, high) = ((1.0 - reach).max(0.0), (1.0 + reach).min(most));
    if high <= low {
        return 0.0;
    }
    let density = |s: f64| (ln_norm + (df - 1.0) * s.ln() - 0.5 * df * s * s).exp();
    // Two panels: the density and f bend most around 1.
    let middle = 0.5 * (low + high);
    let panels = [(low, middle), (middle, high)];
    let sum: f64 =
        panels.iter().flat_map(|(l, h)| gauss_legendre(NODES, *l, *h)).map(|(s, w)| w * density(s) * f(s)).sum();
    sum.clamp(0.0, 1.0)
}

/// The smallest true ratio above 1 that a comparison shows with probability `power` at error rate `alpha`. Its inverse is
/// the one below 1.
///
/// # Errors
/// Fewer than two runs on a side, a spread that is negative or not finite, α or power outside (0, 1).
pub fn minimal_detectable_effect(plan: Plan, alpha: f64, power: f64) -> Result<f64, Refused> {
    check(plan.sd_a, plan.sd_b)?;
    fraction("alpha", alpha)?;
    fraction("power", power)?;
    if plan.n_a.min(plan.n_b) < 2 {
        return Err(Refused::Argument { name: "n", value: f64::from(plan.n_a.min(plan.n_b)), permitted: "2 or more" });
    }
    let (se, df) = plan.error();
    if se == 0.0 || power <= alpha {
        return Ok(1.0);
    }
    let (mut low, mut high) = (0.0, se * (t_quantile(1.0 - 0.5 * alpha, df) + normal_quantile(power).max(0.0) + 1.0));
    while plan.power(high, alpha) < power {
        (low, high) = (high, 2.0 * high);
        if !high.is_finite() {
            return Err(Refused::OutOfRange);
        }
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if plan.power(middle, alpha) < power { low = middle } else { high = middle }
    }
    Some(high.exp()).filter(|r| r.is_finite()).ok_or(Refused::OutOfRange)
}

/// Runs per side with which better, worse or equivalent (within 1 ± `threshold`) would be shown with probability `power`, if the
/// true ratio and spreads were these; whichever takes fewer. `None` above [`MOST_RUNS`].
///
/// # Errors
/// A ratio or spread that is not a positive number, a threshold or power outside (0, 1).
pub fn runs_per_side(ratio: f64, sds: (f64, f64), threshold: f64, power: f64) -> Result<Option<u32>, Refused> {
    check(sds.0, sds.1)?;
    margin(threshold)?;
    fraction("power", power)?;
    if !(ratio > 0.0 && ratio.is_finite()) {
        return Err(Refused::Argument { name: "ratio", value: ratio, permitted: "a positive number" });
    }
    let plan = |n: u32| Plan { sd_a: sds.0, n_a: n, sd_b: sds.1, n_b: n };
    let d = ratio.ln();
    let enough = |n: u32| {
        let plan = plan(n);
        plan.power(d, ALPHA) >= power || plan.power_equivalent(d, threshold, ALPHA) >= power
    };
    if !enough(MOST_RUNS) {
        return Ok(None);
    }
    // Both powers grow with n, so their maximum does.
    let (mut low, mut high) = (1, MOST_RUNS);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if enough(middle) { high = middle } else { low = middle }
    }
    Ok(Some(high))
}

/// Further runs per side until better, worse or equivalent would be shown with probability `power`, if the truth were what is
/// estimated: [`runs_per_side`] less the runs of the smaller side, at least 1. `sds` are the standard deviations of
/// logarithms, by default those of the estimate. `None` above [`MOST_RUNS`], or where no spread was measured.
#[must_use]
pub fn runs_needed(estimate: &RatioEstimate, sds: Option<(f64, f64)>, threshold: f64, power: f64) -> Option<u32> {
    let sds = sds.or(estimate.log_sd_a.zip(estimate.log_sd_b))?;
    if sds.0 <= 0.0 && sds.1 <= 0.0 {
        return None;
    }
    let all = runs_per_side(estimate.estimate, sds, threshold, power).ok()??;
    let have = u32::try_from(estimate.n_a.min(estimate.n_b)).unwrap_or(u32::MAX);
    Some(all.saturating_sub(have).max(1))
}

fn check(sd_a: f64, sd_b: f64) -> Result<(), Refused> {
    match [sd_a, sd_b].into_iter().find(|s| !(*s >= 0.0 && s.is_finite())) {
        Some(value) => Err(Refused::Argument { name: "sd", value, permitted: "0 or a positive number" }),
        None => Ok(()),
    }
}
