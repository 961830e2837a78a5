//! Runs in parts: a run of very many rows is never held as a whole.

use super::run::{Row, Run};
use super::{MAX_ROWS, MAX_RUNS, PART};

/// Takes what is read, as it is read.
pub trait Collect {
    /// Rows of the run that comes next, which will not have them. More of them may follow. What is not taken out is dropped.
    fn rows(&mut self, rows: &mut Vec<Row>);
    /// The rows since the last run do not count: they may come again.
    fn again(&mut self);
    /// A run, with its last rows.
    fn run(&mut self, run: Run);
}

/// Hands over what is read, of each run no more rows than are kept.
pub(super) struct Parts<'a, C> {
    to: &'a mut C,
    /// Rows of the run under way that were handed over, and that were too many.
    given: usize,
    not_kept: u64,
}

impl<'a, C: Collect> Parts<'a, C> {
    pub(super) fn new(to: &'a mut C) -> Self {
        Parts { to, given: 0, not_kept: 0 }
    }

    /// Rows of the run under way: they are taken where there are enough of them. The last one stays, it may still change.
    #[inline]
    pub(super) fn rows(&mut self, rows: &mut Vec<Row>) {
        if rows.len() > PART {
            self.part(rows);
        }
    }

    fn part(&mut self, rows: &mut Vec<Row>) {
        let last = rows.pop();
        let room = MAX_ROWS - self.given;
        self.not_kept += rows.len().saturating_sub(room) as u64;
        rows.truncate(room);
        self.given += rows.len();
        self.to.rows(rows);
        rows.clear();
        rows.extend(last);
    }

    pub(super) fn again(&mut self) {
        (self.given, self.not_kept) = (0, 0);
        self.to.again();
    }

    pub(super) fn run(&mut self, mut run: Run) {
        let room = MAX_ROWS - self.given;
        run.rows_not_kept += self.not_kept + run.rows.len().saturating_sub(room) as u64;
        run.rows.truncate(room);
        (self.given, self.not_kept) = (0, 0);
        self.to.run(run);
    }
}

/// Puts the parts together.
#[derive(Default)]
pub(super) struct Whole {
    rows: Vec<Row>,
    pub(super) runs: Vec<Run>,
}

impl Collect for Whole {
    fn rows(&mut self, rows: &mut Vec<Row>) {
        self.rows.append(rows);
    }

    fn again(&mut self) {
        self.rows.clear();
    }

    fn run(&mut self, mut run: Run) {
        if !self.rows.is_empty() {
            self.rows.append(&mut run.rows);
            run.rows = std::mem::take(&mut self.rows);
        }
        if self.runs.len() < MAX_RUNS {
            self.runs.push(run);
        } else if let Some(last) = self.runs.last_mut() {
            last.runs_not_kept += 1;
        }
    }
}
