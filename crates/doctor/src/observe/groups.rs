//! Things that repeat: how often, where first, on which hosts.

use super::names::Name;
use crate::place::{Place, Quote};
use hashbrown::HashMap;
use linerate_formats::nccl_log::stamp::Stamp;
use std::hash::Hash;

/// Different things at most, and lines that are kept of each.
const MAX_GROUPS: usize = 512;
const MAX_QUOTES: usize = 4;
const MAX_HOSTS: usize = 4096;

/// Something that happened, perhaps often.
#[derive(Debug, Clone)]
pub struct Group {
    /// How often.
    pub count: u64,
    /// The first lines, not more than four.
    pub quotes: Vec<Quote>,
    /// The earliest time stamp.
    pub stamp: Option<Stamp>,
    /// Line of the earliest, by time where there are times, else by place.
    pub first: Place,
    /// Processes, by number, in which it happened; a limited number is kept.
    pub(crate) processes: Vec<usize>,
    /// Process of the first.
    pub(crate) first_process: Option<usize>,
    /// Rank of the first, where known.
    pub(crate) first_rank: Option<usize>,
    /// The host that its lines name, of what no process printed: such lines of two hosts are two groups.
    pub(crate) host: Option<Name>,
}

impl Group {
    /// Whether it began before another: by time where both have comparable times, else by place in one file. `false` where that cannot be known.
    pub(crate) fn is_before(&self, other: &Group) -> bool {
        match (self.stamp, other.stamp) {
            (Some(own), Some(its)) if own.dated == its.dated && own.seconds != its.seconds => own.seconds < its.seconds,
            _ => self.first.file == other.first.file && self.first.line < other.first.line,
        }
    }
}

/// What is grouped.
#[derive(Debug)]
pub(crate) struct Groups<K> {
    by_key: HashMap<K, usize>,
    pub(crate) list: Vec<(K, Group)>,
    /// Beyond the limit.
    pub(crate) untracked: u64,
}

impl<K> Default for Groups<K> {
    fn default() -> Self {
        Groups { by_key: HashMap::default(), list: Vec::new(), untracked: 0 }
    }
}

/// One more.
pub(crate) struct Seen<'a> {
    pub(crate) place: Place,
    pub(crate) text: &'a str,
    pub(crate) stamp: Option<Stamp>,
    pub(crate) process: Option<usize>,
    pub(crate) rank: Option<usize>,
    pub(crate) host: Option<Name>,
}

impl<K: Hash + Eq + Clone> Groups<K> {
    pub(crate) fn add(&mut self, key: K, seen: &Seen<'_>) -> Option<&mut Group> {
        let index = match self.by_key.get(&key) {
            Some(i) => *i,
            None if self.list.len() >= MAX_GROUPS => {
                self.untracked += 1;
                return None;
            }
            None => {
                let group = Group {
                    count: 0,
                    quotes: Vec::new(),
                    stamp: None,
                    first: seen.place,
                    processes: Vec::new(),
                    first_process: seen.process,
                    first_rank: seen.rank,
                    host: seen.host,
                };
                self.by_key.insert(key.clone(), self.list.len());
                self.list.push((key, group));
                self.list.len() - 1
            }
        };
        let (_, group) = self.list.get_mut(index)?;
        group.count += 1;
        if group.quotes.len() < MAX_QUOTES {
            group.quotes.push(Quote::new(seen.place, seen.text));
        }
        // Ranks write when they come to it: by time the first is another than by line.
        let earlier = match (seen.stamp, group.stamp) {
            (Some(new), Some(old)) => new.dated == old.dated && new.seconds < old.seconds,
            (Some(_), None) => true,
            _ => false,
        };
        if earlier || group.count == 1 {
            group.stamp = seen.stamp.or(group.stamp);
            group.first = seen.place;
            group.first_process = seen.process;
            group.first_rank = seen.rank;
            if group.count > 1 {
                group.quotes.insert(0, Quote::new(seen.place, seen.text));
                group.quotes.truncate(MAX_QUOTES);
            }
        }
        // In order; processes come in the order of their numbers, as a rule.
        if let Some(p) = seen.process
            && group.processes.len() < MAX_HOSTS
            && let Err(at) = group.processes.binary_search(&p)
        {
            group.processes.insert(at, p);
        }
        Some(group)
    }
}
