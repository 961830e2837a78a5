//! Why a question is not answered.

use std::fmt;

/// Which sample a refusal is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The first, the baseline of a ratio.
    A,
    /// The second, the numerator of a ratio.
    B,
    /// There is only one.
    Only,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::A => "side A",
            Self::B => "side B",
            Self::Only => "the sample",
        })
    }
}

/// Why no result is given: the data or the arguments do not permit one.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Refused {
    /// Too few values for the method.
    TooFew {
        /// Of which sample.
        side: Side,
        /// How many there are.
        n: usize,
        /// How many the method needs.
        needs: usize,
    },
    /// A value is `NaN` or infinite.
    NotFinite {
        /// Of which sample.
        side: Side,
        /// Its index in that sample, from 0.
        index: usize,
        /// The value.
        value: f64,
    },
    /// A value is zero or negative where a logarithm is taken.
    NotPositive {
        /// Of which sample.
        side: Side,
        /// Its index in that sample, from 0.
        index: usize,
        /// The value.
        value: f64,
    },
    /// The mean of side A cannot be distinguished from zero (or is negative), so that no ratio to it is bounded.
    BaselineNearZero {
        /// Mean of side A.
        mean: f64,
        /// Its standard error.
        se: f64,
    },
    /// Values that belong together have different counts.
    Lengths {
        /// Of which sample.
        side: Side,
        /// Count of values.
        values: usize,
        /// Count of what belongs to them.
        others: usize,
    },
    /// Side and time cannot be distinguished: one side was measured before the other.
    OrderDecides,
    /// The series wanders so slowly that its length holds no information on its mean.
    NoSteadyMean {
        /// Of which sample.
        side: Side,
        /// Posterior probability that the correlation from step to step exceeds 0.9.
        near_unit_root: f64,
    },
    /// A level, threshold, power or count outside the range in which it has a meaning.
    Argument {
        /// What it is called.
        name: &'static str,
        /// What was given.
        value: f64,
        /// What is permitted.
        permitted: &'static str,
    },
    /// Numbers so large or small that the result is not a finite number.
    OutOfRange,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew { side, n, needs } => write!(f, "{side} has n = {n}, and at least {needs} are needed"),
            Self::NotFinite { side, index, value } => {
                write!(f, "value {index} of {side} (counted from 0) is {value}, not a finite number; leave it out, or find out why")
            }
            Self::NotPositive { side, index, value } => {
                write!(f, "value {index} of {side} (counted from 0) is {value}; the method takes logarithms, so values must be positive")
            }
            Self::BaselineNearZero { mean, se } => {
                write!(f, "the mean of side A, {mean} with standard error {se}, cannot be distinguished from zero or is negative: a ratio to it has no bounded interval")
            }
            Self::Lengths { side, values, others } => {
                write!(f, "{side} has {values} values and {others} times: one time for each value is needed")
            }
            Self::OrderDecides => f.write_str(
                "side and time cannot be separated: one side was measured before the other; interleave the runs (A B B A …)",
            ),
            Self::NoSteadyMean { side, near_unit_root } => write!(
                f,
                "{side} drifts too slowly for its length: with probability {near_unit_root:.2} the correlation from step to step exceeds 0.9, so its mean is not known; measure longer or repeat the run"
            ),
            Self::Argument { name, value, permitted } => write!(f, "{name} = {value}: {permitted} is permitted"),
            Self::OutOfRange => f.write_str("the values are so large or small that the result is not a finite number"),
        }
    }
}

impl std::error::Error for Refused {}

/// Refuses a sample with a value that is no finite number, or with fewer than `needs`.
pub(crate) fn finite(side: Side, x: &[f64], needs: usize) -> Result<(), Refused> {
    if let Some((index, value)) = x.iter().copied().enumerate().find(|(_, v)| !v.is_finite()) {
        return Err(Refused::NotFinite { side, index, value });
    }
    if x.len() < needs { Err(Refused::TooFew { side, n: x.len(), needs }) } else { Ok(()) }
}

/// Logarithms of a sample of positive numbers.
pub(crate) fn logs(side: Side, x: &[f64], needs: usize) -> Result<Vec<f64>, Refused> {
    finite(side, x, needs)?;
    match x.iter().copied().enumerate().find(|(_, v)| *v <= 0.0) {
        Some((index, value)) => Err(Refused::NotPositive { side, index, value }),
        None => Ok(x.iter().map(|v| v.ln()).collect()),
    }
}

/// Refuses a number that is not strictly between 0 and 1.
pub(crate) fn fraction(name: &'static str, value: f64) -> Result<f64, Refused> {
    if value > 0.0 && value < 1.0 {
        Ok(value)
    } else {
        Err(Refused::Argument { name, value, permitted: "a number above 0 and below 1" })
    }
}
