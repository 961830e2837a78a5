//! Numbers, sizes and names, as benchmarks are read.

use linerate_bench::{Label, Metric, Stat, Unit};

/// Beyond this a number is written with its power of ten.
const LARGE: f64 = 1e12;
/// Below this as well.
const SMALL: f64 = 1e-3;

/// Digits behind the point for values that stand below each other: the largest decides, a small one is not shown as zero.
pub(super) fn decimals(values: impl Iterator<Item = f64>) -> usize {
    let (mut most, mut least) = (0.0_f64, f64::INFINITY);
    for v in values.map(f64::abs).filter(|v| v.is_finite() && *v >= SMALL && *v < LARGE) {
        most = most.max(v);
        least = least.min(v);
    }
    let usual = match most {
        m if m >= 10_000.0 => 0,
        m if m >= 1_000.0 => 1,
        m if m >= 1.0 => 2,
        _ => 3,
    };
    // Two digits of the smallest one, where that costs no more than two.
    let wanted = if least < 1.0 { (1.0 - least.log10().floor()) as usize } else { usual };
    wanted.clamp(usual, (usual + 2).min(4))
}

/// A number with so many digits behind the point, thousands apart where there are many.
pub(super) fn fixed(v: f64, decimals: usize) -> String {
    if !v.is_finite() {
        return "–".into();
    }
    let size = v.abs();
    if size >= LARGE
        || size > 0.0 && size < SMALL && format!("{size:.decimals$}").bytes().all(|b| b == b'0' || b == b'.')
    {
        return format!("{v:.2e}").replace('-', "−");
    }
    let text = format!("{v:.decimals$}");
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |d| ("−", d));
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let sign = if digits.bytes().all(|b| b == b'0' || b == b'.') { "" } else { sign };
    if whole.len() < 4 {
        return format!("{sign}{digits}");
    }
    let mut out = String::from(sign);
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out + rest
}

/// A number by itself: four digits that count, and no zeros that say nothing.
pub(super) fn number(v: f64) -> String {
    let size = v.abs();
    let decimals = match size {
        s if s >= 10_000.0 => 0,
        s if s >= 1_000.0 => 1,
        s if s >= 100.0 => 1,
        s if s >= 10.0 => 2,
        s if s >= 0.1 => 3,
        _ => 4,
    };
    let text = fixed(v, decimals);
    if text.contains('.') && !text.contains('e') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}

/// A number and its unit.
pub(super) fn quantity(v: f64, unit: &Unit) -> String {
    match unit {
        Unit::One => number(v),
        unit => format!("{}\u{a0}{unit}", number(v)),
    }
}

/// `47 %`.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let text = fixed(percent, usize::from(percent.abs() < 9.95));
    format!("{}\u{a0}%", text.trim_end_matches(".0"))
}

