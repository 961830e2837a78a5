//! Sets of nodes' names, in ClusterShell's syntax: `gpu[001-128,130]!gpu[007,044]`, `@group`, `@source:group`, `rack*`.
//!
//! A name is a text with numbers in it: `gpu007-ib1` is `gpu`, 7 in three digits, `-ib`, 1 in one. Names of one text are kept together, so that
//! they fold to ranges, in as many dimensions as there are numbers. Parsing and folding follow ClusterShell 1.9 (a property test compares
//! both); where this module refuses what ClusterShell takes, [`Why`] says so.

mod error;
mod fold;
mod index;
mod parse;
mod product;
mod range;

pub use error::{NodeSetError, Why};
pub use parse::{Budget, Groups, NoGroups, names_of, parse, parse_within};

use index::{Index, name, split};
use std::collections::{BTreeMap, BTreeSet};

/// The numbers in a name.
type Numbers = Box<[Index]>;

/// A set of names, in ClusterShell's order: by the text around the numbers, then by the numbers, those with fewer digits first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeSet {
    /// By the text of the name, where a number is `%s` and a percent sign `%%`: ClusterShell's order is that of these texts. No set is empty.
    patterns: BTreeMap<String, BTreeSet<Numbers>>,
}

impl NodeSet {
    /// The empty set.
    #[must_use]
    pub fn new() -> Self {
        NodeSet::default()
    }

    /// Adds a name as it is; whether it is new. Nothing in it is syntax: see [`parse`] for that.
    pub fn insert(&mut self, name: &str) -> bool {
        let (pattern, numbers) = split(name);
        self.patterns.entry(pattern).or_default().insert(numbers.into())
    }

    /// Number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.patterns.values().map(BTreeSet::len).sum()
    }

    /// Whether it has no name.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether a name is in it.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        let (pattern, numbers) = split(name);
        self.patterns.get(&pattern).is_some_and(|set| set.contains(numbers.as_slice()))
    }

    /// The names, in order.
    pub fn iter(&self) -> impl Iterator<Item = String> + '_ {
        self.patterns.iter().flat_map(|(pattern, set)| set.iter().map(move |numbers| name(pattern, numbers)))
    }

    /// Names of either.
    #[must_use]
    pub fn union(mut self, other: NodeSet) -> NodeSet {
        for (pattern, set) in other.patterns {
            self.patterns.entry(pattern).or_default().extend(set);
        }
        self
    }

    /// Names of both.
    #[must_use]
    pub fn intersection(mut self, other: &NodeSet) -> NodeSet {
        self.patterns.retain(|pattern, own| {
            match other.patterns.get(pattern) {
                Some(set) => own.retain(|numbers| set.contains(numbers)),
                None => own.clear(),
            }
            !own.is_empty()
        });
        self
    }

    /// Names that the other has not.
    #[must_use]
    pub fn difference(mut self, other: &NodeSet) -> NodeSet {
        for (pattern, set) in &other.patterns {
            let Some(own) = self.patterns.get_mut(pattern) else { continue };
            set.iter().for_each(|numbers| {
                own.remove(numbers);
            });
            if own.is_empty() {
                self.patterns.remove(pattern);
            }
        }
        self
    }

    /// Names that only one of both has.
    #[must_use]
    pub fn symmetric_difference(mut self, other: NodeSet) -> NodeSet {
        for (pattern, set) in other.patterns {
            let own = self.patterns.entry(pattern.clone()).or_default();
            for numbers in set {
                if !own.remove(&numbers) {
                    own.insert(numbers);
                }
            }
            if own.is_empty() {
                self.patterns.remove(&pattern);
            }
        }
        self
    }

    /// Whether all names are in the other.
    #[must_use]
    pub fn is_subset(&self, other: &NodeSet) -> bool {
        self.patterns.iter().all(|(pattern, set)| other.patterns.get(pattern).is_some_and(|o| set.is_subset(o)))
    }
}

impl<S: AsRef<str>> FromIterator<S> for NodeSet {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        let mut set = NodeSet::new();
        set.extend(names);
        set
    }
}

impl<S: AsRef<str>> Extend<S> for NodeSet {
    fn extend<I: IntoIterator<Item = S>>(&mut self, names: I) {
        names.into_iter().for_each(|name| {
            self.insert(name.as_ref());
        });
    }
}

/// Folded: `gpu[001-006,008-128]`.
impl std::fmt::Display for NodeSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, (pattern, set)) in self.patterns.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            fold::write(f, pattern, set)?;
        }
        Ok(())
    }
}

impl serde::Serialize for NodeSet {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

#[cfg(test)]
mod tests;
