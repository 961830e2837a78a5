//! Xid reports of the NVIDIA driver: how their lines read, and what NVIDIA's catalogue says about each number.
//!
//! The catalogue is data: `data/catalogue.tsv` (numbers, names, resolution buckets) and `data/nvlink5.tsv` (the rows by unit and status
//! for 144 to 150). Nothing here decides what a person should do: `linerate_rules::xid` does.

mod catalogue;
mod line;

pub use catalogue::{Bucket, Class, Meaning, entries, meaning};
pub use line::{Xid, read};

use serde::Serialize;

/// What a line says beside its number, as far as it decides what to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum Detail {
    /// Nothing more than the number.
    Number,
    /// 45: the channels were removed because of this earlier Xid.
    After(u32),
    /// 144 to 150: the unit, and what is wrong there.
    NvLink(Subcode),
    /// 154: the recovery action that the driver names from now on.
    Recovery(Recovery),
}

/// Place in the decode table of Xids 144 to 150.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Subcode {
    /// Unit as the log names it; empty for one that the table does not have.
    pub unit: &'static str,
    /// Bits 25 to 20 of the first word: the kind of event.
    pub sub: u8,
    /// The second word: error status.
    pub status: u32,
    /// The driver's own word: `Fatal`, else `Nonfatal`.
    pub fatal: bool,
}

/// What the driver asks for, from `_gpuRecoveryActionName` in open-gpu-kernel-modules, `src/nvidia/src/kernel/gpu/gpu.c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum Recovery {
    /// `None`.
    None,
    /// `GPU Reset Required`.
    GpuReset,
    /// `Node Reboot Required`.
    NodeReboot,
    /// `Drain P2P`.
    DrainP2p,
    /// `Drain and Reset`.
    DrainAndReset,
    /// `Recover IMEX Domain`.
    RecoverImex,
    /// A name that is not known here.
    Other,
}

impl Recovery {
    /// As the driver prints it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Recovery::None => "None",
            Recovery::GpuReset => "GPU Reset Required",
            Recovery::NodeReboot => "Node Reboot Required",
            Recovery::DrainP2p => "Drain P2P",
            Recovery::DrainAndReset => "Drain and Reset",
            Recovery::RecoverImex => "Recover IMEX Domain",
            Recovery::Other => "unknown",
        }
    }
}

#[cfg(test)]
mod tests;
