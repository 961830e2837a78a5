//! NICs of a host that a guest has, or is to have: vfio-pci has no RDMA device, and NCCL on the host would not see them. For a comparison they are as they are in the guest,
//! with the driver bound.

use linerate_node::Node;
use linerate_node::pci::{FnId, Kind, PciFunction};
use linerate_node::rdma::{Counters, LinkLayer, PortState, Purpose, RdmaDevice, RdmaPort};
use linerate_snapshot::{Place, Reading, Why};
use std::borrow::Cow;

/// Rates of ports, Gb/s (InfiniBand: SDR to XDR, 4 lanes; Ethernet: the same or near).
const RATES: [f64; 8] = [10.0, 40.0, 56.0, 100.0, 200.0, 400.0, 800.0, 1600.0];

/// The node with an RDMA device for each passed NIC that has none, and how many those are. Their rate is the largest that the PCIe link carries: an estimate.
#[must_use]
pub fn with_nics<'n, 's>(node: &'n Node<'s>) -> (Cow<'n, Node<'s>>, usize) {
    let own: Vec<FnId> = node
        .pci
        .rdma_nics()
        .filter(|(_, f)| f.is_passed() && node.rdma_of(f).is_none() && f.silent.is_none())
        .map(|(id, _)| id)
        .collect();
    let Some(first) = own.first() else { return (Cow::Borrowed(node), 0) };
    let mut devices = node.rdma.known().cloned().unwrap_or_default();
    let mut names = (0..).map(|n: u32| format!("mlx5_{n}"));
    for id in &own {
        let taken = |name: &String| devices.iter().any(|d| d.name == *name);
        let Some(name) = names.find(|n| !taken(n)) else { break };
        devices.push(device(node, *id, name));
    }
    // In the order of addresses, as the kernel names them where all of them are its own.
    devices.sort_by_key(|d| d.pci);
    let rdma = Reading::Known(devices, node.pci.get(*first).class.place());
    (Cow::Owned(Node { rdma, ..node.clone() }), own.len())
}

fn unseen<T>(at: Place) -> Reading<T> {
    Reading::Unreadable(at, Why::NotCollected)
}

fn device(node: &Node<'_>, id: FnId, name: String) -> RdmaDevice {
    let f = node.pci.get(id);
    let at = f.class.place();
    RdmaDevice {
        name,
        home: f.home,
        pci: Some(f.bdf),
        firmware: unseen(at),
        sys_image_guid: unseen(at),
        node_guid: unseen(at),
        board_id: unseen(at),
        hca_type: unseen(at),
        is_virtual: false,
        purpose: if f.kind == Kind::NvlinkBridge { Purpose::NvlinkManagement } else { Purpose::Network },
        ports: vec![port(node, id, f)],
    }
}

fn port(node: &Node<'_>, id: FnId, f: &PciFunction<'_>) -> RdmaPort {
    let at = f.class.place();
    // Class 0x0207 is an InfiniBand controller.
    let layer =
        if f.class.known().is_some_and(|c| c.sub() == 0x0207) { LinkLayer::InfiniBand } else { LinkLayer::Ethernet };
    RdmaPort {
        number: 1,
        home: f.home,
        state: Reading::Known(PortState::Active, at),
        phys_state: unseen(at),
        rate_gbps: rate(node, id).map_or(unseen(at), |r| Reading::Known(r, at)),
        rate_text: unseen(at),
        link_layer: Reading::Known(layer, at),
        lid: unseen(at),
        sm_lid: unseen(at),
        active_mtu: unseen(at),
        netdev: unseen(at),
        netdev_down: None,
        gids: unseen(at),
        counters: Counters::default(),
    }
}

/// The largest rate of a port that the link carries.
fn rate(node: &Node<'_>, id: FnId) -> Option<f64> {
    let speed = node.pci.possible_speed(id)?;
    let width = node.pci.possible_width(id)?;
    let carried = speed.gigatransfers() * f64::from(width.0);
    RATES.into_iter().rfind(|r| *r <= carried)
}
