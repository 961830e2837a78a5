//! The list: ids, paths, and what an empty source answers.

#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use linerate_facts::{Fact, Reading, Subject, Value, defs, each, moves};
use linerate_node::Node;
use linerate_snapshot::Snapshot;
use std::collections::BTreeSet;

fn tree() -> Snapshot {
    let mut s = Snapshot::new("tree");
    let dev = "sys/devices/pci0000:18/0000:18:00.0";
    for (path, text) in [
        ("proc/cmdline", "quiet iommu=pt\n"),
        ("sys/kernel/iommu_groups/7/type", "DMA-FQ\n"),
        ("sys/devices/system/node/node0/cpulist", "0-3\n"),
        (&format!("{dev}/vendor"), "0x15b3\n"),
        (&format!("{dev}/device"), "0x1021\n"),
        (&format!("{dev}/class"), "0x020700\n"),
        (&format!("{dev}/current_link_speed"), "32.0 GT/s PCIe\n"),
        (&format!("{dev}/infiniband/mlx5_0/ports/1/state"), "4: ACTIVE\n"),
        (&format!("{dev}/infiniband/mlx5_0/ports/1/rate"), "400 Gb/sec (4X NDR)\n"),
        (&format!("{dev}/infiniband/mlx5_0/ports/1/gids/0"), "fe80:0000:0000:0000:0000:0000:0000:0001\n"),
        (&format!("{dev}/net/ib0/mtu"), "2044\n"),
    ] {
        s.add_file(path, text.as_bytes()).unwrap();
    }
    for (link, to) in [
        ("sys/bus/pci/devices/0000:18:00.0", "../../../devices/pci0000:18/0000:18:00.0"),
        ("sys/class/infiniband/mlx5_0", "../../devices/pci0000:18/0000:18:00.0/infiniband/mlx5_0"),
        ("sys/class/net/ib0", "../../devices/pci0000:18/0000:18:00.0/net/ib0"),
    ] {
        s.add_link(link, to.as_bytes()).unwrap();
    }
    s
}

#[test]
fn ids_are_unique_and_begin_with_their_subject() {
    let ids: Vec<&str> = defs().map(|d| d.id).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    for d in defs() {
        assert!(d.id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._".contains(&b)), "{}", d.id);
        assert!(!d.what.is_empty() && !d.what.contains('|'), "{}", d.id);
    }
    let s = tree();
    each(&Node::decode(&s), &mut |f| assert!(f.def.id.starts_with(f.subject.prefix()), "{f}"));
}

#[test]
fn a_path_is_one_fact() {
    let s = tree();
    let node = Node::decode(&s);
    let mut paths = BTreeSet::new();
    let mut rate = None;
    each(&node, &mut |f: &Fact<'_>| {
        assert!(paths.insert(f.to_string()), "{f}");
        if f.to_string() == "rdma[mlx5_0].ports[1].rate_gbps" {
            rate = Some((f.reading.known().map(ToString::to_string), f.def.unit.symbol(), f.subject.function()));
            assert!(s.describe(f.reading.place()).ends_with("mlx5_0/ports/1/rate"));
        }
    });
    assert_eq!(rate, Some((Some("400".to_owned()), "Gb/s", "0000:18:00.0".parse().ok())));
    for path in ["kernel.cmdline", "pci[0000:18:00.0].link.speed", "net[ib0].mtu", "iommu.groups[7].domain"] {
        assert!(paths.contains(path), "{path}");
    }
}

#[test]
fn in_an_empty_source_nothing_is_known_and_nothing_is_absent() {
    let s = Snapshot::new("empty");
    each(&Node::decode(&s), &mut |f| assert!(f.reading.is_unreadable(), "{f}: {:?}", f.reading));
}

#[test]
fn lists_lead_to_their_members() {
    let s = tree();
    let node = Node::decode(&s);
    for f in linerate_facts::of(&node, Subject::Node) {
        if let (Reading::Known(Value::Members(all), _), "rdma") = (&f.reading, f.def.id) {
            assert_eq!(all.iter().map(ToString::to_string).collect::<Vec<_>>(), ["rdma[mlx5_0]"]);
            assert_eq!(serde_json::to_value(f.reading.known()).unwrap(), serde_json::json!(["rdma[mlx5_0]"]));
            return;
        }
    }
    panic!("no list of RDMA devices");
}

#[test]
fn what_moves_is_a_fact_of_the_list() {
    for m in moves::MOVING {
        assert!(defs().any(|d| d.id == m.id), "{}", m.id);
        assert!(!m.path.starts_with('/') && m.reason.len() > 10, "{}", m.id);
    }
    assert!(moves::why("rdma.ports.gids.gid").is_some() && moves::why("pci.link.max_speed").is_none());
}
