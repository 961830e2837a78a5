//! Numbers and names in few characters.

/// `0-7,12,16-23`.
pub(crate) fn ranges(numbers: impl IntoIterator<Item = u32>) -> String {
    linerate_formats::ranges::from(3, numbers)
}

/// The bits of a mask.
pub(crate) fn bits(mask: u64) -> impl Iterator<Item = u32> {
    (0..64).filter(move |b| mask >> b & 1 == 1)
}

/// `a, b, c and 13 more`.
pub(crate) fn some(names: &[String], most: usize) -> String {
    let shown = names.iter().take(most).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_few_characters() {
        assert_eq!(ranges([3, 0, 1, 2, 7, 9, 10]), "0-3,7,9,10");
        assert_eq!(ranges([]), "");
        assert_eq!(bits(0b1011).collect::<Vec<_>>(), [0, 1, 3]);
        assert_eq!(some(&["a".into(), "b".into(), "c".into()], 2), "a, b and 1 more");
    }
}