const SIZES: [(u64, &str); 6] =
    [(1 << 60, "EiB"), (1 << 50, "PiB"), (1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];

/// A size in bytes, exactly: `8 MiB`, `1.5 KiB`, `1,000,000 B`.
pub(super) fn size(bytes: u64) -> String {
    for (unit, name) in SIZES {
        if bytes < unit {
            continue;
        }
        if bytes.is_multiple_of(unit) {
            return format!("{} {name}", bytes / unit);
        }
        // Halves and quarters are said as such.
        if unit >= 4 && bytes.is_multiple_of(unit / 4) && bytes / unit < 1024 {
            let text = format!("{:.2}", bytes as f64 / unit as f64);
            return format!("{} {name}", text.trim_end_matches('0'));
        }
    }
    format!("{} B", crate::doctor::words::thousands(bytes))
}

/// A size at an axis: `8M`, binary.
pub(super) fn short_size(bytes: f64) -> String {
    const NAMES: [&str; 7] = ["", "K", "M", "G", "T", "P", "E"];
    let mut v = bytes;
    let mut name = "";
    for n in NAMES {
        name = n;
        if v < 1024.0 {
            break;
        }
        v /= 1024.0;
    }
    format!("{}{name}", number(v))
}

/// Labels in a few words: `in-place, rank 3`.
pub(super) fn labels(labels: &[Label]) -> String {
    let words = labels.iter().map(|l| match l.key.as_str() {
        "place" | "direction" | "op" | "operation" | "redop" | "dtype" | "protocol" | "name" | "test" => {
            l.value.to_string()
        }
        key => format!("{key} {}", l.value),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// A metric and its statistic: `latency p99`.
pub(super) fn metric(name: &str, stat: Stat) -> String {
    match stat {
        Stat::Value | Stat::Mean => name.to_owned(),
        stat => format!("{name} {stat}"),
    }
}

/// How much a reader wants to see a metric: less comes first.
pub(super) fn importance(m: &Metric) -> u32 {
    let name = match m.name.as_str() {
        "busbw" | "tps" => 0,
        "bandwidth" | "throughput" | "latency" | "rtt" => 1,
        "iops" | "mfu" | "message rate" | "message_rate" => 2,
        "algbw" | "loss" => 4,
        "time" | "retransmits" | "memory" => 5,
        "wrong" | "errors" | "cpu" | "iterations" => 6,
        _ => 3,
    };
    name * 16 + stat(m.stat)
}

/// The same among the statistics of one metric.
pub(super) fn stat(s: Stat) -> u32 {
    match s {
        Stat::Value => 0,
        Stat::Mean => 1,
        Stat::Median => 2,
        Stat::Percentile(50.0) => 2,
        Stat::Percentile(99.0) => 3,
        Stat::Percentile(99.9) => 6,
        Stat::Min => 4,
        Stat::Max => 5,
        Stat::Stdev => 7,
        Stat::Peak => 8,
        Stat::Percentile(_) => 9,
        Stat::Count => 10,
    }
}

/// Values as a line of bars, each the mean of its share of them.
pub(super) fn sparkline(values: &[f64], width: usize) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let values: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    let columns = width.min(values.len());
    let means: Vec<f64> = (0..columns)
        .filter_map(|i| values.get(i * values.len() / columns..(i + 1) * values.len() / columns))
        .map(|part| part.iter().map(|v| v / part.len() as f64).sum())
        .collect();
    let low = means.iter().copied().fold(f64::INFINITY, f64::min);
    let high = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let span = high / 2.0 - low / 2.0;
    let bar = |v: &f64| if span > 0.0 { ((v / 2.0 - low / 2.0) / span * 7.0).round() as usize } else { 3 };
    means.iter().filter_map(|v| BARS.get(bar(v).min(7))).collect()
}

/// The middle of sorted values.
pub(super) fn median(sorted: &[f64]) -> Option<f64> {
    (!sorted.is_empty()).then(|| linerate_stats::quantile_sorted(sorted, 0.5))
}

/// Finite values in order.
pub(super) fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut all: Vec<f64> = values.filter(|v| v.is_finite()).collect();
    all.sort_by(f64::total_cmp);
    all
}

/// A time of the epoch, RFC 3339.
pub(super) fn moment(epoch: f64) -> String {
    // Casts saturate; a year of five digits is nobody's measurement.
    crate::about::rfc3339((epoch.max(0.0) as u64).min(253_402_300_799))
}

/// Sets a character where there is a place for it.
pub(super) fn put(line: &mut [char], at: usize, c: char) {
    if let Some(place) = line.get_mut(at) {
        *place = c;
    }
}

/// The beginning of a sentence.
pub(super) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|c| c.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

pub(super) use crate::doctor::words::{counted, thousands};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_what_counts() {
        for (v, want) in [
            (93.13, "93.13"),
            (392.4, "392.4"),
            (0.85, "0.85"),
            (169_093.0, "169,093"),
            (4554.47, "4,554.5"),
            (0.0, "0"),
            (-0.00001, "−1.00e−5"),
            (1e300, "1.00e300"),
            (f64::NAN, "–"),
            (-2.5, "−2.5"),
        ] {
            assert_eq!(number(v), want);
        }
        assert_eq!(fixed(-0.001, 1), "0.0");
        assert_eq!(fixed(12345.678, 1), "12,345.7");
    }

    #[test]
    fn columns_agree_on_their_digits() {
        assert_eq!(decimals([5.91, 93.13].into_iter()), 2);
        assert_eq!(decimals([0.03, 93.13].into_iter()), 3);
        assert_eq!(decimals([4587.0, 205_821.0].into_iter()), 0);
        assert_eq!(decimals([f64::NAN, f64::INFINITY].into_iter()), 3);
    }

    #[test]
    fn sizes_are_exact() {
        for (n, want) in [
            (0, "0 B"),
            (2, "2 B"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (65_536, "64 KiB"),
            (1_000_000, "1,000,000 B"),
            (8 << 30, "8 GiB"),
            (u64::MAX, "18,446,744,073,709,551,615 B"),
        ] {
            assert_eq!(size(n), want);
        }
        assert_eq!(short_size(1024.0 * 1024.0), "1M");
    }

    #[test]
    fn shares_are_hundredths() {
        assert_eq!(percent(0.471), "47\u{a0}%");
        assert_eq!(percent(0.02), "2\u{a0}%");
        assert_eq!(percent(0.031), "3.1\u{a0}%");
    }

    #[test]
    fn a_line_of_bars_holds_any_values() {
        assert_eq!(sparkline(&[1.0, 2.0, 3.0], 10), "▁▅█");
        assert_eq!(sparkline(&[7.0; 4], 10), "▄▄▄▄");
        assert_eq!(sparkline(&[], 10), "");
        assert_eq!(sparkline(&[f64::MAX, f64::MIN], 0), "");
        assert_eq!(sparkline(&[f64::MAX, f64::MIN, f64::NAN], 9), "█▁");
        assert_eq!(sparkline(&vec![1.0; 10_000], 40).chars().count(), 40);
    }
}
