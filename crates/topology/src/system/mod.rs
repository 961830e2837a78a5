//! The graph that NCCL makes of a topology: devices, and the links between them.

mod build;
mod builder;
mod flatten;
mod join;
mod node;
mod tables;

pub(crate) use build::build;
pub(crate) use node::topo_id;
pub use node::{Cpu, Gpu, KINDS, LinkKind, Net, Node, NodeData, NodeId, NodeKind};
pub(crate) use tables::nvlink_bandwidth;
pub use tables::{Arch, CpuModel, CpuVendor, link_bandwidth};
pub(crate) use tables::{nvlinks, speed_words};

/// Bandwidth that NCCL gives to links within a device, in GB/s.
pub(crate) const LOCAL_BANDWIDTH: f32 = 5000.0;
/// Nodes of a kind, at most (`NCCL_TOPO_MAX_NODES`).
pub const MAX_NODES: usize = 640;
/// Links of a node, at most (`NCCL_TOPO_MAX_LINKS`).
pub(crate) const MAX_LINKS: usize = 576;

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
        let mut builder = builder::Builder::default();
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
