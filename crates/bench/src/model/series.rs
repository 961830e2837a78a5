//! Values of one metric.

use super::Points;
use super::metric::Metric;
use smol_str::SmolStr;

/// Values of one metric under one set of labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What is measured.
    pub metric: Metric,
    /// What else tells this series from another: place, direction, stream, rank.
    pub labels: Vec<Label>,
    /// In the order of the output.
    pub points: Points,
}

impl Series {
    /// A label's value.
    #[must_use]
    pub fn label(&self, key: &str) -> Option<&str> {
        self.labels.iter().find(|l| l.key == key).map(|l| l.value.as_str())
    }

    /// Labels that tell it from other measurements: all but those of members.
    pub fn telling(&self) -> impl Iterator<Item = &Label> {
        self.labels.iter().filter(|l| !l.is_member())
    }

    /// Adds a valid value.
    pub fn push(&mut self, size: Option<u64>, at: Option<f64>, value: f64) {
        self.points.push(Point { size, at, value, valid: true });
    }
}

/// What tells series of a metric apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label {
    /// `place`, `direction`, `stream`, `rank`.
    pub key: SmolStr,
    /// `in-place`, `read`, `5`.
    pub value: SmolStr,
}

impl Label {
    /// A label.
    #[must_use]
    pub fn new(key: &'static str, value: impl Into<SmolStr>) -> Self {
        Label { key: SmolStr::new_static(key), value: value.into() }
    }

    /// Whether it names one of many that do the same: their values belong together and are averaged before runs are compared. All
    /// other labels tell different measurements apart.
    #[must_use]
    pub fn is_member(&self) -> bool {
        matches!(self.key.as_str(), "rank" | "stream" | "host" | "pid")
    }
}

/// One value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Size of the message or block, in bytes, in a sweep over sizes.
    pub size: Option<u64>,
    /// Place in time: seconds since the run began, or the step.
    pub at: Option<f64>,
    /// The value, finite, in the metric's unit.
    pub value: f64,
    /// Nothing speaks against it. What does is among the run's faults.
    pub valid: bool,
}
