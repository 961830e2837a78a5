//! The topology of a node, as NCCL would find it there.

use super::topo_source::Source;
use crate::output::Failure;
use linerate_formats::pci::{LinkSpeed, LinkWidth};
use linerate_node::Node;
use linerate_node::context::Role;
use linerate_node::pci::{FnId, Kind, PciFunction, PciTree};
use linerate_node::rdma::{LinkLayer, RdmaPort};
use linerate_node::roce;
use linerate_report::topo::{LinkState, PcieLink};
use linerate_snapshot::Snapshot;
use linerate_topology::Input;
use linerate_topology::ceiling::{Extra, PcieSeen, Port};
use linerate_topology::from_node::{Matrix, from_node};
use std::collections::HashMap;

pub(super) fn read(snapshot: &Snapshot) -> Result<Source, Failure> {
    let node = Node::decode(snapshot);
    let found = from_node(&node).map_err(|e| {
        Failure::new(format!("{}: {e}", snapshot.label))
            .hint("`linerate audit` judges what there is on a node without GPUs")
    })?;
    let mut notes: Vec<String> = snapshot.problems.clone();
    notes.extend(found.unknown.iter().map(|u| format!("not known: {u}")));
    notes.extend(found.left_out);
    notes.extend(found.assumptions);
    let guest = is_guest(&node);
    if guest && node.pci.iter().any(|(_, f)| !shows_wires(guest, f) && f.link.speed.known().is_some()) {
        notes.push(
            "a guest does not show the wires: the links of emulated ports, and of devices that show an emulated port's 2.5 GT/s x1, count as \
             not seen in the tree and in ceilings, though NCCL goes by them; the host shows the links: run `linerate topo` there"
                .to_owned(),
        );
    }
    let links: HashMap<String, LinkState> =
        node.pci.iter().filter_map(|(id, f)| Some((f.bdf.to_string(), link(&node.pci, id, guest)?))).collect();
    Ok(Source {
        label: snapshot.label.clone(),
        document: found.document,
        input: Input::File,
        links,
        notes,
        matrix: Some(Matrix::of(&node)),
        theirs: node.nvidia.topo().known().cloned(),
        extra: extra(&node),
    })
}

fn is_guest(node: &Node<'_>) -> bool {
    node.context.role.value == Some(Role::VmGuest)
}

/// Whether the link registers of a function tell of a real link. In a guest those of bridges are the hypervisor's, and so are those of
/// a device that shows what QEMU's PCIe devices have by themselves, 2.5 GT/s and one lane; a device that is passed through shows its own.
fn shows_wires(guest: bool, f: &PciFunction<'_>) -> bool {
    let speed = f.link.speed.known();
    let emulated = speed.is_some_and(|s| *s == LinkSpeed::Gen1) && f.link.width.known() == Some(&LinkWidth(1));
    !guest || is_device(f) && !emulated
}

/// What a hypervisor passes through, as a rule.
fn is_device(f: &PciFunction<'_>) -> bool {
    let kinds = matches!(f.kind, Kind::Gpu | Kind::RdmaNic | Kind::Nic | Kind::NvSwitch | Kind::DataDirect);
    kinds && f.buses.is_none()
}

/// The link of a function; none where no source shows it. In a guest it is known to be unknown where the function does not tell.
fn link(tree: &PciTree<'_>, id: FnId, guest: bool) -> Option<LinkState> {
    // A half of it says nothing.
    let both = |speed: Option<LinkSpeed>, width: Option<LinkWidth>| {
        speed.zip(width).map_or_else(PcieLink::default, |(speed, width)| PcieLink::new(speed, width))
    };
    let f = tree.get(id);
    let l = &f.link;
    let real = shows_wires(guest, f);
    let now = both(l.speed.known().copied().filter(|_| real), l.width.known().copied().filter(|_| real));
    // The port above a guest's device is none of the hardware's.
    let possible = match guest {
        true if !is_device(f) => PcieLink::default(),
        true => both(l.max_speed.known().copied(), l.max_width.known().copied()),
        false => both(tree.possible_speed(id), tree.possible_width(id)),
    };
    let state = LinkState { now, possible };
    (state != LinkState::default() || !real).then_some(state)
}

/// What ceilings need beside the topology: ports with their MTU, links as they run, payload sizes.
fn extra(node: &Node<'_>) -> Extra {
    let guest = is_guest(node);
    let mut extra = Extra { virtual_links: guest, ..Extra::default() };
    for device in node.rdma.known().into_iter().flatten() {
        let Some(p) = device.ports.first() else { continue };
        let layer = p.link_layer.known();
        extra.ports.insert(
            device.name.clone(),
            Port {
                rate: p.rate_gbps.known().copied(),
                infiniband: layer.map(|l| *l == LinkLayer::InfiniBand),
                protocol: None,
                mtu: p.active_mtu.known().copied().or_else(|| roce_mtu(node, p)),
                vlan: false,
            },
        );
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

/// The RDMA MTU that the kernel makes of an Ethernet interface's.
fn roce_mtu(node: &Node<'_>, port: &RdmaPort) -> Option<u32> {
    let name = port.netdev.known().filter(|_| port.is_roce())?;
    let mtu = *node.net.known()?.iter().find(|n| n.name == *name)?.mtu.known()?;
    roce::mtu(mtu)
}
