//! Nodes beside their own past: the records of two snapshots at a time. Groups are read once for each pair of groups, and two are held.

use super::{Head, Index, IndexError};
use crate::fan::seconds_of;
use linerate_fleet::since::Pairs;
use linerate_fleet::{Record, Row, sort};
use linerate_snapshot::dated;

/// A snapshot: its group, its number in that, and what it is.
#[derive(Debug, Clone)]
pub struct Taken {
    at: (usize, usize),
    /// How people call the node.
    pub label: String,
    /// Why the snapshot could not be read.
    pub error: Option<String>,
}

/// A group, of which any record can be made.
struct Held {
    group: usize,
    heads: Vec<Head>,
    cells: Vec<Row>,
    /// Of each snapshot the numbers of its cells.
    rows: Vec<Vec<u32>>,
}

impl Index {
    /// Of each node of a fleet's directory the snapshots before and after a time.
    ///
    /// # Errors
    /// The index cannot be read, or is damaged.
    pub fn pairs(&self, time: u64) -> Result<Pairs<Taken>, IndexError> {
        let mut all: Vec<(String, Taken)> = Vec::new();
        for group in 0..self.groups() {
            for (number, head) in self.heads(group)?.into_iter().enumerate() {
                let Head { snapshot, label, error, .. } = head;
                all.push((snapshot, Taken { at: (group, number), label, error }));
            }
        }
        // Of two of one time the later path counts, as in a directory.
        all.sort_by(|a, b| a.0.cmp(&b.0));
        let times = all.iter().filter_map(|(path, taken)| {
            let name = path.rsplit('/').next()?;
            Some((dated(path)?, seconds_of(name)?, taken.clone()))
        });
        Ok(Pairs::of(times, time, |t| &t.label))
    }

    /// The records of pairs, in any order, each with its number.
    ///
    /// # Errors
    /// The index cannot be read, or is damaged; what was visited before is no answer.
    pub fn compare(
        &self,
        pairs: &[(Taken, Taken)],
        mut visit: impl FnMut(usize, &Record, &Record),
    ) -> Result<(), IndexError> {
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_by_key(|i| pairs.get(*i).map(|(then, now)| (then.at.0, now.at.0, *i)));
        let (mut before, mut after): (Option<Held>, Option<Held>) = (None, None);
        for (i, (then, now)) in order.into_iter().filter_map(|i| Some((i, pairs.get(i)?))) {
            let before = self.held(&mut before, then.at.0)?;
            // Both are in one group where they were indexed at once.
            let after = if then.at.0 == now.at.0 { before } else { self.held(&mut after, now.at.0)? };
            if let (Some(then), Some(now)) = (before.record(then.at.1), after.record(now.at.1)) {
                visit(i, &then, &now);
            }
        }
        Ok(())
    }

    fn held<'h>(&self, place: &'h mut Option<Held>, group: usize) -> Result<&'h Held, IndexError> {
        let other = place.take().filter(|h| h.group == group);
        let held = match other {
            Some(held) => held,
            None => {
                let heads = self.heads(group)?;
                let (cells, rows) = self.cells_of(group, heads.len())?;
                Held { group, heads, cells, rows }
            }
        };
        Ok(place.insert(held))
    }
}

impl Held {
    fn record(&self, number: usize) -> Option<Record> {
        Some(record(self.heads.get(number)?, self.rows.get(number)?, &self.cells))
    }
}

/// A record of its head and the numbers of its cells.
pub(super) fn record(head: &Head, rows: &[u32], cells: &[Row]) -> Record {
    let mut rows: Vec<Row> = rows.iter().filter_map(|n| cells.get(*n as usize)).cloned().collect();
    sort(&mut rows);
    Record {
        identity: head.identity.clone(),
        addresses: head.addresses.clone(),
        redact_key: head.redact_key.clone(),
        label: head.label.clone(),
        time: head.time,
        traits: head.traits.clone(),
        layout: head.layout.to_string(),
        incomplete: head.incomplete,
        rows,
    }
}
