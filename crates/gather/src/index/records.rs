//! Records again, one at a time.

use super::past::record;
use super::{Head, Index, IndexError, Wanted};
use linerate_fleet::{Record, Row};

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
        let heads = self.heads(group)?;
        let (cells, rows) = self.cells_of(group, heads.len())?;
        let left: Vec<(Head, Vec<u32>)> = heads.into_iter().zip(rows).collect();
        Ok(Records { cells, left: left.into_iter() })
    }

    /// What a group's snapshots say, each row once, and the numbers of each snapshot's.
    pub(super) fn cells_of(&self, group: usize, count: usize) -> Result<(Vec<Row>, Vec<Vec<u32>>), IndexError> {
        let (mut cells, mut rows) = (Vec::new(), vec![Vec::new(); count]);
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
                if let Some(rows) = rows.get_mut(*holder as usize) {
                    rows.push(n);
                }
            }
        })?;
        Ok((cells, rows))
    }
}

impl Iterator for Records {
    type Item = (Head, Record);

    fn next(&mut self) -> Option<(Head, Record)> {
        let (head, rows) = self.left.next()?;
        let record = record(&head, &rows, &self.cells);
        Some((head, record))
    }
}
