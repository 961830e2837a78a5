//! The real 8×H100 Dell dump, where it is here.
#![allow(clippy::print_stderr)] // says what it skips

use linerate_node::Node;
use linerate_node::context::{Basis, Role, TopologyType};
use linerate_node::pci::Distance;
use linerate_snapshot::{Output, OutputKind, Snapshot};
use std::path::Path;

fn snapshot(relative: &str) -> Option<Snapshot> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(relative);
    let Ok(bytes) = std::fs::read(&path) else {
        eprintln!("SKIPPED: {relative}, because ../shared/data is not here");
        return None;
    };
    let mut s = Snapshot::new(relative);
    let entry = s.add_file("lspci.txt", &bytes)?;
    s.outputs.push(Output { kind: OutputKind::Lspci, entry, argv: vec![], status: None });
    Some(s)
}

#[test]
fn the_dell_server_has_eight_gpus_each_below_one_switch_with_its_nic() {
    let Some(s) = snapshot("lspci/gpud-lspci-vvv.txt") else { return };
    let node = Node::decode(&s);
    assert_eq!(node.pci.functions.len(), 517);
    assert_eq!(node.pci.gpus().count(), 8);
    assert_eq!((node.context.role.value, node.context.role.basis), (Some(Role::BareMetal), Basis::Inferred));
    assert_eq!(node.context.topology.value, Some(TopologyType::Switch));
    for (gpu, f) in node.pci.gpus() {
        let near = node.pci.nearest_nics(gpu);
        // 400G and, below two of the switches, a dual-port ConnectX-6 Dx.
        assert!(matches!(near.len(), 1 | 3), "{}: {} NICs", f.bdf, near.len());
        assert!(near.iter().all(|(_, p)| p.distance == Distance::Pix && p.between.len() == 2), "{}", f.bdf);
    }
    assert_eq!(node.pci.p2p_ports().len(), 18);
}
