//! What a column of somebody's table measures: unit, statistic, and which direction is good, from its name and its unit.

use crate::model::{Better, Metric, Stat, Unit};
use linerate_formats::series::{Unit as Theirs, UnitText};
use smol_str::SmolStr;

/// A column's metric, and the factor that brings its values into the metric's unit.
pub(super) fn metric(name: &str, unit: Option<&UnitText>) -> (Metric, f64) {
    let (base, stat) = statistic(name);
    let (unit, factor) = match unit {
        None => guessed(base),
        Some(text) => match text.unit {
            Some(unit) => canonical(unit),
            None => (Unit::of_name(&text.text), 1.0),
        },
    };
    let better = direction(&base.to_ascii_lowercase(), &unit);
    let base = if base.is_empty() { "value" } else { base };
    (Metric { name: SmolStr::from(base), unit, stat, better }, factor)
}

/// `latency_p99`, `bandwidth mean`, `min`: the name before the statistic, and the statistic.
fn statistic(name: &str) -> (&str, Stat) {
    let parted = name.rsplit_once(['_', ' ', '.', '-', '/']);
    let (base, last) = parted.unwrap_or(("", name));
    match word(last) {
        Some(stat) => (base, stat),
        None => (name, Stat::Value),
    }
}

fn word(text: &str) -> Option<Stat> {
    let text = text.to_ascii_lowercase();
    Some(match text.as_str() {
        "mean" | "avg" | "average" => Stat::Mean,
        "min" | "minimum" => Stat::Min,
        "max" | "maximum" => Stat::Max,
        "median" | "typical" => Stat::Median,
        "stdev" | "stddev" | "std" | "sd" | "mdev" => Stat::Stdev,
        "n" | "count" | "samples" => Stat::Count,
        "peak" => Stat::Peak,
        p => Stat::of_name(p).filter(|s| matches!(s, Stat::Percentile(_)))?,
    })
}

/// Into the unit that is used for its kind of thing.
fn canonical(unit: Theirs) -> (Unit, f64) {
    const KIB: f64 = 1024.0;
    match unit {
        Theirs::BitPerSecond => (Unit::Gbps, 1e-9),
        Theirs::KbitPerSecond => (Unit::Gbps, 1e-6),
        Theirs::MbitPerSecond => (Unit::Gbps, 1e-3),
        Theirs::GbitPerSecond => (Unit::Gbps, 1.0),
        Theirs::BytePerSecond => (Unit::GBps, 1e-9),
        Theirs::KbytePerSecond => (Unit::GBps, 1e-6),
        Theirs::MbytePerSecond => (Unit::GBps, 1e-3),
        Theirs::GbytePerSecond => (Unit::GBps, 1.0),
        Theirs::TbytePerSecond => (Unit::GBps, 1e3),
        Theirs::KibibytePerSecond => (Unit::MiBps, 1.0 / KIB),
        Theirs::MebibytePerSecond => (Unit::MiBps, 1.0),
        Theirs::GibibytePerSecond => (Unit::MiBps, KIB),
        Theirs::Second => (Unit::Seconds, 1.0),
        Theirs::Millisecond => (Unit::Microseconds, 1e3),
        Theirs::Microsecond => (Unit::Microseconds, 1.0),
        Theirs::Nanosecond => (Unit::Microseconds, 1e-3),
        Theirs::Byte => (Unit::GiB, 1.0 / KIB.powi(3)),
        Theirs::Kilobyte => (Unit::GiB, 1e3 / KIB.powi(3)),
        Theirs::Megabyte => (Unit::GiB, 1e6 / KIB.powi(3)),
        Theirs::Gigabyte => (Unit::GiB, 1e9 / KIB.powi(3)),
        Theirs::Kibibyte => (Unit::GiB, 1.0 / KIB.powi(2)),
        Theirs::Mebibyte => (Unit::GiB, 1.0 / KIB),
        Theirs::Gibibyte => (Unit::GiB, 1.0),
        Theirs::Percent => (Unit::Percent, 1.0),
        Theirs::TokensPerSecond => (Unit::TokensPerSecond, 1.0),
        Theirs::OperationsPerSecond => (Unit::Iops, 1.0),
        Theirs::TeraflopPerSecond => (Unit::Tflops, 1.0),
        Theirs::MessagesPerMicrosecond => (Unit::MessagesPerSecond, 1e6),
        Theirs::Watt => (Unit::Other("W".into()), 1.0),
        Theirs::Celsius => (Unit::Other("C".into()), 1.0),
    }
}

/// Without a unit: NCCL's own columns have a known one, all others none.
fn guessed(name: &str) -> (Unit, f64) {
    match name.to_ascii_lowercase().as_str() {
        "busbw" | "algbw" => (Unit::GBps, 1.0),
        "tps" | "tokens_per_second" | "tokens_per_sec" => (Unit::TokensPerSecond, 1.0),
        "iops" => (Unit::Iops, 1.0),
        "mfu" => (Unit::Percent, 1.0),
        _ => (Unit::Other(SmolStr::new_static("?")), 1.0),
    }
}

pub(super) fn direction(name: &str, unit: &Unit) -> Better {
    const LESS: [&str; 14] = [
        "latency", "lat", "rtt", "time", "duration", "elapsed", "jitter", "retrans", "retry", "error", "lost", "drop",
        "delay", "wrong",
    ];
    const MORE: [&str; 11] =
        ["bandwidth", "busbw", "algbw", "bw", "throughput", "rate", "speed", "tps", "goodput", "score", "mfu"];
    // Whole words: `bw` is one of `rdma_bw`, `lat` none of `flat`.
    let has = |words: &[&str]| {
        name.split(|c: char| !c.is_ascii_alphanumeric())
            .any(|w| words.iter().any(|x| w == *x || x.len() > 4 && w.starts_with(x)))
    };
    match unit {
        Unit::Gbps
        | Unit::GBps
        | Unit::MiBps
        | Unit::Iops
        | Unit::MessagesPerSecond
        | Unit::TokensPerSecond
        | Unit::Tflops => Better::Higher,
        Unit::Microseconds | Unit::Seconds => Better::Lower,
        _ if has(&LESS) => Better::Lower,
        _ if has(&MORE) => Better::Higher,
        _ => Better::Neither,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_units_tell_what_is_measured() {
        let of = |name: &str, unit: Option<Theirs>| {
            let text = unit.map(|u| UnitText { text: "x".into(), unit: Some(u) });
            let (m, factor) = metric(name, text.as_ref());
            (m.to_string(), m.unit.name().to_owned(), m.better, factor)
        };
        assert_eq!(
            of("latency_p99", Some(Theirs::Nanosecond)),
            ("latency p99".into(), "us".into(), Better::Lower, 1e-3)
        );
        assert_eq!(
            of("bandwidth_mean", Some(Theirs::MbitPerSecond)),
            ("bandwidth".into(), "Gb/s".into(), Better::Higher, 1e-3)
        );
        assert_eq!(of("busbw", None), ("busbw".into(), "GB/s".into(), Better::Higher, 1.0));
        assert_eq!(of("max", None), ("value max".into(), "?".into(), Better::Neither, 1.0));
        assert_eq!(of("loss", None).2, Better::Neither);
        assert_eq!(of("flat", None).2, Better::Neither);
        assert_eq!(of("p2p_bw", None).2, Better::Higher);
    }
}
