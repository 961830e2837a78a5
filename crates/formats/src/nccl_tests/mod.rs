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
mod job;
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
    Row, Run, Spread, Step, Tool,
};

use crate::bounds::{Limit, NCCL_TESTS_ROWS, leave_out};
use crate::record::{has_room, keep};
use crate::tool::{Gives, Mark, seen};

/// nccl-tests and rccl-tests.
pub const TOOL: crate::Tool = crate::Tool {
    name: "nccl-tests",
    called: "nccl-tests",
    run: "all_reduce_perf -b 8 -e 8G -f 2 -g 8",
    gives: Gives::NoFacts("a result of nccl-tests"),
    marks: &[
        Mark::beginning(HEADS),
        Mark::line(is_result).begins(FIRST).holds(LITERALS),
        Mark::json(|text| {
            let has = |key: &str| text.contains(key);
            has("\"nccl_version\"") && has("\"args\"") || has("\"algBw\"") && has("\"busBw\"")
        }),
    ],
    words: &[
        "# nThread",
        "out-of-place",
        "busbw",
        "\"busBw\"",
        "\"nccl_version\"",
        "-tests version ",
        "Test NCCL failure",
        "Test CUDA failure",
        "Out of bounds values",
    ],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "# nThread 1 nGpus 8 minBytes 8\n",
        "rccl-tests: Version develop:0123456\n",
        "# nThreads: 1 nGpus: 8 nRanks: 2 minBytes: 8\n",
        "# Collective test starting: all_reduce_perf\n",
        "{\"version\":3,\"args\":[\"./all_reduce_perf\"],\"nccl_version\":23007,\"results\":[]}",
        "[{\"name\":\"AllReduce\",\"algBw\":1.0,\"busBw\":1.5}]",
    ],
    ..crate::Tool::NONE
};

/// What lines begin with that only these programs print.
pub(crate) const HEADS: &[&str] = &[
    "# nThread ",
    "# nThreads: ",
    "# nThread: ",
    "# nccl-tests version",
    "# Avg bus bandwidth",
    "rccl-tests: Version",
    "# rccl-tests version",
    "# Collective test starting: ",
    "# Rank ",
];
/// What a row begins with.
pub(crate) const FIRST: &[&str] = &["+", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
/// What stands in the lines above rows.
pub(crate) const LITERALS: &[&str] = &["algbw   busbw", "#  Rank  "];

/// Whether only these programs print such a line of a table.
pub(crate) fn is_result(line: &str) -> bool {
    LITERALS.iter().any(|l| line.contains(l)) || is_row(line)
}

/// `128  32  float  sum  87.60 …`: a row without its header.
fn is_row(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let number = |w: Option<&str>| w.is_some_and(|w| w.parse::<u64>().is_ok());
    let size_and_count = number(words.next()) && number(words.next());
    size_and_count
        && words
            .next()
            .is_some_and(|t| ["float", "half", "double", "bfloat16", "int8", "uint8", "int32", "uint64"].contains(&t))
        && words.next().is_some_and(|o| ["sum", "prod", "max", "min", "avg", "none"].contains(&o))
}

/// Rows of a usual sweep, 8 B to 8 GiB.
const USUAL_ROWS: usize = 31;
/// Rows that are handed over at once, while a run is read: as many as stay near the processor, and more than nearly any run has.
const PART: usize = if cfg!(test) { 16 } else { 1024 };
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
        if self.rows.len() < NCCL_TESTS_ROWS {
            if self.rows.is_empty() {
                self.rows.reserve(USUAL_ROWS);
            }
            self.rows.push(row);
        } else {
            leave_out(&mut self.left_out, Limit::NCCL_TESTS_ROWS, row.line);
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

    pub(crate) fn push_failure(&mut self, failure: Failure) {
        let line = failure.line;
        keep(&mut self.failures, failure, Limit::NCCL_TESTS_FAILURES, line, &mut self.left_out);
    }

    pub(crate) fn push_rank(&mut self, rank: Rank) {
        let line = rank.line;
        self.ranks_not_kept += u64::from(!has_room(self.ranks.len(), Limit::NCCL_TESTS_RANKS));
        keep(&mut self.ranks, rank, Limit::NCCL_TESTS_RANKS, line, &mut self.left_out);
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod ways;
