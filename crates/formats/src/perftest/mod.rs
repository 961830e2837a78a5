//! What the programs of linux-rdma/perftest print: `ib_write_bw`, `ib_read_lat`, `raw_ethernet_bw`, …, since 2.x, and the reports
//! of `--out_json`.
//!
//! `MB/sec` of older releases and `MiB/sec` of newer ones are the same unit, 2²⁰ bytes per second (`format_factor` in
//! `perftest_parameters.c`); `Gb/sec` is 10⁹ bits.

mod columns;
mod head;
mod json;
mod reader;
mod run;

pub use crate::units::PerSecond;
pub use reader::{Reader, parse};
pub use run::{
    Address, Bandwidth, BandwidthValues, Failure, FailureKind, Header, Kind, LatencyValues, Note, NoteKind, Refused,
    Row, Run, Side, Test, Values,
};

/// Rows that a run keeps. A sweep has 23; a run without end has one each five seconds.
const MAX_ROWS: usize = if cfg!(test) { 8192 } else { 1 << 20 };
/// Ends of connections that a run keeps.
const MAX_ADDRESSES: usize = 256;
/// Failures and remarks that a run keeps.
const MAX_FAILURES: usize = 64;
/// Unreadable rows that a run keeps.
const MAX_REFUSED: usize = 32;
/// Runs that one text may have.
const MAX_RUNS: usize = 1 << 17;

#[cfg(test)]
mod tests;
