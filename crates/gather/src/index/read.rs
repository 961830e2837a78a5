//! Row groups of an index: their heads, and their cells with the snapshots that have each.

use super::batch::State;
use super::columns::Column;
use super::decode::{Runs, flat, runs};
use super::pages::Ranges;
use super::{FileId, Index, IndexError, facts};
use linerate_fleet::{Addresses, Identity, Owner, Said, Seen, Severity, Status, Traits};
use linerate_formats::bounds;
use std::collections::HashMap;
use std::sync::Arc;

/// A snapshot of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Its path in the directory.
    pub snapshot: String,
    /// The file as it was when it was read.
    pub file: FileId,
    /// How people call the node.
    pub label: String,
    /// Who it is.
    pub identity: Identity,
    /// By which addresses it is reached.
    pub addresses: Addresses,
    /// Key of the operator with which what identifies was hashed.
    pub redact_key: Option<String>,
    /// Unix time, seconds: what the snapshot's name says, else the node's own clock; 0 where neither is known.
    pub time: u64,
    /// Which hardware.
    pub traits: Traits,
    /// Its devices.
    pub layout: Arc<str>,
    /// A limit left something out.
    pub incomplete: bool,
    /// Why the file could not be read; then nothing else is known.
    pub error: Option<String>,
}

impl Head {
    /// What tells nodes apart: the identity where both ids are known, else the label.
    #[must_use]
    pub fn node(&self) -> String {
        self.identity.node(&self.label)
    }
}

/// What some snapshots say.
#[derive(Debug, Clone, Copy)]
pub struct Cell<'g> {
    /// Id of the fact or rule.
    pub id: &'static str,
    /// Whose.
    pub owner: &'g Owner,
    /// Which of the owner's.
    pub part: &'g str,
    /// Its value; `None`: see `absent`.
    pub value: Option<&'g str>,
    /// It is certainly not there. Neither this nor a value: it could not be seen.
    pub absent: bool,
    /// What rules say about it.
    pub said: Option<Said>,
}

impl Cell<'_> {
    /// As a record has it.
    #[must_use]
    pub fn seen(&self) -> Seen {
        match self.value {
            Some(value) => Seen::Known(value.to_owned()),
            None if self.absent => Seen::Absent,
            None => Seen::Unreadable,
        }
    }
}

/// Which cells are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted<'w> {
    /// Facts and answers.
    All,
    /// Facts only.
    Facts,
    /// Those with these ids.
    These(&'w [&'w str]),
}

impl Wanted<'_> {
    fn wants(self, id: &str) -> bool {
        !id.starts_with(facts::HEAD)
            && match self {
                Wanted::All => true,
                Wanted::Facts => !id.contains('/'),
                Wanted::These(ids) => ids.contains(&id),
            }
    }
}

impl Index {
    /// Rows whose facts are wanted.
    fn ranges(&self, group: usize, wanted: impl Fn(&str) -> bool) -> Result<(Runs, Ranges), IndexError> {
        let rows = self.rows(group);
        let all = runs(self, group, Column::Fact, &Ranges(std::iter::once(0..rows).collect()))?;
        let wants: Vec<bool> = all.dictionary.texts().map(wanted).collect();
        let (mut at, mut out, mut kept) = (0_u32, Vec::<std::ops::Range<u32>>::new(), Vec::new());
        for (fact, n) in &all.runs {
            if fact.is_some_and(|f| wants.get(f as usize) == Some(&true)) {
                match out.last_mut() {
                    Some(last) if last.end == at => last.end += n,
                    _ => out.push(at..at + n),
                }
                kept.push((*fact, *n));
            }
            at += n;
        }
        Ok((Runs { dictionary: all.dictionary, runs: kept }, Ranges(out)))
    }

    /// The snapshots of a group, by their numbers in it.
    ///
    /// # Errors
    /// It cannot be read, or is damaged.
    pub fn heads(&self, group: usize) -> Result<Vec<Head>, IndexError> {
        let (fact, ranges) = self.ranges(group, |id| id.starts_with(facts::HEAD))?;
        let value = runs(self, group, Column::Value, &ranges)?;
        let (snapshots, holders) = flat(self, group, Column::Snapshot, &ranges)?;
        let (labels, label) = flat(self, group, Column::Label, &ranges)?;
        let (classes, class) = flat(self, group, Column::Class, &ranges)?;
        let (times, time) = flat(self, group, Column::Time, &ranges)?;
        if snapshots.len() > bounds::INDEX_GROUP_ROWS.min(holders.len()) {
            return Err(self.damaged("it names snapshots without rows".to_owned()));
        }
        let mut heads: Vec<Option<Head>> = vec![None; snapshots.len()];
        let mut layouts: HashMap<u32, Arc<str>> = HashMap::new();
        let columns = fact.each().zip(value.each()).zip(holders).zip(label).zip(class).zip(time);
        for (((((fact_no, value_no), holder), label), class), time) in columns {
            let (Some(place), Some(fact_no)) = (heads.get_mut(holder as usize), fact_no) else { continue };
            let head = place.get_or_insert_with(|| Head {
                snapshot: snapshots.text(holder).to_owned(),
                file: FileId::default(),
                label: labels.text(label).to_owned(),
                identity: Identity::default(),
                addresses: Addresses::default(),
                redact_key: None,
                time: u64::try_from(times.number(time) / 1_000_000).unwrap_or(0),
                traits: Traits::from(classes.text(class)),
                layout: Arc::default(),
                incomplete: false,
                error: None,
            });
            let text = value_no.map(|v| value.dictionary.text(v)).unwrap_or_default();
            match fact.dictionary.text(fact_no) {
                facts::LAYOUT => {
                    let layout = layouts.entry(value_no.unwrap_or(u32::MAX)).or_insert_with(|| Arc::from(text));
                    head.layout = layout.clone();
                }
                facts::IDENTITY => head.identity = Identity::from(text),
                facts::ADDRESSES => head.addresses = Addresses::from(text),
                facts::REDACT_KEY => head.redact_key = Some(text.to_owned()),
                facts::INCOMPLETE => head.incomplete = text != "false",
                facts::FILE => head.file = text.parse().unwrap_or_default(),
                facts::ERROR => head.error = Some(text.to_owned()),
                _ => {}
            }
        }
        if heads.iter().any(Option::is_none) {
            return Err(self.damaged("a snapshot has no head".to_owned()));
        }
        Ok(heads.into_iter().flatten().collect())
    }

