//! Jobs among the processes that print: distinguished by their communicators.

use crate::observe::Observer;
use hashbrown::HashMap;
use std::collections::{BTreeMap, BTreeSet};

/// A communicator.
#[derive(Debug)]
pub(crate) struct Group {
    /// Ranks, as given.
    pub(crate) size: u32,
    /// Its members: rank to index in [`Observer`]'s ranks.
    pub(crate) members: BTreeMap<u32, usize>,
}

/// A job: processes that share communicators.
#[derive(Debug, Default)]
pub(crate) struct Job {
    pub(crate) processes: BTreeSet<usize>,
    /// Communicators, the largest first.
    pub(crate) groups: Vec<Group>,
    /// Ranks of which no communicator is known.
    pub(crate) loose: Vec<usize>,
}

impl Job {
    /// Host names, in order.
    pub(crate) fn hosts(&self, o: &Observer) -> Vec<String> {
        o.hosts(self.processes.iter().copied())
    }

    /// All ranks that were seen, of all communicators.
    pub(crate) fn ranks(&self) -> impl Iterator<Item = usize> {
        self.groups.iter().flat_map(|g| g.members.values().copied()).chain(self.loose.iter().copied())
    }

    /// The largest communicator: the job's world.
    pub(crate) fn world(&self) -> Option<&Group> {
        self.groups.first()
    }

    /// Nodes, as NCCL counts them.
    pub(crate) fn nodes(&self, o: &Observer) -> Option<u32> {
        self.ranks().filter_map(|r| o.ranks.all.get(r)?.nodes).max()
    }
}

/// Finds which processes belong together.
struct Union(Vec<usize>);

impl Union {
    fn root(&mut self, mut i: usize) -> usize {
        while let Some(parent) = self.0.get(i).copied().filter(|p| *p != i) {
            let above = self.0.get(parent).copied().unwrap_or(parent);
            if let Some(slot) = self.0.get_mut(i) {
                *slot = above;
            }
            i = above;
        }
        i
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        let (low, high) = (a.min(b), a.max(b));
        if let Some(slot) = self.0.get_mut(high) {
            *slot = low;
        }
    }
}

/// The jobs, in the order of their first lines.
pub(crate) fn jobs(o: &Observer) -> Vec<Job> {
    let processes = &o.threads.processes;
    let mut union = Union((0..processes.len()).collect());
    let (groups, loose) = groups(o);
    for g in &groups {
        let mut members = g.members.values().filter_map(|r| o.ranks.all.get(*r)).map(|r| r.process);
        if let Some(first) = members.next() {
            members.for_each(|p| union.join(first, p));
        }
    }
    // A process that shows no communicator belongs to what else its file shows; a log for each rank shows nothing else.
    let with_comm: BTreeSet<usize> =
        groups.iter().flat_map(|g| g.members.values()).filter_map(|r| Some(o.ranks.all.get(*r)?.process)).collect();
    let mut of_file: HashMap<u32, BTreeSet<usize>> = HashMap::new();
    for p in &with_comm {
        if let Some(process) = processes.get(*p) {
            of_file.entry(process.first.file.0).or_default().insert(union.root(*p));
        }
    }
    let mut first_of_file: HashMap<u32, usize> = HashMap::new();
    for (i, p) in processes.iter().enumerate().filter(|(i, _)| !with_comm.contains(i)) {
        match of_file.get(&p.first.file.0) {
            Some(roots) => roots.iter().take(1).for_each(|r| union.join(*r, i)),
            None => {
                let first = *first_of_file.entry(p.first.file.0).or_insert(i);
                union.join(first, i);
            }
        }
    }
    let mut by_root: BTreeMap<usize, Job> = BTreeMap::new();
    for i in 0..processes.len() {
        by_root.entry(union.root(i)).or_default().processes.insert(i);
    }
    for g in groups {
        let process = g.members.values().next().and_then(|r| Some(o.ranks.all.get(*r)?.process));
        if let Some(job) = process.and_then(|p| by_root.get_mut(&union.root(p))) {
            job.groups.push(g);
        }
    }
    for r in loose {
        let process = o.ranks.all.get(r).map(|r| r.process);
        if let Some(job) = process.and_then(|p| by_root.get_mut(&union.root(p))) {
            job.loose.push(r);
        }
    }
    let mut all: Vec<Job> = by_root.into_values().collect();
    for job in &mut all {
        job.groups.sort_by_key(|g| (std::cmp::Reverse(g.size), std::cmp::Reverse(g.members.len())));
    }
    all
}

/// Communicators of all jobs, and ranks of none.
fn groups(o: &Observer) -> (Vec<Group>, Vec<usize>) {
    let mut by_id: BTreeMap<(u64, u32), Group> = BTreeMap::new();
    let mut by_size: BTreeMap<u32, Vec<Group>> = BTreeMap::new();
    let mut loose = Vec::new();
    let threaded = threaded(o);
    for (i, r) in o.ranks.all.iter().enumerate() {
        let (Some(rank), Some(size)) = (r.rank, r.ranks) else {
            loose.push(i);
            continue;
        };
        match r.comm_id {
            Some(id) => {
                let group = by_id.entry((id, size)).or_insert_with(|| Group { size, members: BTreeMap::new() });
                group.members.insert(rank, i);
            }
            // Without an identity: the first of this size in which the rank is free, and the process not yet a member.
            None => {
                let same = by_size.entry(size).or_default();
                let may_join = threaded.contains(&(r.process, size));
                let free = |g: &&mut Group| {
                    let is_member =
                        || g.members.values().filter_map(|m| o.ranks.all.get(*m)).any(|m| m.process == r.process);
                    !g.members.contains_key(&rank) && (may_join || !is_member())
                };
                match same.iter_mut().find(free) {
                    Some(g) => {
                        g.members.insert(rank, i);
                    }
                    None => same.push(Group { size, members: BTreeMap::from([(rank, i)]) }),
                }
            }
        }
    }
    let groups = by_id.into_values().chain(by_size.into_values().flatten());
    (groups.collect(), loose)
}

/// Processes that hold several ranks of communicators of one size: one process for all GPUs of a node.
fn threaded(o: &Observer) -> BTreeSet<(usize, u32)> {
    let mut ranks: HashMap<(usize, u32), u32> = HashMap::new();
    let mut many = BTreeSet::new();
    for r in &o.ranks.all {
        if let (Some(rank), Some(size)) = (r.rank, r.ranks) {
            let first = *ranks.entry((r.process, size)).or_insert(rank);
            if first != rank {
                many.insert((r.process, size));
            }
        }
    }
    many
}
