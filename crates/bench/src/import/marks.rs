//! Which tools' outputs a text holds: found in one pass over it, by words that only they print.

use crate::model::Kind;
use aho_corasick::{AhoCorasick, MatchKind, packed};
use std::sync::LazyLock;

/// Words, and whose they are. A word here only makes the reader of that kind look; the reader decides.
static MARKS: LazyLock<Vec<(&'static str, Kind)>> = LazyLock::new(|| {
    let of = |k: Kind| k.benchmark().tool.words.iter().map(move |w| (*w, k));
    Kind::ALL.into_iter().flat_map(of).collect()
});

/// Several words at once by vector instructions, where the processor has them.
static PACKED: LazyLock<Option<packed::Searcher>> = LazyLock::new(|| {
    let mut builder = packed::Config::new().match_kind(packed::MatchKind::LeftmostFirst).builder();
    builder.extend(words());
    builder.build()
});
static FINDER: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(words()).ok());

fn words() -> impl Iterator<Item = &'static str> {
    MARKS.iter().map(|(mark, _)| *mark)
}

/// Kinds whose words stand in a text, in the order in which they appear. No word of one kind begins within another's.
pub(super) fn kinds(bytes: &[u8]) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    let mut found = |pattern: usize| {
        if let Some((_, kind)) = MARKS.get(pattern).filter(|(_, kind)| !kinds.contains(kind)) {
            kinds.push(*kind);
        }
    };
    match (PACKED.as_ref(), FINDER.as_ref()) {
        (Some(packed), _) => packed.find_iter(bytes).for_each(|m| found(m.pattern().as_usize())),
        (None, Some(finder)) => finder.find_iter(bytes).for_each(|m| found(m.pattern().as_usize())),
        (None, None) => return Kind::ALL.to_vec(),
    }
    // Lines of numbers have no words: they are known by their form.
    if !kinds.contains(&Kind::Iperf2) && head(bytes).any(linerate_formats::iperf::is_csv_line) {
        kinds.push(Kind::Iperf2);
    }
    kinds
}

/// Lines at the beginning of a text.
fn head(bytes: &[u8]) -> impl Iterator<Item = &str> {
    let start = bytes.get(..HEAD).unwrap_or(bytes);
    start.split(|b| *b == b'\n').filter_map(|l| str::from_utf8(l).ok()).map(str::trim)
}

/// Bytes in which lines without words are looked for.
const HEAD: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_searches_find_the_same() {
        let packed = PACKED.as_ref();
        let finder = FINDER.as_ref();
        assert!(finder.is_some());
        for (mark, kind) in MARKS.iter() {
            let text = format!("x {mark} y\n{mark}");
            let of = |pattern: usize| MARKS.get(pattern).map(|m| m.1);
            let slow = finder.and_then(|f| of(f.find_iter(&text).next()?.pattern().as_usize()));
            // One of the two programs whose tables are alike stands for both: one reader reads them.
            let like = |k: Option<Kind>| if k == Some(Kind::Iperf2) { Some(Kind::Iperf3) } else { k };
            assert_eq!(like(slow), like(Some(*kind)), "{mark}");
            if let Some(p) = packed {
                assert_eq!(p.find_iter(&text).next().and_then(|m| of(m.pattern().as_usize())), slow, "{mark}");
            }
        }
    }
}
