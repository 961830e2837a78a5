//! The search with shortcuts and without any gives the same answer.

use super::*;
use crate::xml::{Dialect, Element};
use crate::{Config, Document, Input};
use proptest::prelude::*;

/// What a node is made of.
#[derive(Debug, Clone)]
struct Made {
    sm: u32,
    gpus: usize,
    switches: usize,
    vendor: &'static str,
    links: Links,
    /// Of each NIC: its port's identity and its speed in Mb/s.
    nics: Vec<(usize, u32)>,
}

/// NVLinks of a node.
#[derive(Debug, Clone)]
enum Links {
    /// To each other GPU: one, or two where the sum of the numbers is odd.
    Peers,
    /// To NVSwitches: so many of each GPU, which for the first GPU may differ.
    Switch(u32, u32),
}

/// Two CPUs with half of the switches each, to which GPUs and NICs are dealt out.
fn node(made: &Made) -> Document {
    let number = |n: usize| n.to_string();
    let mut cpus: Vec<Element> = (0..2)
        .map(|n| Element::new("cpu").with("numaid", number(n)).with("arch", "x86_64").with("vendor", made.vendor))
        .map(|c| c.with("familyid", "6").with("modelid", "85"))
        .collect();
    for s in 0..made.switches {
        let pci = |at: usize, class: &str| {
            Element::new("pci")
                .with("busid", format!("{s:04x}:{at:02x}:00.0"))
                .with("class", class.to_owned())
                .with("link_speed", "16.0 GT/s PCIe")
                .with("link_width", "16")
        };
        let mut switch = pci(0, "0x060400");
        for n in (s..made.gpus).step_by(made.switches) {
            let gpu = Element::new("gpu").with("dev", number(n)).with("rank", number(n));
            let mut gpu = gpu.with("sm", made.sm.to_string()).with("gdr", "1");
            match made.links {
                Links::Switch(all, first) => {
                    let count = if n == 0 { first } else { all };
                    let link = Element::new("nvlink").with("target", "fffffff:ffff:ff");
                    gpu = gpu.holding(link.with("count", count.to_string()).with("tclass", "0x068000"));
                }
                Links::Peers => {
                    for peer in (0..made.gpus).filter(|p| *p != n) {
                        let (s, at) = (peer % made.switches, 1 + peer / made.switches);
                        let link = Element::new("nvlink").with("target", format!("{s:04x}:{at:02x}:00.0"));
                        gpu = gpu.holding(link.with("count", number(1 + (n + peer) % 2)).with("tclass", "0x030200"));
                    }
                }
            }
            switch = switch.holding(pci(1 + n / made.switches, "0x030200").holding(gpu));
        }
        for (n, (port, speed)) in made.nics.iter().enumerate().skip(s).step_by(made.switches) {
            let net = Element::new("net").with("name", format!("mlx5_{n}")).with("dev", number(n)).with("port", "1");
            let net = net.with("speed", speed.to_string()).with("guid", number(port + 16));
            let nic = Element::new("nic").holding(net.with("maxconn", "64").with("gdr", "1"));
            switch = switch.holding(pci(128 + n / made.switches, "0x020700").holding(nic));
        }
        if let Some(cpu) = cpus.get_mut(s * 2 / made.switches) {
            cpu.children.push(switch);
        }
    }
    Document { system: cpus.into_iter().fold(Element::new("system").with("version", "1"), Element::holding) }
}

fn analysis(made: &Made, nodes: u32, cross_nic: i64) -> Analysis {
    let text = node(made).to_xml(Dialect::Lenient);
    let document = Document::parse(text.as_bytes(), Dialect::Lenient).unwrap();
    let mut config = Config { nodes, input: Input::Fused, ..Config::default() };
    config.env.cross_nic = cross_nic;
    Analysis::new(&document, &config).unwrap()
}

/// Leaps are exact to the step; what is not walked again is counted as NCCL would, but not walked.
fn compare(analysis: &Analysis, nodes: u32) -> Search {
    let walk = |memory, leaps| Search::walk(analysis, nodes, Shortcuts { memory, leaps });
    let (short, stepped) = (walk(true, true), walk(true, false));
    assert_eq!(short, stepped);
    let (leaping, long) = (walk(false, true), walk(false, false));
    assert_eq!(leaping, long);
    assert!(short.steps <= long.steps);
    assert_eq!(short, Search { steps: short.steps, ..long });
    short
}

#[test]
fn shortcuts_change_nothing() {
    for (sm, links) in [(70, Links::Peers), (80, Links::Switch(6, 6)), (90, Links::Switch(6, 6)), (100, Links::Peers)] {
        let nics = (0..4).map(|n| (n, 100_000)).collect();
        let made = Made { sm, gpus: 4, switches: 4, vendor: "GenuineIntel", links, nics };
        for (nodes, cross_nic) in [(1, 2), (2, 0), (2, 1), (2, 2)] {
            let found = compare(&analysis(&made, nodes, cross_nic), nodes);
            assert!(!found.ring.fallback, "{made:?}");
        }
    }
}

fn made() -> impl Strategy<Value = Made> {
    let links = prop_oneof![
        1 => Just(Links::Peers),
        5 => (1_u32..19).prop_map(|n| Links::Switch(n, n)),
        2 => (1_u32..19, 0_u32..19).prop_map(|(n, first)| Links::Switch(n, first)),
    ];
    let speed = prop::sample::select(vec![25_000_u32, 100_000, 200_000, 400_000]);
    let nics = prop::collection::vec((0_usize..8, speed), 0..8);
    let vendor = prop::sample::select(vec!["GenuineIntel", "AuthenticAMD"]);
    let sm = prop::sample::select(vec![70_u32, 80, 90, 100]);
    (sm, 1_usize..8, 1_usize..5, vendor, links, nics).prop_map(|(sm, gpus, switches, vendor, links, nics)| Made {
        sm,
        gpus,
        switches,
        vendor,
        links,
        nics,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn shortcuts_change_nothing_anywhere(made in made(), nodes in 1_u32..3, cross_nic in 0_i64..3) {
        compare(&analysis(&made, nodes, cross_nic), nodes);
    }
}
