//! What equal lines are grouped by.

use super::names::Name;
use super::trouble::KernelTrouble;
use crate::place::{FileId, Place};
use linerate_formats::dmesg::Requester;
use linerate_formats::pci::Bdf;
use linerate_formats::xid::Recovery;

/// A line about a pair of GPU and NIC, as far as equal ones are one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pair {
    /// Done or not.
    pub enabled: bool,
    /// Distance, in the release's scale.
    pub distance: i64,
    /// Limit.
    pub limit: i64,
    /// The limit itself is allowed.
    pub inclusive: bool,
}

impl Pair {
    /// Whether it is not done, and the distance says why.
    pub(crate) fn is_too_far(&self) -> bool {
        !self.enabled && self.distance > self.allowed()
    }

    /// The greatest distance that is allowed, in the release's scale.
    pub(crate) fn allowed(&self) -> i64 {
        if self.inclusive { self.limit } else { self.limit - 1 }
    }
}

/// Algorithm and protocol of messages.
#[derive(Debug, Clone)]
pub struct Tuning {
    /// Algorithm, name or number as printed.
    pub algorithm: String,
    /// Protocol.
    pub protocol: String,
    /// Lines.
    pub count: u64,
    /// Where first.
    pub first: Place,
}

/// The NIC that is nearest to a GPU, by NCCL's table of paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Near {
    /// As printed: `GPU/0-1b000`.
    pub(crate) gpu: Name,
    /// As printed: `NET/0`.
    pub(crate) net: Name,
    /// `PIX`, `PHB`, ….
    pub(crate) kind: Name,
    /// Hundredths of GB/s.
    pub(crate) centi: u32,
}

/// What NCCL's search found for a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Search {
    /// `ring`, ….
    pub(crate) pattern: &'static str,
    pub(crate) channels: u32,
    /// Of a channel within the node, and between nodes: hundredths of GB/s.
    pub(crate) intra: u32,
    pub(crate) inter: u32,
    /// The longest paths between its GPUs, and from a GPU to its NIC.
    pub(crate) gpus: Name,
    pub(crate) nics: Name,
}

/// A variable and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Setting {
    pub(crate) name: Name,
    pub(crate) value: Name,
}

/// The devices of a network, as one list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct DeviceList {
    pub(crate) net: Name,
    pub(crate) list: Name,
}

/// What became of a network plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PluginEvent {
    /// It was loaded, under this name.
    Loaded(Name),
    /// It was not found.
    Missing,
    /// The loader refused it, or it could not start.
    Failed,
    /// Another line of the OFI plugin.
    Ofi,
}

/// Whether a NIC can use GPU memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct GdrNic {
    pub(crate) able: bool,
    /// As printed.
    pub(crate) reason: Option<Name>,
}

/// How many NICs can and cannot use GPU memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct GdrCount {
    pub(crate) able: u32,
    pub(crate) unable: u32,
}

/// A queue pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct QueuePair {
    /// Active MTU, as `enum ibv_mtu` counts.
    pub(crate) mtu: u32,
    /// Index of the GID; on RoCE only.
    pub(crate) gid_index: Option<i64>,
}

/// What the kernel of a host says. The same device of two hosts is two devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Logged {
    pub(crate) trouble: KernelTrouble,
    /// As the line names it.
    pub(crate) host: Option<Name>,
}

/// A device that a driver started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) of: Requester,
    pub(crate) host: Option<Name>,
}

/// The recovery action that the GPU driver named last.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recovered {
    pub(crate) file: FileId,
    pub(crate) host: Option<Name>,
    pub(crate) gpu: Option<Bdf>,
    pub(crate) action: Recovery,
}

/// A word that a process printed, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named {
    pub(crate) name: Name,
    pub(crate) at: Place,
}

/// The NICs or interfaces of a process, and where it lists them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Listed {
    pub(crate) devices: DeviceList,
    pub(crate) at: Place,
    /// Its end is missing: there may be more.
    pub(crate) cut: bool,
}
