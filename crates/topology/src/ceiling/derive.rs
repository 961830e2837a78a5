//! A ceiling with the arithmetic behind it: steps, ranges, the element that limits and the one behind it.

use super::words::{self, Name, Words};
use std::fmt;

/// A value between two bounds: equal where it is known, apart where a constant is an estimate or an input is missing.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Range {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl Range {
    /// A known value.
    #[must_use]
    pub fn exact(v: f64) -> Self {
        Range { low: v, high: v }
    }

    /// From the lesser to the greater.
    #[must_use]
    pub fn new(a: f64, b: f64) -> Self {
        Range { low: a.min(b), high: a.max(b) }
    }

    /// Both ends changed by a function that rises.
    #[must_use]
    pub fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Range::new(f(self.low), f(self.high))
    }

    /// The product of two ranges of positive values.
    #[must_use]
    pub fn times(self, other: Range) -> Self {
        Range { low: self.low * other.low, high: self.high * other.high }
    }

    /// The lesser of two, end by end.
    #[must_use]
    pub fn min(self, other: Range) -> Self {
        Range { low: self.low.min(other.low), high: self.high.min(other.high) }
    }

    /// The smallest range that holds all.
    #[must_use]
    pub(crate) fn hull(all: impl IntoIterator<Item = Range>) -> Option<Range> {
        all.into_iter().reduce(|a, b| Range { low: a.low.min(b.low), high: a.high.max(b.high) })
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = (number(self.low), number(self.high));
        if low == high { f.write_str(&low) } else { write!(f, "{low} to {high}") }
    }
}

/// Three digits or more: 38.2, 392, 1568, 0.98.
fn number(v: f64) -> String {
    let digits = match v.abs() {
        100.0.. => 0,
        10.0..100.0 => 1,
        1.0..10.0 => 2,
        _ => 4,
    };
    let s = format!("{v:.digits$}");
    if s.contains('.') { s.trim_end_matches('0').trim_end_matches('.').to_owned() } else { s }
}

/// What a value counts. Links are shown in bits, buses and collectives in bytes; neither is ever the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub enum Unit {
    /// 10⁹ bits per second, one direction.
    #[serde(rename = "Gb/s")]
    Gigabits,
    /// 10⁹ bytes per second, one direction.
    #[serde(rename = "GB/s")]
    Gigabytes,
    /// Bytes.
    #[serde(rename = "B")]
    Bytes,
    /// A share or a factor.
    #[serde(rename = "")]
    Ratio,
}

impl Unit {
    /// As it is written behind a number; empty for a factor.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gigabits => "Gb/s",
            Self::Gigabytes => "GB/s",
            Self::Bytes => "B",
            Self::Ratio => "",
        }
    }
}

/// How well a value is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Quality {
    /// By a standard, or by arithmetic on known values.
    Exact,
    /// Somebody measured it.
    Measured,
    /// A model's constant, or experience.
    Estimate,
    /// The input does not show it: the range covers what is possible.
    Unseen,
}

impl Quality {
    /// As it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Measured => "measured",
            Self::Estimate => "estimate",
            Self::Unseen => "not seen",
        }
    }
}

/// A step of the arithmetic.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Step {
    /// What is computed.
    pub what: Words,
    /// From what, with the numbers in it.
    pub formula: Words,
    /// The outcome.
    pub value: Range,
    /// Its unit.
    pub unit: Unit,
    /// Who says so: a standard, a document, a measurement.
    pub source: &'static str,
    /// How well it is known.
    pub quality: Quality,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = self.unit.name();
        let gap = if unit.is_empty() { "" } else { " " };
        write!(f, "{}: {} = {}{gap}{unit}", self.what, self.formula, self.value)?;
        write!(f, " [{}; {}]", self.quality.name(), self.source)
    }
}

/// What kind of thing limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ElementKind {
    /// A network port.
    Port,
    /// A device's PCIe link.
    Pcie,
    /// A PCIe switch's link to what is above it.
    Uplink,
    /// A CPU between two devices.
    HostBridge,
    /// The interconnect between CPUs.
    Smp,
    /// A GPU's NVLinks.
    NvLink,
    /// Chip-to-chip, between CPU and GPU.
    C2c,
}

/// What of a node something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// The PCIe link above a function, by its bus id.
    Function(Name),
    /// The port of a NIC, by the NIC's name.
    Nic(Name),
    /// NVLinks.
    NvLink,
    /// Anything else, or several things of which none stands for all.
    Other,
}

/// Something that can limit, and what it allows.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Element {
    /// In the field's words.
    #[serde(serialize_with = "words::name")]
    pub name: Name,
    /// Its kind.
    pub kind: ElementKind,
    /// What of the node it is; of several alike the first.
    #[serde(skip)]
    pub part: Part,
    /// What the result would be if nothing else limited, in the derivation's unit.
    pub limit: Range,
}

impl Element {
    /// What a drawing can mark: a bus id, the name of a NIC, `NVLink`; else the name.
    #[must_use]
    pub fn mark(&self) -> &str {
        match &self.part {
            Part::Function(name) | Part::Nic(name) => name,
            Part::NvLink => "NVLink",
            Part::Other => &self.name,
        }
    }
}

/// A ceiling and how it comes about.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Derivation {
    /// No more than this.
    pub result: Range,
    /// Its unit: `Gigabits` or `Gigabytes`.
    pub unit: Unit,
    /// The arithmetic, in order.
    pub steps: Vec<Step>,
    /// What limits.
    pub limiting: Element,
    /// What would, were that out of the way.
    pub next: Option<Element>,
    /// Whether `limiting` limits whatever the estimates turn out to be.
    pub certain: bool,
}

impl Derivation {
    /// The lowest of several elements, and the one behind it. `None` without elements.
    ///
    /// The order is by lower bound: what may limit first comes first.
    #[must_use]
    pub fn of(unit: Unit, mut elements: Vec<Element>, steps: Vec<Step>) -> Option<Derivation> {
        elements.sort_by(|a, b| {
            a.limit.low.total_cmp(&b.limit.low).then(a.limit.high.total_cmp(&b.limit.high)).then(a.name.cmp(&b.name))
        });
        let result = elements.iter().map(|e| e.limit).reduce(Range::min)?;
        let mut rest = elements.into_iter();
        let limiting = rest.next()?;
        let next = rest.find(|e| e.name != limiting.name);
        let certain = next.as_ref().is_none_or(|n| limiting.limit.high <= n.limit.low);
        Some(Derivation { result, unit, steps, limiting, next, certain })
    }

    /// The result in GB/s, whatever its unit.
    #[must_use]
    pub fn gigabytes(&self) -> Range {
        if self.unit == Unit::Gigabits { self.result.map(|v| v / 8.0) } else { self.result }
    }

    /// Result and limits as one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let unit = self.unit.name();
        let mut s = format!("{} {unit} at most, limited by {}", self.result, self.limiting.name);
        match &self.next {
            Some(n) if self.certain => {
                s.push_str(&format!("; behind it: {} at {} {unit}", n.name, n.limit));
            }
            Some(n) => {
                let (l, n_) = (self.limiting.limit, n.limit);
                s.push_str(&format!(" ({l} {unit}) or by {} ({n_} {unit}): their ranges overlap", n.name));
            }
            None => s.push_str("; no other limit known"),
        }
        s
    }
}

impl fmt::Display for Derivation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence())?;
        self.steps.iter().try_for_each(|s| write!(f, "\n  {s}"))
    }
}
