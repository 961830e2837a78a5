//! What leaves the store by itself: what was undone long ago, and what was proven very long ago and has a successor.
//!
//! A record that is the last of its node stays, whatever its age, and so does one whose end was not seen from here: it may be gone on with, or
//! undone. A plan stays while a record needs it.

use super::record::{End, How, now};
use super::{FILES, Plans, Record, Stored};
use std::collections::{BTreeMap, BTreeSet};

const DAY: u64 = 86_400 * 1_000_000_000;
/// Nothing is left to undo.
pub(super) const UNDONE: u64 = 30 * DAY;
/// It could still be undone; a plan that was applied to the node later is likelier to be meant.
pub(super) const PROVEN: u64 = 365 * DAY;
/// A file that a killed writer left.
pub(super) const PART: u64 = DAY;

/// What was removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Records: the node, and the plan's digest.
    pub records: Vec<(String, String)>,
    /// Plans that no record needs any more, by digest.
    pub plans: Vec<String>,
}

impl Plans {
    /// Removes what is old: records of plans that were undone more than 30 days ago, or proven more than 365 days ago, where a later plan was begun
    /// on the same node; then plans without a record that were kept more than 30 days ago.
    ///
    /// # Errors
    /// The store cannot be read or written, or another process holds it.
    pub fn prune(&self) -> Stored<Pruned> {
        self.prune_at(now())
    }

    pub(super) fn prune_at(&self, now: u64) -> Stored<Pruned> {
        let lock = self.dir.lock()?;
        let (names, mut pruned) = (self.dir.names(FILES)?, Pruned::default());
        let is_old = |when: u64, age: u64| now.checked_sub(when).is_some_and(|passed| passed > age);
        let mut records = Vec::new();
        for name in names.iter().filter(|n| n.ends_with(".run")) {
            // What cannot be read stays, and its plan with it.
            if let Ok(Some(record)) = Record::read(&self.dir, name) {
                records.push((name.clone(), record));
            }
        }
        let mut last: BTreeMap<String, u64> = BTreeMap::new();
        for (_, record) in &records {
            let newest = last.entry(record.node()).or_default();
            *newest = record.since().max(*newest);
        }
        let mut gone: BTreeSet<&str> = BTreeSet::new();
        for (name, record) in &records {
            let age = |end: End| match end.how {
                How::Undone => UNDONE,
                How::Proven => PROVEN,
            };
            let ended = record.ended().is_some_and(|end| is_old(end.when, age(end)));
            if ended && last.get(&record.node()).is_some_and(|newest| record.since() < *newest) {
                self.dir.remove_locked(name, &lock)?;
                gone.insert(name);
                pruned.records.push((record.node(), record.plan()));
            }
        }
        let left = names.iter().filter(|n| n.ends_with(".run") && !gone.contains(n.as_str()));
        let needed: BTreeSet<&str> = left.filter_map(|n| n.get(..64)).collect();
        for name in &names {
            let written = self.dir.written(name);
            let is_old = |age: u64| written.is_some_and(|when| is_old(when, age));
            let hash = name.strip_suffix(".plan").or_else(|| name.strip_suffix(".sig")).filter(|h| h.len() == 64);
            match hash {
                Some(hash) if is_old(UNDONE) && !needed.contains(hash) => {
                    self.dir.remove_locked(name, &lock)?;
                    pruned.plans.extend(name.ends_with(".plan").then(|| hash.to_owned()));
                }
                None if name.starts_with('.') && is_old(PART) => self.dir.remove_locked(name, &lock)?,
                _ => {}
            }
        }
        Ok(pruned)
    }
}
