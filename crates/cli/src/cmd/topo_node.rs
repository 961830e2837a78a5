//! The topology of a node, as NCCL would find it there.

use super::topo_source::Source;
use crate::output::Failure;
use linerate_formats::pci::{LinkSpeed, LinkWidth};
use linerate_node::Node;
use linerate_node::pci::{FnId, PciTree};
use linerate_report::topo::{LinkState, PcieLink};
use linerate_snapshot::Snapshot;
use linerate_topology::Input;
use linerate_topology::from_node::{Matrix, extra, from_node, is_device, is_guest, shows_wires};
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
