//! Whole numbers in sentences.

/// `12,345`.
#[must_use]
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A number with its noun, in singular or plural: `1 port`, `12,345 ports`.
#[must_use]
pub fn counted(n: impl TryInto<u64>, one: &str, many: &str) -> String {
    let n = n.try_into().unwrap_or(u64::MAX);
    format!("{} {}", thousands(n), if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_follow_their_numbers() {
        let of = |n: usize| counted(n, "query", "queries");
        assert_eq!([of(0), of(1), of(2), of(12345)], ["0 queries", "1 query", "2 queries", "12,345 queries"]);
        assert_eq!(thousands(u64::MAX), "18,446,744,073,709,551,615");
    }
}
