//! Lists of kubectl and scontrol beside snapshots: each node's own entry is joined to it, and a lie is found where it is.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // helpers of tests, outside of test functions

use crate::command;

use serde_json::Value;
use std::cell::RefCell;
use std::path::{Path, PathBuf};

const POLICY: &str = "schema = \"linerate.policy/1\"\n[class.all]\nmatch = {}\n[[class.all.claim]]\nname = \"pt\"\n\
    when = \"kubernetes.labels.value[example.com/iommu]=pt\"\n[class.all.claim.on.node]\n\"kernel.cmdline iommu\" = \"iommu=pt\"\n";

fn run(home: &Path, arguments: &[&str]) -> (i32, String) {
    command::run(home, arguments, &[], &[], &RefCell::new(String::new()))
}

/// A directory of a healthy node, whose kernel has `iommu=pt`, and a sick one, whose kernel has not.
fn fleet(dir: &Path, by_node: bool) -> PathBuf {
    let fleet = dir.join("fleet");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for (name, from) in [("gpu1", "healthy-8gpu"), ("gpu2", "sick-8gpu")] {
        let to = match by_node {
            true => fleet.join(name).join("20261120T100000Z.tar.zst"),
            false => fleet.join(format!("{name}.tar.zst")),
        };
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(examples.join(format!("{from}.tar.zst")), to).unwrap();
    }
    fleet
}

/// Objects of these nodes, each with so many GPUs.
fn objects(nodes: &[(&str, u32)]) -> String {
    let items: Vec<Value> = nodes
        .iter()
        .map(|(name, gpus)| {
            serde_json::json!({"apiVersion": "v1", "kind": "Node",
                "metadata": {"name": name, "labels": {"example.com/iommu": "pt", "nvidia.com/gpu.replicas": "1"}},
                "status": {"allocatable": {"nvidia.com/gpu": gpus.to_string()}}})
        })
        .collect();
    serde_json::json!({"apiVersion": "v1", "items": items, "kind": "List"}).to_string()
}

fn records(nodes: &[(&str, u32)]) -> String {
    let record = |(name, gpus): &(&str, u32)| {
        format!(
            "NodeName={name} Arch=x86_64 CoresPerSocket=52 \n   AvailableFeatures=(null)\n   ActiveFeatures=(null)\n   Gres=gpu:{gpus}\n   State=IDLE ThreadsPerCore=2\n\n"
        )
    };
    nodes.iter().map(record).collect()
}

/// Nodes on which the claim is a lie, and on which it cannot be told.
fn told(json: &str) -> [Vec<String>; 2] {
    let report: Value = serde_json::from_str(json).unwrap_or_else(|e| panic!("{e}: {json}"));
    ["failing", "unknown"].map(|key| {
        let groups = report[key].as_array().unwrap().iter();
        let pt = groups.filter(|g| g["id"] == "policy/all.pt").flat_map(|g| g["nodes"].as_array().unwrap());
        pt.map(|n| n.as_str().unwrap().to_owned()).collect()
    })
}

#[test]
fn a_list_beside_snapshots_is_joined() {
    let dir = tempfile::tempdir().unwrap();
    let policy = dir.path().join("p.toml");
    std::fs::write(&policy, POLICY).unwrap();
    let policy = policy.to_str().unwrap();
    for by_node in [false, true] {
        let fleet = fleet(dir.path(), by_node);
        let path = fleet.to_str().unwrap();
        let check = |more: &[&str]| {
            let (code, out) = run(dir.path(), &[&["policy", "check", policy, path, "--format", "json"], more].concat());
            (code, told(out.get(out.find('{').unwrap()..=out.rfind('}').unwrap()).unwrap()))
        };
        // Nobody says what is claimed.
        assert_eq!(check(&[]), (2, [vec![], vec!["gpu1".to_owned(), "gpu2".to_owned()]]), "{by_node}");
        let list = fleet.join("nodes.json");
        std::fs::write(&list, objects(&[("gpu1", 8), ("gpu2.example.org", 8), ("gpu3", 8)])).unwrap();
        assert_eq!(check(&[]), (1, [vec!["gpu2".to_owned()], vec![]]), "{by_node}");
        // A node that is not listed is unknown.
        std::fs::write(&list, objects(&[("gpu1", 8), ("gpu3", 8)])).unwrap();
        assert_eq!(check(&[]), (2, [vec![], vec!["gpu2".to_owned()]]), "{by_node}");
        std::fs::remove_file(&list).unwrap();
        // Packed, it is the same list.
        let packed = fleet.join("nodes.json.zst");
        let text = objects(&[("gpu1", 8), ("gpu2", 8)]);
        std::fs::write(&packed, zstd::encode_all(text.as_bytes(), 3).unwrap()).unwrap();
        assert_eq!(check(&[]), (1, [vec!["gpu2".to_owned()], vec![]]), "{by_node}");
        std::fs::remove_file(&packed).unwrap();
        // As a source of its own, too.
        let other = dir.path().join("objects.txt");
        std::fs::write(&other, objects(&[("gpu2", 8)])).unwrap();
        assert_eq!(check(&[other.to_str().unwrap()]), (1, [vec!["gpu2".to_owned()], vec!["gpu1".to_owned()]]));
        std::fs::remove_dir_all(&fleet).unwrap();
    }
}

