//! Ceilings of whole nodes: small ones made up here, and NCCL's oracle topologies.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout)]

use crate::common;

use common::shared;
use linerate_formats::pci::LinkSpeed;
use linerate_topology::ceiling::{
    Algorithm, Ceilings, Collective, CollectiveCeiling, Derivation, ElementKind, Extra, PcieSeen, Port, Protocol,
    node_ceilings,
};
use linerate_topology::xml::{Dialect, Element};
use linerate_topology::{Analysis, Config, Document, Env, Input, Nvlink};
use std::collections::BTreeMap;

fn pci(busid: &str, class: &str, width: u32) -> Element {
    Element::new("pci")
        .with("busid", busid)
        .with("class", class)
        .with("link_speed", "16.0 GT/s PCIe")
        .with("link_width", width.to_string())
}

fn gpu(busid: &str, rank: u32, sm: u32) -> Element {
    let n = rank.to_string();
    let gpu = Element::new("gpu").with("dev", n.clone()).with("sm", sm.to_string()).with("rank", n).with("gdr", "1");
    pci(busid, "0x030200", 16).holding(gpu)
}

fn nic(busid: &str, dev: u32, speed: u32, width: u32) -> Element {
    let net = Element::new("net")
        .with("name", format!("mlx5_{dev}"))
        .with("dev", dev.to_string())
        .with("speed", speed.to_string())
        .with("port", "1")
        .with("guid", format!("{:#x}", 0x10 + dev))
        .with("maxconn", "64")
        .with("gdr", "1");
    pci(busid, "0x020700", width).holding(Element::new("nic").holding(net))
}

fn node(vendor: &str, cpus: Vec<Vec<Element>>) -> Document {
    let cpu = |(n, inside): (usize, Vec<Element>)| {
        let cpu = Element::new("cpu")
            .with("numaid", n.to_string())
            .with("arch", "x86_64")
            .with("vendor", vendor)
            .with("familyid", "6")
            .with("modelid", "143");
        inside.into_iter().fold(cpu, Element::holding)
    };
    let system = Element::new("system").with("version", "1");
    Document { system: cpus.into_iter().enumerate().map(cpu).fold(system, Element::holding) }
}

fn switch(busid: &str, width: u32, inside: Vec<Element>) -> Element {
    inside.into_iter().fold(pci(busid, "0x060400", width), Element::holding)
}

/// Two CPUs, on each a switch with two GPUs and a 200G NIC.
fn two_switches(uplink: u32, nic_width: u32, sm: u32) -> Document {
    let side = |n: u32| {
        let inside = vec![
            gpu(&format!("0000:{n}1:00.0"), 2 * n, sm),
            gpu(&format!("0000:{n}2:00.0"), 2 * n + 1, sm),
            nic(&format!("0000:{n}3:00.0"), n, 200_000, nic_width),
        ];
        vec![switch(&format!("0000:{n}0:00.0"), uplink, inside)]
    };
    node("AuthenticAMD", vec![side(0), side(1)])
}

fn seen(nodes: u32) -> Extra {
    let any_port = Port { protocol: Some(Protocol::RoceV2), mtu: Some(4096), ..Port::default() };
    Extra { nodes: Some(nodes), any_port, mps: Some(256), ..Extra::default() }
}

fn judge(d: &Document, extra: &Extra, nvlink: Option<Nvlink>) -> Ceilings {
    // Else NCCL cuts a host whose NICs are faster than the way between its CPUs.
    let env = Env::parse([("NCCL_NET_DISABLE_INTRA", "1")], Default::default());
    let mut config = Config { nodes: extra.nodes.unwrap_or(1), env, ..Config::default() };
    if let Some(n) = nvlink {
        config.assume.nvlink = n;
    }
    node_ceilings(&Analysis::new(d, &config).unwrap(), extra)
}

fn find(list: &[CollectiveCeiling], c: Collective, a: Algorithm) -> &Derivation {
    &list.iter().find(|x| (x.collective, x.algorithm) == (c, a)).unwrap().bus
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 0.005 * b, "{a} is not {b}");
}

