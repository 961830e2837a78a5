//! Columns of a row group in memory: as runs where they are sorted, row by row where they name snapshots.

use super::columns::Column;
use super::pages::{Dictionary, Ranges};
use super::{Index, IndexError};

/// A column as runs.
pub(super) struct Runs {
    pub(super) dictionary: Dictionary,
    /// Number in the dictionary, and for how many rows.
    pub(super) runs: Vec<(Option<u32>, u32)>,
}

impl Runs {
    /// Row by row.
    pub(super) fn each(&self) -> impl Iterator<Item = Option<u32>> {
        self.runs.iter().flat_map(|(value, n)| (0..*n).map(|_| *value))
    }
}

/// The wanted rows of a column.
pub(super) fn runs(index: &Index, group: usize, column: Column, ranges: &Ranges) -> Result<Runs, IndexError> {
    let mut runs: Vec<(Option<u32>, u32)> = Vec::new();
    let chunk = index.chunk(group, column)?;
    let dictionary = chunk
        .decode(index.rows(group), ranges, |value, n| match runs.last_mut() {
            Some((last, times)) if *last == value => *times = times.saturating_add(n),
            _ => runs.push((value, n)),
        })
        .map_err(|why| index.damaged(why.to_string()))?;
    Ok(Runs { dictionary, runs })
}

/// The wanted rows of a column that has a value everywhere.
pub(super) fn flat(
    index: &Index,
    group: usize,
    column: Column,
    ranges: &Ranges,
) -> Result<(Dictionary, Vec<u32>), IndexError> {
    let rows = ranges.0.iter().map(|r| r.len()).sum();
    let mut all: Vec<u32> = Vec::with_capacity(rows);
    let chunk = index.chunk(group, column)?;
    let dictionary = chunk
        .decode(index.rows(group), ranges, |value, n| match (value, n) {
            (Some(value), 1) => all.push(value),
            (value, n) => all.resize(all.len().saturating_add(n as usize), value.unwrap_or(u32::MAX)),
        })
        .map_err(|why| index.damaged(why.to_string()))?;
    Ok((dictionary, all))
}