#[test]
fn an_audit_shows_a_scheduler_that_counts_too_many() {
    let dir = tempfile::tempdir().unwrap();
    let fleet = fleet(dir.path(), true);
    let list = fleet.join("scontrol.txt");
    std::fs::write(&list, records(&[("gpu1", 9), ("gpu2", 8)])).unwrap();
    let path = fleet.to_str().unwrap();
    let (_, out) = run(dir.path(), &["audit", path, "--rule", "claims/gpu-count"]);
    assert!(out.contains("claims/gpu-count") && out.contains("gpu1"), "{out}");
    // One snapshot with the list; and the list of one node alone.
    let one = fleet.join("gpu1/20261120T100000Z.tar.zst");
    let arguments =
        ["audit", one.to_str().unwrap(), list.to_str().unwrap(), "--rule", "claims/gpu-count", "--format", "json"];
    let (code, out) = run(dir.path(), &arguments);
    assert!(code == 1 && out.contains("9 claimed, but 8"), "{out}");
    std::fs::write(&list, records(&[("gpu7", 9), ("gpu2", 8)])).unwrap();
    let (code, out) = run(dir.path(), &arguments);
    assert!(code == 2 && out.contains("not-applicable"), "what it claims of this node is not known: {out}");
    let alone = dir.path().join("record.txt");
    std::fs::write(&alone, records(&[("gpu1", 9)])).unwrap();
    let (code, out) = run(dir.path(), &["audit", alone.to_str().unwrap(), "--rule", "claims/gpu-count"]);
    assert!(code == 2 && out.contains("claims/gpu-count"), "{out}");
    let both = dir.path().join("both");
    std::fs::create_dir(&both).unwrap();
    std::fs::write(both.join("record.txt"), records(&[("gpu1", 2)])).unwrap();
    std::fs::write(both.join("lspci.txt"), "0000:00:01.0 PCI bridge [0604]: Intel Corporation Device [8086:352a]\n0000:18:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:2330]\n").unwrap();
    let (code, out) = run(dir.path(), &["audit", both.to_str().unwrap(), "--rule", "claims/gpu-count"]);
    assert!(code == 1 && out.contains("2 claimed, but 1"), "{code} {out}");
}

#[test]
fn drift_compares_what_is_claimed() {
    let dir = tempfile::tempdir().unwrap();
    let fleet = fleet(dir.path(), true);
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for name in ["gpu3", "gpu4"] {
        std::fs::create_dir(fleet.join(name)).unwrap();
        let to = fleet.join(name).join("20261120T100000Z.tar.zst");
        std::fs::copy(examples.join("healthy-8gpu.tar.zst"), to).unwrap();
    }
    std::fs::write(fleet.join("scontrol.txt"), records(&[("gpu1", 8), ("gpu2", 8), ("gpu3", 8), ("gpu4", 4)])).unwrap();
    let (_, out) = run(dir.path(), &["drift", fleet.to_str().unwrap(), "--format", "json"]);
    assert!(out.contains("slurm.gres.count"), "{out}");
}

/// What a list in the directory claims is in its index, as it is in what is said of its snapshots; and the list is no node.
#[test]
fn a_list_in_the_directory_is_in_its_index() {
    let dir = tempfile::tempdir().unwrap();
    let fleet = fleet(dir.path(), true);
    let path = fleet.to_str().unwrap();
    std::fs::write(fleet.join("nodes.json"), objects(&[("gpu1", 8), ("gpu2", 7)])).unwrap();
    std::fs::write(fleet.join("scontrol.txt"), records(&[("gpu1", 8), ("gpu3", 8)])).unwrap();
    let json = |arguments: &[&str]| -> Value {
        let (_, out) = run(dir.path(), &[arguments, &["--format", "json"]].concat());
        serde_json::from_str(out.get(out.find('{').unwrap()..=out.rfind('}').unwrap()).unwrap()).unwrap()
    };
    let drift = || json(&["drift", path]);
    let since = || json(&["drift", path, "--since", "2026-11-01"]);
    let set = |condition: &str| json(&["where", condition, path])["set"].as_str().unwrap().to_owned();
    let by_snapshots = (drift(), since());
    let (code, out) = run(dir.path(), &["fleet", "index", path]);
    // A node of which the list has nothing is said.
    assert!(code == 0 && out.contains("gpu2") && out.contains("gpu3"), "{code} {out}");
    assert_eq!((drift(), since()), by_snapshots);
    assert_eq!(by_snapshots.0["count"], 2);
    assert_eq!(set("kubernetes.labels.value[example.com/iommu]=pt"), "gpu[1-2]");
    assert_eq!(set("kubernetes.resources.allocatable[nvidia.com/gpu]=7"), "gpu2");
    assert_eq!(set("slurm.gres.count[gpu]=8"), "gpu1");
    // Another list: the index is old, and made again.
    std::fs::write(fleet.join("nodes.json"), objects(&[("gpu1", 8), ("gpu2", 8)])).unwrap();
    let (_, out) = run(dir.path(), &["where", "kubernetes.resources.allocatable[nvidia.com/gpu]=7", path]);
    assert!(out.contains("out of date"), "{out}");
    run(dir.path(), &["fleet", "index", path]);
    assert_eq!(set("kubernetes.resources.allocatable[nvidia.com/gpu]=8"), "gpu[1-2]");
}
