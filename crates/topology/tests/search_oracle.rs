//! NCCL's own rings and trees.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use crate::common;

use common::{env, shared, text};
use linerate_topology::search::{Graph, Pattern};
use linerate_topology::system::NodeId;
use linerate_topology::xml::Dialect;
use linerate_topology::{Analysis, Config, Document, Input, Search};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

/// Where the answer is equal but for the ranks' orders and the NICs of the rings, and why.
const OTHER_ORDERS: [(&str, &str); 1] = [(
    "env/syn-dgx1v.n2.crossnic1",
    "NCCL has the first rings in its order that do not use the NVLink from GPU 3 to GPU 0, which is free",
)];

fn config(answer: &Value) -> Config {
    Config {
        env: env(answer),
        nodes: answer["nNodes"].as_u64().unwrap() as u32,
        input: Input::Fused,
        ..Config::default()
    }
}

/// What differs between a graph and NCCL's.
fn compare(a: &Analysis, inter: bool, got: &Graph, want: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut eq = |what: &str, got: String, want: String| {
        if got != want {
            wrong.push(format!("{what}: {got}, and NCCL has {want}"));
        }
    };
    let pattern = match got.pattern {
        Pattern::BalancedTree => "BALANCED_TREE",
        Pattern::Tree => "TREE",
        Pattern::Ring => "RING",
    };
    eq("pattern", pattern.to_owned(), text(&want["pattern_name"]));
    eq("channels", got.channels.len().to_string(), want["nChannels"].to_string());
    let float = |v: &Value| format!("{}", v.as_f64().unwrap() as f32);
    eq("bw_intra", format!("{}", got.bw_intra), float(&want["bwIntra"]));
    eq("bw_inter", format!("{}", got.bw_inter), float(&want["bwInter"]));
    eq("total_intra", format!("{}", got.total_intra()), float(&want["total_bwIntra"]));
    eq("total_inter", format!("{}", got.total_inter()), float(&want["total_bwInter"]));
    eq("type_intra", got.type_intra.to_string(), text(&want["typeIntra"]));
    eq("type_inter", got.type_inter.to_string(), text(&want["typeInter"]));
    eq("cross_nic", got.cross_nic.to_string(), want["crossNic"].to_string());
    eq("same_channels", i32::from(got.same_channels).to_string(), want["sameChannels"].to_string());
    eq("hops", got.hops.to_string(), want["nHops"].to_string());
    let dev = |id: NodeId| a.system.node(id).unwrap().net().unwrap().dev;
    let ranks: Vec<_> = got.channels.iter().map(|c| c.ranks.clone()).collect();
    let nets: Vec<_> = got.channels.iter().filter_map(|c| c.nets).map(|(x, y)| vec![dev(x), dev(y)]).collect();
    let lists = |key: &str| {
        let list = |c: &Value| c[key].as_array().map(|l| l.iter().map(|n| n.as_i64().unwrap() as i32).collect());
        want["channels"].as_array().unwrap().iter().filter_map(list).collect::<Vec<Vec<i32>>>()
    };
    eq("ranks", format!("{ranks:?}"), format!("{:?}", lists("intra_ranks")));
    eq("nets", format!("{nets:?}"), format!("{:?}", if inter { lists("inter_net_devs") } else { Vec::new() }));
    wrong
}

fn run(group: &str) {
    let Some(root) = shared("nccl-oracle") else { return };
    let mut files: Vec<PathBuf> = fs::read_dir(root.join(group)).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.to_string_lossy().ends_with(".oracle.json"));
    files.sort();
    let (mut exact, mut differ, mut refused) = (0, 0, 0);
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().replace(".oracle.json", "");
        let answer: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        if answer["rc"].as_i64() != Some(0) {
            refused += 1;
            continue;
        }
        let stem = name.split(".n2").next().unwrap();
        let places = [format!("{group}/{stem}.fused.xml"), format!("{stem}.fused.xml"), format!("{group}/{stem}.xml")];
        let xml = places.iter().map(|p| root.join(p.trim_start_matches('/'))).find(|p| p.exists()).unwrap();
        let mut config = config(&answer);
        if !xml.to_string_lossy().ends_with(".fused.xml") {
            config.input = Input::File;
        }
        let document = Document::parse(fs::read(&xml).unwrap(), Dialect::Nccl).unwrap();
        let a = Analysis::new(&document, &config).unwrap();
        let start = Instant::now();
        let s = Search::new(&a, config.nodes);
        let ms = start.elapsed().as_secs_f64() * 1e3;
        let mut wrong = Vec::new();
        let float = |v: &Value| v.as_f64().unwrap() as f32;
        let system = &answer["system"];
        for (what, got, want) in [
            ("maxBw", s.max_bandwidth, float(&system["maxBw"])),
            ("totalBw", s.total_bandwidth, float(&system["totalBw"])),
            ("inter", f32::from(u8::from(s.inter)), float(&system["inter"])),
            ("comm channels", s.channels as f32, float(&answer["comm"]["nChannels"])),
        ] {
            // Sums of floats depend on their order.
            if (got - want).abs() > want * 1e-6 {
                wrong.push(format!("{what}: {got}, and NCCL has {want}"));
            }
        }
        for (graph, key) in [(&s.ring, "ring"), (&s.tree, "tree")] {
            let found = compare(&a, s.inter, graph, &answer["graphs"][key]);
            wrong.extend(found.into_iter().map(|w| format!("{key} {w}")));
        }
        let label = format!("{group}/{name}");
        if let Some((_, why)) = OTHER_ORDERS.iter().find(|(n, _)| *n == label) {
            println!("{label}: other rings of the same number, bandwidths and links: {why}");
            wrong.retain(|w| !w.starts_with("ring ranks") && !w.starts_with("ring nets"));
        }
        let verdict = if wrong.is_empty() { "equal" } else { "DIFFERS" };
        println!(
            "{label}: {verdict}; {} channels of {}/{} and {}/{} GB/s, {} steps, {ms:.2} ms",
            s.ring.channels.len(),
            s.ring.bw_intra,
            s.ring.bw_inter,
            s.tree.bw_intra,
            s.tree.bw_inter,
            s.steps
        );
        wrong.iter().for_each(|w| println!("    {w}"));
        if wrong.is_empty() { exact += 1 } else { differ += 1 }
    }
    println!("{group}: {exact} equal, {differ} differ, {refused} that NCCL refuses");
    assert_eq!(differ, 0, "in {group}");
    assert!(exact > 0, "no answers in {group}");
}

#[test]
fn nodes() {
    run("");
}

#[test]
fn environments() {
    run("env");
}

#[test]
fn sysfs() {
    run("sysfs");
}

#[test]
fn quirks() {
    run("quirks");
}
