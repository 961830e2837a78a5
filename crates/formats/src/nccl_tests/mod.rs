//! What nccl-tests and rccl-tests print: tables since 2017, and JSON.
//!
//! Bandwidths are 10⁹ bytes per second. Times are microseconds; the tests of 2017 printed milliseconds without saying so. The
//! definition is the programs' source (`util.cu`, `common.cu`, and before 2.13 each test's own `print_header`).
//!
//! A run's lines arrive mixed with NCCL's log and with launchers' tags. Rows are therefore read by the words of the header
//! above them, wherever in the line they begin; a row that another's output breaks in two is joined.

mod columns;
mod fast;
mod head;
mod json;
mod parts;
mod reader;
mod records;
mod results;
mod row;
mod run;
mod template;

pub use parts::Collect;
pub use reader::{Reader, parse, parts};
pub use run::{
    Average, BusId, Collective, Delta, Errors, Failure, FailureKind, Measure, OutOfBounds, Params, PerIteration, Rank,
    Refused, Row, Run, Spread, Step, Tool,
};

/// Rows that a run keeps. The largest sweep (`-i` over 8 GiB) that anybody reads has a few thousand; a run that goes on for days
/// (`-N 0`) prints its one size again and again.
pub(crate) const MAX_ROWS: usize = if cfg!(test) { 8192 } else { 1 << 22 };
/// Rows of a usual sweep, 8 B to 8 GiB.
const USUAL_ROWS: usize = 31;
/// Participants that a run keeps.
pub(crate) const MAX_RANKS: usize = 65_536;
/// Failures that a run keeps: with thousands of ranks the first few tell the cause.
pub(crate) const MAX_FAILURES: usize = 256;
/// Unreadable rows that a run keeps.
const MAX_REFUSED: usize = 32;
/// Rows that are handed over at once, while a run is read: as many as stay near the processor, and more than nearly any run has.
const PART: usize = if cfg!(test) { 16 } else { 1024 };
/// Runs that one text may have.
const MAX_RUNS: usize = 1 << 17;

impl Run {
    /// The row of the largest size that has a measurement: the one to judge a run by.
    pub fn largest(&self) -> Option<&Row> {
        self.rows.iter().filter(|r| r.best_busbw().is_some()).max_by_key(|r| r.size)
    }

    /// Whether processes that should have been one run each ran alone: the tests were built without MPI.
    pub fn ran_alone(&self) -> bool {
        self.copies > 1
            || self
                .ranks
                .iter()
                .any(|r| r.rank == 0 && self.ranks.first().is_some_and(|f| f.rank == 0 && f.pid != r.pid))
    }

    /// Different hosts among the participants.
    pub fn hosts(&self) -> usize {
        let mut hosts: Vec<&str> = self.ranks.iter().filter_map(|r| r.host.as_deref()).collect();
        hosts.sort_unstable();
        hosts.dedup();
        hosts.len()
    }

    pub(crate) fn push_row(&mut self, row: Row) {
        if self.rows.len() < MAX_ROWS {
            if self.rows.is_empty() {
                self.rows.reserve(USUAL_ROWS);
            }
            self.rows.push(row);
        } else {
            self.rows_not_kept += 1;
        }
    }

    /// Adds half a row, to the row of the same size where the other half is there.
    pub(crate) fn push_half(&mut self, mut row: Row, in_place: bool, measure: Measure) {
        let slot = |r: &Row| if in_place { r.in_place.is_none() } else { r.out_of_place.is_none() };
        let same = |r: &&mut Row| r.size == row.size && r.dtype == row.dtype && r.redop == row.redop && slot(r);
        let set = |r: &mut Row| if in_place { r.in_place = Some(measure) } else { r.out_of_place = Some(measure) };
        match self.rows.last_mut().filter(same) {
            Some(last) => set(last),
            None => {
                set(&mut row);
                self.push_row(row);
            }
        }
    }

    pub(crate) fn refuse(&mut self, line: u32, why: impl Into<String>) {
        self.refuse_as(Refused { line, why: why.into() });
    }

    pub(crate) fn refuse_as(&mut self, refused: Refused) {
        if self.refused.len() < MAX_REFUSED {
            self.refused.push(refused);
        } else {
            self.refused_not_kept += 1;
        }
    }

    pub(crate) fn push_failure(&mut self, failure: Failure) {
        if self.failures.len() < MAX_FAILURES {
            self.failures.push(failure);
        } else {
            self.failures_not_kept += 1;
        }
    }

    pub(crate) fn push_rank(&mut self, rank: Rank) {
        if self.ranks.len() < MAX_RANKS {
            self.ranks.push(rank);
        } else {
            self.ranks_not_kept += 1;
        }
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod ways;
