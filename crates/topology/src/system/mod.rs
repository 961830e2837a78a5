//! The graph that NCCL makes of a topology: devices, and the links between them.

mod build;
mod flatten;
mod tables;

pub(crate) use build::build;
pub(crate) use tables::nvlinks;
pub use tables::{Arch, CpuModel, CpuVendor, nvlink_bandwidth};

use std::fmt;

/// Bandwidth that NCCL gives to links within a device, in GB/s.
pub const LOCAL_BANDWIDTH: f32 = 5000.0;
/// Nodes of a kind, at most (`NCCL_TOPO_MAX_NODES`).
pub const MAX_NODES: usize = 640;
/// Links of a node, at most (`NCCL_TOPO_MAX_LINKS`).
pub const MAX_LINKS: usize = 576;

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

/// A node's place in [`System::nodes`].
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

/// A link, one way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// From here.
    pub from: NodeId,
    /// To there.
    pub to: NodeId,
    /// What it is.
    pub kind: LinkKind,
    /// GB/s.
    pub bandwidth: f32,
}

/// The graph.
#[derive(Debug, Clone, Default)]
pub struct System {
    nodes: Vec<Node>,
    links: Vec<Link>,
    first: Vec<u32>,
    by_kind: [Vec<NodeId>; 10],
    /// What was taken for granted while it was built.
    pub notes: Vec<String>,
}

impl System {
    /// Nodes. Those of a kind are in NCCL's order.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// A node. Ids of another system may find none.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.index())
    }

    /// Nodes of a kind.
    #[must_use]
    pub fn of(&self, kind: NodeKind) -> &[NodeId] {
        self.by_kind.get(kind as usize).map_or(&[], Vec::as_slice)
    }

    /// All links; those of a node stand together.
    #[must_use]
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Links that start at a node, in NCCL's order.
    #[must_use]
    pub fn links_of(&self, id: NodeId) -> &[Link] {
        self.links.get(self.link_range(id)).unwrap_or_default()
    }

    pub(crate) fn link_range(&self, id: NodeId) -> std::ops::Range<usize> {
        let at = |i: usize| self.first.get(i).map_or(0, |n| *n as usize);
        at(id.index())..at(id.index() + 1)
    }

    /// GPUs with their nodes.
    pub fn gpus(&self) -> impl Iterator<Item = (NodeId, &Gpu)> {
        self.of(NodeKind::Gpu).iter().filter_map(|id| Some((*id, self.node(*id)?.gpu()?)))
    }

    /// Network devices with their nodes.
    pub fn nets(&self) -> impl Iterator<Item = (NodeId, &Net)> {
        self.of(NodeKind::Net).iter().filter_map(|id| Some((*id, self.node(*id)?.net()?)))
    }

    /// CPUs with their nodes.
    pub fn cpus(&self) -> impl Iterator<Item = (NodeId, &Cpu)> {
        self.of(NodeKind::Cpu).iter().filter_map(|id| Some((*id, self.node(*id)?.cpu()?)))
    }

    /// The GPU of a rank: the first, as NCCL has it.
    #[must_use]
    pub fn gpu_of_rank(&self, rank: i32) -> Option<NodeId> {
        self.gpus().find(|(_, g)| g.rank == rank).map(|(id, _)| id)
    }

    /// Hosts in it.
    #[must_use]
    pub fn hosts(&self) -> usize {
        let mut hosts: Vec<i64> = self.of(NodeKind::Cpu).iter().filter_map(|c| self.node(*c)).map(Node::host).collect();
        hosts.sort_unstable();
        hosts.dedup();
        hosts.len()
    }

    /// The same without some of the GPUs: what is left where the others are out of reach. DEV nodes stay, as in NCCL.
    pub(crate) fn without_gpus(&self, drop: impl Fn(NodeId) -> bool) -> System {
        let keep = |id: &NodeId| self.node(*id).is_some_and(|n| n.kind != NodeKind::Gpu || !drop(*id));
        let mut builder = build::Builder::default();
        let mut renamed = vec![None; self.nodes.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            if keep(&NodeId::of(i)) {
                let new = builder.push(node.clone());
                if let Some(slot) = renamed.get_mut(i) {
                    *slot = Some(new);
                }
            }
        }
        let new_id = |id: NodeId| renamed.get(id.index()).copied().flatten();
        for link in &self.links {
            if let (Some(from), Some(to)) = (new_id(link.from), new_id(link.to)) {
                builder.append(Link { from, to, ..*link });
            }
        }
        builder.reparent(|p| new_id(p).unwrap_or(p));
        let mut system = builder.finish();
        system.notes.clone_from(&self.notes);
        system
    }
}
