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
    let Coverage::Full { not_tried } = &s.coverage else { panic!("{:?}", s.coverage) };
    // What plans change is for collections; of what rules read, an audit leaves out little.
    let of_devices = not_tried.iter().filter(|p| p.starts_with("sys/")).count();
    assert!(of_devices < 40, "{not_tried:?}");
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

/// What an audit does not read of a function beside the paths is not collected; the rest of it is known.
#[test]
fn an_audit_reads_less_of_bystanders_and_says_so() {
    let (_dir, s) = node("healthy-8gpu.toml");
    let Reading::Known(devices, _) = s.dir("sys/bus/pci/devices") else { panic!("no devices") };
    let (mut beside, mut whole) = (0, 0);
    for (name, device) in s.children(devices) {
        let device = s.follow(device).unwrap();
        let Reading::Known(config, _) = s.read(device, "config") else { panic!("{name}") };
        let class = config[0x0b];
        if config.len() > 64 {
            whole += 1;
            assert!(s.read(device, "local_cpulist").known().is_some() || s.text(device, "numa_node").known().is_some());
            // The header says it.
            assert!(matches!(s.read(device, "class"), Reading::Unreadable(_, linerate_snapshot::Why::NotCollected)));
            continue;
        }
        beside += 1;
        assert!(!matches!(class, 2 | 3 | 6), "{name}: {class:#x}");
        assert!(matches!(s.read(device, "resource"), Reading::Unreadable(_, linerate_snapshot::Why::NotCollected)));
        assert!(s.link_name(device, "iommu_group").known().is_some(), "{name}");
        let driver = s.link_name(device, "driver");
        assert!(matches!(driver, Reading::Known(..) | Reading::Absent(_)), "{name}: {driver:?}");
    }
    assert!(beside > 300 && whole > 60, "{beside} {whole}");
    let Reading::Known(groups, _) = s.dir("sys/kernel/iommu_groups") else { panic!("no groups") };
    let members = |g| s.child(g, "devices").map_or(0, |d| s.children(d).len());
    assert_eq!(s.children(groups).iter().map(|(_, g)| members(*g)).sum::<usize>(), beside + whole);
    // An archive of it says the same.
    let mut archive = Vec::new();
    s.write_tar_zst(&mut archive).unwrap();
    let again = linerate_snapshot::load_bytes(&archive, "again").unwrap();
    let mut seen = 0;
    let Reading::Known(devices, _) = again.dir("sys/bus/pci/devices") else { panic!("no devices") };
    for (_, device) in again.children(devices) {
        let device = again.follow(device).unwrap();
        if again.data(again.child(device, "config").unwrap()).len() == 64 {
            seen += 1;
            let read = again.read(device, "resource");
            assert!(matches!(read, Reading::Unreadable(_, linerate_snapshot::Why::NotCollected)), "{read:?}");
            assert!(!matches!(again.link_name(device, "driver"), Reading::Unreadable(..)));
        }
    }
    assert_eq!(seen, beside);
}

/// An audit leaves out some files of a directory that it looks for: where the directory is not there, that is known.
#[test]
fn what_one_pattern_looked_for_is_not_hidden_by_another() {
    use linerate_snapshot::Coverage;
    let (_dir, mut s) = node("healthy-8gpu.toml");
    s.manifest.tried =
        vec!["sys/class/infiniband/*/node_guid".into(), "sys/class/other/*/ports/*/counters/errors".into()];
    let leaves_out =
        ["sys/class/infiniband/*/ports/*/counters/*", "sys/class/other/*/ports/*/counters/*", "sys/class/third/*"];
    let unlisted =
        |more: &[&str]| Coverage::Full { not_tried: leaves_out.iter().chain(more).map(|p| (*p).to_owned()).collect() };
    s.coverage = unlisted(&[]);
    let root = s.root();
    assert!(matches!(s.missing::<()>(root, "sys/class/infiniband"), Reading::Absent(_)));
    assert!(matches!(s.missing::<()>(root, "sys/class/other/a/ports/1/counters/errors"), Reading::Absent(_)));
    assert!(s.missing::<()>(root, "sys/class/other/a/ports/1/counters/more").is_unreadable());
    assert!(s.missing::<()>(root, "sys/class/third").is_unreadable());
    s.coverage = unlisted(&["sys/class/infiniband/**"]);
    assert!(s.missing::<()>(root, "sys/class/infiniband/x").is_unreadable(), "what could not be listed is not absent");
}

/// The net of secrets leaves what redaction wrote as it is: else a redacted node would read otherwise a second time, and its archive would be packed
/// anew each time.
#[test]
fn what_was_redacted_is_read_as_it_was_written() {
    let nodes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/nodes");
    let mut seen = 0;
    for entry in std::fs::read_dir(nodes).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if !name.ends_with(".toml") {
            continue;
        }
        let (_dir, mut s) = node(&name);
        s.redact(None).unwrap();
        let mut archive = Vec::new();
        s.write_tar_zst(&mut archive).unwrap();
        let mut reader = linerate_snapshot::Reader::new();
        let again = reader.read_bytes(&archive, &name).unwrap();
        assert!(reader.is_as_written(&archive, &again), "{name}");
        seen += 1;
    }
    assert!(seen > 5, "{seen}");
}
