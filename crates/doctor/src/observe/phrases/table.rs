//! The phrases as data: `table.tsv`, read once.

use crate::table::rows;
use std::ops::Range;
use std::sync::LazyLock;

const TABLE: &str = include_str!("table.tsv");

/// Words of a program that name a cause to who knows them.
#[derive(Debug)]
pub(crate) struct Phrase {
    /// The cause that they are most often of.
    pub(crate) cause: &'static str,
    /// Who prints them.
    pub(crate) program: &'static str,
    /// All of these are in the line; small letters.
    fragments: Vec<String>,
    /// None of these is; small letters.
    without: Vec<String>,
    /// What they mean.
    pub(crate) means: &'static str,
}

impl Phrase {
    fn read([cause, program, words, means]: [&'static str; 4]) -> Option<Self> {
        let (without, with): (Vec<&str>, Vec<&str>) = words.split(" & ").partition(|w| w.starts_with('!'));
        let small = |w: &&str| w.trim_start_matches('!').to_ascii_lowercase();
        (!with.is_empty() && !means.is_empty()).then(|| Phrase {
            cause,
            program,
            fragments: with.iter().map(small).collect(),
            without: without.iter().map(small).collect(),
            means,
        })
    }

    /// The fragment that is looked for first: the longest.
    pub(super) fn anchor(&self) -> &str {
        self.fragments.iter().max_by_key(|f| f.len()).map_or("", String::as_str)
    }

    /// How much it says.
    pub(super) fn weight(&self) -> usize {
        self.fragments.iter().map(String::len).sum()
    }

    /// Its fragments in one text.
    #[cfg(test)]
    pub(super) fn words(&self) -> String {
        self.fragments.join(" ")
    }

    /// Where it is in a line of small letters: from its first fragment to the end of its last.
    pub(super) fn find(&self, low: &str) -> Option<Range<usize>> {
        if self.without.iter().any(|w| low.contains(w.as_str())) {
            return None;
        }
        let mut span: Option<Range<usize>> = None;
        for f in &self.fragments {
            let at = low.find(f.as_str())?;
            let (start, end) = span.map_or((at, at + f.len()), |s| (s.start.min(at), s.end.max(at + f.len())));
            span = Some(start..end);
        }
        span
    }
}

/// All phrases.
pub(crate) fn phrases() -> &'static [Phrase] {
    static ALL: LazyLock<Vec<Phrase>> = LazyLock::new(|| rows(TABLE).filter_map(Phrase::read).collect());
    &ALL
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::lines;
    use std::collections::BTreeSet;

    #[test]
    fn every_row_is_a_phrase_of_a_known_cause() {
        let known: BTreeSet<&str> = crate::causes::causes().map(|k| k.id).collect();
        assert_eq!(phrases().len(), lines(TABLE).count(), "a row is cause, program, words, meaning");
        for p in phrases() {
            let words = p.words();
            assert!(known.contains(p.cause), "{words}: no such cause");
            assert!(p.anchor().len() >= 6, "{words}: too short to be looked for");
            assert!(p.weight() >= 10, "{words}: says too little");
        }
        assert!(phrases().len() >= 250);
    }

    #[test]
    fn no_phrase_stands_twice() {
        let mut seen = BTreeSet::new();
        for p in phrases() {
            assert!(seen.insert((&p.fragments, &p.without)), "{:?} twice", p.fragments);
        }
    }
}
