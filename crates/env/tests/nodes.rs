//! Facts of composed nodes, and what they need.

#![allow(clippy::unwrap_used, clippy::panic)]

use linerate_compose::{Description, Entry};
use linerate_env::{Context, Distance, Fabric, NodeFacts, recommend};
use linerate_node::Node;
use linerate_snapshot::{Coverage, Lookup, Output, OutputKind, Snapshot, Why};
use std::path::Path;

fn facts(name: &str) -> NodeFacts {
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
    let asked = |p: &str, argv: &[u8]| p.ends_with("/argv") && String::from_utf8_lossy(argv).contains("\"topo\"");
    for (path, _) in tree.files().filter(|(p, argv)| p.starts_with("cmd/") && asked(p, argv)) {
        let Lookup::Found(entry) = s.resolve(&path.replace("/argv", "/stdout")) else { continue };
        s.outputs.push(Output { kind: OutputKind::NvidiaSmiTopo, entry, argv: Vec::new(), status: Some(0) });
    }
    NodeFacts::of(&Node::decode(&s))
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
