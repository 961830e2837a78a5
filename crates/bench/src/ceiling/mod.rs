//! What the links allow, beside what was measured.
//!
//! A ceiling is derived, never listed per product: from a node's topology, or from the links that the user names.

mod of;

pub use linerate_topology::ceiling::{Links, NotLinks};
pub use of::{Known, ceiling};

use crate::model::Unit;
use serde::Serialize;

/// The most that a metric can be, where that follows from links that are known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ceiling {
    /// At least this much would be possible: the lower end where the derivation is a range.
    pub low: f64,
    /// No more than this.
    pub high: f64,
    /// Unit of both.
    pub unit: Unit,
    /// What limits: `4 NICs of 400 Gb/s, ring`.
    pub by: String,
    /// How it was derived.
    pub derivation: Vec<String>,
}

/// Both sides beside a ceiling.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgainstCeiling {
    /// The ceiling.
    pub ceiling: Ceiling,
    /// Side A's share of it (of its upper end), 0.47 for 47 %.
    pub share_a: Option<f64>,
    /// Side B's share.
    pub share_b: Option<f64>,
    /// What that says: `93.1 of 196 GB/s: 47 %; …`.
    pub sentence: String,
}

impl Ceiling {
    /// A value's share of the ceiling's upper end. `None` where they measure different things.
    #[must_use]
    pub fn share(&self, value: f64, unit: &Unit) -> Option<f64> {
        let value = unit.convert(value, &self.unit)?;
        (self.high > 0.0).then_some(value / self.high)
    }
}