#[test]
fn a_nic_is_limited_by_its_port_or_by_its_lanes() {
    let c = judge(&two_switches(16, 16, 80), &seen(2), None);
    let n = &c.nics[0];
    assert_eq!((n.name.as_str(), n.gpu.as_deref()), ("mlx5_0", Some("GPU0")));
    for d in [&n.host_receive, &n.gpu_receive] {
        let d = d.as_ref().unwrap();
        near(d.result.high, 196.08);
        assert_eq!(&*d.limiting.name, "mlx5_0: 200 Gb/s port");
        assert!(d.certain, "{d}");
        assert!(d.steps.len() > 3);
    }
    // Eight lanes of Gen4: 15.75 GB/s raw.
    let c = judge(&two_switches(16, 8, 80), &seen(2), None);
    let d = c.nics[1].gpu_receive.as_ref().unwrap();
    assert_eq!(&*d.limiting.name, "PCIe Gen4 x8 link of mlx5_1 (0000:13:00.0)");
    near(d.result.high, 15.754 * 8.0 * 256.0 / 280.0);
    near(d.result.low, 15.754 * 8.0 * 256.0 / 280.0 * 0.92);
    assert_eq!(&*d.next.as_ref().unwrap().name, "mlx5_1: 200 Gb/s port");
    let ring = find(&c.inter, Collective::AllReduce, Algorithm::Ring);
    assert_eq!(&*ring.limiting.name, "2 × PCIe Gen4 x8 link (mlx5_0 (0000:03:00.0), mlx5_1 (0000:13:00.0))");
    near(ring.result.high, 2.0 * 15.754 * 256.0 / 280.0);
}

#[test]
fn a_narrow_uplink_limits_the_node_and_says_who_shares_it() {
    let c = judge(&two_switches(4, 16, 80), &seen(1), None);
    let ring = find(&c.intra, Collective::AllReduce, Algorithm::Ring);
    assert_eq!(ring.limiting.kind, ElementKind::Uplink, "{ring} {:?}", c.notes);
    assert!(ring.limiting.name.contains("0000:00:00.0 shared by 2 GPUs and 1 NIC"), "{ring}");
    near(ring.result.high, 15.754 / 2.0 * 256.0 / 280.0);
    // Four flows each way leave a switch in an all-to-all of four GPUs.
    near(find(&c.intra, Collective::AllToAll, Algorithm::Pairwise).result.high, ring.result.high * 3.0 / 4.0);
    // The sum crosses once, where a ring brings 3/2 of it.
    near(find(&c.intra, Collective::AllReduce, Algorithm::Hierarchical).result.high, ring.result.high * 1.5);
    assert!(c.inter.is_empty());
    // The NICs do not pass the uplink to their own GPUs.
    let many = judge(&two_switches(4, 16, 80), &seen(2), None);
    let ring = find(&many.inter, Collective::AllReduce, Algorithm::Ring);
    assert_eq!(ring.limiting.kind, ElementKind::Uplink);
    near(ring.result.high, 2.0 * 15.754 / 2.0 * 256.0 / 280.0);
}

#[test]
fn a_host_that_nccl_cuts_is_several_nodes() {
    let a = Analysis::new(&two_switches(16, 16, 80), &Config::default()).unwrap();
    assert_eq!(a.domains.len(), 2);
    let c = node_ceilings(&a, &seen(1));
    assert!(c.notes.iter().any(|n| n.contains("2 parts")), "{:?}", c.notes);
    assert_eq!(c.nics[1].gpu.as_deref(), Some("GPU2"));
    // A 200G NIC of each part.
    near(find(&c.inter, Collective::AllReduce, Algorithm::Ring).result.high, 24.5);
}

