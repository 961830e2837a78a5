//! Rings and trees of small nodes made up here.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use linerate_topology::search::Pattern;
use linerate_topology::xml::Element;
use linerate_topology::{Analysis, Config, Document, Env, Nvlink, PathType, Search, Version};
use proptest::prelude::*;

fn pci(busid: String, class: &str) -> Element {
    Element::new("pci")
        .with("busid", busid)
        .with("class", class.to_owned())
        .with("link_speed", "16.0 GT/s PCIe")
        .with("link_width", "16")
}

fn gpu(n: usize, sm: u32) -> Element {
    let (dev, sm) = (n.to_string(), sm.to_string());
    let gpu = Element::new("gpu").with("dev", dev.clone()).with("sm", sm).with("rank", dev).with("gdr", "1");
    pci(format!("0000:{n:x}1:00.0"), "0x030200").holding(gpu)
}

fn nic(n: usize, speed: u32) -> Element {
    let net = Element::new("net")
        .with("name", format!("mlx5_{n}"))
        .with("dev", n.to_string())
        .with("speed", speed.to_string())
        .with("port", "1")
        .with("guid", format!("{:#x}", 0x10 + n))
        .with("maxconn", "64")
        .with("gdr", "1");
    pci(format!("0000:{n:x}2:00.0"), "0x020700").holding(Element::new("nic").holding(net))
}

/// So many switches, each with a GPU and perhaps a NIC, half of them on each of two CPUs.
fn node(gpus: usize, sm: u32, nics: usize, speed: u32) -> Document {
    let mut cpus: Vec<Element> = (0..2)
        .map(|n: u32| {
            Element::new("cpu")
                .with("numaid", n.to_string())
                .with("arch", "x86_64")
                .with("vendor", "GenuineIntel")
                .with("familyid", "6")
                .with("modelid", "143")
        })
        .collect();
    for n in 0..gpus {
        let mut switch = pci(format!("0000:{n:x}0:00.0"), "0x060400").holding(gpu(n, sm));
        if n < nics {
            switch = switch.holding(nic(n, speed));
        }
        cpus[n * 2 / gpus].children.push(switch);
    }
    Document { system: cpus.into_iter().fold(Element::new("system").with("version", "1"), Element::holding) }
}

fn search(doc: &Document, nodes: u32, nvlink: Nvlink, vars: &[(&str, &str)]) -> (Analysis, Search) {
    let env = Env::parse(vars.iter().copied(), Version::default());
    let mut config = Config { env, nodes, ..Config::default() };
    config.assume.nvlink = nvlink;
    let analysis = Analysis::new(doc, &config).unwrap();
    let found = Search::new(&analysis, nodes);
    (analysis, found)
}

#[test]
fn one_gpu_rings_by_itself() {
    let (_, s) = search(&node(1, 90, 0, 0), 1, Nvlink::default(), &[]);
    assert!(!s.inter && !s.ring.fallback);
    assert_eq!(s.max_bandwidth, 5000.0);
    assert!(s.ring.channels.iter().all(|c| c.ranks == [0] && c.nets.is_none()));
    assert_eq!(s.tree.pattern, Pattern::Tree);
}

#[test]
fn rings_behind_nvswitches_fill_the_nvlinks() {
    let (_, s) = search(&node(4, 80, 4, 200_000), 1, Nvlink::Switch(Some(12)), &[]);
    // 12 NVLinks of 20 GB/s.
    assert_eq!(s.total_bandwidth, 240.0);
    assert_eq!(s.ring.total_intra(), 240.0);
    assert_eq!((s.ring.type_intra, s.ring.cross_nic), (PathType::Nvl, 0));
    assert!(s.ring.channels.iter().all(|c| c.ranks == [0, 1, 2, 3]));
    assert_eq!(s.channels, 2 * s.ring.channels.len());
}

