//! Facts of composed nodes, and what they need.

#![allow(clippy::unwrap_used, clippy::panic)]

use linerate_compose::{Description, Entry};
use linerate_env::{Context, Distance, Fabric, NodeFacts, recommend};
use linerate_node::Node;
use linerate_snapshot::{Coverage, Lookup, Output, OutputKind, Snapshot, Why};
use std::path::Path;

fn facts(name: &str) -> NodeFacts {
    NodeFacts::of(&Node::decode(&snapshot(name)))
}

fn snapshot(name: &str) -> Snapshot {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/nodes").join(name);
    let tree = Description::load(&path).unwrap().compose().unwrap();
    let mut s = Snapshot::new(name);
    s.coverage = Coverage::Full { not_tried: Vec::new() };
    for (path, entry) in &tree.entries {
        match entry {
            Entry::File(data) => s.add_file(path, data),
            Entry::Link(target) => s.add_link(path, target.as_bytes()),
            Entry::Dir => s.add_dir(path),
            Entry::Denied => s.add_failed(path, Why::Denied),
        };
    }
    for (path, argv) in tree.files().filter(|(p, _)| p.starts_with("cmd/") && p.ends_with("/argv")) {
        let kind = match String::from_utf8_lossy(argv) {
            a if a.contains("\"topo\"") => OutputKind::NvidiaSmiTopo,
            a if a.contains("\"nvidia-smi\"") && a.contains("\"-x\"") => OutputKind::NvidiaSmiXml,
            _ => continue,
        };
        let Lookup::Found(entry) = s.resolve(&path.replace("/argv", "/stdout")) else { continue };
        s.outputs.push(Output { kind, entry, argv: Vec::new(), status: Some(0) });
    }
    s
}

fn context(node: NodeFacts) -> Context {
    Context { nccl: "2.21".parse().ok(), node: Some(node), ..Context::default() }
}

#[test]
fn an_hgx_needs_nothing() {
    for (name, fabric) in [("healthy-8gpu.toml", Fabric::InfiniBand), ("healthy-8gpu-roce.toml", Fabric::Roce)] {
        let c = context(facts(name));
        let node = c.node.as_ref().unwrap();
        assert_eq!((node.gpus, node.nvlink), (Some(8), Some(true)), "{name}");
        assert_eq!(c.fabric(), Some(fabric), "{name}");
        assert!(node.nearest.iter().all(|d| matches!(d, Distance::Pix | Distance::Pxb)), "{name} {:?}", node.nearest);
        let r = recommend(&c);
        assert!(r.set.is_empty(), "{name}: {r:?}");
    }
}

#[test]
fn behind_root_ports_the_level_is_worth_a_benchmark() {
    let c = context(facts("healthy-epyc-switchless.toml"));
    let node = c.node.as_ref().unwrap();
    assert_eq!(node.behind_root_ports(), Some(true), "{:?}", node.nearest);
    assert_eq!(node.nvlink, Some(false));
    let r = recommend(&c);
    assert_eq!(r.set.iter().map(|v| v.name).collect::<Vec<_>>(), ["NCCL_NET_GDR_LEVEL"], "{r:?}");
    assert!(r.certain().next().is_none());
}

/// No level helps where the NIC cannot register GPU memory at all.
#[test]
fn no_level_where_gpudirect_is_out_of_reach() {
    assert!(!facts("healthy-epyc-switchless.toml").no_gpudirect);
    let v100 = facts("cx3-v100.toml");
    assert!(v100.no_gpudirect);
    // One GPU of it, beside the card.
    let node = NodeFacts { nearest: vec![Distance::Phb], ..v100 };
    assert_eq!(node.behind_root_ports(), Some(true));
    let r = recommend(&context(node));
    assert!(r.set.iter().all(|v| v.name != "NCCL_NET_GDR_LEVEL"), "{r:?}");
}

#[test]
fn a_nic_that_runs_slowly_is_not_left_out() {
    let c = context(facts("sick-8gpu.toml"));
    let node = c.node.as_ref().unwrap();
    let slow = node.nics.as_ref().unwrap().iter().filter(|n| n.compute == Some(false)).map(|n| n.name.as_str());
    assert_eq!(slow.collect::<Vec<_>>(), [""; 0]);
    assert!(recommend(&c).certain().next().is_none(), "{:?}", recommend(&c));
}

#[test]
fn a_slow_or_far_device_is_not_for_the_job() {
    let mut node = facts("healthy-8gpu.toml");
    let nics = node.nics.as_mut().unwrap();
    let mut storage = nics.first().unwrap().clone();
    storage.name = "mlx5_99".to_owned();
    storage.compute = Some(false);
    nics.push(storage);
    let r = recommend(&context(node));
    let hca = r.certain().next().unwrap();
    assert!(hca.name == "NCCL_IB_HCA" && hca.value.starts_with("=mlx5_") && !hca.value.contains("99"), "{hca:?}");
}

/// A pod that has a part of the GPUs: those that the driver reports there count, as in `linerate topo`.
#[test]
fn a_pod_has_the_gpus_that_it_was_given() {
    let f = facts("broken/gpumem--gpu-query-agrees-3.toml");
    assert_eq!((f.gpus, f.nearest.len()), (Some(1), 1), "{:?}", f.nearest);
}

/// Where a topology file holds, the kernel's tree is not what NCCL goes by: Azure's has every device in a domain of its own.
#[test]
fn distances_are_those_of_the_topology_file() {
    for (name, want) in [
        ("healthy/azure-ndv4.toml", Some(false)),
        ("healthy/azure-ndv5.toml", Some(false)),
        ("healthy/broken/azure-ndv4--port-down.toml", Some(false)),
        // NCCL stops at this one.
        ("healthy/broken/azure-ndv5--tabs.toml", None),
    ] {
        let f = facts(name);
        assert_eq!(f.behind_root_ports(), want, "{name} {:?}", f.nearest);
        assert_eq!((f.by_file, f.nearest.len()), (want.is_some(), 8), "{name}");
        let near = f.nics.iter().flatten().filter(|n| n.compute == Some(true)).count();
        assert_eq!(near, if want.is_some() { 8 } else { 0 }, "{name} {:#?}", f.nics);
    }
    // Without it the kernel's tree is all there is.
    assert!(!facts("healthy/broken/azure-ndv4--no-topology-file.toml").by_file);
}

/// A file that the job names and the source does not hold may say anything.
#[test]
fn a_jobs_topology_file_that_is_not_seen_leaves_distances_open() {
    let known = snapshot("healthy-8gpu.toml");
    let f = NodeFacts::in_job(&Node::decode(&known), Some("/opt/topo.xml"));
    assert_eq!(f.behind_root_ports(), None, "{:?}", f.nearest);
    assert!(f.nics.iter().flatten().all(|n| n.compute.is_none()));
    assert!(recommend(&context(f)).set.is_empty());
}
