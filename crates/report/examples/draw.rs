//! Draws topologies: `cargo run --example draw -- OUT-DIR FILE...` writes FILE's stem with .svg and .dot. Files named
//! `*.fused.xml` are read as NCCL has them after filling.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use linerate_formats::pci::{LinkSpeed, LinkWidth};
use linerate_report::topo::scene::{Extras, Scene};
use linerate_report::topo::{LinkState, PcieLink, dot::dot, svg::svg};
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
            let (now, possible) =
                (PcieLink::new(LinkSpeed::Gen3, LinkWidth(8)), PcieLink::new(LinkSpeed::Gen5, LinkWidth(16)));
            (Some(busid) == slow.as_deref()).then_some(LinkState { now, possible })
        };
        let extras = Extras {
            title: stem.clone(),
            nccl: Some(config.version.to_string()),
            notes: analysis.notes().map(str::to_owned).collect(),
            links: Some(&state),
            bottleneck: std::env::var("BOTTLENECK").ok(),
            matrix: None,
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
