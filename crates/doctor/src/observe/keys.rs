//! What equal lines are grouped by.

use crate::place::Place;

/// A line about a pair of GPU and NIC, as far as equal ones are one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pair {
    /// Done or not.
    pub enabled: bool,
    /// Distance, in the release's scale.
    pub distance: i64,
    /// Limit.
    pub limit: i64,
    /// The limit itself is allowed.
    pub inclusive: bool,
}

impl Pair {
    /// Whether it is not done, and the distance says why.
    pub(crate) fn is_too_far(&self) -> bool {
        !self.enabled && self.distance > self.allowed()
    }

    /// The greatest distance that is allowed, in the release's scale.
    pub(crate) fn allowed(&self) -> i64 {
        if self.inclusive { self.limit } else { self.limit - 1 }
    }
}

/// Algorithm and protocol of messages.
#[derive(Debug, Clone)]
pub struct Tuning {
    /// Algorithm, name or number as printed.
    pub algorithm: String,
    /// Protocol.
    pub protocol: String,
    /// Lines.
    pub count: u64,
    /// Where first.
    pub first: Place,
}

/// Kinds of [`Observer::plugins`].
pub(crate) const PLUGIN_LOADED: u8 = 0;

pub(crate) const PLUGIN_MISSING: u8 = 1;

pub(crate) const PLUGIN_FAILED: u8 = 2;

/// A line of the OFI plugin.
pub(crate) const PLUGIN_OFI: u8 = 3;
