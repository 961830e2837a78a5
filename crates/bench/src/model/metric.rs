//! What a number counts, in which unit, and which direction is good.

use serde::{Serialize, Serializer};
use smol_str::SmolStr;
use std::fmt;

/// What a series measures.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// In the tool's or the field's own word: `busbw`, `bandwidth`, `latency`, `tps`, `loss`.
    pub name: SmolStr,
    /// Unit of its values.
    pub unit: Unit,
    /// What of the many measurements behind a value it is.
    pub stat: Stat,
    /// Which direction is good.
    pub better: Better,
}

impl Metric {
    /// A metric whose values are single measurements, or the tool's own result.
    #[must_use]
    pub fn new(name: &'static str, unit: Unit, better: Better) -> Self {
        Metric { name: SmolStr::new_static(name), unit, stat: Stat::Value, better }
    }

    /// The same as another statistic.
    #[must_use]
    pub fn stat(mut self, stat: Stat) -> Self {
        self.stat = stat;
        self
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.stat {
            Stat::Value | Stat::Mean => write!(f, "{}", self.name),
            stat => write!(f, "{} {stat}", self.name),
        }
    }
}

/// Which direction is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Not known, or neither.
    Neither,
}

impl Better {
    /// As it is stored.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Better::Higher => "higher",
            Better::Lower => "lower",
            Better::Neither => "neither",
        }
    }

    /// That of a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Better> {
        [Better::Higher, Better::Lower, Better::Neither].into_iter().find(|b| b.name() == name)
    }
}

/// What of many measurements a value is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stat {
    /// A measurement, or the one number that the tool gives.
    Value,
    /// Their mean.
    Mean,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The middle one.
    Median,
    /// So many per cent are smaller: 99.9.
    Percentile(f64),
    /// Their standard deviation.
    Stdev,
    /// The best stretch.
    Peak,
    /// How many.
    Count,
}

impl Stat {
    /// All but percentiles, with their names.
    const NAMES: [(Stat, &'static str); 8] = [
        (Stat::Value, "value"),
        (Stat::Mean, "mean"),
        (Stat::Min, "min"),
        (Stat::Max, "max"),
        (Stat::Median, "median"),
        (Stat::Stdev, "stdev"),
        (Stat::Peak, "peak"),
        (Stat::Count, "count"),
    ];

    /// Whether two runs can be compared by it. Spreads and counts describe a measurement; they are none.
    #[must_use]
    pub fn is_comparable(self) -> bool {
        !matches!(self, Stat::Stdev | Stat::Count)
    }

    /// The statistic of a name, as [`Stat`] is written.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Stat> {
        if let Some((stat, _)) = Stat::NAMES.into_iter().find(|(_, n)| *n == name) {
            return Some(stat);
        }
        name.strip_prefix('p')?.parse().ok().filter(|p| (0.0..=100.0).contains(p)).map(Stat::Percentile)
    }
}

impl fmt::Display for Stat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Stat::Percentile(p) = self {
            return write!(f, "p{p}");
        }
        let named = Stat::NAMES.into_iter().find(|(stat, _)| stat == self);
        f.write_str(named.map_or("", |(_, name)| name))
    }
}

impl Serialize for Stat {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

/// Units. Values are brought into one unit for each kind of thing when they are imported.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Unit {
    /// 10⁹ bits per second: networks.
    Gbps,
    /// 10⁹ bytes per second: NCCL, GPUs.
    GBps,
    /// 2²⁰ bytes per second: storage.
    MiBps,
    /// 10⁻⁶ s.
    Microseconds,
    /// Seconds.
    Seconds,
    /// Operations of storage per second.
    Iops,
    /// Messages or packets per second.
    MessagesPerSecond,
    /// Tokens per second.
    TokensPerSecond,
    /// 10¹² floating-point operations per second.
    Tflops,
    /// Hundredths.
    Percent,
    /// 2³⁰ bytes.
    GiB,
    /// A number of things, or a pure number.
    One,
    /// As the input has it.
    Other(SmolStr),
}

