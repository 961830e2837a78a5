//! Records again, one at a time.

use super::{Head, Index, IndexError, Wanted};
use linerate_fleet::{Record, Row, sort};

/// The records of a group: rows are kept as numbers of cells until a record is asked for.
#[derive(Debug)]
pub struct Records {
    cells: Vec<Row>,
    left: std::vec::IntoIter<(Head, Vec<u32>)>,
}

impl Index {
    /// The snapshots of a group with their records.
    ///
    /// # Errors
    /// It cannot be read, or is damaged.
    pub fn records(&self, group: usize) -> Result<Records, IndexError> {
        let mut all: Vec<(Head, Vec<u32>)> = self.heads(group)?.into_iter().map(|h| (h, Vec::new())).collect();
        let mut cells = Vec::new();
        self.cells(group, Wanted::All, |cell, holders| {
            let n = cells.len() as u32;
            cells.push(Row {
                owner: cell.owner.clone(),
                part: cell.part.to_owned(),
                id: cell.id,
                seen: cell.seen(),
                verdict: cell.said,
            });
            for holder in holders {
                if let Some((_, rows)) = all.get_mut(*holder as usize) {
                    rows.push(n);
                }
            }
        })?;
        Ok(Records { cells, left: all.into_iter() })
    }
}

impl Iterator for Records {
    type Item = (Head, Record);

    fn next(&mut self) -> Option<(Head, Record)> {
        let (head, rows) = self.left.next()?;
        let mut rows: Vec<Row> = rows.iter().filter_map(|n| self.cells.get(*n as usize)).cloned().collect();
        sort(&mut rows);
        let record = Record {
            identity: head.identity.clone(),
            label: head.label.clone(),
            time: head.time,
            traits: head.traits.clone(),
            layout: head.layout.to_string(),
            incomplete: head.incomplete,
            rows,
        };
        Some((head, record))
    }
}
