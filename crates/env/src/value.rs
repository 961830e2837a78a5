//! Values as NCCL reads them.

use linerate_topology::{PathType, Version};
use std::str::FromStr;

pub use linerate_node::nccl::{Entry, Filter};

/// What `strtoll` with base 0 makes of a text: leading blanks, sign, `0x` for 16, `0` for 8, else 10; what follows the digits is passed
/// over, and a text without digits is 0. The second is whether the whole text was the number. `None`: too large, which NCCL refuses.
#[must_use]
pub fn number(text: &str) -> Option<(i64, bool)> {
    let t = text.trim_start_matches([' ', '\t', '\n', '\x0b', '\x0c', '\r']);
    let (negative, t) = match t.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, t.strip_prefix('+').unwrap_or(t)),
    };
    let hex = t.strip_prefix("0x").or_else(|| t.strip_prefix("0X"));
    let (radix, digits) = match hex.filter(|h| h.starts_with(|c: char| c.is_ascii_hexdigit())) {
        Some(h) => (16, h),
        None if t.starts_with('0') => (8, t),
        None => (10, t),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let (body, rest) = digits.split_at(end);
    if body.is_empty() {
        return Some((0, false));
    }
    let magnitude = i128::from_str_radix(body, radix).ok()?;
    let value = i64::try_from(if negative { -magnitude } else { magnitude }).ok()?;
    Some((value, rest.is_empty()))
}

/// A level as a release reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// A name.
    Named(PathType),
    /// An old number, and what it stands for. 2.4 and 2.5 had one step more, the NUMA node: `(4, Phb)` there.
    Old(i64, PathType),
    /// Not understood; the release goes by its default.
    Unknown,
    /// A name in 2.4 and 2.5, which read numbers only: 0, never.
    NameTooEarly,
}

/// Reads a level (`ncclGetLevel`; before 2.6, `NCCL_PARAM`).
#[must_use]
pub fn level(text: &str, v: Option<Version>) -> Level {
    let old = v.is_some_and(|v| !v.since(2, 6));
    let first_digit = text.starts_with(|c: char| c.is_ascii_digit());
    if old && !first_digit {
        return Level::NameTooEarly;
    }
    let by_name = PathType::from_str(text).ok().filter(|t| t.name() == text && *t <= PathType::Sys);
    // What a release does not know yet has no number there.
    let known = by_name.filter(|t| v.is_none_or(|v| t.number(v).is_some()));
    if let Some(t) = known {
        return Level::Named(t);
    }
    if !first_digit {
        return Level::Unknown;
    }
    let n = number(text).map_or(i64::MAX, |(n, _)| n);
    use PathType::{Loc, Phb, Pix, Pxb, Sys};
    let table = if old { [Loc, Pix, Pxb, Phb, Phb, Sys] } else { [Loc, Pix, Pxb, Phb, Sys, Sys] };
    let at = usize::try_from(n.clamp(0, 5)).unwrap_or(0);
    table.get(at).map_or(Level::Unknown, |t| Level::Old(n, *t))
}

impl Level {
    /// What it stands for.
    #[must_use]
    pub fn path(self) -> Option<PathType> {
        match self {
            Level::Named(t) | Level::Old(_, t) => Some(t),
            Level::NameTooEarly => Some(PathType::Loc),
            Level::Unknown => None,
        }
    }
}

/// Whether a value is not the value yet: a shell or a template fills it in.
#[must_use]
pub fn unresolved(value: &str) -> bool {
    value.contains('$') || value.contains("{{") || value.contains('`')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_strtoll_reads_them() {
        for (text, want) in [
            ("1", Some((1, true))),
            (" 22", Some((22, true))),
            ("-2", Some((-2, true))),
            ("0x10", Some((16, true))),
            ("010", Some((8, true))),
            ("08", Some((0, false))),
            ("4M", Some((4, false))),
            ("true", Some((0, false))),
            ("", Some((0, false))),
            ("0x", Some((0, false))),
            ("99999999999999999999", None),
        ] {
            assert_eq!(number(text), want, "{text}");
        }
    }

    #[test]
    fn levels_are_read_by_release() {
        use PathType::*;
        let at = |s: &str| Some(s.parse().unwrap());
        for (text, release, want) in [
            ("PHB", "2.30", Level::Named(Phb)),
            ("5", "2.21", Level::Old(5, Sys)),
            ("4", "2.21", Level::Old(4, Sys)),
            ("3", "2.21", Level::Old(3, Phb)),
            ("4", "2.5.7", Level::Old(4, Phb)),
            ("5", "2.4.8", Level::Old(5, Sys)),
            ("PHB", "2.4.8", Level::NameTooEarly),
            ("phb", "2.21", Level::Unknown),
            ("NODE", "2.21", Level::Unknown),
            ("P2C", "2.21", Level::Unknown),
            ("P2C", "2.30", Level::Named(P2c)),
            ("NET", "2.30", Level::Unknown),
        ] {
            assert_eq!(level(text, at(release)), want, "{text} {release}");
        }
    }
}
