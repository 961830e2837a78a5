//! Composed nodes: what is laid out below one switch comes out so, and both views agree with the composer's `nvidia-smi topo -m`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use crate::common;

use common::{lab, snapshot};
use linerate_compose::{Description, Tree};
use linerate_formats::nvidia_smi::PathKind;
use linerate_node::Node;
use linerate_snapshot::{Coverage, OutputKind};
use linerate_topology::from_node::matrix::Device;
use linerate_topology::from_node::{FromNode, FromNodeError, Matrix, compare_with_topo_m, from_node};
use linerate_topology::xml::{Dialect, Element};
use linerate_topology::{Analysis, Config, Document, PathType};
use std::path::{Path, PathBuf};

fn compose(path: &Path) -> Tree {
    let d = Description::load(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    d.compose().unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn all(_: &str) -> bool {
    true
}

/// The healthy nodes, and a part of the broken ones: most of those are broken where this crate does not look.
fn descriptions() -> Vec<PathBuf> {
    let list = |dir: PathBuf| {
        let files = std::fs::read_dir(dir).unwrap().flatten().map(|e| e.path());
        let mut out: Vec<PathBuf> = files.filter(|p| p.extension().is_some_and(|e| e == "toml")).collect();
        out.sort();
        out
    };
    let looks = |p: &PathBuf| {
        let name = p.file_name().unwrap().to_string_lossy().into_owned();
        ["topology", "rdma--device", "rdma--port", "numa", "pcie--width", "pcie--speed"]
            .iter()
            .any(|w| name.contains(w))
    };
    let broken = list(lab().join("broken"));
    let some = broken.iter().enumerate().filter(|(i, p)| i % 25 == 0 || looks(p)).map(|(_, p)| p.clone());
    list(lab()).into_iter().chain(some).collect()
}

fn named<'a>(f: &'a FromNode, name: &str) -> Vec<&'a Element> {
    f.document.system.all().filter(|e| e.name == name).collect()
}

#[test]
fn a_healthy_node_is_as_it_was_laid_out() {
    let snapshot = snapshot(&compose(&lab().join("healthy-8gpu.toml")), all);
    let node = Node::decode(&snapshot);
    let from = from_node(&node).unwrap();
    let (gpus, nets, cpus) = (named(&from, "gpu"), named(&from, "net"), named(&from, "cpu"));
    assert_eq!((gpus.len(), nets.len(), cpus.len()), (8, 8, 2));
    for (i, (gpu, net)) in gpus.iter().zip(&nets).enumerate() {
        let i = i.to_string();
        let key = |e: &Element, k: &str| e.get(k).map(str::to_owned);
        assert_eq!([key(gpu, "dev"), key(gpu, "rank"), key(net, "dev")], [(); 3].map(|()| Some(i.clone())));
        assert_eq!((gpu.get("sm"), gpu.get("gdr"), net.get("gdr")), (Some("90"), Some("1"), Some("1")));
        assert_eq!((net.get("speed"), net.get("port")), (Some("400000"), Some("1")));
        assert_eq!(net.get("name"), Some(format!("mlx5_{i}").as_str()));
        let link: Vec<&Element> = gpu.named("nvlink").collect();
        assert_eq!((link.len(), link[0].get("count"), link[0].get("tclass")), (1, Some("18"), Some("0x068000")));
    }
    assert_eq!((cpus[0].get("vendor"), cpus[0].get("familyid"), cpus[0].get("modelid")), {
        (Some("GenuineIntel"), Some("6"), Some("143"))
    });
    // Two GPUs and two NICs on each switch: their own NICs are PIX for both views, the others are not.
    let analysis = Analysis::new(&from.document, &Config::default()).unwrap();
    let matrix = Matrix::of(&node);
    let s = &analysis.system;
    for (g, gpu) in s.gpus() {
        for (n, net) in s.nets() {
            let near = gpu.dev / 2 == net.dev / 2;
            let path = analysis.raw.get(g, n).unwrap();
            assert_eq!(path.kind == PathType::Pix, near, "GPU{} {:?}: {}", gpu.dev, net.name, path.kind);
            let cell = matrix.path(&format!("GPU{}", gpu.dev), net.name.as_deref().unwrap()).unwrap();
            assert_eq!(*cell == PathKind::Pix, near, "{cell:?}");
        }
    }
    assert!(analysis.notes().all(|n| !n.contains("CPUs without")), "{:?}", analysis.notes().collect::<Vec<_>>());
}

/// GPUs by number, NICs by name.
fn called(d: &Device) -> &str {
    if d.is_gpu() { &d.column } else { &d.name }
}

