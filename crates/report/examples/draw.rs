//! Draws topologies: `cargo run --example draw -- OUT-DIR FILE...` writes FILE's stem with .svg and .dot. Files named
//! `*.fused.xml` are read as NCCL has them after filling.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use linerate_report::topo::scene::{Extras, LinkState, PcieLink, Scene};
use linerate_report::topo::{dot::dot, svg::svg};
use linerate_topology::config::Input;
use linerate_topology::xml::Dialect;
use linerate_topology::{Analysis, Config, Document};
use std::path::Path;
use std::time::Instant;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((out, files)) = args.split_first() else { return };
    let slow = std::env::var("SLOW").ok();
    for file in files {
        let document = Document::parse(std::fs::read(file).unwrap(), Dialect::Lenient).unwrap();
        let input = if file.ends_with(".fused.xml") { Input::Fused } else { Input::File };
        let config = Config { input, ..Config::default() };
        let analysis = Analysis::new(&document, &config).unwrap();
        let stem = Path::new(file).file_name().unwrap().to_string_lossy().replace(".xml", "").replace(".fused", "");
        let state = |busid: &str| {
            let g = |generation, width| PcieLink { generation: Some(generation), width: Some(width) };
            (Some(busid) == slow.as_deref()).then(|| LinkState { now: g(3, 8), possible: g(5, 16) })
        };
        let extras = Extras {
            title: stem.clone(),
            nccl: Some(config.version.to_string()),
            notes: analysis.notes().map(str::to_owned).collect(),
            links: Some(&state),
            bottleneck: std::env::var("BOTTLENECK").ok(),
        };
        let start = Instant::now();
        let scene = Scene::new(&document, &analysis, &extras);
        let built = start.elapsed();
        let drawing = svg(&scene);
        println!("{stem}: scene {built:?}, drawing {:?}, {} bytes", start.elapsed() - built, drawing.len());
        std::fs::write(format!("{out}/{stem}.svg"), drawing).unwrap();
        std::fs::write(format!("{out}/{stem}.dot"), dot(&scene)).unwrap();
    }
}
