//! What went wrong, as far as equal lines are one thing.

use super::names::Name;
use linerate_formats::nccl_log::SocketTrouble;
use linerate_formats::pci::Bdf;

/// A failure that NCCL tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trouble {
    /// A verbs call: its name, the text of the error.
    Verbs {
        /// Call.
        call: Name,
        /// Error.
        error: Name,
    },
    /// A work completion, by status.
    Completion(u32),
    /// An asynchronous event of a NIC.
    Async {
        /// What.
        event: Name,
        /// NCCL calls it fatal.
        fatal: bool,
    },
    /// A socket.
    Socket(SocketTrouble),
    /// Shared memory.
    SharedMemory {
        /// There is no room.
        no_space: bool,
    },
    /// A CUDA call.
    Cuda {
        /// Number.
        code: Option<i64>,
        /// Text.
        error: Name,
    },
    /// A library.
    Library(Name),
    /// Two ranks on one GPU.
    DuplicateGpu,
    /// Different releases.
    VersionMismatch,
    /// Different collectives.
    CollectiveMismatch,
    /// No interface.
    NoInterface,
    /// NVLink SHARP.
    Nvls,
    /// Multi-node NVLink.
    Imex,
    /// Topology file.
    TopologyFile,
    /// No transport.
    NoTransport,
    /// NICs of different kinds.
    NicsDiffer,
    /// A plugin.
    Plugin,
    /// Wrong use.
    Usage,
    /// CUDA refuses peer-to-peer.
    P2pRefused,
    /// Peer-to-peer is off between connected GPUs.
    P2pDisabled,
    /// Another warning.
    Other(Name),
}

impl Trouble {
    /// Whether it follows from a failure elsewhere, as a rule: not where the search begins.
    #[must_use]
    pub fn is_consequence(&self) -> bool {
        matches!(self, Trouble::Completion(5) | Trouble::Socket(SocketTrouble::Closed))
    }

    /// Whether a job goes on with it.
    #[must_use]
    pub fn is_survivable(&self) -> bool {
        matches!(
            self,
            Trouble::P2pRefused
                | Trouble::P2pDisabled
                | Trouble::Library(_)
                | Trouble::Plugin
                | Trouble::Other(_)
                | Trouble::TopologyFile
        )
    }
}

/// What the kernel's log says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KernelTrouble {
    /// The IOMMU refused an address that a device used.
    IommuFault(Option<Bdf>),
    /// The GPU driver reports an error.
    Xid {
        /// Number.
        number: u32,
        /// GPU.
        gpu: Option<Bdf>,
    },
    /// The kernel ended a process for want of memory.
    OutOfMemory,
    /// A NIC's link went down.
    LinkDown(Option<Bdf>),
    /// A PCIe error that was not corrected.
    PcieError(Option<Bdf>),
    /// nvidia-peermem reports an error, or does not fit the RDMA core.
    Peermem,
    /// The GPU driver refused a dma-buf.
    DmabufRefused,
    /// DMA goes through bounce buffers, or finds none.
    BounceBuffers,
    /// A firmware command of a NIC failed, or its health is bad.
    NicFirmware(Option<Bdf>),
    /// A GPU is gone, with no Xid in sight.
    GpuLost,
    /// User and kernel parts of the GPU driver differ.
    DriverMismatch,
}

/// What a framework says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameworkTrouble {
    /// A collective did not end in time: its kind.
    Timeout(Name),
    /// A call of NCCL failed: `ncclSystemError`, …
    Error(&'static str),
    /// Ranks called different collectives.
    Mismatch,
    /// A report names ranks that lag.
    Lagging,
    /// A program ended with an exception or a signal.
    Ended,
    /// A bus error: memory that was mapped is not there.
    BusError,
    /// The store over which ranks find each other does not answer.
    Store,
}