/// The composer writes its `topo -m` from its own layout: the same words must come from the files alone.
#[test]
fn the_matrix_agrees_with_the_composers_everywhere() {
    let (mut nodes, mut cells) = (0, 0);
    for path in descriptions() {
        let snapshot = snapshot(&compose(&path), all);
        let node = Node::decode(&snapshot);
        let Some(topo) = node.nvidia.topo().known() else { continue };
        let ours = Matrix::of(&node);
        nodes += 1;
        for (a, row) in ours.devices.iter().zip(&ours.cells) {
            for (b, cell) in ours.devices.iter().zip(row) {
                let Some(theirs) = topo.path(called(a), called(b)) else { continue };
                cells += 1;
                // A guest's firmware gives no NUMA nodes; the composer knows its layout all the same.
                if let Some(cell) = cell {
                    assert_eq!(cell, theirs.value, "{}: {} {}\n{ours}", path.display(), a.name, b.name);
                }
            }
            let theirs = topo.rows.iter().find(|r| r.device == a.column && a.is_gpu());
            if let Some(row) = theirs {
                assert_eq!(a.numa.map(|n| n.to_string()), row.affinities.numa, "{} {}", path.display(), a.column);
            }
        }
        assert!(ours.to_string().lines().count() > ours.devices.len());
    }
    println!("{nodes} nodes, {cells} cells");
    assert!(nodes >= 6 && cells > 500, "{nodes} {cells}");
}

/// All nodes give a document that NCCL would read and judge, and it differs from `topo -m` only where a reason is known.
#[test]
fn every_composed_node_has_a_document_that_is_judged() {
    let mut differences = Vec::new();
    for path in descriptions() {
        let snapshot = snapshot(&compose(&path), all);
        let node = Node::decode(&snapshot);
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let from = match from_node(&node) {
            Ok(f) => f,
            // As NCCL does: topo/topology-file has a broken file.
            Err(FromNodeError::TopologyFile { .. }) if name.contains("topology-file") => continue,
            Err(e) => {
                assert_eq!(node.pci.nvidia_gpus().count(), 0, "{name}: {e}");
                continue;
            }
        };
        let text = from.document.to_xml(Dialect::Nccl);
        let again = Document::parse(&text, Dialect::Nccl).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
        assert_eq!(again.to_xml(Dialect::Nccl), text, "{name}");
        let analysis = Analysis::new(&again, &Config::default()).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
        assert!(analysis.fused().system.all().count() > 1, "{name}");
        from.dumped(&Config::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
        if let Some(topo) = node.nvidia.topo().known() {
            let d = compare_with_topo_m(&analysis, topo);
            differences.extend(d.into_iter().map(|d| format!("{name}: {d:?}")));
        }
    }
    differences.iter().for_each(|d| println!("{d}"));
    assert!(differences.iter().all(|d| !d.contains("the terms do not explain it")), "{differences:#?}");
}

/// From the text of `lspci -vvv` alone: the same tree, and a list of what it cannot show.
#[test]
fn a_text_gives_the_tree_and_says_what_it_lacks() {
    let tree = compose(&lab().join("healthy-8gpu.toml"));
    let whole = snapshot(&tree, all);
    let mut text = snapshot(&tree, |p| p.starts_with("cmd/"));
    text.outputs.retain(|o| o.kind == OutputKind::Lspci);
    text.coverage = Coverage::Partial;
    if text.outputs.is_empty() {
        println!("SKIPPED: the composer prints no lspci");
        return;
    }
    let (whole, text) = (from_node(&Node::decode(&whole)).unwrap(), from_node(&Node::decode(&text)).unwrap());
    let busids = |f: &FromNode| named(f, "pci").iter().map(|p| p.get("busid").unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(busids(&whole), busids(&text));
    for what in ["CPU: architecture", "RDMA devices", "NVLink"] {
        assert!(text.unknown.iter().any(|u| u.contains(what)), "{what}: {:#?}", text.unknown);
    }
}

/// Parts of a tree, as people send them: an answer or a reason, and never a guess about what is gone.
#[test]
fn trees_with_holes() {
    let tree = compose(&lab().join("healthy-8gpu.toml"));
    for hole in [
        "numa_node",
        "max_link",
        "system/node",
        "proc/cpuinfo",
        "sys/class/infiniband",
        "/rate",
        "config",
        "guid",
        "cmd/",
    ] {
        let mut s = snapshot(&tree, |p| !p.contains(hole));
        s.coverage = Coverage::Partial;
        let node = Node::decode(&s);
        let from = from_node(&node).unwrap_or_else(|e| panic!("{hole}: {e}"));
        assert!(!from.unknown.is_empty(), "{hole}");
        let text = from.document.to_xml(Dialect::Nccl);
        let absent = match hole {
            "system/node" => "affinity=\"0",
            "proc/cpuinfo" => "vendor=\"Genuine",
            "sys/class/infiniband" => "<net",
            "/rate" => "speed=\"400000",
            "guid" => "guid=",
            "cmd/" => "<nvlink",
            _ => "no such thing",
        };
        assert!(!text.contains(absent), "{hole}: {text}");
        Analysis::new(&from.document, &Config::default()).unwrap_or_else(|e| panic!("{hole}: {e}\n{text}"));
    }
}
