//! The real 8×H100 Dell dump, where it is here.

use linerate_node::Node;
use linerate_snapshot::{Output, OutputKind, Snapshot};
use std::path::Path;

fn snapshot(relative: &str) -> Option<Snapshot> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(relative);
    let Ok(bytes) = std::fs::read(&path) else {
        eprintln!("SKIPPED: ../shared/data is not here");
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
    let mut pairs = Vec::new();
    for (gpu, f) in node.pci.gpus() {
        for (nic, path) in node.pci.nearest_nics(gpu) {
            pairs.push((
                f.bdf.to_string(),
                node.pci.get(nic).bdf.to_string(),
                path.distance.to_string(),
                path.between.len(),
            ));
        }
    }
    println!("{pairs:#?}");
    println!("{:#?}", node.context);
    println!("{:?}", node.pci.p2p_ports().iter().map(|p| node.pci.get(p.port).bdf).collect::<Vec<_>>());
    assert!(pairs.len() >= 8);
}
