//! From a node to NCCL's document: against NCCL's own answer for a tree of sysfs, and over composed and recorded nodes.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use crate::common;

use common::shared;
use linerate_node::Node;
use linerate_snapshot::{Reader, Snapshot};
use linerate_topology::from_node::{FromNode, Matrix, Options, compare_with_topo_m, from_node, from_node_with};
use linerate_topology::system::NodeId;
use linerate_topology::xml::{Dialect, Element};
use linerate_topology::{Analysis, Assumptions, Config, Document};
use serde_json::Value;

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
    Options { merge_functions: false, nic_gdr: Some(true), ..Options::default() }
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
    let cells = paths_agree(&analysis, &answer) + decisions_agree(&analysis, &answer);
    assert!(cells >= 200, "{cells}");
}

/// Every path of the answer: type, bandwidth, hops, before and after NCCL adjusts them.
fn paths_agree(a: &Analysis, answer: &Value) -> usize {
    let s = &a.system;
    let id = |name: &Value| {
        let name = name.as_str().unwrap();
        let at = s.nodes().iter().position(|n| n.to_string() == name);
        NodeId(at.unwrap_or_else(|| panic!("no {name}")) as u32)
    };
    let mut cells = 0;
    for (key, paths) in [("paths_raw", &a.raw), ("paths_final", &a.paths)] {
        for (list, rows) in answer[key].as_object().unwrap() {
            for row in rows.as_array().unwrap() {
                let p = paths.get(id(&row["from"]), id(&row["to"])).unwrap();
                let ours = (p.kind.name(), format!("{:.3}", p.bandwidth), u64::from(p.hops));
                let bw = format!("{:.3}", row["bw"].as_f64().unwrap());
                let theirs = (row["type"].as_str().unwrap(), bw, row["hops"].as_u64().unwrap());
                assert_eq!(ours, theirs, "{key} {list} {} {}", row["from"], row["to"]);
                cells += 3;
            }
        }
    }
    cells
}

/// GPUDirect RDMA, peer-to-peer and local NICs.
fn decisions_agree(a: &Analysis, answer: &Value) -> usize {
    let int = |v: &Value| v.as_i64().unwrap();
    let mut cells = 0;
    for (ours, theirs) in a.gdr.iter().zip(answer["gdr"].as_array().unwrap()) {
        assert_eq!(ours.kind.name(), theirs["path_type"].as_str().unwrap(), "{theirs}");
        assert_eq!(ours.recv.mode.is_some(), theirs["recv_gdr"] != "Disabled", "{theirs}");
        assert_eq!(ours.send.mode.is_some(), theirs["send_gdr"] != "Disabled", "{theirs}");
        cells += 3;
    }
    for (ours, theirs) in a.p2p.iter().zip(answer["p2p"].as_array().unwrap()) {
        assert_eq!(i64::from(ours.allowed), int(&theirs["p2p"]), "{theirs}");
        assert_eq!(ours.transport.name(), theirs["transport"].as_str().unwrap(), "{theirs}");
        cells += 2;
    }
    for (ours, theirs) in a.local_nets.iter().zip(answer["local_net"].as_array().unwrap()) {
        assert_eq!(ours.kind.name(), theirs["local_set_type"].as_str().unwrap(), "{theirs}");
        cells += 1;
    }
    assert_eq!(a.gdr.len(), answer["gdr"].as_array().unwrap().len());
    cells
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

/// Every matrix is read, and compared with a document that has the same NVLinks, none crashes; the reasons are words.
#[test]
fn matrices_of_others_are_read_and_compared() {
    let Some(dir) = shared("topo-m") else { return };
    let oracle = dir.join("../nccl-oracle");
    let documents: Vec<Document> = ["azure-ndv4", "oci-h100-bm", "syn-dgx1v", "aws-p4d-24xl"]
        .iter()
        .map(|n| {
            let bytes = std::fs::read(oracle.join(format!("{n}.fused.xml"))).unwrap();
            Document::parse(&bytes, Dialect::Nccl).unwrap()
        })
        .collect();
    let config = Config { input: linerate_topology::Input::Fused, ..Config::default() };
    let (mut read, mut found) = (0, 0);
    for file in std::fs::read_dir(&dir).unwrap().flatten() {
        let bytes = std::fs::read(file.path()).unwrap();
        let topo = linerate_formats::nvidia_smi::parse_topo(&bytes)
            .unwrap_or_else(|e| panic!("{}: {e}", file.path().display()));
        read += 1;
        assert!(topo.broken_rows.is_empty(), "{}: {:?}", file.path().display(), topo.broken_rows);
        for document in &documents {
            let differences = compare_with_topo_m(&Analysis::new(document, &config).unwrap(), &topo);
            assert!(differences.iter().all(|d| d.ours != d.theirs && d.why.len() > 20), "{differences:?}");
            found += differences.len();
        }
    }
    println!("{read} matrices, {found} differences");
    assert!(read >= 8 && found > 0);
}

/// Names of two vocabularies for one thing are no difference; the rest is shown with its reason.
#[test]
fn words_that_differ_and_words_that_only_sound_different() {
    let xml = r#"<system version="1">
  <cpu host_hash="0x1" numaid="0" affinity="f" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:10:00.0" class="0x060400" vendor="0x15b3" device="0x1979" subsystem_vendor="0x0" subsystem_device="0x0" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:11:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16"><gpu dev="0" sm="90" rank="0" gdr="1"/></pci>
      <pci busid="0000:12:00.0" class="0x020700" link_speed="32.0 GT/s PCIe" link_width="16"><nic>
        <net name="mlx5_0" dev="0" speed="200000" port="1" guid="0x1" maxconn="1" gdr="1"/>
        <net name="mlx5_1" dev="1" speed="200000" port="2" guid="0x1" maxconn="1" gdr="1"/></nic></pci>
    </pci>
    <pci busid="0000:20:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16"><gpu dev="1" sm="90" rank="1" gdr="1"/></pci>
  </cpu>
</system>"#;
    let document = Document::parse(xml.as_bytes(), Dialect::Lenient).unwrap();
    let analysis = Analysis::new(&document, &Config::default()).unwrap();
    let compare = |rows: &str| {
        let text = format!("\tGPU0\tGPU1\tNIC0\tNIC1\n{rows}\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n");
        compare_with_topo_m(&analysis, &linerate_formats::nvidia_smi::parse_topo(text.as_bytes()).unwrap())
    };
    assert_eq!(compare("GPU0\t X \tNODE\tPIX\tPIX\nGPU1\tPHB\t X \tNODE\tPHB\n"), []);
    let told = compare("GPU0\t X \tSYS\tPXB\tPIX\nGPU1\tSYS\t X \tNODE\tNV4\n");
    let words: Vec<String> = told.iter().map(|d| format!("{} {} {} {}", d.a, d.b, d.ours, d.theirs)).collect();
    assert_eq!(words, ["GPU0 GPU1 PHB SYS", "GPU0 mlx5_0 PIX PXB", "GPU1 mlx5_1 PHB NV4"]);
    assert!(told[0].why.contains("SNC"), "{}", told[0].why);
}
