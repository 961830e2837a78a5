//! What nvbandwidth prints: text since 0.1, and JSON (`-j`) since 0.5.
//!
//! Bandwidths are 10⁹ bytes per second, latencies nanoseconds; a cell is the median (or, with `-m`, the mean) of some samples. The
//! definition is the program's source (`output.cpp`, `json_output.cpp`, `inline_common.h`; before 0.5 `nvbandwidth.cpp`).
//!
//! Two things the output does not say of itself: up to 0.1 a pair that was not measured is printed as `0.00`; and in JSON the three
//! matrices of a bidirectional test stand in one, with the description and the sum of the last.

mod json;
mod reader;
mod run;

pub use reader::{Reader, parse};
pub use run::{Device, Failure, Format, Matrix, Nanoseconds, Run, Status, Test, Values};

#[cfg(test)]
mod tests;
