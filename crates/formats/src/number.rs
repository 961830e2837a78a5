//! Decimal numbers as programs print them, read from bytes.

const POWERS: [f64; 16] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Digits with at most one point, few enough that the result is the nearest number: what nearly every printed measurement is.
/// `None` for anything else, which is for [`str::parse`] to decide.
#[inline]
pub(crate) fn simple(bytes: &[u8]) -> Option<f64> {
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

/// The number of a JSON text that the bytes begin with, where it is a [`simple`] one, and what follows it.
#[inline]
pub(crate) fn json(bytes: &[u8]) -> Option<(f64, &[u8])> {
    let (mut value, mut before, mut end) = (0_u64, None, bytes.len());
    for (at, b) in bytes.iter().enumerate() {
        let digit = b.wrapping_sub(b'0');
        if digit <= 9 {
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        } else if *b == b'.' && before.is_none() {
            before = Some(at);
        } else {
            end = at;
            break;
        }
    }
    let rest = bytes.get(end..)?;
    let whole = before.unwrap_or(end);
    let decimals = end - before.map_or(end, |at| at + 1);
    let is_json = (whole == 1 || whole > 1 && bytes.first() != Some(&b'0')) && (before.is_none() || decimals > 0);
    // What goes on may be a number of another form.
    let is_whole = !matches!(rest.first(), Some(b'e' | b'E' | b'+' | b'-' | b'.'));
    if !is_json || !is_whole || whole + decimals > 15 {
        return None;
    }
    #[allow(clippy::cast_precision_loss)] // Fifteen digits are exact.
    Some((value as f64 / POWERS.get(decimals)?, rest))
}

/// Words of a line that are parted by blanks, tabs and other control characters.
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub(crate) fn new(line: &'a [u8]) -> Self {
        Fields { rest: line }
    }

    /// Goes to the next word. Tables are padded with blanks: eight are compared at a time.
    #[inline]
    fn skip_blanks(&mut self) {
        const BLANKS: u64 = 0x2020_2020_2020_2020;
        while let Some(eight) = self.rest.first_chunk::<8>() {
            let differs = u64::from_le_bytes(*eight) ^ BLANKS;
            let blanks = (differs.trailing_zeros() / 8) as usize;
            self.rest = self.rest.get(blanks..).unwrap_or_default();
            if differs != 0 {
                break;
            }
        }
        while let [b'\0'..=b' ', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    /// The next word as a number: see [`simple`]. Where it is not one, the place in the line is lost.
    #[inline]
    pub(crate) fn decimal(&mut self) -> Option<f64> {
        self.skip_blanks();
        let (mut value, mut digits, mut before) = (0_u64, 0_usize, None);
        let mut end = self.rest.len();
        for (at, b) in self.rest.iter().enumerate() {
            let digit = b.wrapping_sub(b'0');
            if digit <= 9 {
                value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
                digits += 1;
            } else if *b <= b' ' {
                end = at;
                break;
            } else if *b == b'.' && before.is_none() {
                before = Some(digits);
            } else {
                return None;
            }
        }
        self.rest = self.rest.get(end..).unwrap_or_default();
        if digits == 0 || digits > 15 {
            return None;
        }
        #[allow(clippy::cast_precision_loss)] // Fifteen digits are exact.
        Some(value as f64 / POWERS.get(digits - before.unwrap_or(digits))?)
    }

    /// The next word as digits alone. Where it is not one, the place in the line is lost.
    #[inline]
    pub(crate) fn whole(&mut self) -> Option<u64> {
        self.skip_blanks();
        let (mut value, mut end) = (0_u64, self.rest.len());
        for (at, b) in self.rest.iter().enumerate() {
            let digit = b.wrapping_sub(b'0');
            if digit <= 9 {
                value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            } else if *b <= b' ' {
                end = at;
                break;
            } else {
                return None;
            }
        }
        self.rest = self.rest.get(end..).unwrap_or_default();
        (1..=19).contains(&end).then_some(value)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        self.skip_blanks();
        let end = self.rest.iter().position(|b| *b <= b' ').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end).filter(|(w, _)| !w.is_empty())?;
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
        let whole = |text: &'static str| Fields::new(text.as_bytes()).whole();
        assert_eq!(whole("18446744073709551615"), None);
        assert_eq!(whole(" 9999999999999999999 x"), Some(9_999_999_999_999_999_999));
        assert_eq!((whole(""), whole("  "), whole("1x"), whole("-1")), (None, None, None, None));
        let mut fields = Fields::new(b"\t           12.50         7  8. \r");
        assert_eq!(
            (fields.decimal(), fields.whole(), fields.decimal(), fields.decimal()),
            (Some(12.5), Some(7), Some(8.0), None)
        );
        assert_eq!(Fields::new(b" a\t bc \r").collect::<Vec<_>>(), [&b"a"[..], b"bc"]);
    }

    proptest::proptest! {
        #[test]
        fn as_the_standard_library_reads(whole in 0_u64..1_000_000_000, decimals in 0_usize..6) {
            let text = format!("{:.decimals$}", whole as f64 / 1000.0);
            proptest::prop_assert_eq!(simple(text.as_bytes()), text.parse().ok());
            proptest::prop_assert_eq!(Fields::new(text.as_bytes()).decimal(), text.parse().ok());
        }
    }
}
