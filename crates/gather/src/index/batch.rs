//! A batch of snapshots in memory, row by row as the number of a cell: what they have in common is kept once.

use super::encode::{Group, Rows, encode};
use super::strings::Strings;
use super::{FileId, LATEST, facts};
use hashbrown::HashMap;
use linerate_fleet::{Record, Row, Said, Seen};
use linerate_formats::bounds;

/// Whose a row is, what it says: all that snapshots can have in common. Texts by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Cell {
    pub(super) fact: u32,
    pub(super) subject: u32,
    pub(super) part: u32,
    pub(super) state: State,
    pub(super) value: Option<u32>,
    pub(super) said: Option<Said>,
}

/// What was seen, as the column has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum State {
    Known,
    Absent,
    Unreadable,
}

impl State {
    pub(super) fn name(self) -> &'static str {
        match self {
            State::Known => "known",
            State::Absent => "absent",
            State::Unreadable => "unreadable",
        }
    }
}

/// A snapshot of the batch. Texts by their numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) snapshot: u32,
    pub(super) node: u32,
    pub(super) label: u32,
    pub(super) class: u32,
    pub(super) layout: u32,
    /// Unix time, seconds.
    pub(super) time: u64,
    /// Its rows end here.
    end: usize,
}

/// Snapshots that become one row group.
#[derive(Debug, Default)]
pub(super) struct Batch {
    strings: Strings,
    cells: Vec<Cell>,
    /// Of each cell the fact again: by its address it is known without looking at it.
    ids: Vec<&'static str>,
    at: HashMap<Cell, u32>,
    /// For each cell the one that came behind it last: nodes that are built alike say nearly the same in the same order.
    behind: Vec<u32>,
    entries: Vec<Entry>,
    rows: Vec<u32>,
}

/// What a row shows, as the column has it.
fn seen(row: &Row) -> (State, Option<&str>) {
    match &row.seen {
        Seen::Known(v) => (State::Known, Some(v)),
        Seen::Absent => (State::Absent, None),
        Seen::Unreadable => (State::Unreadable, None),
    }
}

/// When a snapshot was taken by the clock of the side that collected it, where its name says so: a node's own clock may be wrong.
fn taken(snapshot: &str) -> Option<u64> {
    crate::fan::seconds_of(snapshot)
}

impl Batch {
    /// A snapshot and what it says.
    pub(super) fn add(&mut self, snapshot: &str, file: FileId, record: &Record) {
        let class = record.traits.to_string();
        let identity = record.identity.to_string();
        let node = record.identity.node(&record.label);
        self.head(facts::LAYOUT, &record.layout);
        self.head(facts::IDENTITY, &identity);
        self.head(facts::ADDRESSES, record.addresses.text());
        record.redact_key.iter().for_each(|key| self.head(facts::REDACT_KEY, key));
        self.head(facts::INCOMPLETE, if record.incomplete { "true" } else { "false" });
        self.head(facts::FILE, &file.to_string());
        // Rows come sorted by owner.
        let mut last = (None, 0);
        for row in &record.rows {
            if !last.0.is_some_and(|owner| row.owner.is(owner)) {
                last = (Some(&row.owner), self.strings.number(&row.owner.to_string()));
            }
            if let Some(known) = self.next(last.1, row) {
                self.rows.push(known);
                continue;
            }
            let (state, value) = seen(row);
            let cell = Cell {
                fact: self.strings.number(row.id),
                subject: last.1,
                part: self.strings.number(&row.part),
                state,
                value: value.map(|v| self.strings.number(v)),
                said: row.verdict,
            };
            self.row(cell, row.id);
        }
        let time = taken(snapshot).unwrap_or(record.time);
        self.entry(snapshot, &node, &record.label, &class, &record.layout, time);
    }

    /// A snapshot that could not be read: it is known, and why.
    pub(super) fn add_unreadable(&mut self, snapshot: &str, file: FileId, label: &str, why: &str) {
        self.head(facts::ERROR, why);
        self.head(facts::FILE, &file.to_string());
        self.entry(snapshot, label, label, "? | ? | ? | ?", "", taken(snapshot).unwrap_or(0));
    }

