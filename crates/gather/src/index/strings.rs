//! Texts, each kept once.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// Texts by number, from 0.
#[derive(Debug, Default)]
pub(super) struct Strings {
    bytes: String,
    ends: Vec<usize>,
    at: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Strings {
    /// Number of a text.
    pub(super) fn number(&mut self, text: &str) -> u32 {
        let Strings { bytes, ends, at, hasher } = self;
        let hash = hasher.hash_one(text);
        if let Some(known) = at.find(hash, |n| is(get(bytes, ends, *n), text)) {
            return *known;
        }
        let next = ends.len() as u32;
        bytes.push_str(text);
        ends.push(bytes.len());
        at.insert_unique(hash, next, |n| hasher.hash_one(get(bytes, ends, *n)));
        next
    }

    /// A text by its number; empty for one that was not given out.
    pub(super) fn get(&self, number: u32) -> &str {
        get(&self.bytes, &self.ends, number)
    }

    /// Whether a text has this number.
    pub(super) fn is(&self, number: u32, text: &str) -> bool {
        is(self.get(number), text)
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of all texts.
    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// For each text its place among all, sorted.
    pub(super) fn ranks(&self) -> Vec<u32> {
        let mut sorted: Vec<u32> = (0..self.len() as u32).collect();
        sorted.sort_unstable_by(|a, b| self.get(*a).cmp(self.get(*b)));
        let mut out = vec![0; sorted.len()];
        for (rank, n) in sorted.into_iter().enumerate() {
            if let Some(place) = out.get_mut(n as usize) {
                *place = rank as u32;
            }
        }
        out
    }
}

/// Empty texts are not compared: the address of one may be none, and the C library reads it under a mask, which is slow.
fn is(a: &str, b: &str) -> bool {
    a.len() == b.len() && (a.is_empty() || a == b)
}

fn get<'s>(bytes: &'s str, ends: &[usize], n: u32) -> &'s str {
    let from = n.checked_sub(1).and_then(|b| ends.get(b as usize)).copied().unwrap_or(0);
    ends.get(n as usize).and_then(|to| bytes.get(from..*to)).unwrap_or_default()
}
