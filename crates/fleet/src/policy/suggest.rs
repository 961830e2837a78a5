//! What somebody may have meant.

/// The name that is most like a word, where one is.
pub(super) fn nearest<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    // Longer words cost time, and are no misspelling.
    if word.len() > 128 {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    let most = (lower.len() / 3).clamp(1, 6);
    let near = names.map(|n| (strsim::osa_distance(&lower, &n.to_ascii_lowercase()), n));
    let begins = |n: &str| n.to_ascii_lowercase().starts_with(&lower);
    near.filter(|(d, _)| *d <= most).min_by_key(|(d, n)| (*d, !begins(n))).map(|(_, n)| n)
}
