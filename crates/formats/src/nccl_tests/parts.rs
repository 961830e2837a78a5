//! Runs in parts: a run of very many rows is never held as a whole.

use super::PART;
use super::run::{Row, Run};
use crate::bounds::{LeftOut, Limit, NCCL_TESTS_ROWS, leave_out};
use crate::record::{add_left_out, has_room};

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
    not_kept: Vec<LeftOut>,
}

impl<'a, C: Collect> Parts<'a, C> {
    pub(super) fn new(to: &'a mut C) -> Self {
        Parts { to, given: 0, not_kept: Vec::new() }
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
        self.cut(rows);
        self.given += rows.len();
        self.to.rows(rows);
        rows.clear();
        rows.extend(last);
    }

    pub(super) fn again(&mut self) {
        (self.given, self.not_kept) = (0, Vec::new());
        self.to.again();
    }

    pub(super) fn run(&mut self, mut run: Run) {
        self.cut(&mut run.rows);
        self.given = 0;
        let not_kept = std::mem::take(&mut self.not_kept);
        add_left_out(&mut run.left_out, not_kept);
        self.to.run(run);
    }

    /// Leaves as many rows as the run may still have.
    fn cut(&mut self, rows: &mut Vec<Row>) {
        let room = NCCL_TESTS_ROWS - self.given;
        for row in rows.iter().skip(room) {
            leave_out(&mut self.not_kept, Limit::NCCL_TESTS_ROWS, row.line);
        }
        rows.truncate(room);
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
        if has_room(self.runs.len(), Limit::NCCL_TESTS_RUNS) {
            self.runs.push(run);
        } else if let Some(last) = self.runs.last_mut() {
            leave_out(&mut last.left_out, Limit::NCCL_TESTS_RUNS, run.lines.0);
        }
    }
}
