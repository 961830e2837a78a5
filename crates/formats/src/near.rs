//! The name that somebody meant.

/// The name with the most bigrams in common with what was asked for, if it has many.
pub fn nearest<'n>(asked: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let pairs = |s: &str| s.as_bytes().windows(2).map(<[u8]>::to_vec).collect::<Vec<_>>();
    let wanted = pairs(asked);
    let score = |name: &str| {
        let have = pairs(name);
        wanted.iter().filter(|p| have.contains(p)).count() * 200 / (have.len() + wanted.len()).max(1)
    };
    names.map(|name| (score(name), name)).max().filter(|(s, _)| *s >= 40).map(|(_, name)| name)
}
