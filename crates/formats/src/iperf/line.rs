//! One line of text: who it is from, and the amounts in it.

use super::run::{Stream, Way};
use crate::decimal::{Fraction, decimal};
use crate::error::Why;
use crate::text::words;

/// `[  5]`, `[SUM]`, `[ ID]`, `[ *1]`, `[FD1]`, `[  5][TX-C]`, and what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tagged<'a> {
    pub(super) who: Who,
    pub(super) way: Option<Way>,
    pub(super) rest: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Header,
    Stream(Stream),
}

/// The tag of a line, behind whatever titles and time stamps stand before it.
pub(super) fn tagged(line: &str) -> Option<Tagged<'_>> {
    let mut from = 0;
    // A title or a time stamp may have brackets of its own.
    for _ in 0..6 {
        let at = from + line.get(from..)?.find('[')?;
        let after = line.get(at + 1..)?;
        let (inner, rest) = after.split_once(']')?;
        if let Some((who, own_way)) = who(inner) {
            let (way, rest) = role(rest);
            return Some(Tagged { who, way: way.or(own_way), rest });
        }
        from = at + 1;
    }
    None
}

fn who(inner: &str) -> Option<(Who, Option<Way>)> {
    let trimmed = inner.trim();
    let number = |t: &str| t.parse::<u32>().ok().filter(|_| t.bytes().all(|b| b.is_ascii_digit()));
    if trimmed == "ID" {
        return Some((Who::Header, None));
    }
    if trimmed.starts_with("SUM") && trimmed.len() < 12 {
        return Some((Who::Stream(Stream::Sum), None));
    }
    if let Some(id) = trimmed.strip_prefix("FD").and_then(number) {
        return Some((Who::Stream(Stream::One(id)), Some(Way::Both)));
    }
    // The other direction of a duplex test; for the client it is what it receives.
    if let Some(id) = trimmed.strip_prefix('*').and_then(number) {
        return Some((Who::Stream(Stream::One(id)), Some(Way::ToClient)));
    }
    // Width 3 and more: `[0]` of other programs is not one.
    number(trimmed).filter(|_| inner.len() >= 3).map(|id| (Who::Stream(Stream::One(id)), None))
}

fn role(rest: &str) -> (Option<Way>, &str) {
    for (tag, way) in
        [("[TX-C]", Way::ToServer), ("[RX-C]", Way::ToClient), ("[RX-S]", Way::ToServer), ("[TX-S]", Way::ToClient)]
    {
        if let Some(rest) = rest.trim_start().strip_prefix(tag) {
            return (Some(way), rest);
        }
    }
    (None, rest)
}

/// Start and end in seconds, or why they are none.
pub(super) type Span = Result<(f64, f64), Why>;

/// `0.00-1.00   sec`, `0.0- 1.0 sec`, and what follows.
pub(super) fn interval(rest: &str) -> Option<(Span, &str)> {
    let rest = rest.trim_start();
    let (span, after) = rest.split_once("sec")?;
    let (start, end) = span.trim().split_once('-')?;
    if span.len() > 40 || !start.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let both = decimal(start.trim(), Fraction::Maybe).and_then(|s| Ok((s, decimal(end.trim(), Fraction::Maybe)?)));
    let ordered =
        both.and_then(
            |(s, e)| if s <= e { Ok((s, e)) } else { Err(Why::Impossible("the interval ends before it begins")) },
        );
    Some((ordered, after))
}

/// An amount with its unit, in bits or bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Amount {
    pub(super) bits: f64,
}

/// `2.82 GBytes`, `24.2 Gbits/sec`: the words and what follows. `None` where the unit is no unit.
pub(super) fn amount<'a>(rest: &'a str, suffix: &str) -> Option<(Result<Amount, Why>, &'a str)> {
    let mut all = words(rest);
    let (value, unit) = (all.next()?, all.next()?);
    let factor = factor(unit.strip_suffix(suffix)?)?;
    let end = rest.find(unit).map(|at| at + unit.len()).filter(|_| value != unit)?;
    Some((decimal(value, Fraction::Maybe).map(|v| Amount { bits: v * factor }), rest.get(end..)?))
}

/// Bits of one unit. Bytes count in powers of 1024, bits in powers of 1000.
pub(super) fn factor(unit: &str) -> Option<f64> {
    let (prefix, base, bits) = match unit {
        u if u.ends_with("Bytes") => (u.strip_suffix("Bytes")?, 1024.0, 8.0),
        u if u.ends_with("Byte") => (u.strip_suffix("Byte")?, 1024.0, 8.0),
        u if u.ends_with("bits") => (u.strip_suffix("bits")?, 1000.0, 1.0),
        u if u.ends_with("bit") => (u.strip_suffix("bit")?, 1000.0, 1.0),
        _ => return None,
    };
    let power = match prefix {
        "" => 0,
        "K" | "k" => 1,
        "M" | "m" => 2,
        "G" | "g" => 3,
        "T" | "t" => 4,
        "P" => 5,
        _ => return None,
    };
    Some(f64::powi(base, power) * bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags() {
        let one = |n| Who::Stream(Stream::One(n));
        for (line, who, way) in [
            ("[  5]   0.00", one(5), None),
            ("[ ID] Interval", Who::Header, None),
            ("[SUM][RX-C]   0.00", Who::Stream(Stream::Sum), Some(Way::ToClient)),
            ("[ 12][TX-C] x", one(12), Some(Way::ToServer)),
            ("[ *1] 0.0000", one(1), Some(Way::ToClient)),
            ("[FD1] 0.0000", one(1), Some(Way::Both)),
            ("Sat Nov 21 20:50:00 2026 [  5] local", one(5), None),
            ("[title] x:  [123] local", one(123), None),
        ] {
            assert_eq!(tagged(line).map(|t| (t.who, t.way)), Some((who, way)), "{line}");
        }
        for line in ["", "[0] NCCL", "a[b]c", "[", "[ x]", "[]"] {
            assert_eq!(tagged(line), None, "{line}");
        }
    }

    #[test]
    fn units() {
        for (unit, bits) in [
            ("bits", 1.0),
            ("Kbits", 1e3),
            ("Gbits", 1e9),
            ("Tbits", 1e12),
            ("Bytes", 8.0),
            ("KBytes", 8192.0),
            ("MBytes", 8.0 * 1_048_576.0),
            ("KByte", 8192.0),
        ] {
            assert_eq!(factor(unit), Some(bits), "{unit}");
        }
        assert_eq!((factor("furlongs"), factor("Xbits"), factor("MB")), (None, None, None));
        let (rate, rest) = amount("  24.2 Gbits/sec   27 x", "/sec").unwrap();
        assert_eq!((rate.map(|a| a.bits), rest), (Ok(24.2e9), "   27 x"));
        assert!(amount("-nan bits/sec", "/sec").unwrap().0.is_err());
        assert_eq!(amount("27   1023 KBytes", ""), None);
        assert_eq!(interval("   0.00-1.00   sec  x").map(|(i, r)| (i.ok(), r)), Some((Some((0.0, 1.0)), "  x")));
        assert_eq!(interval("  0.0- 10.0 sec").and_then(|(i, _)| i.ok()), Some((0.0, 10.0)));
        assert_eq!(interval(" 0,00-1,50 sec").and_then(|(i, _)| i.ok()), Some((0.0, 1.5)));
        assert_eq!(interval(" Sent 5 datagrams in 2 sec"), None);
    }
}
