//! The mean of a series whose values resemble each other.

use super::ar1::{Coefficient, Posterior};
use crate::describe::moments;
use crate::dist::{normal_quantile, t_quantile};
use crate::refused::{Refused, Side, finite};
use std::sync::OnceLock;

/// Fewest values of a series.
const FEWEST: usize = 5;
/// Below this a strong correlation from step to step cannot be distinguished from a weak one.
const LEARNT_FROM: usize = 20;

/// The mean of a stationary series with autocorrelation, and what its tests need.
pub(crate) struct SteadyMean {
    pub(crate) mean: f64,
    /// Its standard error, and
    pub(crate) se: f64,
    /// degrees of freedom: Student's t with both has the 75 % and 95 % intervals of the posterior.
    pub(crate) df: f64,
    pub(crate) phi: f64,
    /// See [`crate::SeriesRatio::correlation_unknown`].
    pub(crate) correlation_unknown: bool,
}

/// The mean for few values, too: first-order autoregressive noise with its correlation integrated out (Cheang & Reinsel, J. Am. Stat.
/// Assoc. 95, 2000, for the restricted likelihood; the prior is in the source of this crate and was chosen for the coverage of the
/// interval). Refused: fewer than 5 values, or a series that wanders so slowly that it has no steady mean.
pub(crate) fn steady_mean(side: Side, x: &[f64]) -> Result<SteadyMean, Refused> {
    finite(side, x, FEWEST)?;
    let m = moments(x);
    let few = x.len() < LEARNT_FROM;
    let none = SteadyMean { mean: m.mean, se: 0.0, df: 0.0, phi: 0.0, correlation_unknown: few };
    if m.sd <= 1e-13 * m.mean.abs() {
        return Ok(none);
    }
    let y: Vec<f64> = x.iter().map(|v| v / m.sd - m.mean / m.sd).collect();
    if y.iter().any(|v| !v.is_finite()) {
        return Err(Refused::OutOfRange);
    }
    let Some(posterior) = Posterior::of(&y, Coefficient::Level) else { return Ok(none) };
    let near_unit_root = posterior.phi_above(0.9);
    if near_unit_root > 0.5 {
        return Err(Refused::NoSteadyMean { side, near_unit_root });
    }
    let (se, df) = as_t(&posterior);
    let mean = m.mean + m.sd * posterior.mean();
    Ok(SteadyMean {
        mean,
        se: se * m.sd,
        df,
        phi: posterior.mean_phi(),
        correlation_unknown: few || posterior.phi_above(0.85) >= 0.3,
    })
}

/// Scale and degrees of freedom of the t distribution with the posterior's half widths at 75 % and 95 %.
fn as_t(p: &Posterior) -> (f64, f64) {
    let half = |tail: f64| 0.5 * (p.upper(tail) - p.upper(1.0 - tail));
    let (inner, outer) = (half(0.125), half(0.025));
    let df = df_of(outer / inner);
    (outer / t_quantile(0.975, df), df)
}

/// Degrees of freedom from the ratio of half widths at 95 % and 75 %, which falls as they grow; by interpolation in a table.
fn df_of(ratio: f64) -> f64 {
    /// ln(df) from 0.3 to 10,000, and ln of the ratio less what it is for the normal distribution.
    static TABLE: OnceLock<Vec<(f64, f64)>> = OnceLock::new();
    const STEPS: u32 = 400;
    let (low, high) = (0.3f64.ln(), 1e4f64.ln());
    let excess = |ratio: f64| (ratio / (normal_quantile(0.975) / normal_quantile(0.875))).ln();
    let table = TABLE.get_or_init(|| {
        let at = |i: u32| low + (high - low) * f64::from(i) / f64::from(STEPS);
        let row = |ln_df: f64| {
            let df = ln_df.exp();
            (ln_df, excess(t_quantile(0.975, df) / t_quantile(0.875, df)))
        };
        (0..=STEPS).map(|i| row(at(i))).collect()
    });
    let want = excess(ratio);
    let after = table.partition_point(|(_, e)| *e > want);
    match (after.checked_sub(1).and_then(|i| table.get(i)), table.get(after)) {
        (Some((x0, e0)), Some((x1, e1))) => (x0 + (x1 - x0) * (e0 - want) / (e0 - e1)).exp(),
        (None, _) => low.exp(),
        (_, None) => high.exp(),
    }
}
