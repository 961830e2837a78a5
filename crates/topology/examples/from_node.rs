//! Prints NCCL's document and the matrix of a node: `cargo run --example from_node -- SNAPSHOT`, any source that `linerate audit` reads.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use linerate_node::Node;
use linerate_snapshot::capture::Purpose;
use linerate_topology::from_node::{Matrix, compare_with_topo_m, from_node};
use linerate_topology::xml::Dialect;
use linerate_topology::{Analysis, Config};
use std::path::Path;

fn main() -> std::process::ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("name a snapshot");
        return std::process::ExitCode::FAILURE;
    };
    let path = Path::new(&path);
    let snapshot = match linerate_snapshot::load(path, &linerate_snapshot::options_for(path, Purpose::Audit), &|_| {}) {
        Ok(s) => s,
        Err(e) => {
            eprintln!("{e}");
            return std::process::ExitCode::FAILURE;
        }
    };
    let node = Node::decode(&snapshot);
    println!("{}", Matrix::of(&node));
    let from = match from_node(&node) {
        Ok(f) => f,
        Err(e) => {
            eprintln!("{e}");
            return std::process::ExitCode::FAILURE;
        }
    };
    println!("{}", from.document.to_xml(Dialect::Nccl));
    for (what, list) in [("assumed", &from.assumptions), ("unknown", &from.unknown), ("left out", &from.left_out)] {
        list.iter().for_each(|l| println!("{what}: {l}"));
    }
    match Analysis::new(&from.document, &Config::default()) {
        Ok(a) => {
            a.notes().for_each(|n| println!("judged with: {n}"));
            let topo = node.nvidia.topo().known();
            topo.into_iter().flat_map(|t| compare_with_topo_m(&a, t)).for_each(|d| println!("{d:?}"));
        }
        Err(e) => println!("not judged: {e}"),
    }
    std::process::ExitCode::SUCCESS
}