    /// The wanted cells of a group, each with the numbers of the snapshots that have it (those of [`Self::heads`]). Facts and rules that this
    /// version does not know are left out.
    ///
    /// # Errors
    /// It cannot be read, or is damaged; what was visited before is no answer.
    pub fn cells(
        &self,
        group: usize,
        wanted: Wanted<'_>,
        mut visit: impl FnMut(Cell<'_>, &[u32]),
    ) -> Result<(), IndexError> {
        let (fact, ranges) = self.ranges(group, |id| wanted.wants(id))?;
        if ranges.0.is_empty() {
            return Ok(());
        }
        let column = |c| runs(self, group, c, &ranges);
        let (subject, part, value) = (column(Column::Subject)?, column(Column::Part)?, column(Column::Value)?);
        let (state, verdict) = (column(Column::State)?, column(Column::Verdict)?);
        let (severity, rule) = (column(Column::Severity)?, column(Column::Rule)?);
        let (_, holders) = flat(self, group, Column::Snapshot, &ranges)?;
        let ids: Vec<_> = fact.dictionary.texts().map(linerate_fleet::id).collect();
        let owners: Vec<_> = subject.dictionary.texts().map(Owner::from).collect();
        let absent: Vec<bool> = state.dictionary.texts().map(|s| s == State::Absent.name()).collect();
        let statuses: Vec<_> =
            verdict.dictionary.texts().map(|t| Status::ALL.iter().find(|s| s.name() == t).copied()).collect();
        let severities: Vec<_> =
            severity.dictionary.texts().map(|t| Severity::ALL.iter().find(|s| s.name() == t).copied()).collect();
        let rules: Vec<_> = rule.dictionary.texts().map(linerate_fleet::id).collect();
        let mut cursors =
            [&fact, &subject, &part, &value, &state, &verdict, &severity, &rule].map(|r| Cursor::new(&r.runs));
        // A row that lacks what it must have shows nothing.
        let (parts, values) = (&part.dictionary, &value.dictionary);
        let mut rest = holders.as_slice();
        while !rest.is_empty() {
            let n = cursors.iter().map(Cursor::left).min().unwrap_or(0);
            if n == 0 {
                return Err(self.damaged("its columns have different numbers of rows".to_owned()));
            }
            let [fact, subject, part, value, state, verdict, severity, rule] = cursors.each_ref().map(Cursor::value);
            let (some, others) = rest.split_at_checked(n as usize).unwrap_or((rest, &[]));
            rest = others;
            cursors.iter_mut().for_each(|c| c.take(n));
            let said = || {
                Some(Said {
                    status: at(&statuses, verdict)??,
                    severity: at(&severities, severity)??,
                    rule: at(&rules, rule)??,
                })
            };
            let (Some(Some(id)), Some(owner)) = (at(&ids, fact), subject.and_then(|s| owners.get(s as usize))) else {
                continue;
            };
            let cell = Cell {
                id,
                owner,
                part: part.map(|p| parts.text(p)).unwrap_or_default(),
                value: value.map(|v| values.text(v)),
                absent: at(&absent, state).unwrap_or(false),
                said: said(),
            };
            visit(cell, some);
        }
        Ok(())
    }
}

/// What a column's number means.
fn at<T: Copy>(all: &[T], number: Option<u32>) -> Option<T> {
    all.get(number? as usize).copied()
}

/// A place in the runs of a column.
struct Cursor<'r> {
    now: (Option<u32>, u32),
    rest: std::slice::Iter<'r, (Option<u32>, u32)>,
}

impl<'r> Cursor<'r> {
    fn new(runs: &'r [(Option<u32>, u32)]) -> Self {
        let mut rest = runs.iter();
        Cursor { now: rest.next().copied().unwrap_or_default(), rest }
    }

    fn left(&self) -> u32 {
        self.now.1
    }

    fn value(&self) -> Option<u32> {
        self.now.0
    }

    fn take(&mut self, n: u32) {
        self.now.1 = self.now.1.saturating_sub(n);
        if self.now.1 == 0 {
            self.now = self.rest.next().copied().unwrap_or_default();
        }
    }
}
