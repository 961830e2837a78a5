//! Communicators: who is which rank of how many.

use super::cursor::{after_int, hex};
use crate::text::after;

/// What happened to a communicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// It is being made.
    Start,
    /// It is made.
    Complete,
    /// It was taken down in order.
    Destroyed,
    /// It was taken down after an error.
    Aborted,
}

/// A line about a rank's communicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comm {
    /// Its address in the process: a handle, not an identity.
    pub handle: u64,
    /// Rank.
    pub rank: u32,
    /// Ranks.
    pub ranks: u32,
    /// CUDA device of the process.
    pub cuda_device: Option<u32>,
    /// Device as the driver numbers it.
    pub nvml_device: Option<u32>,
    /// PCI bus id as NCCL prints it: domain, bus, device, function in hexadecimal digits.
    pub bus_id: Option<u64>,
    /// Identity of the communicator over all ranks (2.16 and later).
    pub comm_id: Option<u64>,
    /// Handle of the communicator that this one was split from.
    pub parent: Option<u64>,
    /// What happened.
    pub phase: Phase,
}

/// Reads `ncclCommInitRank comm 0x… rank 3 nranks 16 cudaDev 3 nvmlDev 3 busId 4c000 commId 0x… - Init COMPLETE`, of all releases.
pub(super) fn read(text: &str) -> Option<Comm> {
    let at = text.find("comm ")?;
    let phase = if text.ends_with("Init COMPLETE") {
        Phase::Complete
    } else if text.ends_with("Init START") {
        Phase::Start
    } else if text.ends_with("Destroy COMPLETE") || text.ends_with("Finalize COMPLETE") {
        Phase::Destroyed
    } else if text.ends_with("Abort COMPLETE") {
        Phase::Aborted
    } else {
        return None;
    };
    let rest = text.get(at + 5..)?;
    let (handle, rest) = hex(rest)?;
    // The name differs by release: `nranks`, later `nRanks` in some lines.
    let count = |key| after_int(rest, key).and_then(|n| u32::try_from(n).ok());
    Some(Comm {
        handle,
        rank: count("rank ")?,
        ranks: count("nranks ").or_else(|| count("nRanks "))?,
        cuda_device: count("cudaDev "),
        nvml_device: count("nvmlDev "),
        bus_id: after(rest, "busId ").and_then(hex).map(|(v, _)| v),
        comm_id: after(rest, "commId ").and_then(hex).map(|(v, _)| v),
        parent: after(rest, "parent ").and_then(hex).map(|(v, _)| v),
        phase,
    })
}

/// `comm 0x… rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0`: rank, ranks, nodes, ranks of the node.
pub(super) fn nodes(text: &str) -> Option<(u64, u32, u32, u32, u32)> {
    let rest = text.strip_prefix("comm ")?;
    let (handle, rest) = hex(rest)?;
    let count = |key| after_int(rest, key).and_then(|n| u32::try_from(n).ok());
    Some((handle, count("rank ")?, count("nRanks ")?, count("nNodes ")?, count("localRanks ")?))
}
