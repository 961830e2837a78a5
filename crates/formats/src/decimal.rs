//! Numbers as benchmarks print them, also under a locale with a decimal comma.

use crate::error::{SHOWN, Why, shown};

/// What is known about the field of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fraction {
    /// The tool prints three or more decimals here, always: a comma can only be the decimal one.
    Always,
    /// The tool prints none to two, or any number of decimals.
    Maybe,
}

/// A finite number. `nan`, `inf` and what could be two numbers are refused with the reason.
pub(crate) fn decimal(word: &str, fraction: Fraction) -> Result<f64, Why> {
    let digits = word.strip_prefix(['-', '+']).unwrap_or(word);
    let not = || Why::word(word, "not a number");
    let lower = digits.get(..3).unwrap_or_default().to_ascii_lowercase();
    if lower == "nan" || lower == "inf" {
        return Err(Why::word(word, "not a number: nothing was measured"));
    }
    let is_plain = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b',' | b'e' | b'E' | b'+' | b'-');
    if !digits.bytes().next().is_some_and(|b| b.is_ascii_digit() || b == b'.') || !digits.bytes().all(is_plain) {
        return Err(not());
    }
    let commas = digits.bytes().filter(|b| *b == b',').count();
    let plain = match (commas, digits.split_once(',')) {
        (0, _) | (_, None) => return finite(word).ok_or_else(not),
        // Groups and a decimal point: 1,234.5.
        (_, Some(_)) if digits.contains('.') => grouped(digits),
        (1, Some((whole, decimals))) => {
            let could_be_group = decimals.len() == 3 && (1..=3).contains(&whole.len()) && !whole.starts_with('0');
            if could_be_group && fraction == Fraction::Maybe {
                return Err(Why::Comma {
                    word: shown(word, SHOWN),
                    whole: whole.to_owned(),
                    decimals: decimals.to_owned(),
                });
            }
            Some(format!("{whole}.{decimals}"))
        }
        // Several commas can only be groups.
        _ => grouped(digits),
    };
    let sign = if word.starts_with('-') { -1.0 } else { 1.0 };
    plain.and_then(|p| finite(&p)).map(|v| v * sign).ok_or_else(not)
}

fn finite(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|v| v.is_finite())
}

/// `1,234,567.8` with its groups right.
fn grouped(digits: &str) -> Option<String> {
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let is_right = (1..=3).contains(&first.len()) && groups.all(|g| g.len() == 3) && !decimals.contains(',');
    is_right.then(|| format!("{}.{decimals}", whole.replace(',', "")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_are_read_where_they_mean_one_thing() {
        use Fraction::{Always, Maybe};
        for (text, fraction, want) in [
            ("1.23", Maybe, Some(1.23)),
            ("12", Maybe, Some(12.0)),
            ("-3.5", Maybe, Some(-3.5)),
            ("1e3", Maybe, Some(1000.0)),
            ("1,23", Maybe, Some(1.23)),
            ("12,3", Maybe, Some(12.3)),
            ("0,045", Maybe, Some(0.045)),
            ("1234,567", Maybe, Some(1234.567)),
            ("1,234", Maybe, None),
            ("1,234", Always, Some(1.234)),
            ("1,234,567", Maybe, Some(1_234_567.0)),
            ("1,234.5", Maybe, Some(1234.5)),
            ("12,34.5", Maybe, None),
            ("1.234,5", Maybe, None),
            ("nan", Maybe, None),
            ("-nan", Always, None),
            ("inf", Maybe, None),
            ("1e999", Maybe, None),
            ("", Maybe, None),
            ("-", Maybe, None),
            (",", Maybe, None),
            ("é", Maybe, None),
            ("0x10", Maybe, None),
        ] {
            assert_eq!(decimal(text, fraction).ok(), want, "{text}");
        }
        assert!(decimal("1,234", Maybe).is_err_and(|e| e.to_string().contains("1234 or 1.234")));
    }
}
