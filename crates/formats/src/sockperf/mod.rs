//! What sockperf (2.x to 3.10) prints: `ping-pong`, `under-load`, `playback` and `throughput`.
//!
//! By `client.cpp`: latencies are microseconds, half of the round trip unless `--full-rtt` was given, and so are their deviations
//! and percentiles. `MBps` are 2²⁰ bytes per second of payload, `Mbps` eight times that (2²⁰ bits, not 10⁶), `GBps` and `Gbps`
//! (`--giga-size`) a thousand of those. Throughput is what the client handed to the network, not what arrived.

mod reader;
mod run;
mod values;

pub use reader::{Reader, parse};
pub use run::{
    Bandwidth, Counts, Endpoint, Latency, Lost, Measured, Mode, Observations, Params, Run, Server, Throughput,
    Transport,
};

use crate::tool::{Command, Gives, Mark, Tool, seen, starts};

/// sockperf.
pub const TOOL: Tool = Tool {
    name: "sockperf",
    called: "sockperf",
    run: "sockperf ping-pong -i SERVER",
    gives: Gives::NoFacts("a result of sockperf"),
    marks: &[Mark::aside(|l| starts(l, &["sockperf: ", "sockperf[CLIENT]", "**sockperf: "])).begins(&[
        "sockperf: ",
        "sockperf[CLIENT]",
        "**sockperf: ",
    ])],
    commands: &[Command::any("sockperf")],
    words: &["sockperf"],
    read: Some(|b| seen(parse(b))),
    samples: &["sockperf: == version #3.7-no.git == \n"],
    ..Tool::NONE
};

#[cfg(test)]
mod tests;
