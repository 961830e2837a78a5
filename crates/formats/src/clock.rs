//! Times of day as logs and tables write them.

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;

const SECONDS_OF_A_DAY: i64 = 86_400;

/// `2025-07-21 15:57:42,774`, `2025-07-21T15:57:42.774Z`: milliseconds since 1970 by the clock that wrote it, whatever its zone.
/// What follows is not looked at.
pub(crate) fn milliseconds(text: &str) -> Option<i64> {
    let b = text.as_bytes();
    let number = |from: usize, to: usize| -> Option<i64> {
        b.get(from..to)?.iter().try_fold(0_i64, |n, d| d.is_ascii_digit().then(|| n * 10 + i64::from(d - b'0')))
    };
    let is = |at: usize, wanted: u8| b.get(at) == Some(&wanted);
    if !(is(4, b'-') && is(7, b'-') && (is(10, b' ') || is(10, b'T'))) {
        return None;
    }
    // Some write hours without the zero: `2021-02-25 4:20:12`.
    let hour_end = if is(12, b':') { 12 } else { 13 };
    if !(is(hour_end, b':') && is(hour_end + 3, b':')) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let hour = number(11, hour_end)?;
    let (minute, second) = (number(hour_end + 1, hour_end + 3)?, number(hour_end + 4, hour_end + 6)?);
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let fraction = hour_end + 6;
    let has_fraction = is(fraction, b',') || is(fraction, b'.');
    let milliseconds = if has_fraction { number(fraction + 1, fraction + 4).unwrap_or(0) } else { 0 };
    Some((((days(year, month, day)? * 24 + hour) * 60 + minute) * 60 + second) * 1000 + milliseconds)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar; `None` for a date that does not exist.
pub(crate) fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let date = Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()?;
    let midnight = TimeZone::UTC.to_timestamp(date.to_datetime(Time::midnight())).ok()?;
    Some(midnight.as_second().div_euclid(SECONDS_OF_A_DAY))
}

/// A moment that a person wrote, in UTC, as Unix time in seconds: `2026-11-01`, `2026-11-01T12:30:00Z`, `20261101T123000Z` (as files of a fleet are
/// named), or the seconds themselves.
#[must_use]
pub fn moment(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    if digits && text.len() != 8 {
        return text.parse().ok();
    }
    let plain: String = text.chars().filter(|c| c.is_ascii_digit()).collect();
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let whole = match shape.trim_end_matches('Z') {
        "0000-00-00" | "00000000" => format!("{plain}000000"),
        "0000-00-00T00:00:00" | "0000-00-00 00:00:00" | "00000000T000000" => plain,
        _ => return None,
    };
    let part = |from: usize, to: usize| whole.get(from..to)?.parse::<i64>().ok();
    let (hour, minute, second) = (part(8, 10)?, part(10, 12)?, part(12, 14)?);
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let days = days(part(0, 4)?, part(4, 6)?, part(6, 8)?)?;
    u64::try_from(days * SECONDS_OF_A_DAY + hour * 3600 + minute * 60 + second).ok()
}

/// A moment, as Unix time in seconds, in few characters: `20261101T123000Z`. What is after the year 9999 is its last moment.
#[must_use]
pub fn compact(seconds: u64) -> String {
    let moment = i64::try_from(seconds).ok().and_then(|s| Timestamp::from_second(s).ok());
    moment.unwrap_or(Timestamp::MAX).strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// What [`compact`] writes, as Unix time in seconds; `None` for any other form and for a moment that does not exist.
#[must_use]
pub fn from_compact(text: &str) -> Option<u64> {
    let bytes = text.as_bytes();
    let whole = bytes.len() == 16 && bytes.get(8) == Some(&b'T') && bytes.ends_with(b"Z");
    whole.then(|| moment(text)).flatten()
}

#[cfg(test)]
mod tests {
    use super::{compact, from_compact, milliseconds, moment};

    #[test]
    fn compact_moments() {
        for (seconds, text) in [(0, "19700101T000000Z"), (1_793_536_200, "20261101T123000Z")] {
            assert_eq!(compact(seconds), text);
            assert_eq!(from_compact(text), Some(seconds), "{text}");
        }
        assert!(compact(u64::MAX).starts_with("9999123"), "{}", compact(u64::MAX));
        for bad in [
            "",
            "20261101",
            "20261101T123000",
            " 0261101T123000Z",
            "2026-11-01ZZZZZZ",
            "2026112xT203906Z",
            "19691231T235959Z",
            "20260231T000000Z",
            "20261101T990000Z",
            "20261101T126000Z",
            "99999999T999999Z",
        ] {
            assert_eq!(from_compact(bad), None, "{bad}");
        }
    }

    #[test]
    fn moments() {
        for text in ["2026-11-01T12:30:00Z", "2026-11-01 12:30:00", "20261101T123000Z", "1793536200"] {
            assert_eq!(moment(text), Some(1_793_536_200), "{text}");
        }
        for text in ["2026-11-01", "20261101"] {
            assert_eq!(moment(text), Some(1_793_491_200), "{text}");
        }
        for bad in ["", "yesterday", "2026-13-01", "2026-11-01T25:00:00Z", "1969-12-31", "2026-11"] {
            assert_eq!(moment(bad), None, "{bad}");
        }
    }

    #[test]
    fn times_of_day() {
        assert_eq!(milliseconds("1970-01-01 00:00:00"), Some(0));
        assert_eq!(milliseconds("2000-03-01T00:00:00.250Z"), Some(951_868_800_250));
        assert_eq!(milliseconds("2021-02-25 4:20:12"), Some(1_614_226_812_000));
        assert_eq!(milliseconds("1969-12-31 23:59:59,999"), Some(-1));
        for bad in [
            "",
            "2021-13-01 00:00:00",
            "2021-02-29 00:00:00",
            "2021-01-01",
            "2021-01-01 24:00:00",
            "abcd-01-01 00:00:00",
            "2021-01-01 0000:00",
        ] {
            assert_eq!(milliseconds(bad), None, "{bad}");
        }
    }
}
