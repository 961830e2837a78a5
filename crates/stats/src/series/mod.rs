//! Series: values in the order of time, each of which may resemble the one before.

mod ar1;
mod autocorrelation;
mod drift;
mod mean;
mod transient;

pub use autocorrelation::{autocorrelation, effective_sample_size};
pub use drift::{Drift, drift};
pub use transient::{Transient, TransientMethod, transient};

pub(crate) use mean::{SteadyMean, steady_mean};
