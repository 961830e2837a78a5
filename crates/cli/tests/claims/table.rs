//! Subject → verb → value.

use std::collections::BTreeMap;

/// What verbs say of one input.
#[derive(Default)]
pub(crate) struct Table {
    claims: BTreeMap<String, BTreeMap<&'static str, Vec<String>>>,
}

impl Table {
    /// A verb's claim. What a verb does not know it does not claim.
    pub(crate) fn say(&mut self, verb: &'static str, subject: impl Into<String>, value: impl Into<String>) {
        let values = self.claims.entry(subject.into()).or_default().entry(verb).or_default();
        let value = value.into();
        if !values.contains(&value) {
            values.push(value);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.claims.values().map(BTreeMap::len).sum()
    }

    pub(crate) fn by_verb(&self) -> BTreeMap<&'static str, usize> {
        let mut out = BTreeMap::new();
        for verb in self.claims.values().flat_map(BTreeMap::keys) {
            *out.entry(*verb).or_default() += 1;
        }
        out
    }

    /// Subjects of which two verbs say different things, or one says two.
    pub(crate) fn contradictions(&self) -> Vec<String> {
        let differ = |verbs: &&BTreeMap<&str, Vec<String>>| {
            let mut all: Vec<&String> = verbs.values().flatten().collect();
            all.sort();
            all.dedup();
            all.len() > 1
        };
        let words = |verbs: &BTreeMap<&str, Vec<String>>| {
            verbs.iter().map(|(verb, v)| format!("{verb}: {}", v.join(" and "))).collect::<Vec<_>>().join("; ")
        };
        self.claims.iter().filter(|(_, v)| differ(v)).map(|(s, v)| format!("{s}: {}", words(v))).collect()
    }
}
