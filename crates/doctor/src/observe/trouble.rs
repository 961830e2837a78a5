//! What went wrong, as far as equal lines are one thing.

use super::names::Name;
use linerate_formats::dlerror::LoadFault;
use linerate_formats::dmesg::{GpuFault, Requester, StartFault};
use linerate_formats::nccl_log::SocketTrouble;
use linerate_formats::nccl_log::status::Status;
use linerate_formats::pci::Bdf;
use linerate_formats::xid::Detail;

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
    Completion(Status),
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
        matches!(self, Trouble::Completion(Status::Flushed) | Trouble::Socket(SocketTrouble::Closed))
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
    IommuFault {
        /// The device.
        of: Requester,
        /// The IOMMU is an Arm SMMU.
        arm: bool,
    },
    /// The GPU driver reports an error.
    Xid {
        /// Number.
        number: u32,
        /// GPU.
        gpu: Option<Bdf>,
        /// What else the line says.
        detail: Detail,
    },
    /// An NVSwitch reports an error; whether it is fatal, in the driver's own word.
    SwitchError(Option<bool>),
    /// The kernel ended a process for want of memory.
    OutOfMemory,
    /// A NIC's link went down.
    LinkDown(Option<Bdf>),
    /// A PCIe error that was not corrected.
    PcieError(Requester),
    /// A PCIe error that was corrected.
    PcieCorrected(Requester),
    /// A PCIe link gives a device less than it can take.
    NarrowPath(NarrowPath),
    /// The link of a hot-plug slot went down.
    SlotDown(Requester),
    /// nvidia-peermem reports an error, or cannot be loaded.
    Peermem(PeermemTrouble),
    /// The RDMA core could not pin the pages of a registration (`ib_umem_get`), or a NIC's driver says so.
    PagesRefused,
    /// A NIC's firmware has no further object of a kind: a memory key, a queue.
    NicLimit(Option<Bdf>),
    /// The GPU driver refused a dma-buf.
    DmabufRefused,
    /// DMA goes through bounce buffers, or finds none.
    BounceBuffers,
    /// A firmware command of a NIC failed, or its health is bad.
    NicFirmware(Option<Bdf>),
    /// A firmware command of a NIC was answered, and the driver saw it late: an interrupt was lost.
    NicLate(Option<Bdf>),
    /// A transmit queue of a NIC has not moved for seconds.
    TransmitTimeout(Option<Bdf>),
    /// A NIC's firmware refused the next state of a program's queue pair.
    NicRefused(Option<Bdf>),
    /// GDRCopy's driver could not pin GPU memory.
    GdrdrvRefused,
    /// The GPU driver refused to pin memory: address or length are no multiples of its pages. For which driver, it does not say.
    PinUnaligned,
    /// A device answers no read, by the kernel's PCI core or by its driver.
    DeviceGone(Requester),
    /// A driver reports an error of a GPU, without a number.
    GpuFault {
        /// GPU.
        gpu: Option<Bdf>,
        /// What; never [`GpuFault::Lost`], which is a device that is gone.
        fault: GpuFault,
    },
    /// The GPU driver could not start a GPU.
    GpuNotStarted(Option<Bdf>),
    /// Why the NVIDIA driver does not start a GPU.
    GpuRefused {
        /// GPU.
        gpu: Option<Bdf>,
        /// Why.
        why: StartFault,
    },
    /// The driver of an RDMA NIC did not start it.
    NicNotStarted(Option<Bdf>),
    /// User and kernel parts of the GPU driver differ.
    DriverMismatch,
}

/// What a driver says of the PCIe links above its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NarrowPath {
    /// The device.
    pub device: Requester,
    /// The port whose link limits it.
    pub port: Option<Bdf>,
    /// What that link lacks.
    pub lacks: Lack,
    /// What it has, Mb/s.
    pub megabits: Option<u32>,
    /// What it could use, Mb/s.
    pub capable: Option<u32>,
}

/// What a link has less of than the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lack {
    /// Lanes, and perhaps speed.
    Lanes,
    /// Speed alone: all lanes are there.
    Speed,
    /// The line does not say.
    Unknown,
}

impl NarrowPath {
    /// What it has of what it could use, in thousandths.
    pub(crate) fn share(self) -> Option<u32> {
        u32::try_from(u64::from(self.megabits?) * 1000 / u64::from(self.capable?).max(1)).ok()
    }
}

/// What is wrong with nvidia-peermem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PeermemTrouble {
    /// It was built against another GPU driver or RDMA stack than the one that runs.
    Mismatch,
    /// A symbol that it needs is in no module: the RDMA core has no peer-memory interface, or the GPU driver is not loaded.
    Absent,
    /// The module's file is not there.
    NotFound,
    /// The kernel refused it as it was loaded.
    Refused,
    /// It runs, and reports an error.
    Error,
}

/// What other tools and the dynamic loader say, in a line of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolTrouble {
    /// A library cannot be loaded: its file's name, and why.
    Library(Name, LoadFault),
    /// lspci shows a port that redirects peer-to-peer requests; which one is not in the text.
    AcsRedirects,
    /// A benchmark shows two GPUs that are slower with peer-to-peer than without.
    P2pSlower,
    /// The fabric manager and the GPU driver are of different releases.
    FabricManager,
    /// A PCI link of a topology is as slow as a virtual port's.
    SlowLink,
    /// A tool of the verbs library finds no device.
    NoRdmaDevice,
    /// The verbs library knows a device and has no library of its vendor.
    NoProvider,
    /// A program other than NCCL finds no module through which NICs use GPU memory, nor DMA-BUF.
    NoPeerMemory,
    /// A setting asks libfabric for EFA.
    WantsEfa,
    /// The limit of locked memory.
    LockedMemory {
        /// As shown; `None` where it is not.
        kib: Option<u64>,
        /// A program names it as its trouble; otherwise a shell lists it.
        complains: bool,
    },
    /// NVML, or a tool on it, says that the driver's library and module are of different releases.
    DriverMismatch,
    /// perftest: a port is not ACTIVE, in this state; `None` where it says only that the port cannot be used.
    PortNotActive(Option<PortState>),
    /// UCX: no transport of both ends reaches the peer.
    NoUcxTransport,
    /// Open MPI does not use its old transport for RDMA.
    OpenibUnused,
    /// Open MPI: several ports have the default subnet prefix.
    DefaultSubnet,
    /// The verbs library of mlx5 prints the entry of a request that failed: its status.
    Entry(Status),
    /// A batch system ended the job: by somebody's wish, or because its time was over.
    Cancelled,
    /// A program's message that names a cause by itself.
    Says {
        /// Which, in the table of messages.
        which: usize,
        /// A logger, an exception or a launcher comes before it.
        headed: bool,
    },
}

/// A port's state, where it is not ACTIVE (`enum ibv_port_state`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PortState {
    /// No link.
    Down,
    /// A link, and no subnet manager, or not yet.
    Init,
    /// Between both: a subnet manager is about to make it active.
    Armed,
    /// Another.
    Other,
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
    /// The thread that watches collectives makes no progress.
    Stuck,
    /// A program ended with an exception or a signal.
    Ended,
    /// A program ended with SIGKILL, which only others send.
    Killed,
    /// A bus error: memory that was mapped is not there.
    BusError,
    /// The store over which ranks find each other does not answer.
    Store,
    /// No connection to that store was made.
    Unreachable,
}
