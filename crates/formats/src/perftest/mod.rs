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
    Address, Bandwidth, BandwidthValues, Failure, FailureKind, Header, Kind, LatencyValues, Note, NoteKind, Row, Run,
    Side, Test, Values,
};

#[cfg(test)]
mod tests;
