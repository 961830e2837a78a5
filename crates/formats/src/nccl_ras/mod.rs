//! What NCCL's RAS says of a running job: the reports of `ncclras`, as text (NCCL 2.24 to 2.30) and as JSON (from 2.28.7 on), and the events of `ncclras -m`
//! (from 2.29 on).
//!
//! One thread of the job gathers what all processes say of their communicators, and prints a summary: the job, a table in which equal communicators share a
//! row, then errors (who does not answer, which ranks report an error) and warnings (ranks whose status or number of operations differs). Ranks
//! are named where they are few; `-v` names more.
//!
//! <https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting/ras.html>,
//! <https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/ras/client_support.cc>

mod json;
mod line;
mod reader;
mod report;

pub use reader::{Reader, parse};
pub use report::{
    Absent, Calls, Communicator, Errors, Gathered, Group, Member, Reached, Report, Reported, Share, Status, Totals,
};

use crate::tool::{Command, Gives, Mark, Tool, seen};

/// A report of NCCL's RAS.
pub const TOOL: Tool = Tool {
    name: "nccl-ras",
    called: "NCCL RAS report",
    run: "ncclras -v",
    gives: Gives::NoFacts("a report of NCCL's RAS"),
    marks: &[
        Mark::aside(line::is_own)
            .begins(&["NCCL version ", "CUDA runtime version ", "Communicators...", "Group ", "Missing communicator "])
            .holds(&[") INCOMPLETE", ") ERROR", ") MISMATCH", "via the RAS network)"]),
        Mark::json(json::is_own),
    ],
    commands: &[Command::any("ncclras")],
    files: &["ncclras"],
    documents: &["ncclras"],
    read: Some(|b| seen(parse(b))),
    samples: &[
        "NCCL version 2.27.5 compiled with CUDA 12.9\nCUDA runtime version 12090, driver version 13000\n",
        "Communicators... (0.01s)\n=============\n\nGroup     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors\n    #  in group  per comm  per node  per comm  in group\n    0         1         2         8        16        16   RUNNING      OK\n",
        "#0-0 (00000000000000a1) INCOMPLETE\n  Missing communicator data from 1 rank\n",
        "{\n  \"nccl_version\": \"2.29.2\",\n  \"communicators_count\": 1,\n  \"communicators\": [\n    {\n      \"hash\": \"0xa1\",\n      \"secondary_hash\": \"0x1:0x2\",\n",
    ],
    ..Tool::NONE
};

#[cfg(test)]
mod tests;
