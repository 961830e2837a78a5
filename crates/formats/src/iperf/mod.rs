//! What iperf3 (3.0 and later; text, `-J`, `--json-stream`) and iperf 2 (with and without `-e`, and `-y C`) print.
//!
//! Units, by `units.c` of iperf3 and `stdio.c` of iperf 2: bits are counted in powers of 1000, bytes in powers of 1024. `Mbits/sec`
//! is 10⁶ bit/s; `MBytes` and `MBytes/sec` (`-f M`) are 2²⁰ bytes. JSON has plain bytes and bits per second.
//!
//! The text shows three digits; JSON is exact.

mod csv;
mod intervals;
mod json;
mod line;
mod own;
mod reader;
mod row;
mod run;
mod settle;
mod shape;

pub use csv::is_ours as is_csv_line;
pub use reader::{Reader, parse};
pub use run::{
    Connection, Cpu, Direction, Endpoint, Measured, Params, Protocol, Role, Row, Run, Scope, Stream, Tool, Utilisation,
    Way,
};

use crate::tool::{Command, DIGITS, Gives, Mark, seen};

/// iperf3.
pub const IPERF3: crate::Tool = crate::Tool {
    name: "iperf3",
    called: "iperf",
    run: "iperf3 -c SERVER",
    gives: Gives::NoFacts("a result of iperf3"),
    marks: &[
        Mark::aside(|l| own::program(l) == Some(Tool::Iperf3)).begins(own::BEGINNINGS).holds(own::LITERALS),
        Mark::json(|text| {
            let has = |key: &str| text.contains(key);
            has("\"start\"") && (has("\"connected\"") || has("\"iperf ")) && (has("\"intervals\"") || has("\"event\""))
        }),
    ],
    commands: &[Command::any("iperf3")],
    words: &[
        "iperf3:",
        "iperf 3.",
        "Connecting to host ",
        "- - - - - - - - - -",
        "iperf Done.",
        "Bitrate",
        "  Bandwidth  ",
        "\"bits_per_second\"",
        "\"test_start\"",
        "\"system_info\"",
    ],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "Connecting to host 10.0.0.2, port 5201\n",
        "[  5]   0.00-1.00   sec  2.82 GBytes  24.2 Gbits/sec   27   1023 KBytes\n",
        "[ ID][Role] Interval           Transfer     Bitrate         Retr  Cwnd\n",
        "iperf3: error - unable to connect to server: Connection refused\n",
        "{\n\t\"start\":\t{\n\t\t\"connected\":\t[],\n\t\t\"version\":\t\"iperf 3.12\"\n\t},\n\t\"intervals\":\t[]}",
        "{\"event\":\"start\",\"data\":{\"connected\":[],\"version\":\"iperf 3.17\"}}\n",
    ],
    ..crate::Tool::NONE
};

/// iperf 2.
pub const IPERF2: crate::Tool = crate::Tool {
    name: "iperf2",
    called: "iperf",
    run: "iperf -c SERVER -e",
    gives: Gives::NoFacts("a result of iperf 2"),
    marks: &[
        Mark::aside(|l| own::program(l) == Some(Tool::Iperf2)).begins(own::BEGINNINGS).holds(own::LITERALS),
        Mark::aside(is_csv_line).begins(DIGITS),
    ],
    commands: &[Command::any("iperf")],
    words: &["Client connecting to ", "Server listening on UDP", "Server listening on TCP", "  Bandwidth"],
    read: Some(|b| seen(parse(b))),
    samples: &["Client connecting to 10.0.0.2, TCP port 5001\n", "[  3]  0.0-10.0 sec  1.05 GBytes   905 Mbits/sec\n"],
    ..crate::Tool::NONE
};

#[cfg(test)]
mod tests;