#[test]
fn nvlink_switches() {
    let c = judge(&two_switches(16, 16, 90), &seen(2), Some(Nvlink::Switch(Some(18))));
    let ring = find(&c.intra, Collective::AllGather, Algorithm::Ring);
    assert_eq!(ring.limiting.kind, ElementKind::NvLink);
    near(ring.result.low, 18.0 * 20.6);
    near(ring.result.high, 450.0);
    let nvls = find(&c.intra, Collective::AllReduce, Algorithm::Nvls);
    near(nvls.result.high, 450.0 * 2.0 * 3.0 / 5.0);
    near(nvls.result.low, 18.0 * 20.6 * 0.85 * 2.0 * 3.0 / 5.0);
    let hierarchical = find(&c.inter, Collective::AllReduce, Algorithm::Hierarchical);
    near(hierarchical.result.high, 2.0 * 24.51 * 1.75);
    assert_eq!(&*hierarchical.limiting.name, "2 × 200 Gb/s port (mlx5_0, mlx5_1)");
    assert!(hierarchical.next.is_some());
    // A file that lists each GPU's links too often.
    let many = judge(&two_switches(16, 16, 90), &seen(2), Some(Nvlink::Switch(Some(126))));
    near(find(&many.intra, Collective::AllGather, Algorithm::Ring).result.high, 450.0);
    assert!(many.notes.iter().any(|n| n.contains("126 NVLinks")), "{:?}", many.notes);
    // Ampere's switches do not reduce.
    let old = judge(&two_switches(16, 16, 80), &seen(2), Some(Nvlink::Switch(Some(12))));
    assert!(!old.intra.iter().any(|c| c.algorithm == Algorithm::Nvls));
}

#[test]
fn intel_cuts_what_peers_write() {
    let far = node("GenuineIntel", vec![vec![gpu("0000:01:00.0", 0, 80), nic("0000:02:00.0", 0, 400_000, 16)]]);
    let c = judge(&far, &seen(2), None);
    let n = &c.nics[0];
    let (host, gpu) = (n.host_receive.as_ref().unwrap(), n.gpu_receive.as_ref().unwrap());
    assert_eq!(gpu.limiting.kind, ElementKind::HostBridge, "{gpu}");
    near(gpu.result.high, host.result.high * 5.0 / 6.0);
    assert!(c.intra.is_empty(), "one GPU");
}

#[test]
fn what_runs_now_counts_more_than_what_could() {
    let slow = PcieSeen { speed: Some(LinkSpeed::Gen3), width: Some(8), ..PcieSeen::default() };
    let extra = Extra { pcie: BTreeMap::from([("0000:03:00.0".to_owned(), slow)]), ..seen(2) };
    let c = judge(&two_switches(16, 16, 80), &extra, None);
    let d = c.nics[0].gpu_receive.as_ref().unwrap();
    assert_eq!(&*d.limiting.name, "PCIe Gen3 x8 link of mlx5_0 (0000:03:00.0)");
    assert_eq!(c.nics[1].gpu_receive.as_ref().unwrap().limiting.kind, ElementKind::Port);
}

#[test]
fn nothing_seen_widens_and_never_narrows() {
    let d = two_switches(8, 16, 80);
    let (known, unknown) = (judge(&d, &seen(2), None), judge(&d, &Extra { nodes: Some(2), ..Extra::default() }, None));
    for (k, u) in known.intra.iter().zip(&unknown.intra).chain(known.inter.iter().zip(&unknown.inter)) {
        assert_eq!((k.collective, k.algorithm), (u.collective, u.algorithm));
        assert!(u.bus.result.low <= k.bus.result.low && k.bus.result.high <= u.bus.result.high, "{} {}", k.bus, u.bus);
    }
    // A width of 0 is not 16 lanes.
    let c = judge(&two_switches(16, 0, 80), &seen(2), None);
    let d = c.nics[0].host_receive.as_ref().unwrap();
    assert!(d.steps.iter().any(|s| s.what.to_string().contains("not seen")), "{d}");
    assert!(c.notes.iter().any(|n| n.contains("0000:03:00.0") && n.contains("not seen")), "{:?}", c.notes);
    // A speed of 0 is not 10 Gb/s.
    let mut silent = two_switches(16, 16, 80);
    silent.system.children[0].children[0].children[2].children[0].children[0].set("speed", "0");
    let c = judge(&silent, &seen(2), None);
    assert!(c.notes.iter().any(|n| n.contains("mlx5_0") && n.contains("no rate")), "{:?}", c.notes);
    assert_eq!(c.nics[0].host_receive.as_ref().unwrap().limiting.kind, ElementKind::Pcie);
}

#[test]
fn wider_links_never_lower_a_ceiling() {
    let mut last: Vec<f64> = Vec::new();
    for width in [1, 2, 4, 8, 16] {
        let c = judge(&two_switches(width, width, 80), &seen(3), None);
        let now: Vec<f64> = c.intra.iter().chain(&c.inter).map(|c| c.bus.result.low).collect();
        assert!(last.is_empty() || last.iter().zip(&now).all(|(l, n)| l <= n), "{last:?} {now:?}");
        last = now;
    }
}

