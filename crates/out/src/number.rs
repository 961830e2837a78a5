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

/// A number with its noun: `1 node`, `12,345 nodes`.
#[must_use]
pub fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{} {}", thousands(n as u64), if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_follow_their_numbers() {
        let of = |n| counted(n, "node", "nodes");
        assert_eq!([of(0), of(1), of(2), of(12345)], ["0 nodes", "1 node", "2 nodes", "12,345 nodes"]);
        assert_eq!(thousands(u64::MAX), "18,446,744,073,709,551,615");
    }
}
