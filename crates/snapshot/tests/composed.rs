//! Trees that the lab composes, as a directory and as a capture.
#![allow(clippy::panic, clippy::unwrap_used, missing_docs)]

use linerate_compose::Description;
use linerate_snapshot::capture::Purpose;
use linerate_snapshot::{Coverage, OutputKind, Reading, Snapshot, load, options_for};
use std::path::Path;

fn node(name: &str) -> (tempfile::TempDir, Snapshot) {
    let at = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/nodes").join(name);
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("node");
    Description::load(&at).unwrap().compose().unwrap().write_to(&root).unwrap();
    let s = load(&root, &options_for(&root, Purpose::Audit), &|_| {}).unwrap();
    (dir, s)
}

#[test]
fn everything_was_tried_means_not_there_is_absent() {
    let (_dir, s) = node("healthy-vm-guest.toml");
    assert_eq!(s.coverage, Coverage::Full { not_tried: vec![] });
    let Reading::Known(devices, _) = s.dir("sys/bus/pci/devices") else { panic!("no devices") };
    let all = s.children(devices);
    assert!(!all.is_empty());
    for (name, device) in all {
        let group = s.link_name(s.follow(device).unwrap(), "iommu_group");
        assert!(matches!(group, Reading::Absent(_)), "{name}: {group:?}");
    }
}

#[test]
fn commands_of_a_composed_tree_are_known_by_their_arguments() {
    let (_dir, s) = node("healthy-8gpu.toml");
    assert!(!s.outputs.is_empty());
    for o in &s.outputs {
        assert!(o.kind != OutputKind::Other && !o.argv.is_empty() && !o.argv[0].starts_with('['), "{o:?}");
    }
}
