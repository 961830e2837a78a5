//! The topology of a node, as NCCL would find it there.

use super::topo_source::{Links, Source};
use crate::output::Failure;
use linerate_formats::pci::{LinkSpeed, LinkWidth};
use linerate_node::Node;
use linerate_node::pci::PciFunction;
use linerate_snapshot::{Reading, Snapshot};
use linerate_topology::Input;
use linerate_topology::from_node::{Matrix, from_node};
use std::collections::HashMap;

pub(super) fn read(snapshot: &Snapshot) -> Result<Source, Failure> {
    let node = Node::decode(snapshot);
    let found = from_node(&node).map_err(|e| {
        Failure::new(format!("{}: {e}", snapshot.label)).hint("`linerate audit` judges what there is on a node without GPUs")
    })?;
    let mut notes: Vec<String> = snapshot.problems.clone();
    notes.extend(found.unknown.iter().map(|u| format!("not known: {u}")));
    notes.extend(found.left_out);
    notes.extend(found.assumptions);
    let links: HashMap<String, Links> =
        node.pci.iter().filter_map(|(_, f)| Some((f.bdf.to_string(), links(f)?))).collect();
    Ok(Source {
        label: snapshot.label.clone(),
        document: found.document,
        input: Input::File,
        links,
        notes,
        matrix: Some(Matrix::of(&node)),
        theirs: node.nvidia.topo.known().cloned(),
    })
}

/// The link of a function; none where no source shows it.
fn links(f: &PciFunction<'_>) -> Option<Links> {
    let both = |speed: &Reading<LinkSpeed>, width: &Reading<LinkWidth>| {
        Some((speed.known()?.generation(), u8::try_from(width.known()?.0).ok()?))
    };
    let (now, possible) = (both(&f.link.speed, &f.link.width), both(&f.link.max_speed, &f.link.max_width));
    (now.is_some() || possible.is_some()).then_some(Links { now, possible })
}
