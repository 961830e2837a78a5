//! Questions to an index: which nodes fulfil conditions, and the table that `drift` looks at. Only the rows that a question needs are read.

use super::{Head, Index, IndexError, Wanted};
use linerate_fleet::NodeSet;
use linerate_fleet::condition::{Answer, Condition, Found};
use linerate_fleet::drift::{self, CellNo, GroupNo, NodeNo, Table};
use linerate_fleet::identity::{self, Remark, Sighting};
use linerate_formats::wildcard;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Which snapshots of a node count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// The newest.
    Newest,
    /// The newest that is not younger than this Unix time, seconds.
    At(u64),
    /// Each.
    All,
}

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Question<'q> {
    /// All of them are to hold.
    pub conditions: &'q [Condition],
    /// Of which subjects: `rail 3 NIC`, `rail * NIC`, `node`.
    pub subject: Option<&'q str>,
    /// Of which snapshots.
    pub when: When,
    /// Of which nodes, by their labels; `None`: all.
    pub nodes: Option<&'q NodeSet>,
}

/// A node of an answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
    /// How people call it.
    pub label: String,
    /// Who it is: its identity where both ids are known, else its label.
    pub node: String,
    /// Unix time of the snapshot, seconds: as its name says, else by the node's clock; 0 where neither is known.
    pub time: u64,
    /// The snapshot's path in the directory.
    pub snapshot: String,
}

/// A row that is why nodes fulfil the conditions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reason {
    /// The fact or rule.
    pub id: &'static str,
    /// Whose, as the index has it.
    pub subject: String,
    /// Which of the subject's.
    pub part: String,
    /// The value, or what the rule says; `None`: absent.
    pub value: Option<String>,
}

/// What an index answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answered {
    /// Nodes that fulfil the conditions, by label.
    pub yes: Vec<Node>,
    /// Nodes that could not tell.
    pub cannot_tell: Vec<Node>,
    /// Nodes, or snapshots where each counts, that do not.
    pub no: usize,
    /// Why, and the numbers in `yes` of those who show it.
    pub reasons: BTreeMap<Reason, Vec<usize>>,
    /// What names and identities of all snapshots say together.
    pub remarks: Vec<Remark>,
}

/// What `drift` looks at.
#[derive(Debug)]
pub struct Tabled {
    /// Who shows what, of the chosen snapshots.
    pub table: Table,
    /// Of these, those that could not be read, and why.
    pub unreadable: Vec<(String, String)>,
    /// What names and identities of all snapshots say together, of those that were not chosen as well.
    pub remarks: Vec<Remark>,
}

/// One row group's part of an answer.
struct Part {
    heads: Vec<Head>,
    found: Vec<Vec<Found>>,
    reasons: Vec<(Reason, Vec<u32>)>,
}

impl Index {
    /// Asks which nodes fulfil conditions.
    ///
    /// # Errors
    /// The index cannot be read, or is damaged.
    pub fn ask(&self, question: &Question<'_>) -> Result<Answered, IndexError> {
        let parts = self.each_group(|group| self.part(group, question))?;
        let heads: Vec<&[Head]> = parts.iter().map(|p| p.heads.as_slice()).collect();
        let chosen = chosen(&heads, question.when, question.nodes);
        let mut out = Answered { remarks: remarks(&heads), ..Answered::default() };
        // By group and number in it, the place in `yes`.
        let mut yes: Vec<(Node, (usize, usize))> = Vec::new();
        for (g, part) in parts.iter().enumerate() {
            for (i, (head, found)) in part.heads.iter().zip(&part.found).enumerate() {
                if !chosen.contains(&(g, i)) {
                    continue;
                }
                let answers = question.conditions.iter().zip(found).map(|(c, f)| c.decide(*f));
                let node = || Node {
                    label: head.label.clone(),
                    node: head.node(),
                    time: head.time,
                    snapshot: head.snapshot.clone(),
                };
                match answers.min().unwrap_or(Answer::CannotTell) {
                    Answer::Yes => yes.push((node(), (g, i))),
                    Answer::No => out.no += 1,
                    Answer::CannotTell => out.cannot_tell.push(node()),
                }
            }
        }
        yes.sort();
        out.cannot_tell.sort();
        let places: HashMap<(usize, usize), usize> = yes.iter().enumerate().map(|(n, (_, at))| (*at, n)).collect();
        for (g, part) in parts.into_iter().enumerate() {
            for (reason, holders) in part.reasons {
                let nodes: Vec<usize> = holders.iter().filter_map(|h| places.get(&(g, *h as usize)).copied()).collect();
                if !nodes.is_empty() {
                    out.reasons.entry(reason).or_default().extend(nodes);
                }
            }
        }
        out.reasons.values_mut().for_each(|nodes| nodes.sort_unstable());
        out.yes = yes.into_iter().map(|(node, _)| node).collect();
        Ok(out)
    }

    fn part(&self, group: usize, question: &Question<'_>) -> Result<Part, IndexError> {
        let heads = self.heads(group)?;
        let mut found = vec![vec![Found::default(); question.conditions.len()]; heads.len()];
        let mut reasons = Vec::new();
        let ids: Vec<&str> = question.conditions.iter().map(Condition::id).collect();
        self.cells(group, Wanted::These(&ids), |cell, holders| {
            let subject = cell.owner.to_string();
            if !question.subject.is_none_or(|s| is_subject(s, &subject)) {
                return;
            }
            let seen = cell.seen();
            for (n, condition) in question.conditions.iter().enumerate().filter(|(_, c)| c.id() == cell.id) {
                let here = condition.look(cell.part, &seen, cell.said);
                for holder in holders {
                    if let Some(f) = found.get_mut(*holder as usize).and_then(|f| f.get_mut(n)) {
                        *f = f.and(here);
                    }
                }
                if condition.is_reason(here) {
                    let reason = Reason {
                        id: cell.id,
                        subject: subject.clone(),
                        part: cell.part.to_owned(),
                        value: cell.value.map(str::to_owned),
                    };
                    reasons.push((reason, holders.to_vec()));
                }
            }
        })?;
        Ok(Part { heads, found, reasons })
    }