    /// Whether a row group of it is large enough.
    pub(super) fn is_full(&self) -> bool {
        self.entries.len() >= bounds::INDEX_GROUP_NODES
            || self.rows.len() >= bounds::INDEX_GROUP_ROWS / 4
            || self.strings.size() >= bounds::INDEX_PAGE / 4
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn head(&mut self, fact: &'static str, value: &str) {
        let cell = Cell {
            fact: self.strings.number(fact),
            subject: self.strings.number(""),
            part: self.strings.number(""),
            state: State::Known,
            value: Some(self.strings.number(value)),
            said: None,
        };
        self.row(cell, fact);
    }

    /// The cell of a row, where it is the one that came behind the last row before.
    fn next(&self, subject: u32, row: &Row) -> Option<u32> {
        let number = *self.behind.get(*self.rows.last()? as usize)?;
        let cell = self.cells.get(number as usize)?;
        let (state, value) = seen(row);
        let is_same = cell.subject == subject
            && cell.state == state
            && cell.said == row.verdict
            && cell.value.is_some() == value.is_some()
            && self.ids.get(number as usize).is_some_and(|id| std::ptr::eq(*id, row.id))
            && self.strings.is(cell.part, &row.part)
            && cell.value.zip(value).is_none_or(|(n, v)| self.strings.is(n, v));
        is_same.then_some(number)
    }

    fn row(&mut self, cell: Cell, id: &'static str) {
        let next = self.cells.len() as u32;
        let n = *self.at.entry(cell).or_insert(next);
        if n == next {
            self.cells.push(cell);
            self.ids.push(id);
            self.behind.push(n);
        }
        if let Some(behind) = self.rows.last().and_then(|last| self.behind.get_mut(*last as usize)) {
            *behind = n;
        }
        self.rows.push(n);
    }

    fn entry(&mut self, snapshot: &str, node: &str, label: &str, class: &str, layout: &str, time: u64) {
        let mut n = |text| self.strings.number(text);
        let (snapshot, node, label, class, layout) = (n(snapshot), n(node), n(label), n(class), n(layout));
        let time = time.min(LATEST);
        self.entries.push(Entry { snapshot, node, label, class, layout, time, end: self.rows.len() });
    }

    /// As a row group: sorted so that columns become runs.
    pub(super) fn encode(self) -> Result<Group, parquet::errors::ParquetError> {
        let Batch { strings, cells, entries, rows, .. } = self;
        let ranks = strings.ranks();
        let rank = |n: u32| ranks.get(n as usize).copied().unwrap_or(0);
        // Nodes that are built alike are neighbours.
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_by_key(|i| {
            entries.get(*i).map(|e| (rank(e.class), rank(e.layout), rank(e.label), e.time, rank(e.snapshot)))
        });
        let mut sorted: Vec<u32> = (0..cells.len() as u32).collect();
        // Cells are compared often, and each is another one.
        sorted.sort_by_cached_key(|i| {
            cells.get(*i as usize).map(|c| {
                let is_head = strings.get(c.fact).starts_with(facts::HEAD);
                let value = c.value.map(&rank);
                (!is_head, rank(c.fact), rank(c.subject), rank(c.part), c.state, value, c.said)
            })
        });
        // Which snapshots have a cell: counted, then put in place.
        let mut counts = vec![0_usize; cells.len()];
        for n in &rows {
            if let Some(c) = counts.get_mut(*n as usize) {
                *c += 1;
            }
        }
        let mut places = vec![0_usize; cells.len()];
        let mut runs = Vec::with_capacity(cells.len());
        let mut at = 0;
        for i in &sorted {
            let (Some(place), Some(count), Some(cell)) =
                (places.get_mut(*i as usize), counts.get(*i as usize), cells.get(*i as usize))
            else {
                continue;
            };
            *place = at;
            at += count;
            runs.push((*cell, *count as u32));
        }
        let mut holders = vec![0_u32; rows.len()];
        for (new, old) in order.iter().enumerate() {
            let Some(entry) = entries.get(*old) else { continue };
            let from = old.checked_sub(1).and_then(|b| entries.get(b)).map_or(0, |e| e.end);
            for n in rows.get(from..entry.end).unwrap_or_default() {
                if let Some(place) = places.get_mut(*n as usize) {
                    if let Some(holder) = holders.get_mut(*place) {
                        *holder = new as u32;
                    }
                    *place += 1;
                }
            }
        }
        let entries: Vec<Entry> = order.iter().filter_map(|i| entries.get(*i)).copied().collect();
        encode(&Rows { strings: &strings, runs: &runs, entries: &entries, holders: &holders })
    }
}
