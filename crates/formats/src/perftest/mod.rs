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
    Address, Bandwidth, BandwidthValues, Failure, FailureKind, Header, Kind, LatencyValues, Memory, Note, NoteKind,
    Row, Run, Side, Test, Values,
};

use crate::tool::{Gives, Mark, Tool, seen, starts};

/// perftest.
pub const TOOL: Tool = Tool {
    name: "perftest",
    called: "perftest",
    run: "ib_write_bw -d mlx5_0 -a --report_gbits SERVER",
    gives: Gives::NoFacts("a result of perftest"),
    marks: &[Mark::line(is_own).begins(BEGINNINGS).holds(LITERALS), Mark::json(|text| text.contains("\"test_info\""))],
    words: &[
        " #bytes",
        "#bytes ",
        " BW Test",
        " Latency Test",
        "\"BW_average\"",
        "\"t_avg\"",
        "\"test_info\"",
        "IB device",
        "Couldn't ",
        " Waiting for client to connect... *",
    ],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "                    RDMA_Write BW Test\n",
        "{\n\"test_info\": {\n\"test\": \"Send_BW_Test\",\n",
        "{\ntest_info: {\ntest: Send_BW_Test,\n",
    ],
    ..Tool::NONE
};

/// What its own lines begin with.
const BEGINNINGS: &[&str] = &["RDMA_Write", "RDMA_Read", "Send", "Atomic", "#bytes", "test_info: {"];
/// What stands in its other lines.
const LITERALS: &[&str] =
    &["Unable to find the Infiniband/RoCE device", "Conflicting CPU frequency values", "Couldn't read remote address"];

fn is_own(line: &str) -> bool {
    const TESTS: &[&str] =
        &["RDMA_Write", "RDMA_Read", "Send", "Atomic FETCH_AND_ADD", "Atomic COMPARE_AND_SWAP", "Atomic"];
    let title = line.ends_with(" Test") && starts(line, TESTS) && (line.contains("BW") || line.contains("Latency"));
    title
        || line.starts_with("#bytes") && line.contains("#iterations")
        || line.starts_with("#bytes #iterations")
        || line.contains("Unable to find the Infiniband/RoCE device")
        || line.contains("Conflicting CPU frequency values")
        || line.contains("Couldn't read remote address")
        // The report of `--out_json`, which was not JSON at first.
        || line.starts_with("test_info: {")
}

#[cfg(test)]
mod tests;