    /// What nodes are called.
    ///
    /// # Errors
    /// The index cannot be read, or is damaged.
    pub fn labels(&self) -> Result<BTreeSet<String>, IndexError> {
        let all = self.each_group(|group| self.heads(group))?;
        Ok(all.into_iter().flatten().map(|h| h.label).collect())
    }

    /// What `drift` looks at, of some nodes, by their labels, or of all.
    ///
    /// # Errors
    /// The index cannot be read, or is damaged.
    pub fn table(&self, when: When, nodes: Option<&NodeSet>) -> Result<Tabled, IndexError> {
        let all = self.each_group(|group| self.heads(group))?;
        let heads: Vec<&[Head]> = all.iter().map(Vec::as_slice).collect();
        let (chosen, remarks) = (chosen(&heads, when, nodes), remarks(&heads));
        let (mut table, mut unreadable) = (Table::new(), Vec::new());
        for (g, heads) in all.iter().enumerate() {
            let mut numbers: Vec<Option<(NodeNo, GroupNo)>> = Vec::with_capacity(heads.len());
            for (i, head) in heads.iter().enumerate() {
                let is_chosen = chosen.contains(&(g, i));
                if let Some(why) = head.error.as_ref().filter(|_| is_chosen) {
                    unreadable.push((head.label.clone(), why.clone()));
                }
                numbers.push((is_chosen && head.error.is_none()).then(|| {
                    let group = table.group(&head.traits, &head.layout);
                    let about = drift::Head {
                        label: head.label.clone(),
                        identity: head.identity.clone(),
                        time: head.time,
                        incomplete: head.incomplete,
                    };
                    (table.node(about, group), group)
                }));
            }
            self.cells(g, Wanted::Facts, |cell, holders| {
                let seen = cell.seen();
                let mut at: Option<(GroupNo, CellNo)> = None;
                for (node, group) in holders.iter().filter_map(|h| numbers.get(*h as usize).copied().flatten()) {
                    let cell_no = match at {
                        // Nodes that are built alike are neighbours.
                        Some((last, no)) if last == group => no,
                        _ => table.cell(group, cell.owner, cell.part, cell.id, &seen),
                    };
                    at = Some((group, cell_no));
                    table.add(cell_no, node, cell.said);
                }
            })?;
        }
        Ok(Tabled { table, unreadable, remarks })
    }

    /// Something of each group, on all cores, in the order of the groups.
    fn each_group<T: Send>(&self, of: impl Fn(usize) -> Result<T, IndexError> + Sync) -> Result<Vec<T>, IndexError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(self.groups());
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<(usize, Result<T, IndexError>)>> = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let group = next.fetch_add(1, Ordering::Relaxed);
                        if group >= self.groups() {
                            return;
                        }
                        let made = of(group);
                        done.lock().unwrap_or_else(PoisonError::into_inner).push((group, made));
                    }
                });
            }
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(group, _)| *group);
        done.into_iter().map(|(_, made)| made).collect()
    }
}

/// Whether a subject is the one that is asked for.
fn is_subject(asked: &str, subject: &str) -> bool {
    let own = subject.strip_prefix('=').unwrap_or(subject);
    let own = if own.is_empty() { "node" } else { own };
    wildcard::star(asked.to_lowercase().as_bytes(), own.to_lowercase().as_bytes())
}

/// A snapshot, and where its rows are: group and number in it.
type Placed<'h> = ((usize, usize), &'h Head);

fn placed<'h>(groups: &'h [&'h [Head]]) -> impl Iterator<Item = Placed<'h>> {
    groups.iter().enumerate().flat_map(|(g, heads)| heads.iter().enumerate().map(move |(i, h)| ((g, i), h)))
}

fn sighting(head: &Head) -> Sighting<'_> {
    let Head { label, identity, addresses, time, snapshot, .. } = head;
    Sighting { label, identity, addresses, time: *time, snapshot }
}

/// What names and identities of all snapshots say together, of those that do not count any more as well.
fn remarks(groups: &[&[Head]]) -> Vec<Remark> {
    identity::remarks(&placed(groups).map(|(_, h)| sighting(h)).collect::<Vec<_>>())
}

/// The snapshots that count, by group and number. Where each counts, one that could not be read does where its node has no other.
fn chosen(groups: &[&[Head]], when: When, nodes: Option<&NodeSet>) -> HashSet<(usize, usize)> {
    let is_asked = |h: &Head| nodes.is_none_or(|set| set.contains(&h.label));
    let limit = match when {
        When::At(time) => time,
        When::Newest => u64::MAX,
        When::All => {
            let read = || placed(groups).filter(|(_, h)| is_asked(h) && h.error.is_none());
            let seen: HashSet<&str> = read().map(|(_, h)| h.label.as_str()).collect();
            let unread =
                placed(groups).filter(|(_, h)| is_asked(h) && h.error.is_some() && !seen.contains(h.label.as_str()));
            return read().chain(unread).map(|(at, _)| at).collect();
        }
    };
    let all: Vec<Placed<'_>> = placed(groups).filter(|(_, h)| h.time <= limit && is_asked(h)).collect();
    let sightings: Vec<Sighting<'_>> = all.iter().map(|(_, h)| sighting(h)).collect();
    identity::newest(&sightings).into_iter().filter_map(|n| all.get(n)).map(|(at, _)| *at).collect()
}
