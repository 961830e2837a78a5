//! Intervals by resampling: where no formula fits, and as a check on the formulas.

mod hierarchical;
mod iid;
mod interval;

pub use hierarchical::hierarchical_bootstrap;
pub use iid::bootstrap_ratio;

use crate::interval::Interval;
use crate::refused::Refused;

/// A ratio by resampling.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BootstrapRatio {
    /// B over A.
    pub estimate: f64,
    /// Studentised interval (Hall, Annals of Statistics 16, 1988) on logarithms: the one to use.
    pub interval: Interval,
    /// The same by the bias-corrected accelerated method (Efron, J. Am. Stat. Assoc. 82, 1987), where that is defined; narrower, and
    /// too narrow below some 20 values.
    pub bca: Option<Interval>,
    /// Plain percentiles of the resampled ratios.
    pub percentile: Interval,
    /// Standard deviation of the logarithm of the resampled ratios.
    pub log_se: f64,
    /// Resamples drawn.
    pub resamples: u32,
    /// All values of each side are the same: the intervals are points and say nothing.
    pub no_spread: bool,
}

/// Fewest and most resamples.
fn count(resamples: u32) -> Result<usize, Refused> {
    match resamples {
        100..=10_000_000 => Ok(resamples as usize),
        _ => {
            let permitted = "100 to 10,000,000";
            Err(Refused::Argument { name: "resamples", value: f64::from(resamples), permitted })
        }
    }
}
