//! What of a node a ceiling needs beside the topology: ports with their MTU, links as they run, payload sizes.

use crate::ceiling::{Extra, PcieSeen, Port};
use linerate_formats::pci::{LinkSpeed, LinkWidth};
use linerate_node::Node;
use linerate_node::context::Role;
use linerate_node::pci::{DataPath, Kind, PciFunction};
use linerate_node::rdma::{LinkLayer, RdmaPort};
use linerate_node::roce;

/// What ceilings need beside the topology: ports with their MTU, links as they run, payload sizes.
#[must_use]
pub fn extra(node: &Node<'_>) -> Extra {
    let guest = is_guest(node);
    let mut extra = Extra { virtual_links: guest, ..Extra::default() };
    for device in node.rdma.known().into_iter().flatten() {
        let Some(p) = device.ports.first() else { continue };
        let port = port(node, p);
        // As NCCL names it where a Data Direct function moves its data.
        let direct = device.pci.and_then(|b| node.pci.find(b)).map(|f| node.pci.data_path(f));
        if matches!(direct, Some(DataPath::Direct(_))) {
            extra.ports.insert(format!("{}_dma", device.name), port);
        }
        extra.ports.insert(device.name.clone(), port);
    }
    for (_, f) in node.pci.iter() {
        let real = shows_wires(guest, f);
        let seen = PcieSeen {
            speed: f.link.speed.known().copied().filter(|_| real),
            width: f.link.width.known().map(|w| u32::from(w.0)).filter(|_| real),
            mps: f.express.known().and_then(|e| e.max_payload).map(u32::from),
            completion: None,
        };
        // A guest's are all there: a change that somebody asks about has a place then.
        if guest || seen != PcieSeen::default() {
            extra.pcie.insert(f.bdf.to_string(), seen);
        }
    }
    extra
}

/// What is known of a port.
#[must_use]
pub fn port(node: &Node<'_>, p: &RdmaPort) -> Port {
    Port {
        rate: p.rate_gbps.known().copied(),
        infiniband: p.link_layer.known().map(|l| *l == LinkLayer::InfiniBand),
        protocol: None,
        mtu: p.active_mtu.known().copied().or_else(|| roce_mtu(node, p)),
        vlan: false,
    }
}

/// The RDMA MTU that the kernel makes of an Ethernet interface's.
fn roce_mtu(node: &Node<'_>, port: &RdmaPort) -> Option<u32> {
    let name = port.netdev.known().filter(|_| port.is_roce())?;
    let mtu = *node.net.known()?.iter().find(|n| n.name == *name)?.mtu.known()?;
    roce::mtu(mtu)
}

/// Whether a node is known to be a guest.
#[must_use]
pub fn is_guest(node: &Node<'_>) -> bool {
    node.context.role.value == Some(Role::VmGuest)
}

/// Whether the link registers of a function tell of a real link. In a guest those of bridges are the hypervisor's, and so are those of
/// a device that shows what QEMU's PCIe devices have by themselves, 2.5 GT/s and one lane; a device that is passed through shows its own.
#[must_use]
pub fn shows_wires(guest: bool, f: &PciFunction<'_>) -> bool {
    let speed = f.link.speed.known();
    let emulated = speed.is_some_and(|s| *s == LinkSpeed::Gen1) && f.link.width.known() == Some(&LinkWidth(1));
    !guest || is_device(f) && !emulated
}

/// What a hypervisor passes through, as a rule.
#[must_use]
pub fn is_device(f: &PciFunction<'_>) -> bool {
    let kinds =
        matches!(f.kind, Kind::Gpu | Kind::AmdGpu | Kind::RdmaNic | Kind::Nic | Kind::NvSwitch | Kind::DataDirect);
    kinds && f.buses.is_none()
}
