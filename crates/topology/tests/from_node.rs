//! From a node to NCCL's document: against NCCL's own answer for a tree of sysfs, and over composed and recorded nodes.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use linerate_node::Node;
use linerate_snapshot::{Reader, Snapshot};
use linerate_topology::from_node::{FromNode, Matrix, Options, from_node, from_node_with};
use linerate_topology::xml::{Dialect, Element};
use linerate_topology::{Analysis, Assumptions, Config, Document};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn shared(what: &str) -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(what);
    if dir.is_dir() {
        return Some(dir);
    }
    println!("SKIPPED: ../shared/data is not here");
    None
}

/// Every element with its attributes in order, but without those named.
fn lines(e: &Element, depth: usize, skip: &[&str], out: &mut Vec<String>) {
    let attributes: Vec<String> =
        e.attributes.iter().filter(|(k, _)| !skip.contains(&k.as_ref())).map(|(k, v)| format!("{k}={v:?}")).collect();
    out.push(format!("{}{} {}", "  ".repeat(depth), e.name, attributes.join(" ")));
    e.children.iter().for_each(|c| lines(c, depth + 1, skip, out));
}

fn shape(d: &Document, skip: &[&str]) -> Vec<String> {
    let mut out = Vec::new();
    lines(&d.system, 0, skip, &mut out);
    out
}

/// The oracle's network plugin was a stub: it left each port in its function, had GPUDirect RDMA, and printed the GUID as sysfs does.
fn oracle_options() -> Options {
    Options { merge_functions: false, nic_gdr: Some(true) }
}

fn oracle_config() -> Config {
    let cpu = ("AuthenticAMD".to_owned(), 175, 17);
    Config { assume: Assumptions { cpu, ..Assumptions::default() }, ..Config::default() }
}

#[test]
fn the_tree_of_sysfs_gives_nccls_document_attribute_by_attribute() {
    let Some(dir) = shared("nccl-oracle/sysfs") else { return };
    let snapshot = Reader::new().read(&dir.join("epyc-4xl40s-rootports.tar.gz")).unwrap();
    let node = Node::decode(&snapshot);
    let ours = from_node_with(&node, &oracle_options()).unwrap();
    let theirs = std::fs::read(dir.join("epyc-4xl40s-rootports.fused.xml")).unwrap();
    let theirs = Document::parse(&theirs, Dialect::Nccl).unwrap();
    let analysis = Analysis::new(&ours.document, &oracle_config()).unwrap();
    // NCCL's hash of its host is known to nobody else; the stub did not turn the GUID's bytes.
    let skip = ["host_hash", "guid"];
    assert_eq!(shape(&analysis.fused(), &skip), shape(&theirs, &skip));
    let guid = |d: &Document| {
        let all = shape(d, &[]).join("\n");
        let hex = all.split("guid=\"0x").nth(1).unwrap().split('"').next().unwrap().to_owned();
        u64::from_str_radix(&hex, 16).unwrap()
    };
    assert_eq!(guid(&analysis.fused()), guid(&theirs).swap_bytes());

    let answer: Value =
        serde_json::from_slice(&std::fs::read(dir.join("epyc-4xl40s-rootports.oracle.json")).unwrap()).unwrap();
    let mut cells = 0;
    for (key, paths) in [("raw_compact", &analysis.raw), ("final_compact", &analysis.paths)] {
        let s = &analysis.system;
        let gpus: Vec<_> = s.gpus().map(|g| g.0).collect();
        let nets: Vec<_> = s.nets().map(|n| n.0).collect();
        for (list, from, to) in [("gpu_gpu", &gpus, &gpus), ("gpu_net", &gpus, &nets), ("net_gpu", &nets, &gpus)] {
            for (f, row) in from.iter().zip(answer[key][list].as_array().into_iter().flatten()) {
                for (t, want) in to.iter().zip(row.as_str().unwrap().split_whitespace()) {
                    let p = paths.get(*f, *t).unwrap();
                    assert_eq!(format!("{}/{:.1}", p.kind, p.bandwidth), want, "{key} {list}");
                    cells += 1;
                }
            }
        }
    }
    assert!(cells >= 24, "{cells}");
}

#[test]
fn nccls_own_plugin_puts_both_ports_in_function_0() {
    let Some(dir) = shared("nccl-oracle/sysfs") else { return };
    let snapshot = Reader::new().read(&dir.join("epyc-4xl40s-rootports.tar.gz")).unwrap();
    let ours = from_node(&Node::decode(&snapshot)).unwrap();
    let (dumped, _) = ours.dumped(&oracle_config()).unwrap();
    let text = shape(&dumped, &[]).join("\n");
    let nets: Vec<&str> = text.lines().filter(|l| l.trim_start().starts_with("net ")).collect();
    assert_eq!(nets.len(), 2, "{text}");
    assert!(nets[0].contains("port=\"1\"") && nets[1].contains("port=\"2\""), "{nets:?}");
    assert!(text.contains("0000:c1:00.0") && !text.contains("0000:c1:00.1"), "{text}");
    assert!(ours.unknown.iter().any(|u| u.contains("GPU memory")), "{:?}", ours.unknown);
}

fn recorded(snapshot: &Snapshot) -> Result<(FromNode, Matrix), String> {
    let node = Node::decode(snapshot);
    let matrix = Matrix::of(&node);
    assert!(!matrix.to_string().is_empty());
    from_node(&node).map(|f| (f, matrix)).map_err(|e| e.to_string())
}

#[test]
fn hwlocs_machines_give_a_document_or_say_why_not() {
    let Some(dir) = shared("hwloc") else { return };
    let (mut documents, mut errors) = (0, 0);
    for folder in ["linux", "x86linux"] {
        for file in std::fs::read_dir(dir.join(folder)).unwrap().flatten() {
            if !file.file_name().to_string_lossy().ends_with(".tar.bz2") {
                continue;
            }
            let snapshot = Reader::new().read(&file.path()).unwrap();
            match recorded(&snapshot) {
                Ok((f, _)) => {
                    documents += 1;
                    let text = f.document.to_xml(Dialect::Nccl);
                    let again = Document::parse(&text, Dialect::Nccl).unwrap();
                    assert_eq!(shape(&again, &[]), shape(&f.document, &[]));
                    let judged = Analysis::new(&f.document, &Config::default());
                    println!("{}: {} unknown, {:?}", file.path().display(), f.unknown.len(), judged.err());
                }
                Err(e) => {
                    errors += 1;
                    assert!(e.contains("GPU"), "{e}");
                }
            }
        }
    }
    println!("{documents} documents, {errors} without a GPU");
    assert!(documents + errors >= 20);
}
