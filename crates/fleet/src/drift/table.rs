//! Who shows which value: filled node by node, or value by value.

use super::Members;
use crate::{Identity, Owner, Record, Row, Said, Seen, Traits};
use linerate_rules::Severity;
use std::collections::HashMap;

/// A node of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// How people call it.
    pub label: String,
    /// Who it is.
    pub identity: Identity,
    /// Unix time of the capture, seconds.
    pub time: u64,
    /// A limit left something of it out.
    pub incomplete: bool,
}

/// Number of a node in a table.
pub type NodeNo = u32;

/// Nodes that are built alike and of which the same is known: a row means the same on all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupNo(pub(super) u32);

/// A value of a fact, in a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellNo(u32);

/// What a value is of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key {
    pub(super) owner: Owner,
    pub(super) part: String,
    pub(super) id: &'static str,
}

/// Nodes that show a value, and what rules say about it.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub(super) group: GroupNo,
    pub(super) key: u32,
    pub(super) value: u32,
    pub(super) members: Members,
    pub(super) said: Judged,
}

/// What came behind something: the last of it, and another one before. Where nodes differ, it is mostly one of two.
#[derive(Debug, Clone, Copy, Default)]
struct Next([Option<CellNo>; 2]);

impl Next {
    fn came(&mut self, cell: CellNo) {
        let Next([last, other]) = self;
        if *last != Some(cell) {
            *other = last.replace(cell);
        }
    }
}

/// What rules say about a value on the nodes that show it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Judged {
    /// The worst.
    pub(super) worst: Option<Said>,
    /// How bad it is where it is best: what fails there fails for the value's sake, not for another one's. `None`: nobody was asked yet.
    pub(super) least: Option<Option<Severity>>,
}

impl Judged {
    /// On one node.
    fn one(said: Option<Said>) -> Self {
        Judged { worst: said, least: Some(said.and_then(|s| s.failing())) }
    }

    /// On these nodes and those.
    pub(super) fn and(self, other: Judged) -> Self {
        let least = self.least.into_iter().chain(other.least).min();
        Judged { worst: self.worst.max(other.worst), least }
    }
}

/// Who shows which value.
#[derive(Debug, Default)]
pub struct Table {
    pub(super) nodes: Vec<(Head, GroupNo)>,
    pub(super) groups: Vec<(Traits, String)>,
    pub(super) keys: Vec<Key>,
    pub(super) values: Vec<Seen>,
    pub(super) cells: Vec<Cell>,
    /// For each group the cells that a record began with.
    begins: Vec<Next>,
    /// For each cell those that came behind it in a record.
    behind: Vec<Next>,
    group_at: HashMap<(Traits, String), u32>,
    key_at: HashMap<Key, u32>,
    value_at: HashMap<Seen, u32>,
    cell_at: HashMap<(u32, u32, u32), u32>,
}

impl Table {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Table::default()
    }

    /// The group of nodes with these traits and this layout.
    pub fn group(&mut self, traits: &Traits, layout: &str) -> GroupNo {
        let next = self.groups.len() as u32;
        let at = *self.group_at.entry((traits.clone(), layout.to_owned())).or_insert(next);
        if at == next {
            self.groups.push((traits.clone(), layout.to_owned()));
            self.begins.push(Next::default());
        }
        GroupNo(at)
    }

    /// A new node of a group.
    pub fn node(&mut self, head: Head, group: GroupNo) -> NodeNo {
        self.nodes.push((head, group));
        (self.nodes.len() - 1) as u32
    }

    /// The cell of a value. The text of an answer of a rule is no value.
    pub fn cell(&mut self, group: GroupNo, owner: &Owner, part: &str, id: &'static str, seen: &Seen) -> CellNo {
        let key = Key { owner: owner.clone(), part: part.to_owned(), id };
        let key = number(&mut self.key_at, &mut self.keys, key);
        let value = number(&mut self.value_at, &mut self.values, seen.clone());
        let next = self.cells.len() as u32;
        let at = *self.cell_at.entry((group.0, key, value)).or_insert(next);
        if at == next {
            self.cells.push(Cell { group, key, value, members: Members::default(), said: Judged::default() });
            self.behind.push(Next::default());
        }
        CellNo(at)
    }

    /// A node shows the value of a cell, and rules say this about it.
    pub fn add(&mut self, cell: CellNo, node: NodeNo, verdict: Option<Said>) {
        if let Some(cell) = self.cells.get_mut(cell.0 as usize) {
            cell.members.insert(node);
            cell.said = cell.said.and(Judged::one(verdict));
        }
    }

    /// All of a record. Answers of rules are not compared, but what they say of facts.
    pub fn record(&mut self, record: &Record) {
        let group = self.group(&record.traits, &record.layout);
        let head = Head {
            label: record.label.clone(),
            identity: record.identity.clone(),
            time: record.time,
            incomplete: record.incomplete,
        };
        let node = self.node(head, group);
        let mut last = None;
        for row in record.rows.iter().filter(|r| !r.is_answer()) {
            let cell = self.behind(group, last, row);
            self.add(cell, node, row.verdict);
            last = Some(cell);
        }
    }

    /// The cell of a row, behind another one or at the beginning of a record. Nodes that are built alike show nearly the same in the same order:
    /// mostly it is the one that came there before, which costs much less than to look for it.
    fn behind(&mut self, group: GroupNo, last: Option<CellNo>, row: &Row) -> CellNo {
        let before = match last {
            Some(cell) => self.behind.get(cell.0 as usize),
            None => self.begins.get(group.0 as usize),
        };
        let known = before.and_then(|next| next.0.iter().flatten().position(|n| self.is_of(*n, row)));
        let cell = match (known, before) {
            (Some(at), Some(Next(cells))) => cells.get(at).copied().flatten(),
            _ => None,
        };
        let cell = cell.unwrap_or_else(|| self.cell(group, &row.owner, &row.part, row.id, &row.seen));
        if known != Some(0) {
            let next = match last {
                Some(before) => self.behind.get_mut(before.0 as usize),
                None => self.begins.get_mut(group.0 as usize),
            };
            next.into_iter().for_each(|next| next.came(cell));
        }
        cell
    }

    /// Whether a cell is that of a row of its group.
    fn is_of(&self, cell: CellNo, row: &Row) -> bool {
        let Some(cell) = self.cells.get(cell.0 as usize) else { return false };
        let is_key = |k: &Key| std::ptr::eq(k.id, row.id) && k.part == row.part && k.owner == row.owner;
        self.keys.get(cell.key as usize).is_some_and(is_key)
            && self.values.get(cell.value as usize).is_some_and(|v| *v == row.seen)
    }

    /// The nodes, by their numbers.
    pub fn heads(&self) -> impl Iterator<Item = &Head> {
        self.nodes.iter().map(|(head, _)| head)
    }
}

fn number<T: Clone + Eq + std::hash::Hash>(at: &mut HashMap<T, u32>, all: &mut Vec<T>, one: T) -> u32 {
    if let Some(known) = at.get(&one) {
        return *known;
    }
    let next = all.len() as u32;
    at.insert(one.clone(), next);
    all.push(one);
    next
}
