//! The PCI tree of a guest that runs, from its snapshot: what [`crate::guest()`] predicts from a domain.

use crate::guest::{Function, Guest, What};
use crate::pairs::Pair;
use linerate_formats::libvirt::Model;
use linerate_formats::pci::caps::PortType;
use linerate_node::Node;
use linerate_node::pci::{Parent, PciFunction};

/// The tree as the guest's kernel shows it, with the host's functions in it.
#[must_use]
pub fn running(node: &Node<'_>, pairs: &[Pair]) -> Guest {
    let what = |f: &PciFunction<'_>| match pairs.iter().find(|p| p.guest == f.bdf) {
        Some(pair) => What::Host(Some(pair.host)),
        None => match f.port_type() {
            Some(PortType::RootPort) => What::Bridge(Model::RootPort),
            Some(PortType::UpstreamPort) => What::Bridge(Model::UpstreamPort),
            Some(PortType::DownstreamPort) => What::Bridge(Model::DownstreamPort),
            _ if f.buses.is_some() => What::Bridge(Model::PciBridge),
            _ => What::Emulated,
        },
    };
    let function = |f: &PciFunction<'_>| Function {
        bdf: f.bdf,
        above: match f.parent {
            Parent::Bridge(id) => Some(id.0 as usize),
            Parent::RootComplex | Parent::Unknown => None,
        },
        what: what(f),
        cell: f.numa_node.known().and_then(|n| u32::try_from(*n).ok()),
        line: 0,
    };
    Guest { functions: node.pci.iter().map(|(_, f)| function(f)).collect(), ..Guest::default() }
}
