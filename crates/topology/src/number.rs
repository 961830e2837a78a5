//! Numbers as C's library reads them: NCCL's attributes are read with `strtol` and its kin, which take a prefix and never fail.

/// `strtoull(s, NULL, radix)` with radix 0, 10 or 16; a minus negates in two's complement.
pub(crate) fn unsigned(s: &str, radix: u32) -> u64 {
    let (negative, magnitude) = magnitude(s, radix);
    if negative { magnitude.wrapping_neg() } else { magnitude }
}

/// `strtol(s, NULL, 0)`: saturating.
pub(crate) fn long(s: &str) -> i64 {
    let (negative, magnitude) = magnitude(s, 0);
    match (negative, i64::try_from(magnitude)) {
        (false, Ok(n)) => n,
        (true, Ok(n)) => -n,
        (false, Err(_)) => i64::MAX,
        (true, Err(_)) => i64::MIN,
    }
}

/// `(int)strtol(s, NULL, 0)`.
#[allow(clippy::cast_possible_truncation)]
pub(crate) fn int(s: &str) -> i32 {
    long(s) as i32
}

/// `strtof`, of plain decimal numbers.
pub(crate) fn float(s: &str) -> f32 {
    let t = s.trim_start();
    let end = t.find(|c: char| !(c.is_ascii_digit() || ".+-eE".contains(c))).unwrap_or(t.len());
    let t = t.get(..end).unwrap_or_default();
    (0..=t.len()).rev().find_map(|n| t.get(..n)?.parse().ok()).unwrap_or(0.0)
}

fn magnitude(s: &str, radix: u32) -> (bool, u64) {
    let t = s.trim_start_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
    let (negative, t) = match t.strip_prefix('-') {
        Some(t) => (true, t),
        None => (false, t.strip_prefix('+').unwrap_or(t)),
    };
    let hex = t.strip_prefix("0x").or_else(|| t.strip_prefix("0X"));
    let hex = hex.filter(|h| h.starts_with(|c: char| c.is_ascii_hexdigit()));
    let (radix, t) = match (radix, hex) {
        (0 | 16, Some(h)) => (16, h),
        (0, None) if t.starts_with('0') => (8, t),
        (0, None) => (10, t),
        (r, _) => (r, t),
    };
    let mut n: u64 = 0;
    for d in t.chars().map_while(|c| c.to_digit(radix)) {
        n = n.saturating_mul(u64::from(radix)).saturating_add(u64::from(d));
    }
    (negative, n)
}

/// `busIdToInt64`: the hexadecimal digits, up to sixteen of them, without what is between.
pub(crate) fn bus_id(s: &str) -> i64 {
    let mut n: u64 = 0;
    let mut digits = 0;
    for c in s.chars() {
        match c {
            '.' | ':' => continue,
            _ => match c.to_digit(16) {
                Some(d) if digits < 16 => {
                    n = n << 4 | u64::from(d);
                    digits += 1;
                }
                _ => break,
            },
        }
    }
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// NCCL's number of a PCI address ([`crate::system::Node::local_id`]) as an address, `0000:41:00.0` (`int64ToBusId`).
#[must_use]
pub fn bus_id_text(n: i64) -> String {
    format!("{:04x}:{:02x}:{:02x}.{:01x}", n >> 20, (n >> 12) & 0xff, (n >> 4) & 0xff, n & 0xf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_c_does() {
        for (s, want) in [("16", 16), ("0x10", 16), ("010", 8), (" -3x", -3), ("", 0), ("x", 0), ("0x", 0), ("+7", 7)] {
            assert_eq!(int(s), want, "{s:?}");
        }
        assert_eq!(long("99999999999999999999"), i64::MAX);
        assert_eq!(unsigned("0xffffffffffffffff", 16), u64::MAX);
        assert_eq!(unsigned("ff", 16), 255);
        assert!((float("1.5e1x") - 15.0).abs() < f32::EPSILON);
        assert_eq!(bus_id("0000:0b:00.1"), 0xb001);
        assert_eq!(bus_id_text(0xb001), "0000:0b:00.1");
        assert_eq!(bus_id_text(0x80_1000), "0008:01:00.0");
        assert_eq!(bus_id("fffffff:ffff:ff"), 0x0f_ffff_ffff_ffff);
    }
}
