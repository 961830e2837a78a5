//! Reads words and numbers off the front of a message.

use crate::text::after;

/// A decimal number at the front, and what follows it.
pub(super) fn int(text: &str) -> Option<(i64, &str)> {
    let bytes = text.as_bytes();
    let negative = bytes.first() == Some(&b'-');
    let mut at = usize::from(negative);
    let start = at;
    let mut value: i64 = 0;
    while let Some(d) = bytes.get(at).filter(|b| b.is_ascii_digit()) {
        value = value.checked_mul(10)?.checked_add(i64::from(d - b'0'))?;
        at += 1;
    }
    (at > start).then_some(())?;
    Some((if negative { -value } else { value }, text.get(at..)?))
}

/// The same for what must not be negative and fit.
pub(super) fn uint(text: &str) -> Option<(u32, &str)> {
    let (value, rest) = int(text)?;
    Some((u32::try_from(value).ok()?, rest))
}

/// A hexadecimal number at the front, with or without `0x`, and what follows it.
#[must_use]
pub fn hex(text: &str) -> Option<(u64, &str)> {
    let text = text.strip_prefix("0x").unwrap_or(text);
    let mut value: u64 = 0;
    let mut at = 0;
    for byte in text.bytes() {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            _ => break,
        };
        if value >> 60 != 0 {
            return None;
        }
        value = value << 4 | u64::from(digit);
        at += 1;
    }
    (at > 0).then_some(())?;
    Some((value, text.get(at..)?))
}

/// Without blanks at the front.
pub(super) fn blanks(mut text: &str) -> &str {
    while let Some(rest) = text.strip_prefix(' ') {
        text = rest;
    }
    text
}

/// The number behind a key: `rank 3` in a longer text.
pub(super) fn after_int(text: &str, key: &str) -> Option<i64> {
    int(after(text, key)?.trim_start()).map(|(v, _)| v)
}

/// The word at the front: up to white space.
pub(super) fn word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}
