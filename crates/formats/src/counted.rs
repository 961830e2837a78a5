//! Numbers with their nouns.

use std::fmt::Display;

/// A number with its noun, in singular or plural: `1 port`, `2 ports`.
#[must_use]
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(n: N, one: &str, many: &str) -> String {
    let noun = if n == N::from(1) { one } else { many };
    format!("{n} {noun}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_are_right() {
        let of = |n: usize| counted(n, "query", "queries");
        assert_eq!([of(0), of(1), of(2)], ["0 queries", "1 query", "2 queries"]);
    }
}
