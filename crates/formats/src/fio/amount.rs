//! Amounts: `250MiB`, `87.4MB/s`, `21.3k`, `3001msec`.

use crate::decimal::{Fraction, decimal};
use crate::error::Why;
use crate::units::{Bytes, MiBps, Microseconds};

/// How `KB` is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plain {
    /// 10³: beside a value in KiB.
    Decimal,
    /// 2¹⁰: releases before 2.18, which print it alone.
    Binary,
}

/// The number at the beginning, and what follows.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',' | '-'))).unwrap_or(text.len());
    let number = text.get(..end).unwrap_or_default();
    // A comma at the end belongs to the list.
    let number = number.trim_end_matches(',');
    (number, text.get(number.len()..).unwrap_or_default())
}

fn power(prefix: u8) -> Option<i32> {
    Some(match prefix {
        b'k' | b'K' => 1,
        b'm' | b'M' => 2,
        b'g' | b'G' => 3,
        b't' | b'T' => 4,
        b'p' | b'P' => 5,
        b'e' | b'E' => 6,
        _ => return None,
    })
}

/// Bytes of `250MiB`, `0B`, `4474Mbit/s`; a bare `0`.
pub(super) fn bytes(text: &str, plain: Plain) -> Result<f64, Why> {
    let (number, unit) = split(text);
    let value = decimal(number, Fraction::Maybe)?;
    let unit = unit.split([')', '(', ' ', ',', ';', '-']).next().unwrap_or_default();
    let unit = unit.strip_suffix("/s").or_else(|| unit.split('/').next()).unwrap_or_default();
    let (prefix, bits) = match (unit.strip_suffix("bit"), unit.strip_suffix('B')) {
        (Some(p), _) => (p, 1.0 / 8.0),
        (None, Some(p)) => (p, 1.0),
        (None, None) => (unit, 1.0),
    };
    let factor = match prefix.as_bytes() {
        [] => 1.0,
        [p, b'i'] => f64::powi(1024.0, power(*p).ok_or(Why::Unclear("unknown unit"))?),
        [p] if plain == Plain::Decimal => f64::powi(1000.0, power(*p).ok_or(Why::Unclear("unknown unit"))?),
        [p] => f64::powi(1024.0, power(*p).ok_or(Why::Unclear("unknown unit"))?),
        _ => return Err(Why::word(unit, "no unit")),
    };
    Ok(value * factor * bits)
}

/// A bandwidth.
pub(super) fn bandwidth(text: &str, plain: Plain) -> Result<MiBps, Why> {
    bytes(text, plain).map(MiBps::from_bytes_per_second)
}

/// A size.
pub(super) fn size(text: &str, plain: Plain) -> Result<Bytes, Why> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Saturates.
    bytes(text, plain).map(|b| Bytes(b.round() as u64))
}

/// `21.3k`, `1203.4K`, `7991.9M`: powers of 1000.
pub(super) fn count(text: &str) -> Result<f64, Why> {
    let (number, rest) = split(text);
    let value = decimal(number, Fraction::Maybe)?;
    Ok(rest.as_bytes().first().and_then(|p| power(*p)).map_or(value, |p| value * f64::powi(1000.0, p)))
}

/// Microseconds of one of the unit in `(usec)`.
pub(super) fn time_unit(text: &str) -> Option<f64> {
    if text.contains("nsec)") {
        Some(1e-3)
    } else if text.contains("usec)") {
        Some(1.0)
    } else if text.contains("msec)") {
        Some(1e3)
    } else if text.contains("sec)") {
        Some(1e6)
    } else {
        None
    }
}

/// A time in the unit.
pub(super) fn time(text: &str, unit: f64) -> Result<Microseconds, Why> {
    count(text).map(|v| in_microseconds(v, unit))
}

/// A value in a unit of so many microseconds. Divides where that is exact.
pub(super) fn in_microseconds(value: f64, unit: f64) -> Microseconds {
    Microseconds(if unit < 1.0 { value / (1.0 / unit).round() } else { value * unit })
}

/// What follows `name=`, where a name of its own comes before it.
pub(super) fn value<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let mut from = 0;
    while let Some(at) = line.get(from..)?.find(name) {
        let at = from + at;
        let before = line.get(..at)?.bytes().last();
        let rest = line.get(at + name.len()..)?;
        if before.is_none_or(|b| !b.is_ascii_alphanumeric()) && rest.starts_with('=') {
            return rest.get(1..).map(str::trim_start);
        }
        from = at + name.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units() {
        use Plain::{Binary, Decimal};
        for (text, plain, want) in [
            ("250MiB/3001msec)", Decimal, 250.0 * 1_048_576.0),
            ("87.4MB/s)(250MiB", Decimal, 87.4e6),
            ("24035KB/s, iops", Binary, 24035.0 * 1024.0),
            ("241236KB,", Binary, 241_236.0 * 1024.0),
            ("1049kB)", Decimal, 1_049_000.0),
            ("0B/19msec", Decimal, 0.0),
            ("0 (0)", Decimal, 0.0),
            ("4474Mbit/s (", Decimal, 4474e6 / 8.0),
            ("4267Mibit/s)", Decimal, 4267.0 * 1_048_576.0 / 8.0),
            ("500MiB/s-500MiB/s", Decimal, 500.0 * 1_048_576.0),
            ("1,5GiB/s", Decimal, 1.5 * 1024.0 * 1_048_576.0),
        ] {
            assert_eq!(bytes(text, plain), Ok(want), "{text}");
        }
        assert!(bytes("nanMiB", Decimal).is_err() && bytes("5XB", Decimal).is_err() && bytes("", Decimal).is_err());
        assert_eq!(
            (count("21.3k,"), count("1203.4K, avg"), count("6008, runt")),
            (Ok(21_300.0), Ok(1_203_400.0), Ok(6008.0))
        );
        assert_eq!(value("bw=1, minbw=2, bw2=3, io= 5", "io"), Some("5"));
        assert_eq!(value("READ: aggrb=3, rb=4", "rb"), Some("4"));
    }
}
