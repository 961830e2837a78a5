//! What goes wrong between ranks.

mod bootstrap_unreachable;
mod collective_mismatch;
mod open_files;
mod peer_exited;
mod process_unresponsive;
mod ran_alone;
pub(crate) mod ras;
mod straggler;
pub(crate) mod version_mismatch;

use crate::causes::{Cause, nccl};
use crate::observe::groups::Group;
use linerate_rules::Source;

pub(super) static CAUSES: &[&Cause] = &[
    &version_mismatch::CAUSE,
    &collective_mismatch::CAUSE,
    &ran_alone::CAUSE,
    &open_files::CAUSE,
    &bootstrap_unreachable::CAUSE,
    &process_unresponsive::CAUSE,
    &peer_exited::CAUSE,
    &straggler::CAUSE,
];

const SOCKET_CC: Source =
    nccl("NCCL, src/misc/socket.cc", "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/misc/socket.cc");

const TORCH: Source = nccl(
    "PyTorch, ProcessGroupNCCL.cpp",
    "https://github.com/pytorch/pytorch/blob/main/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp",
);

/// Whether the bootstrap's own messages have the wrong size: the program has exchanged nothing yet.
fn is_bootstrap(g: &Group) -> bool {
    g.quotes.iter().all(|q| q.text.starts_with("Message truncated"))
}
