//! Units as types. Half of the errors in field notes are unit errors.

use serde::Serialize;
use std::fmt;

/// Gigabits per second, 10⁹ bit/s, one direction.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
pub struct Gbps(pub f64);

/// Gigabytes per second, 10⁹ B/s, one direction.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize)]
pub struct GBps(pub f64);

/// Mebibytes per second, 2²⁰ B/s, one direction. perftest prints it as `MiB/sec`, older releases as `MB/sec`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
pub struct MiBps(pub f64);

/// Messages, 10⁶ per second.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
pub struct Mpps(pub f64);

/// A length of time, 10⁻⁶ s.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize)]
pub struct Microseconds(pub f64);

/// A size in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
pub struct Bytes(pub u64);

/// 2³⁰ bytes.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
pub struct GiB(pub f64);

/// A rate: messages, operations, packets per second.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
pub struct PerSecond(pub f64);

/// A hundredth.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize)]
pub struct Percent(pub f64);

impl MiBps {
    /// Bytes in a mebibyte.
    const MIB: f64 = 1_048_576.0;
}

impl From<MiBps> for Gbps {
    /// × 2²⁰ × 8 ÷ 10⁹, that is × 0.008388608.
    fn from(v: MiBps) -> Self {
        Gbps(v.0 * MiBps::MIB * 8.0 / 1e9)
    }
}

impl From<MiBps> for GBps {
    fn from(v: MiBps) -> Self {
        GBps(v.0 * MiBps::MIB / 1e9)
    }
}

impl From<Gbps> for MiBps {
    fn from(v: Gbps) -> Self {
        MiBps(v.0 * 1e9 / 8.0 / MiBps::MIB)
    }
}

impl MiBps {
    /// From bytes per second.
    pub fn from_bytes_per_second(v: f64) -> Self {
        MiBps(v / Self::MIB)
    }
}

impl Gbps {
    /// From bits per second.
    pub fn from_bits_per_second(v: f64) -> Self {
        Gbps(v / 1e9)
    }
}

impl Microseconds {
    /// From a value in seconds.
    pub fn from_seconds(s: f64) -> Self {
        Microseconds(s * 1e6)
    }

    /// From a value in milliseconds.
    pub fn from_milliseconds(ms: f64) -> Self {
        Microseconds(ms * 1000.0)
    }
}

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

/// Writes a unit as its number with so many decimals, and its name.
macro_rules! displayed {
    ($($unit:ty: $form:literal),* $(,)?) => {
        $(impl fmt::Display for $unit {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, $form, self.0)
            }
        })*
    };
}

displayed! {
    GBps: "{:.1} GB/s",
    MiBps: "{:.1} MiB/s",
    Mpps: "{:.3} million messages/s",
    Microseconds: "{:.2} µs",
    GiB: "{:.2} GiB",
    PerSecond: "{:.1} /s",
    Percent: "{:.1} %",
}

impl fmt::Display for Bytes {
    /// With a binary prefix where it loses nothing: `8 GiB`, `1000 B`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const PREFIXES: [&str; 6] = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];
        let (mut value, mut prefix) = (self.0, PREFIXES.iter().peekable());
        let mut name = prefix.next().unwrap_or(&"");
        while value >= 1024 && value % 1024 == 0 {
            let Some(next) = prefix.next() else { break };
            (value, name) = (value / 1024, next);
        }
        write!(f, "{value} {name}B")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_perftest_calls_mb_is_mebibytes() {
        // A 40G link at 95.5 %, not the 36.4 Gb/s that 10⁶ would give.
        let gbps = Gbps::from(MiBps(4554.47));
        assert_eq!(gbps.to_string(), "38.2 Gb/s");
        assert!((gbps.0 - 4554.47 * 8.388608e-3).abs() < 1e-9);
        assert!((MiBps::from(gbps).0 - 4554.47).abs() < 1e-9);
        assert!((GBps::from(MiBps(1.0)).0 - 1.048576e-3).abs() < 1e-15);
    }

    #[test]
    fn sizes_lose_nothing() {
        for (bytes, text) in [(0, "0 B"), (1000, "1000 B"), (1024, "1 KiB"), (8 << 30, "8 GiB"), (3 << 20, "3 MiB")] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
        assert_eq!(Bytes(u64::MAX).to_string(), "18446744073709551615 B");
        assert_eq!(Bytes(1 << 63).to_string(), "8192 PiB");
        assert_eq!(Microseconds::from_milliseconds(0.05).to_string(), "50.00 µs");
    }
}
