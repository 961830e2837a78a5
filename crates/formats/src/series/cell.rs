//! One cell.

use super::names::{Unit, unit};
use crate::number::simple;

/// What a cell is, as far as it tells alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cell<'a> {
    Missing,
    /// A plain number.
    Number(f64),
    /// A number and what follows it.
    WithUnit(f64, &'a str, Unit),
    /// A number with a comma: see [`Comma`].
    Comma(Comma),
    /// `nan`, `inf`.
    NotFinite,
    /// A time of day, milliseconds since 1970.
    Clock(i64),
    Word,
}

/// What a comma in a number can be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Comma {
    /// Only the decimal sign: the number.
    Decimal(f64),
    /// Only thousands: the number.
    Thousands(f64),
    /// Either: as decimal sign, and as thousands.
    Either(f64, f64),
}

pub(super) fn read(text: &str) -> Cell<'_> {
    let text = text.trim_ascii();
    let bytes = text.as_bytes();
    let Some(first) = bytes.first() else { return Cell::Missing };
    if first.is_ascii_digit() || matches!(first, b'-' | b'+' | b'.') {
        let (digits, sign) = bytes.strip_prefix(b"-").map_or((bytes, 1.0), |rest| (rest, -1.0));
        if let Some(v) = simple(digits) {
            return Cell::Number(sign * v);
        }
        return number(text);
    }
    match text {
        "NA" | "N/A" | "n/a" | "na" | "null" | "NULL" | "None" | "none" | "?" | "—" | "–" => Cell::Missing,
        _ if is_not_finite(text) => Cell::NotFinite,
        _ => Cell::Word,
    }
}

fn is_not_finite(text: &str) -> bool {
    let plain = text.trim_start_matches(['-', '+']);
    ["nan", "inf", "infinity"].iter().any(|w| plain.eq_ignore_ascii_case(w))
}

fn number(text: &str) -> Cell<'_> {
    if text == "-" || text == "--" {
        return Cell::Missing;
    }
    if is_not_finite(text) {
        return Cell::NotFinite;
    }
    let is_part = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E' | b',');
    let mut end = text.bytes().position(|b| !is_part(b)).unwrap_or(text.len());
    // `5 eV` and `12e` are no exponents.
    while end > 0 && text.as_bytes().get(end - 1).is_some_and(|b| matches!(b, b'e' | b'E' | b'+' | b'-')) {
        end -= 1;
    }
    let (digits, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let value = if digits.contains(',') { comma(digits).map(Cell::Comma) } else { plain(digits).map(Cell::Number) };
    let rest = rest.trim();
    match value {
        Some(value) if rest.is_empty() => value,
        Some(Cell::Number(v)) => match unit(rest) {
            Some(u) => Cell::WithUnit(v, rest, u),
            None => clock(text),
        },
        _ => clock(text),
    }
}

fn plain(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|v| v.is_finite())
}

fn clock(text: &str) -> Cell<'_> {
    crate::clock::milliseconds(text).map_or(Cell::Word, Cell::Clock)
}

/// `12,5`, `1,234`, `1.234,5`, `1,234.5`.
fn comma(text: &str) -> Option<Comma> {
    let sign = text.starts_with('-');
    let body = text.trim_start_matches(['-', '+']);
    let groups = |whole: &str, by: char| {
        let mut parts = whole.split(by);
        let is_digits = |p: &str| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit());
        let first = parts.next().is_some_and(|p| is_digits(p) && p.len() <= 3 && p != "0");
        first && parts.all(|p| p.len() == 3 && is_digits(p))
    };
    let joined = |t: &str, drop: char| plain(&t.chars().filter(|c| *c != drop).collect::<String>().replace(',', "."));
    let signed = |v: f64| if sign { -v } else { v };
    let (whole, fraction) = body.rsplit_once(',')?;
    let is_digits = |p: &str| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit());
    if let Some((before, after)) = body.split_once('.') {
        // Both signs: the last one is the decimal one.
        if before.contains(',') && !after.contains(',') {
            let v = groups(before, ',').then(|| plain(&body.replace(',', ""))).flatten()?;
            return Some(Comma::Thousands(signed(v)));
        }
        let v = (groups(whole, '.') && is_digits(fraction)).then(|| joined(body, '.')).flatten()?;
        return Some(Comma::Decimal(signed(v)));
    }
    if whole.contains(',') {
        let v = groups(body, ',').then(|| plain(&body.replace(',', ""))).flatten()?;
        return Some(Comma::Thousands(signed(v)));
    }
    if !is_digits(whole) {
        return None;
    }
    let decimal = plain(&body.replace(',', "."))?;
    match groups(body, ',') {
        true => Some(Comma::Either(signed(decimal), signed(plain(&body.replace(',', ""))?))),
        false => is_digits(fraction).then_some(Comma::Decimal(signed(decimal))),
    }
}
