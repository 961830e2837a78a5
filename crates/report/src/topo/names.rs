//! What people call the devices of a topology.

use linerate_topology::bus_id_text;
use linerate_topology::system::{NodeData, NodeId, NodeKind, System};
use std::fmt;

/// The name of a node: `GPU0`, `mlx5_0`, `NUMA 1`, the bus id of a switch.
#[must_use]
pub fn name(system: &System, id: NodeId) -> String {
    let Some(node) = system.node(id) else { return "?".to_owned() };
    match &node.data {
        NodeData::Gpu(g) => format!("GPU{}", g.dev),
        NodeData::Dev { dev, .. } => format!("GPU{dev}"),
        NodeData::Net(n) => n.name.clone().unwrap_or_else(|| format!("NET{}", n.dev)),
        NodeData::Cpu(c) => format!("NUMA {}", c.numa),
        NodeData::Plugin(n) => format!("{}{n}", node.kind.name()),
        NodeData::Pci(_) => format!("switch {}", bus_id_text(node.local_id())),
        NodeData::Plain if node.kind == NodeKind::Nvs => "NVSwitch".to_owned(),
        NodeData::Plain => format!("{} {}", node.kind.name(), bus_id_text(node.local_id())),
    }
}

/// No device of a topology has this name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoDevice {
    /// What was asked for.
    pub wanted: String,
    /// Names of the GPUs and NICs that there are.
    pub there: Vec<String>,
}

impl fmt::Display for NoDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let there = if self.there.is_empty() { "none".to_owned() } else { self.there.join(", ") };
        write!(f, "there is no device `{}`; there are {there}", self.wanted)
    }
}

impl std::error::Error for NoDevice {}

/// A node that somebody names: `GPU0`, `0`, `mlx5_0`, `NET1`, or a bus id.
///
/// # Errors
/// No such device; the error lists what there is.
pub fn find(system: &System, wanted: &str) -> Result<NodeId, NoDevice> {
    let w = wanted.trim();
    let is = |id: NodeId| {
        let Some(node) = system.node(id) else { return false };
        let bus = match &node.data {
            NodeData::Gpu(g) => Some(g.busid.as_str()),
            NodeData::Net(n) => n.busid.as_deref(),
            _ => None,
        };
        let number = match &node.data {
            NodeData::Net(n) => format!("NET{}", n.dev),
            _ => String::new(),
        };
        // Ports that were fused answer to each of their names.
        let own = name(system, id);
        own.eq_ignore_ascii_case(w)
            || own.split('+').any(|part| part == w)
            || number.eq_ignore_ascii_case(w)
            || bus.is_some_and(|b| b.eq_ignore_ascii_case(w) || b.strip_prefix("0000:") == Some(w))
    };
    let ends = || system.of(NodeKind::Gpu).iter().chain(system.of(NodeKind::Net)).copied();
    ends()
        .find(|id| is(*id))
        .ok_or_else(|| NoDevice { wanted: w.to_owned(), there: ends().map(|id| name(system, id)).collect() })
}
