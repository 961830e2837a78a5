//! `/proc/PID/limits`.

use crate::text::{decode, lines};
use serde::Serialize;

/// A resource limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Limit {
    /// No limit.
    Unlimited,
    /// Bytes, or the resource's own unit.
    Value(u64),
}

/// Soft and hard limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// What holds now.
    pub soft: Limit,
    /// What an unprivileged process may raise it to.
    pub hard: Limit,
    /// 1-based line.
    pub line: u32,
}

/// `Max locked memory` in bytes.
pub fn parse_memlock(bytes: &[u8]) -> Option<Limits> {
    let text = decode(bytes);
    lines(&text).find_map(|(line, raw)| {
        let mut words = raw.trim().strip_prefix("Max locked memory")?.split_whitespace();
        Some(Limits { soft: limit(words.next()?)?, hard: limit(words.next()?)?, line })
    })
}

fn limit(word: &str) -> Option<Limit> {
    if word == "unlimited" { Some(Limit::Unlimited) } else { word.parse().ok().map(Limit::Value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memlock() {
        let l = parse_memlock(b"Limit                     Soft Limit           Hard Limit           Units     \nMax locked memory         8388608              unlimited            bytes     \n");
        assert_eq!(l, Some(Limits { soft: Limit::Value(8_388_608), hard: Limit::Unlimited, line: 2 }));
        assert_eq!(parse_memlock(b"Max locked memory   x y\n"), None);
    }
}