/// What units can be converted into each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Dimension {
    /// Bytes per second.
    Bandwidth,
    /// Seconds.
    Time,
    /// By itself.
    Only(Unit),
}

impl Unit {
    /// As it is written in JSON and exports: no character outside ASCII.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Unit::Gbps => "Gb/s",
            Unit::GBps => "GB/s",
            Unit::MiBps => "MiB/s",
            Unit::Microseconds => "us",
            Unit::Seconds => "s",
            Unit::Iops => "IO/s",
            Unit::MessagesPerSecond => "messages/s",
            Unit::TokensPerSecond => "tokens/s",
            Unit::Tflops => "TFLOP/s",
            Unit::Percent => "%",
            Unit::GiB => "GiB",
            Unit::One => "1",
            Unit::Other(name) => name,
        }
    }

    /// The unit of a name, as [`Unit::name`] has it; what is not known stays as it is.
    #[must_use]
    pub fn of_name(name: &str) -> Unit {
        const KNOWN: [Unit; 12] = [
            Unit::Gbps,
            Unit::GBps,
            Unit::MiBps,
            Unit::Microseconds,
            Unit::Seconds,
            Unit::Iops,
            Unit::MessagesPerSecond,
            Unit::TokensPerSecond,
            Unit::Tflops,
            Unit::Percent,
            Unit::GiB,
            Unit::One,
        ];
        KNOWN.into_iter().find(|u| u.name() == name).unwrap_or_else(|| Unit::Other(name.into()))
    }

    /// Its dimension and how many of the dimension's base (byte per second, second) it is.
    #[must_use]
    pub fn dimension(&self) -> (Dimension, f64) {
        match self {
            Unit::Gbps => (Dimension::Bandwidth, 1e9 / 8.0),
            Unit::GBps => (Dimension::Bandwidth, 1e9),
            Unit::MiBps => (Dimension::Bandwidth, 1_048_576.0),
            Unit::Microseconds => (Dimension::Time, 1e-6),
            Unit::Seconds => (Dimension::Time, 1.0),
            other => (Dimension::Only(other.clone()), 1.0),
        }
    }

    /// A value of this unit in another; `None` where they measure different things.
    #[must_use]
    pub fn convert(&self, value: f64, to: &Unit) -> Option<f64> {
        if self == to {
            return Some(value);
        }
        let ((from, a), (other, b)) = (self.dimension(), to.dimension());
        (from == other).then_some(value * a / b)
    }
}

/// For people: `µs`, and nothing for a pure number.
impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Unit::Microseconds => "µs",
            Unit::One => "",
            other => other.name(),
        })
    }
}

impl Serialize for Unit {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidths_convert_and_nothing_else_does() {
        // What perftest calls 4554.47 MB/sec.
        assert!((Unit::MiBps.convert(4554.47, &Unit::Gbps).unwrap_or(0.0) - 38.2057).abs() < 1e-3);
        assert_eq!(Unit::GBps.convert(49.0, &Unit::Gbps), Some(392.0));
        assert_eq!(Unit::Seconds.convert(0.5, &Unit::Microseconds), Some(500_000.0));
        assert_eq!(Unit::GBps.convert(1.0, &Unit::GiB), None);
        assert_eq!(Unit::Other("W".into()).convert(1.0, &Unit::Other("W".into())), Some(1.0));
    }

    #[test]
    fn names_lead_back() {
        for name in ["Gb/s", "GB/s", "MiB/s", "us", "tokens/s", "1", "furlongs"] {
            assert_eq!(Unit::of_name(name).name(), name);
        }
        for name in ["value", "mean", "p99.9", "p50", "stdev", "peak"] {
            assert_eq!(Stat::of_name(name).map(|s| s.to_string()).as_deref(), Some(name));
        }
        assert_eq!(Stat::of_name("p101"), None);
        assert_eq!(Stat::of_name("pinf"), None);
    }
}
