//! What NCCL (and RCCL) prints with `NCCL_DEBUG`: one line at a time, nothing allocated.
//!
//! ```text
//! [1,0]<stdout>:node1:4711:4720 [3] NCCL INFO Channel 00/0 : 3[3] -> 11[3] [send] via NET/IB/1/GDRDMA
//! └── before ─┘ └──── who ────────┘      └── level, then the message ──────────────────────────────┘
//! ```
//!
//! [`split`] takes a line apart, [`Message::read`] says what the message means. Wordings of releases 2.4 to 2.30 are known; what a number
//! means in which release is in [`distance`], and which releases a wording occurs in is in [`wording`].

mod comm;
mod connect;
mod cursor;
pub mod distance;
pub(crate) mod env;
mod failure;
mod gdr;
mod glued;
pub mod graph;
mod line;
mod message;
mod net;
mod plugin;
pub mod stamp;
pub mod status;
pub mod wording;

pub use comm::{Comm, Phase};
pub use connect::{Connect, Direction, Transport};
pub use cursor::hex;
pub use failure::{Completion, Failure, SocketTrouble};
pub use gdr::{GdrPair, GpuName};
pub use glued::{Glued, split_glued};
pub use line::{Level, Line, Who, split, split_short};
pub use message::{Message, comm_of_call};
pub use net::{Nic, NicList, is_cut, nics, oob};
pub use plugin::Plugin;

use crate::nccl_tests;
use crate::text::decode;
use crate::tool::{Gives, Mark, Tool, seen, starts};

/// A log of NCCL or RCCL.
pub const TOOL: Tool = Tool {
    name: "nccl-log",
    called: "NCCL log",
    run: "NCCL_DEBUG=INFO, in the environment of a job",
    gives: Gives::NoFacts("an NCCL log"),
    marks: &[
        // With what follows them in a log: prose names these words too.
        Mark::line(|l| ["NCCL INFO ", "NCCL WARN ", "NCCL WARN:"].iter().any(|w| l.contains(w)))
            .holds(&["NCCL INFO ", "NCCL WARN"]),
        // The benchmark prints its header before the library's log begins.
        Mark::line_with(|l| starts(l, nccl_tests::HEADS), "NCCL INFO").begins(nccl_tests::HEADS),
        Mark::line_with(nccl_tests::is_result, "NCCL INFO").begins(nccl_tests::FIRST).holds(nccl_tests::LITERALS),
    ],
    read: Some(|b| decode(b).lines().for_each(|l| seen((split(l), split_short(l))))),
    samples: &["node:1:1 [0] NCCL INFO Using network IB\n"],
    ..Tool::NONE
};

#[cfg(test)]
mod tests;