#[test]
fn each_nic_carries_a_ring_between_nodes() {
    let (a, s) = search(&node(4, 90, 4, 200_000), 2, Nvlink::Switch(Some(18)), &[]);
    assert!(s.inter);
    // PCIe and NIC bear 24 and 25 GB/s.
    assert_eq!((s.ring.channels.len(), s.ring.bw_inter), (4, 24.0));
    let mut starts: Vec<i32> = s.ring.channels.iter().map(|c| c.ranks[0]).collect();
    starts.sort_unstable();
    assert_eq!(starts, [0, 1, 2, 3]);
    for c in &s.ring.channels {
        let (begin, end) = c.nets.unwrap();
        assert_eq!(begin, end, "a ring stays on its rail");
        let near = a.paths.get(begin, a.system.gpu_of_rank(c.ranks[0]).unwrap()).unwrap();
        assert_eq!(near.kind, PathType::Pix);
    }
}

#[test]
fn a_missing_nic_is_felt() {
    let four = search(&node(4, 90, 4, 200_000), 2, Nvlink::Switch(Some(18)), &[]).1;
    let three = search(&node(4, 90, 3, 200_000), 2, Nvlink::Switch(Some(18)), &[]).1;
    assert_eq!((four.ring.total_inter(), three.ring.total_inter()), (96.0, 72.0));
}

#[test]
fn without_any_nic_there_is_a_fallback() {
    let (_, s) = search(&node(2, 90, 0, 0), 2, Nvlink::Switch(Some(18)), &[]);
    assert!(s.ring.fallback);
    assert_eq!((s.ring.channels.len(), s.ring.bw_intra, s.ring.bw_inter), (1, 0.1, 0.0));
    assert_eq!((s.ring.type_inter, s.ring.channels[0].nets), (PathType::Dis, None));
}

#[test]
fn without_nvlink_the_interconnect_is_the_limit() {
    let (_, s) = search(&node(4, 90, 0, 0), 1, Nvlink::default(), &[]);
    assert_eq!(s.ring.type_intra, PathType::Sys);
    assert!(s.ring.bw_intra * s.ring.channels.len() as f32 <= 22.0);
    assert_eq!(s.ring.channels.len(), s.tree.channels.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn channels_are_whole(
        gpus in 1_usize..7, sm in prop::sample::select(vec![60_u32, 70, 80, 86, 90, 100]), nics in 0_usize..7,
        speed in prop::sample::select(vec![0_u32, 1000, 2500, 100_000, 200_000, 400_000]),
        links in prop::option::of(1_u32..20), nodes in 0_u32..3,
        cross in prop::sample::select(vec!["0", "1", "2", "-7"]), devs in prop::sample::select(vec!["AUTO", "ALL", "MAX:1"]),
    ) {
        let nvlink = links.map_or(Nvlink::default(), |n| Nvlink::Switch(Some(n)));
        let vars = [("NCCL_CROSS_NIC", cross), ("NCCL_NETDEVS_POLICY", devs)];
        let (a, s) = search(&node(gpus, sm, nics, speed), nodes, nvlink, &vars);
        let mut ranks: Vec<i32> = a.system.gpus().map(|(_, g)| g.rank).collect();
        ranks.sort_unstable();
        for graph in [&s.ring, &s.tree] {
            prop_assert!(!graph.channels.is_empty() && graph.channels.len() <= 32);
            for c in &graph.channels {
                let mut own = c.ranks.clone();
                own.sort_unstable();
                prop_assert_eq!(&own, &ranks);
                prop_assert_eq!(c.nets.is_some(), s.inter && a.system.nets().count() > 0);
            }
            // Nothing begins at a NIC that has not the bandwidth.
            let all: f32 = a.system.nets().map(|(_, n)| n.bandwidth).sum();
            let begun = graph.channels.len() as f32 * graph.bw_inter.trunc();
            prop_assert!(!s.inter || graph.fallback || begun <= all + 1e-3, "{} of {}", begun, all);
        }
        let (_, again) = search(&node(gpus, sm, nics, speed), nodes, nvlink_again(links), &vars);
        prop_assert_eq!(s, again);
    }
}

fn nvlink_again(links: Option<u32>) -> Nvlink {
    links.map_or(Nvlink::default(), |n| Nvlink::Switch(Some(n)))
}
