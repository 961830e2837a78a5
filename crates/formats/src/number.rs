//! Decimal numbers as programs print them, read from bytes.

/// Digits with at most one point, few enough that the result is the nearest number: what nearly every printed measurement is.
/// `None` for anything else, which is for [`str::parse`] to decide.
pub(crate) fn simple(bytes: &[u8]) -> Option<f64> {
    const POWERS: [f64; 16] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    // Fifteen digits and a point: both numbers below are exact, and their quotient is rounded once.
    if bytes.len() > 16 {
        return None;
    }
    let (mut value, mut decimals, mut step) = (0_u64, 0_usize, 0_usize);
    for b in bytes {
        let digit = b.wrapping_sub(b'0');
        if digit <= 9 {
            value = value * 10 + u64::from(digit);
            decimals += step;
        } else if *b == b'.' && step == 0 {
            step = 1;
        } else {
            return None;
        }
    }
    if bytes.len() == step || bytes.len() - step > 15 {
        return None;
    }
    #[allow(clippy::cast_precision_loss)] // Fifteen digits are exact.
    Some(value as f64 / POWERS.get(decimals)?)
}

/// Digits alone.
pub(crate) fn whole(bytes: &[u8]) -> Option<u64> {
    if bytes.is_empty() || bytes.len() > 19 {
        return None;
    }
    let mut value = 0_u64;
    for b in bytes {
        let digit = b.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    Some(value)
}

/// Words of a line that are parted by blanks and tabs.
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(crate) fn new(line: &'a [u8]) -> Self {
        Fields { rest: line }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let is_blank = |b: &u8| matches!(b, b' ' | b'\t' | b'\r');
        let start = self.rest.iter().position(|b| !is_blank(b))?;
        let from = self.rest.get(start..)?;
        let (word, rest) = from.split_at_checked(from.iter().position(is_blank).unwrap_or(from.len()))?;
        self.rest = rest;
        Some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_simple() {
        for (text, value) in [
            ("0", Some(0.0)),
            ("0.00", Some(0.0)),
            ("93.13", Some(93.13)),
            (".5", Some(0.5)),
            ("5.", Some(5.0)),
            ("999999999999999", Some(999_999_999_999_999.0)),
            ("99999999999999.9", Some(99_999_999_999_999.9)),
            ("9999999999999999", None),
            ("", None),
            (".", None),
            ("1.2.3", None),
            ("-1", None),
            ("1e5", None),
            ("nan", None),
        ] {
            assert_eq!(simple(text.as_bytes()), value, "{text}");
        }
        assert_eq!(whole(b"18446744073709551615"), None);
        assert_eq!(whole(b"9999999999999999999"), Some(9_999_999_999_999_999_999));
        assert_eq!(Fields::new(b" a\t bc \r").collect::<Vec<_>>(), [&b"a"[..], b"bc"]);
    }

    proptest::proptest! {
        #[test]
        fn as_the_standard_library_reads(whole in 0_u64..1_000_000_000, decimals in 0_usize..6) {
            let text = format!("{:.decimals$}", whole as f64 / 1000.0);
            proptest::prop_assert_eq!(simple(text.as_bytes()), text.parse().ok());
        }
    }
}
