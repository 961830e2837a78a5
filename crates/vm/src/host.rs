//! The host's PCIe tree above the chosen devices: what the guest is to have, port for port.

use crate::Refusal;
use linerate_formats::pci::Bdf;
use linerate_formats::pci::caps::PortType;
use linerate_node::Node;
use linerate_node::pci::{FnId, PciTree};
use std::collections::{BTreeMap, BTreeSet};

/// A root complex of the host, as far as it carries chosen devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// PCI domain and bus number of its root bus.
    pub bus: (u32, u8),
    /// NUMA node; `None`: the host has one node, or none at all.
    pub node: Option<u32>,
    /// Its root ports, by address.
    pub ports: Vec<Branch>,
}

/// A port of the host, and what is below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// The host's port; of a device on the root bus itself, that device: it gets a root port of its own.
    pub port: FnId,
    /// Which port of a switch, or a root port.
    pub kind: Port,
    /// Ports below it; of an upstream port its downstream ports.
    pub below: Vec<Branch>,
    /// Chosen functions in its slot, by address.
    pub functions: Vec<FnId>,
}

/// Which port it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Port {
    /// Of the root complex.
    Root,
    /// Of a switch, towards the root.
    Upstream,
    /// Of a switch, away from the root.
    Downstream,
}

impl Branch {
    /// This port and all below.
    #[must_use]
    pub fn ports(&self) -> usize {
        1 + self.below.iter().map(Branch::ports).sum::<usize>()
    }

    /// Chosen functions at this port and all below.
    #[must_use]
    pub fn all_functions(&self) -> Vec<FnId> {
        let below = self.below.iter().flat_map(Branch::all_functions);
        self.functions.iter().copied().chain(below).collect()
    }
}

/// Functions that fit in a slot.
const SLOT: usize = 8;

/// The roots above chosen functions, by address.
///
/// # Errors
/// A way that is not seen, or that virtual ports cannot copy.
pub fn roots(node: &Node<'_>, chosen: &BTreeSet<FnId>) -> Result<Vec<Root>, Refusal> {
    let pci = &node.pci;
    let nodes: BTreeSet<i32> =
        pci.iter().filter_map(|(_, f)| f.numa_node.known().copied()).filter(|n| *n >= 0).collect();
    // A text of lspci names the nodes of functions, and lists none.
    let several = nodes.len() > 1 || node.numa.known().is_some_and(|n| n.len() > 1);
    let mut by_root: BTreeMap<(u32, u8), Vec<Vec<FnId>>> = BTreeMap::new();
    for id in chosen {
        let way = way(pci, *id)?;
        let top = pci.get(*way.first().unwrap_or(id)).bdf;
        by_root.entry((top.domain, top.bus)).or_default().push(way);
    }
    let mut out = Vec::new();
    for (bus, ways) in by_root {
        let mut ports = Vec::new();
        let mut node_of_root = None;
        for way in &ways {
            let Some((id, above)) = way.split_last() else { continue };
            let numa = pci.get(*id).numa_node.known().and_then(|n| u32::try_from(*n).ok());
            if several && numa.is_none() {
                return Err(Refusal::NoNode(pci.get(*id).bdf));
            }
            node_of_root = node_of_root.or(numa.filter(|_| several));
            hang(pci, &mut ports, Port::Root, above, *id)?;
        }
        out.push(Root { bus, node: node_of_root, ports });
    }
    Ok(out)
}

/// Ports from the root to a function, and the function.
fn way(pci: &PciTree<'_>, id: FnId) -> Result<Vec<FnId>, Refusal> {
    let bdf = pci.get(id).bdf;
    let refuse = |why| Refusal::Way { bdf, why };
    // A virtual function is below the port of its physical one.
    let (mut above, complete) = pci.ancestors(id);
    if !complete {
        return Err(refuse("the snapshot does not show it up to the root complex"));
    }
    let mut due = Port::Root;
    above.reverse();
    for (place, port) in above.iter().enumerate() {
        let kind = match pci.get(*port).port_type() {
            Some(PortType::RootPort) => Port::Root,
            Some(PortType::UpstreamPort) => Port::Upstream,
            Some(PortType::DownstreamPort) => Port::Downstream,
            Some(_) => return Err(refuse("a bridge to conventional PCI is on it")),
            // Without the capability the place in the chain says which port it is: they alternate.
            None if place == 0 => Port::Root,
            None if place % 2 == 1 => Port::Upstream,
            None => Port::Downstream,
        };
        if kind != due {
            return Err(refuse("its ports do not alternate as those of switches do"));
        }
        due = if kind == Port::Upstream { Port::Downstream } else { Port::Upstream };
    }
    if due == Port::Downstream {
        return Err(refuse("the device is on the inner bus of a switch"));
    }
    above.push(id);
    Ok(above)
}

/// Adds a function below its ports, of which the first is a root port.
fn hang(pci: &PciTree<'_>, at: &mut Vec<Branch>, kind: Port, above: &[FnId], id: FnId) -> Result<(), Refusal> {
    let bdf = pci.get(id).bdf;
    let full = Refusal::Way { bdf, why: "more is chosen below one port than its slot holds" };
    // A device of the root bus gets a port of its own; its functions share it.
    let (port, rest) = match above.split_first() {
        Some((port, rest)) => (*port, rest),
        None => (slot_of(pci, at, id), above),
    };
    let index = at.iter().position(|b| b.port == port).unwrap_or(at.len());
    if index == at.len() {
        at.push(Branch { port, kind, below: Vec::new(), functions: Vec::new() });
    }
    let Some(branch) = at.get_mut(index) else { return Err(full) };
    if rest.is_empty() {
        branch.functions.push(id);
    } else {
        let next = if kind == Port::Upstream { Port::Downstream } else { Port::Upstream };
        hang(pci, &mut branch.below, next, rest, id)?;
    }
    let one_slot =
        branch.functions.len() <= SLOT && branch.below.len() + usize::from(!branch.functions.is_empty()) <= 1;
    if kind == Port::Upstream || one_slot { Ok(()) } else { Err(full) }
}

/// Of functions on the root bus: the first of the same slot that is there.
fn slot_of(pci: &PciTree<'_>, ports: &[Branch], id: FnId) -> FnId {
    let place = |bdf: Bdf| (bdf.domain, bdf.bus, bdf.device);
    let own = place(pci.get(id).bdf);
    ports.iter().map(|b| b.port).find(|p| place(pci.get(*p).bdf) == own).unwrap_or(id)
}
