//! Judges topologies and says how long it takes, as rows of a table: `cargo run --profile dist --example judge -- FILE...`; without
//! files, nodes made up here.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use linerate_topology::ceiling::{Extra, node_ceilings};
use linerate_topology::xml::{Dialect, Element};
use linerate_topology::{Analysis, Config, Document, Search};
use std::time::Instant;

/// The program's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    for file in &files {
        report(file, &std::fs::read_to_string(file).unwrap());
    }
    if files.is_empty() {
        report("8 GPUs, 8 NICs, 4 switches", &text(&nodes(1, 8, 8, 4)));
        report("16 GPUs, 18 NICs, 10 switches", &text(&nodes(1, 16, 18, 10)));
        report("72 GPUs of 18 hosts, 72 NICs", &text(&nodes(18, 4, 4, 4)));
        report("560 GPUs of 56 hosts, 560 NICs", &text(&nodes(56, 10, 10, 5)));
    }
}

fn text(system: &Element) -> String {
    Document { system: system.clone() }.to_xml(Dialect::Lenient)
}

fn report(name: &str, text: &str) {
    let config = Config::default();
    let median = |f: &dyn Fn()| {
        let mut times: Vec<f64> = (0..if text.len() > 100_000 { 3 } else { 31 })
            .map(|_| {
                let start = Instant::now();
                f();
                start.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let document = Document::parse(text, Dialect::Lenient).unwrap();
    let analysis = match Analysis::new(&document, &config) {
        Ok(a) => a,
        Err(e) => return println!("| {name} | {e} | | | |"),
    };
    let parse = median(&|| drop(Document::parse(text, Dialect::Lenient)));
    let judge = median(&|| drop(Analysis::new(&document, &config)));
    let extra = Extra { nodes: Some(2), ..Extra::default() };
    let ceilings = median(&|| drop(node_ceilings(&analysis, &extra)));
    let search = median(&|| drop(Search::new(&analysis, 2)));
    println!("| {name} | {parse:.3} ms | {judge:.3} ms | {ceilings:.3} ms | {search:.1} ms |");
}

/// Hosts of so many GPUs, NICs and switches each, one NVLink domain.
fn nodes(hosts: usize, gpus: usize, nics: usize, switches: usize) -> Element {
    let mut system = Element::new("system").with("version", "1");
    let (mut rank, mut dev) = (0, 0);
    for host in 0..hosts {
        let mut cpus: Vec<Element> = (0..2)
            .map(|c| {
                Element::new("cpu")
                    .with("numaid", c.to_string())
                    .with("arch", "x86_64")
                    .with("vendor", "GenuineIntel")
                    .with("familyid", "6")
                    .with("modelid", "143")
                    .with("host_hash", format!("{:#x}", host + 1))
            })
            .collect();
        for s in 0..switches {
            let pci = |bus: usize, class: &str| {
                Element::new("pci")
                    .with("busid", format!("{host:04x}:{bus:02x}:00.0"))
                    .with("class", class)
                    .with("link_speed", "32.0 GT/s PCIe")
                    .with("link_width", "16")
            };
            let mut switch = pci(s * 16, "0x060400");
            for g in (s..gpus).step_by(switches) {
                let gpu = Element::new("gpu")
                    .with("dev", g.to_string())
                    .with("sm", "90")
                    .with("rank", rank.to_string())
                    .with("gdr", "1");
                let link = Element::new("nvlink")
                    .with("target", "fffffff:ffff:ff")
                    .with("count", "18")
                    .with("tclass", "0x068000");
                rank += 1;
                switch = switch.holding(pci(s * 16 + 1 + g / switches, "0x030200").holding(gpu.holding(link)));
            }
            for n in (s..nics).step_by(switches) {
                let net = Element::new("net")
                    .with("name", format!("mlx5_{dev}"))
                    .with("dev", dev.to_string())
                    .with("speed", "400000")
                    .with("port", "1")
                    .with("guid", format!("{:#x}", dev + 1))
                    .with("maxconn", "131072")
                    .with("gdr", "1");
                dev += 1;
                switch = switch
                    .holding(pci(s * 16 + 8 + n / switches, "0x020700").holding(Element::new("nic").holding(net)));
            }
            cpus[s * 2 / switches].children.push(switch);
        }
        system.children.extend(cpus);
    }
    system
}
