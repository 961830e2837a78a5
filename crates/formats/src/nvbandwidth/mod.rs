//! What nvbandwidth prints: text since 0.1, and JSON (`-j`) since 0.5.
//!
//! Bandwidths are 10⁹ bytes per second, latencies nanoseconds; a cell is the median (or, with `-m`, the mean) of some samples. The
//! definition is the program's source (`output.cpp`, `json_output.cpp`, `inline_common.h`; before 0.5 `nvbandwidth.cpp`).
//!
//! Two things the output does not say of itself: up to 0.1 a pair that was not measured is printed as `0.00`; and in JSON the three
//! matrices of a bidirectional test stand in one, with the description and the sum of the last.

mod json;
mod reader;
mod run;

pub use reader::{Reader, parse};
pub use run::{Device, Failure, Format, Matrix, Nanoseconds, Run, Status, Test, Values};

use crate::tool::{Gives, Mark, Tool, seen};

/// nvbandwidth.
pub const TOOL: Tool = Tool {
    name: "nvbandwidth",
    called: "nvbandwidth",
    run: "nvbandwidth",
    gives: Gives::NoFacts("a result of nvbandwidth"),
    marks: &[
        Mark::line(is_own).begins(&["nvbandwidth Version: ", "\"nvbandwidth\" :", "SUM ", "memcpy "]),
        Mark::json(|text| text.contains("\"nvbandwidth\"")),
    ],
    words: &["nvbandwidth", "memcpy CE ", "memcpy SM ", "\"bandwidth_matrix\""],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "nvbandwidth Version: v0.6\n",
        "SUM host_to_device_memcpy_ce 845.90\n",
        "{\n \"nvbandwidth\" : { \"testcases\" : [] } }\n",
    ],
    ..Tool::NONE
};

fn is_own(line: &str) -> bool {
    let is_sum = || line.strip_prefix("SUM ").is_some_and(|r| r.contains("_memcpy_") || r.contains("_latency_sm "));
    line.starts_with("nvbandwidth Version: ")
        || line.starts_with("\"nvbandwidth\" :")
        || is_sum()
        || line.starts_with("memcpy ") && line.ends_with("(GB/s)")
}

#[cfg(test)]
mod tests;
