//! Time stamps that loggers and launchers put before a line.

/// A moment, in seconds. Stamps with a date count from 1970 (as if UTC where no zone is shown), others from midnight.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Stamp {
    /// Seconds.
    pub seconds: f64,
    /// Whether a date is printed.
    pub dated: bool,
}

/// The first time stamp in the text before a line: `2025-05-16T16:39:55.215-07:00`, `[2025-06-17 16:23:09]`, `16:23:09.125`,
/// seconds since 1970 with a fraction.
#[must_use]
pub fn find(text: &str) -> Option<Stamp> {
    let bytes = text.as_bytes();
    let colon = bytes
        .windows(6)
        .position(|w| matches!(w, [b':', a, b, b':', c, d] if [a, b, c, d].iter().all(|x| x.is_ascii_digit())));
    let Some(colon) = colon.filter(|c| *c >= 2) else { return epoch(text) };
    let two = |at: usize| text.get(at..at + 2)?.parse::<u32>().ok();
    let (hour, minute, second) = (two(colon - 2)?, two(colon + 1)?, two(colon + 4)?);
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let rest = text.get(colon + 6..)?;
    let (fraction, rest) = fraction(rest);
    let clock = f64::from(hour * 3600 + minute * 60 + second) + fraction;
    let day = colon.checked_sub(13).and_then(|start| date(text.get(start..colon - 3)?));
    Some(match day {
        Some(days) => Stamp { seconds: days as f64 * 86400.0 + clock - zone(rest), dated: true },
        None => Stamp { seconds: clock, dated: false },
    })
}

/// `.215` or `,215`.
fn fraction(text: &str) -> (f64, &str) {
    let Some(digits) = text.strip_prefix(['.', ',']) else { return (0.0, text) };
    let end = digits.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(digits.len());
    let value = digits.get(..end).and_then(|d| format!("0.{d}").parse().ok()).unwrap_or(0.0);
    (value, digits.get(end..).unwrap_or_default())
}

/// `2025-05-16` or `2025/05/16`: days since 1970.
fn date(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let separated = matches!(bytes, [_, _, _, _, b'-' | b'/', _, _, b'-' | b'/', _, _]);
    let part = |a, b| text.get(a..b)?.parse::<i64>().ok();
    let (y, m, d) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    if !separated || !(1970..=2200).contains(&y) {
        return None;
    }
    crate::clock::days(y, m, d)
}

/// `-07:00`, `+0200`, `Z`: seconds east.
fn zone(text: &str) -> f64 {
    let sign = match text.as_bytes().first() {
        Some(b'+') => 1.0,
        Some(b'-') => -1.0,
        _ => return 0.0,
    };
    let digits: String = text.chars().skip(1).filter(|c| *c != ':').take(4).collect();
    let hours = digits.get(..2).and_then(|h| h.parse::<f64>().ok());
    let minutes = digits.get(2..4).and_then(|m| m.parse::<f64>().ok());
    hours.zip(minutes).map_or(0.0, |(h, m)| sign * (h * 3600.0 + m * 60.0))
}

/// `1747438795.215`: seconds since 1970.
fn epoch(text: &str) -> Option<Stamp> {
    let word = text.split(|c: char| !(c.is_ascii_digit() || c == '.')).find(|w| {
        matches!(w.split_once('.'), Some((s, f)) if s.len() == 10 && !f.is_empty() && f.bytes().all(|b| b.is_ascii_digit()))
    })?;
    Some(Stamp { seconds: word.parse().ok()?, dated: true })
}
