//! What nodes and links are.

use super::tables::{Arch, CpuModel, CpuVendor};
use std::fmt;

/// Kinds of nodes, in NCCL's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum NodeKind {
    /// A rank's share of a GPU.
    Gpu,
    /// A PCIe switch.
    Pci,
    /// All NVLink switches.
    Nvs,
    /// A NUMA node.
    Cpu,
    /// A network adapter's PCIe function.
    Nic,
    /// A network device.
    Net,
    /// A device of a GIN plugin.
    Gin,
    /// A device of an RMA plugin.
    Rma,
    /// A GPU as a device: what its links hang on.
    Dev,
    /// What the parts of a split GPU share of a C2C link.
    Cxb,
}

/// All kinds, in order.
pub const KINDS: [NodeKind; 10] = {
    use NodeKind::*;
    [Gpu, Pci, Nvs, Cpu, Nic, Net, Gin, Rma, Dev, Cxb]
};

impl NodeKind {
    /// NCCL's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        ["GPU", "PCI", "NVS", "CPU", "NIC", "NET", "GIN", "RMA", "DEV", "CXB"][self as usize]
    }
}

/// Kinds of links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum LinkKind {
    /// Within a device, or between switches.
    Loc,
    /// NVLink.
    Nvl,
    /// Between CPU and GPU.
    C2c,
    /// PCIe.
    Pci,
    /// Between CPUs.
    Sys,
    /// To the network.
    Net,
}

impl LinkKind {
    /// NCCL's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Loc => "LOC",
            Self::Nvl => "NVL",
            Self::C2c => "C2C",
            Self::Pci => "PCI",
            Self::Sys => "SYS",
            Self::Net => "NET",
        }
    }
}

/// A node's place in [`System::nodes`](super::System::nodes).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct NodeId(pub u32);

impl NodeId {
    pub(crate) fn of(i: usize) -> Self {
        NodeId(u32::try_from(i).unwrap_or(u32::MAX))
    }

    /// As an index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A rank's GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gpu {
    /// Its rank.
    pub rank: i32,
    /// NVML's number.
    pub dev: i32,
    /// Compute capability, times ten.
    pub sm: i32,
    /// Whether it can do GPUDirect RDMA.
    pub gdr: bool,
    /// Which part of a split GPU; -1 for a whole one.
    pub mlopart: i32,
    /// Its DEV node.
    pub parent: NodeId,
    /// Its bus id.
    pub busid: String,
}

/// A network device.
#[derive(Debug, Clone, PartialEq)]
pub struct Net {
    /// Its number in the plugin.
    pub dev: i32,
    /// Name, where the document has one: joined with `+` where ports were fused.
    pub name: Option<String>,
    /// Speed in GB/s.
    pub bandwidth: f32,
    /// Identity of the adapter.
    pub asic: u64,
    /// Port.
    pub port: i32,
    /// Latency in µs.
    pub latency: f32,
    /// Whether it can do GPUDirect RDMA.
    pub gdr: bool,
    /// Whether it offers collective operations.
    pub coll: bool,
    /// Connections at once.
    pub max_channels: i32,
    /// Rail, -1 where unknown.
    pub rail: i32,
    /// Plane, -1 where unknown.
    pub plane: i32,
    /// Bus id of its PCIe function.
    pub busid: Option<String>,
}

/// A CPU, that is, a NUMA node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpu {
    /// NUMA node.
    pub numa: i32,
    /// Architecture.
    pub arch: Option<Arch>,
    /// Vendor.
    pub vendor: Option<CpuVendor>,
    /// Model, where NCCL tells it apart.
    pub model: Option<CpuModel>,
    /// Its cores, as the document has them.
    pub affinity: Option<String>,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeData {
    /// A rank's GPU.
    Gpu(Gpu),
    /// A GPU as a device.
    Dev {
        /// NVML's number.
        dev: i32,
        /// Compute capability, times ten.
        sm: i32,
        /// Vendor, device, subsystem: 16 bits each.
        device: u64,
    },
    /// A CPU.
    Cpu(Cpu),
    /// A network device.
    Net(Net),
    /// A switch: vendor, device, subsystem, 16 bits each.
    Pci(u64),
    /// GIN or RMA: number in the plugin.
    Plugin(i32),
    /// Nothing more is known.
    Plain,
}

/// A node of the graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Kind.
    pub kind: NodeKind,
    /// NCCL's identity: the host in the upper 8 bits, bus id or number below.
    pub id: i64,
    /// Place among those of its kind.
    pub index: u32,
    /// What it is.
    pub data: NodeData,
    /// Line of its element; 0 where there is none.
    pub line: u32,
}

impl Node {
    /// Which host, in the order in which they appear.
    #[must_use]
    pub fn host(&self) -> i64 {
        self.id >> 56
    }

    /// Identity without the host.
    #[must_use]
    pub fn local_id(&self) -> i64 {
        self.id & LOCAL_ID
    }

    /// What it is as a GPU.
    #[must_use]
    pub fn gpu(&self) -> Option<&Gpu> {
        if let NodeData::Gpu(g) = &self.data { Some(g) } else { None }
    }

    /// What it is as a network device.
    #[must_use]
    pub fn net(&self) -> Option<&Net> {
        if let NodeData::Net(n) = &self.data { Some(n) } else { None }
    }

    /// What it is as a CPU.
    #[must_use]
    pub fn cpu(&self) -> Option<&Cpu> {
        if let NodeData::Cpu(c) = &self.data { Some(c) } else { None }
    }
}

impl fmt::Display for Node {
    /// As NCCL prints it: `GPU/0-1b000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{:x}-{:x}", self.kind.name(), self.host(), self.local_id())
    }
}

pub(crate) const LOCAL_ID: i64 = 0x00ff_ffff_ffff_ffff;

pub(crate) fn topo_id(host: i64, local: i64) -> i64 {
    (host << 56).wrapping_add(local & LOCAL_ID)
}
