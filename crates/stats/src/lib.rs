//! What repeated measurements show, and what they cannot.
//!
//! ```text
//! replicates of A and B ─► ratio ──────────┐
//! in a known order ──────► ratio_with_drift ├─► RatioEstimate ─► equivalent, superior, runs_needed ─► holm (many sizes)
//! two series ─► transient ► ratio_series ───┘
//! ```
//!
//! Every routine names its formula and where it is published, refuses what it cannot answer ([`Refused`]), and never panics on
//! any number. Intervals are checked on simulated data with known truth (`examples/coverage.rs`), values against SciPy's.
//!
//! ```
//! use linerate_stats::{equivalent, ratio};
//! # fn main() -> Result<(), linerate_stats::Refused> {
//! let before = [93.1, 92.8, 93.4, 93.0, 92.9];
//! let after = [93.2, 92.9, 93.1, 93.3, 92.7];
//! let estimate = ratio(&before, &after, 0.95)?;
//! assert!(estimate.interval.contains(1.0));
//! assert!(equivalent(&estimate, 0.02)?.shown(0.05));
//! # Ok(())
//! # }
//! ```

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
#![forbid(unsafe_code)]

pub mod bootstrap;
pub mod change;
pub mod checks;
mod describe;
pub mod dist;
mod equivalence;
pub mod fit;
mod interval;
mod multiple;
pub mod outliers;
mod power;
mod ratio;
mod refused;
pub mod rng;
pub mod series;

pub use bootstrap::{BootstrapRatio, bootstrap_ratio, hierarchical_bootstrap};
pub use change::{Change, change};
pub use checks::{Check, check_replicates, shapiro_wilk};
pub use describe::{MAD_TO_SD, Summary, describe, quantile, quantile_sorted};
pub use equivalence::{Tost, equivalent};
pub use fit::{Fit, Segment, alpha_beta};
pub use interval::Interval;
pub use multiple::holm;
pub use outliers::{Outlier, outliers, two_sided_outliers};
pub use power::{MOST_RUNS, Plan, minimal_detectable_effect, runs_needed, runs_per_side};
pub use ratio::{
    Basis, Beside, DriftRatio, Method, RatioEstimate, SeriesRatio, Times, ratio, ratio_series, ratio_with_drift,
};
pub use refused::{Refused, Side};
pub use series::{Drift, Transient, autocorrelation, drift, effective_sample_size, transient};
