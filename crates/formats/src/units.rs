//! Units as types. Half of the errors in field notes are unit errors.

use serde::Serialize;
use std::fmt;

/// Gigabits per second, 10⁹ bit/s, one direction.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
pub struct Gbps(pub f64);

/// Gigabytes per second, 10⁹ B/s, one direction.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
pub struct GBps(pub f64);

impl From<GBps> for Gbps {
    fn from(v: GBps) -> Self {
        Gbps(v.0 * 8.0)
    }
}

impl From<Gbps> for GBps {
    fn from(v: Gbps) -> Self {
        GBps(v.0 / 8.0)
    }
}

impl fmt::Display for Gbps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let v = self.0;
        if (v - v.round()).abs() < 0.05 { write!(f, "{v:.0} Gb/s") } else { write!(f, "{v:.1} Gb/s") }
    }
}

impl fmt::Display for GBps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} GB/s", self.0)
    }
}