fn ordered(what: &str, d: &Derivation) {
    let r = d.result;
    assert!(r.low.is_finite() && r.high.is_finite() && 0.0 < r.low && r.low <= r.high, "{what}: {d}");
    assert!(d.limiting.limit.low == r.low, "{what}: {d}");
    assert!(d.next.as_ref().is_none_or(|n| n.limit.low >= r.low && n.limit.high >= r.high), "{what}: {d}");
    assert!(!d.steps.is_empty(), "{what}");
}

#[test]
fn oracle_topologies() {
    let Some(root) = shared("nccl-oracle") else { return };
    let mut judged = 0;
    for dir in [root.clone(), root.join("sysfs"), root.join("env")] {
        for file in std::fs::read_dir(dir).unwrap().map(|f| f.unwrap().path()) {
            let name = file.to_string_lossy().into_owned();
            if !name.ends_with(".fused.xml") {
                continue;
            }
            let document = Document::parse(std::fs::read(&file).unwrap(), Dialect::Nccl).unwrap();
            for nodes in [1, 2, 16] {
                let config = Config { nodes, input: Input::Fused, ..Config::default() };
                let a = Analysis::new(&document, &config).unwrap();
                let c = node_ceilings(&a, &Extra { nodes: Some(nodes), ..Extra::default() });
                for n in &c.nics {
                    for d in [&n.host_receive, &n.host_send, &n.gpu_receive, &n.gpu_send].into_iter().flatten() {
                        ordered(&name, d);
                    }
                }
                for x in c.intra.iter().chain(&c.inter) {
                    ordered(&format!("{name} {nodes} {} {}", x.collective, x.algorithm), &x.bus);
                }
                if nodes > 1 && !a.local_nets.iter().all(|l| l.channels.is_empty()) {
                    assert!(!c.inter.is_empty(), "{name}");
                    let bus = |alg| find(&c.inter, Collective::AllReduce, alg).result.high;
                    println!(
                        "{name} x{nodes}: ring {:.1}, hierarchical {:.1}",
                        bus(Algorithm::Ring),
                        bus(Algorithm::Hierarchical)
                    );
                }
                judged += 1;
            }
        }
    }
    assert!(judged > 20, "{judged}");
}

#[test]
fn nccl_plans_no_more_than_the_ceiling() {
    let Some(root) = shared("nccl-oracle") else { return };
    let mut compared = 0;
    for file in [root.clone(), root.join("sysfs")].iter().flat_map(|d| std::fs::read_dir(d).unwrap()) {
        let file = file.unwrap().path();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(".oracle.json").map(|n| n.trim_end_matches(".n2")) else { continue };
        let xml = file.with_file_name(format!("{stem}.fused.xml"));
        let answer: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let nodes = answer["nNodes"].as_u64().unwrap() as u32;
        let document = Document::parse(std::fs::read(xml).unwrap(), Dialect::Nccl).unwrap();
        let config = Config { nodes, input: Input::Fused, ..Config::default() };
        let a = Analysis::new(&document, &config).unwrap();
        let c = node_ceilings(&a, &Extra { nodes: Some(nodes), ..Extra::default() });
        let (list, key) = if nodes > 1 { (&c.inter, "total_bwInter") } else { (&c.intra, "total_bwIntra") };
        // NCCL believes what a file says of NVLinks.
        let too_many = nodes == 1 && c.notes.iter().any(|n| n.contains("NVLinks"));
        if a.domains.len() > 1 || list.is_empty() || too_many {
            continue;
        }
        let planned = answer["graphs"]["ring"][key].as_f64().unwrap();
        let ring = find(list, Collective::AllReduce, Algorithm::Ring);
        println!("{name}: NCCL plans {planned} GB/s, {}", ring.sentence());
        // NCCL counts a port's nominal rate, without headers: InfiniBand's take 0.6 % of it.
        assert!(planned > 0.0 && planned <= ring.result.high * 1.007, "{name}: {planned}, {ring}");
        compared += 1;
    }
    assert!(compared >= 16, "{compared}");
}
