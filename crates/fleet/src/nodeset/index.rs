//! Names taken apart: text, and the numbers in it.

use std::fmt;

/// Digits of a number. A longer run of digits (a serial, a date with time) is text.
pub(super) const DIGITS: usize = 18;

/// A number in a name: with leading zeros it is another one. Fewer digits come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Index {
    /// Digits, with leading zeros.
    pub(super) digits: u8,
    /// Its value.
    pub(super) value: u64,
}

impl Index {
    /// From ASCII digits, [`DIGITS`] at most.
    pub(super) fn of(text: &str) -> Option<Index> {
        let plain = !text.is_empty() && text.len() <= DIGITS && text.bytes().all(|b| b.is_ascii_digit());
        let digits = u8::try_from(text.len()).ok()?;
        plain.then(|| text.parse().ok().map(|value| Index { digits, value })).flatten()
    }

    /// A number with this many digits, or more where it needs them.
    pub(super) fn new(value: u64, digits: usize) -> Index {
        let needs = value.checked_ilog10().map_or(1, |n| n as usize + 1);
        Index { digits: u8::try_from(digits.max(needs)).unwrap_or(u8::MAX), value }
    }

    /// Whether it has leading zeros.
    pub(super) fn padded(self) -> bool {
        Index::new(self.value, 1).digits < self.digits
    }
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:0width$}", self.value, width = usize::from(self.digits))
    }
}

/// The text of a name with `%s` for each number (and `%%` for a percent sign), and the numbers.
pub(super) fn split(name: &str) -> (String, Vec<Index>) {
    let (mut pattern, mut numbers) = (String::with_capacity(name.len()), Vec::new());
    let mut rest = name;
    while !rest.is_empty() {
        let text = rest.bytes().position(|b| b.is_ascii_digit()).unwrap_or(rest.len());
        let (before, from) = rest.split_at_checked(text).unwrap_or((rest, ""));
        pattern.push_str(&before.replace('%', "%%"));
        let end = from.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(from.len());
        let (run, after) = from.split_at_checked(end).unwrap_or((from, ""));
        match Index::of(run) {
            Some(index) => {
                pattern.push_str("%s");
                numbers.push(index);
            }
            None => pattern.push_str(run),
        }
        rest = after;
    }
    (pattern, numbers)
}

/// The pieces of a pattern's text between its numbers.
pub(super) fn pieces(pattern: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        match (c, out.last_mut()) {
            ('%', Some(last)) => match rest.next() {
                Some('s') => out.push(String::new()),
                _ => last.push('%'),
            },
            (c, Some(last)) => last.push(c),
            _ => {}
        }
    }
    out
}

/// The pattern with something written for each number.
pub(super) fn fill<D: fmt::Display>(to: &mut impl fmt::Write, pattern: &str, numbers: &[D]) -> fmt::Result {
    let mut numbers = numbers.iter();
    for (i, piece) in pieces(pattern).iter().enumerate() {
        if let Some(number) = (i > 0).then(|| numbers.next()).flatten() {
            write!(to, "{number}")?;
        }
        to.write_str(piece)?;
    }
    Ok(())
}

/// A name from its parts.
pub(super) fn name(pattern: &str, numbers: &[Index]) -> String {
    let mut out = String::with_capacity(pattern.len() + 4 * numbers.len());
    // Writing to a string does not fail.
    let _ = fill(&mut out, pattern, numbers);
    out
}
