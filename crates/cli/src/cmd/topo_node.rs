//! The topology of a node, as NCCL would find it there.

use super::topo_source::{Loaded, Source};
use crate::output::Failure;
use linerate_formats::pci::{LinkSpeed, LinkWidth};
use linerate_node::Node;
use linerate_node::pci::{FnId, Kind, PciTree};
use linerate_report::topo::{LinkState, PcieLink};
use linerate_snapshot::Snapshot;
use linerate_topology::from_node::{
    FromNodeError, Matrix, Options, extra, from_node_with, is_device, is_guest, shows_wires,
};
use linerate_topology::{Input, Version};
use std::collections::HashMap;

pub(super) fn read(snapshot: &Snapshot, topology_file: Option<String>, release: Version) -> Result<Loaded, Failure> {
    let node = Node::decode(snapshot);
    let options = Options { topology_file, release, ..Options::default() };
    let found = from_node_with(&node, &options);
    let incomplete = snapshot.incomplete || !node.cuts.is_empty();
    if let (Err(FromNodeError::NoPci), Some(matrix)) = (&found, node.nvidia.topo().known()) {
        return Ok(Loaded::Matrix(snapshot.label.clone(), matrix.clone(), incomplete));
    }
    let found = found.map_err(|e| {
        let failure = Failure::new(format!("{}: {e}", snapshot.label));
        match &e {
            FromNodeError::AmdGpus { .. } => failure,
            FromNodeError::TopologyFile { .. } => failure.hint("fix or remove the file: no NCCL job starts with it"),
            _ => failure.hint("`linerate audit` judges what there is on a node without GPUs"),
        }
    })?;
    let mut notes: Vec<String> = node.cuts.iter().map(|c| c.words(snapshot)).collect();
    notes.extend(snapshot.problems.iter().cloned());
    notes.extend(found.unknown.iter().map(|u| format!("not known: {u}")));
    notes.extend(found.left_out.iter().cloned());
    notes.extend(found.assumptions.iter().cloned());
    let guest = is_guest(&node);
    if guest && node.pci.iter().any(|(_, f)| !shows_wires(guest, f) && f.link.speed.known().is_some()) {
        notes.push(
            "a guest does not show the real links: emulated ports, and devices that show an emulated port's 2.5 GT/s x1, count as not seen in the tree and in ceilings, although NCCL uses these values; the host shows the links: run `linerate topo` there"
                .to_owned(),
        );
    }
    let links: HashMap<String, LinkState> =
        node.pci.iter().filter_map(|(id, f)| Some((f.bdf.to_string(), link(&node.pci, id, guest)?))).collect();
    Ok(Loaded::Topology(Box::new(Source {
        label: snapshot.label.clone(),
        document: found.document.clone(),
        input: Input::File,
        links,
        notes,
        incomplete,
        matrix: Some(Matrix::of(&node)),
        theirs: node.nvidia.topo().known().cloned(),
        extra: extra(&node),
        models: models(&node.pci),
        found: Some(found),
    })))
}

/// What `lspci` names NICs: `ConnectX-7` of `MT2910 Family [ConnectX-7]`.
fn models(tree: &PciTree<'_>) -> HashMap<String, String> {
    let named = tree.iter().filter(|(_, f)| matches!(f.kind, Kind::RdmaNic | Kind::Nic) && !f.name.is_empty());
    let short = |name: &str| {
        let inner = name.rsplit_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(inner, _)| inner);
        inner.unwrap_or(name).to_owned()
    };
    named.map(|(_, f)| (f.bdf.to_string(), short(&f.name))).collect()
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
    // The port above a guest's device is not one of the hardware's.
    let possible = match guest {
        true if !is_device(f) => PcieLink::default(),
        true => both(l.max_speed.known().copied(), l.max_width.known().copied()),
        false => both(tree.possible_speed(id), tree.possible_width(id)),
    };
    let state = LinkState { now, possible };
    (state != LinkState::default() || !real).then_some(state)
}
