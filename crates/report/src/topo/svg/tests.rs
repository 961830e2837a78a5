//! Drawings are well-formed, hold everything, and nothing in them lies on anything else.

use super::layout::{Layout, Rect, layout};
use super::svg;
use crate::topo::dot::dot;
use crate::topo::scene::{Extras, Scene};
use crate::topo::{LinkState, PcieLink};
use linerate_formats::pci::{LinkSpeed, LinkWidth};
use linerate_topology::config::Input;
use linerate_topology::xml::{Dialect, Element};
use linerate_topology::{Analysis, Config, Document};
use proptest::prelude::*;

fn pci(busid: &str, class: &str) -> Element {
    Element::new("pci")
        .with("busid", busid)
        .with("class", class)
        .with("link_speed", "32.0 GT/s PCIe")
        .with("link_width", "16")
}

fn gpu(busid: &str, n: usize, links: &[Element]) -> Element {
    let n = n.to_string();
    let mut gpu = Element::new("gpu").with("dev", n.as_str()).with("sm", "90").with("rank", n).with("gdr", "1");
    gpu.children.extend_from_slice(links);
    pci(busid, "0x030200").holding(gpu)
}

fn net(n: usize, name: &str) -> Element {
    Element::new("net")
        .with("name", name)
        .with("dev", n.to_string())
        .with("speed", "400000")
        .with("port", "1")
        .with("guid", format!("{:#x}", n + 1))
        .with("gdr", "1")
}

fn nic(busid: &str, n: usize, name: &str) -> Element {
    pci(busid, "0x020700").holding(Element::new("nic").holding(net(n, name)))
}

fn switched() -> Element {
    Element::new("nvlink").with("target", "fffffff:ffff:ff").with("count", "18").with("tclass", "0x068000")
}

fn peer(busid: &str) -> Element {
    Element::new("nvlink").with("target", busid).with("count", "2").with("tclass", "0x030200")
}

fn cpu(n: usize, host: usize, children: Vec<Element>) -> Element {
    let cpu = Element::new("cpu").with("numaid", n.to_string()).with("arch", "x86_64").with("vendor", "AuthenticAMD");
    let cpu = cpu.with("host_hash", format!("{:#x}", host + 1)).with("affinity", "ff,ffffffff");
    Element { children, ..cpu }
}

fn scene_with(cpus: Vec<Element>, extras: &Extras<'_>) -> Scene {
    let system = Element { children: cpus, ..Element::new("system").with("version", "1") };
    let document = Document { system };
    let config = Config { input: Input::Fused, ..Config::default() };
    Scene::new(&document, &Analysis::new(&document, &config).unwrap(), extras)
}

fn scene(cpus: Vec<Element>) -> Scene {
    scene_with(cpus, &Extras::default())
}

/// Two NUMA nodes, a switch each, two GPUs and a NIC on each switch.
fn two(name: &str, links: &[Element]) -> Vec<Element> {
    (0..2)
        .map(|c| {
            let switch = pci(&format!("000{c}:10:00.0"), "0x060400")
                .holding(gpu(&format!("000{c}:11:00.0"), c * 2, links))
                .holding(gpu(&format!("000{c}:12:00.0"), c * 2 + 1, links))
                .holding(nic(&format!("000{c}:13:00.0"), c, &format!("{name}{c}")));
            cpu(c, 0, vec![switch])
        })
        .collect()
}

/// Texts of a drawing without style and tooltips; fails where it is not well-formed.
fn texts(svg: &str) -> Vec<String> {
    let doc = roxmltree::Document::parse(svg).unwrap_or_else(|e| panic!("{e}\n{svg}"));
    assert!(!svg.contains("<script") && !svg.contains("href"), "a drawing needs nothing else");
    doc.descendants().filter(|n| n.has_tag_name("text")).map(|n| n.text().unwrap_or_default().to_owned()).collect()
}

fn classes<'a>(doc: &'a roxmltree::Document<'a>, class: &'a str) -> usize {
    let has = |n: &roxmltree::Node<'_, '_>| n.attribute("class").is_some_and(|c| c.split(' ').any(|c| c == class));
    doc.descendants().filter(has).count()
}

/// Bars and cards; bars of switches that are too deep have no size.
fn boxes(l: &Layout) -> Vec<Rect> {
    let all = l.cpus.iter().chain(&l.switches).chain(&l.gpus).chain(&l.nics).chain(&l.bars);
    all.chain(l.smp.bars.iter().map(|b| &b.0)).copied().filter(|r| r.w > 0.0).collect()
}

fn overlap(a: Rect, b: Rect) -> bool {
    a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom()
}

fn assert_tidy(scene: &Scene) {
    let l = layout(scene);
    assert!(l.gpus.iter().chain(&l.nics).all(|r| r.w >= super::column::CARD - 0.1), "{l:?}");
    let boxes = boxes(&l);
    for (i, a) in boxes.iter().enumerate() {
        assert!(a.x >= 0.0 && a.y >= 0.0 && a.right() <= l.width && a.bottom() <= l.height, "{a:?} outside of {l:?}");
        for b in boxes.iter().skip(i + 1) {
            assert!(!overlap(*a, *b), "{a:?} on {b:?}");
        }
    }
    for (i, a) in l.panels.iter().enumerate() {
        assert!(l.panels.iter().skip(i + 1).all(|b| !overlap(*a, *b)), "panel {i}");
    }
    // PCIe lanes pass no card; C2C passes behind switches only.
    let cards: Vec<Rect> = l.gpus.iter().chain(&l.nics).copied().collect();
    let lanes = l.lanes.iter().map(|n| (n.x, n.top, n.bottom)).chain(l.exits.iter().map(|e| (e.x, e.top, e.bottom)));
    for (x, top, bottom) in lanes {
        assert!(top < bottom, "a lane from {top} to {bottom}");
        let through = |r: &&Rect| x > r.x - 1.0 && x < r.right() + 1.0 && top < r.y - 0.1 && bottom > r.bottom() + 0.1;
        assert!(!cards.iter().any(|r| through(&r)), "lane at {x} goes through a card");
    }
    for t in &l.tracks {
        assert!(t.y < l.height && t.left >= 0.0 && t.right <= l.width, "{t:?}");
    }
}

#[test]
fn everything_is_drawn() {
    let scene = scene(two("mlx5_", &[switched()]));
    let svg = svg(&scene);
    let all = texts(&svg).join("\n");
    for want in [
        "GPU 0",
        "GPU 1",
        "GPU 2",
        "GPU 3",
        "mlx5_0",
        "mlx5_1",
        "NUMA 0",
        "NUMA 1",
        "0001:12:00.0",
        "0000:10:00.0",
        "Gen5 x16",
        "48 GB/s",
        "400 Gb/s",
        "18 links",
        "371 GB/s",
        "NVLink switches",
        "SMP",
        "16 GB/s",
        "sm 90",
        "PIX",
        "AMD x86-64 · 40 CPUs",
        "4 GPUs · 2 NICs · 2 PCIe switches · 2 NUMA nodes",
    ] {
        assert!(all.contains(want), "{want} is not in\n{all}");
    }
    assert!(svg.contains("prefers-color-scheme:dark"));
    let doc = roxmltree::Document::parse(&svg).unwrap();
    assert_eq!((classes(&doc, "gpu"), classes(&doc, "nic"), classes(&doc, "cpu"), classes(&doc, "sw")), (4, 2, 2, 2));
    assert_eq!((classes(&doc, "deg"), classes(&doc, "lim"), classes(&doc, "halo")), (0, 0, 0));
    assert_tidy(&scene);
}

#[test]
fn links_of_a_mesh_are_drawn_one_by_one() {
    let mut cpus = two("mlx5_", &[]);
    let ids = ["0000:11:00.0", "0000:12:00.0", "0001:11:00.0", "0001:12:00.0"];
    for (i, own) in ids.iter().enumerate() {
        let others = ids.iter().filter(|o| *o != own).map(|o| peer(o));
        let gpu = cpus.get_mut(i / 2).unwrap().children[0].children[i % 2].children.first_mut().unwrap();
        gpu.children.extend(others);
    }
    let scene = scene(cpus);
    assert_eq!(scene.nvlinks.len(), 6);
    assert!(scene.nvlinks.iter().all(|p| p.count == Some(2)), "{:?}", scene.nvlinks);
    assert_eq!(layout(&scene).tracks.len(), 6);
    assert!(texts(&svg(&scene)).iter().any(|t| t.starts_with("2 links · ")));
    assert_tidy(&scene);
}

#[test]
fn what_limits_and_what_is_slow_are_marked() {
    let g = |generation, width| PcieLink::new(LinkSpeed::from_register(generation).unwrap(), LinkWidth(width));
    let slow = |busid: &str| (busid == "0001:13:00.0").then(|| LinkState { now: g(3, 8), possible: g(5, 16) });
    let marked = |name: &str| {
        let extras = Extras { links: Some(&slow), bottleneck: Some(name.to_owned()), ..Extras::default() };
        scene_with(two("mlx5_", &[switched()]), &extras)
    };
    for name in ["mlx5_1", "0001:13:00.0", "GPU 3", "gpu3", "NUMA 1", "0000:10:00.0", "NVSwitch", "SMP"] {
        let svg = svg(&marked(name));
        let doc = roxmltree::Document::parse(&svg).unwrap();
        // One outline or halo besides the legend's sample; the cards' and bars' own tag.
        assert!(classes(&doc, "halo") + classes(&doc, "lim") >= 2, "{name} is not marked");
        let all = texts(&svg).join("\n");
        assert!(all.contains("BOTTLENECK") && all.contains(&format!("Bottleneck: {name}")), "{all}");
        assert!(all.contains("▲ Gen3 x8 · 6 GB/s") && all.contains("could be Gen5 x16"), "{all}");
        assert_eq!(classes(&doc, "deg"), 2, "the link and the legend");
    }
    let all = texts(&svg(&marked("mlx5_7"))).join("\n");
    assert!(all.contains("mlx5_7 (not in this drawing)") && !all.contains("BOTTLENECK"), "{all}");
}

#[test]
fn what_the_document_does_not_say_is_not_drawn() {
    let mut cpus = two("mlx5_", &[]);
    let card = &mut cpus[0].children[0].children[2];
    card.set("link_width", "0");
    card.children[0].children[0].set("speed", "0");
    let scene = scene(cpus);
    let nic = scene.nics.first().unwrap();
    assert_eq!((nic.gbits, nic.link.pcie), (None, PcieLink { speed: Some(LinkSpeed::Gen5), width: None }));
    assert!(texts(&svg(&scene)).iter().any(|t| t == "speed unseen"));
}

#[test]
fn adapters_with_several_devices_hold_them() {
    let card = pci("0000:13:00.0", "0x020700").holding(Element::new("nic").holding(net(0, "p0")).holding(net(1, "p1")));
    let scene = scene(vec![cpu(0, 0, vec![gpu("0000:11:00.0", 0, &[]), card])]);
    assert_eq!((scene.nics.len(), scene.switches.len()), (2, 1));
    assert!(scene.switches.first().is_some_and(|s| s.adapter));
    assert!(texts(&svg(&scene)).iter().any(|t| t == "Adapter"));
    assert_tidy(&scene);
}

#[test]
fn hostile_names_stay_text() {
    let name = "</text><script>alert(1)</script>&\"'\u{1b}]0;x\u{7}\u{202e}\\\" -- evil; ";
    let extras = Extras {
        title: name.to_owned(),
        nccl: Some(name.to_owned()),
        notes: vec![name.repeat(40)],
        bottleneck: Some(name.to_owned()),
        links: None,
        matrix: None,
    };
    let mut cpus = two(name, &[]);
    cpus[0].children[0].children[0].set("busid", "0000:11:00.0\"/><b>");
    let scene = scene_with(cpus, &extras);
    let drawing = svg(&scene);
    texts(&drawing);
    let graph = dot(&scene);
    for text in [&drawing, &graph] {
        assert!(!text.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{text}");
    }
    let outside = unquoted(&graph);
    assert!(graph.contains("evil") && !outside.contains("evil") && !outside.contains('>'), "{outside}");
    assert_tidy(&scene);
}

/// What of Graphviz's language is outside of quoted strings.
fn unquoted(graph: &str) -> String {
    let (mut out, mut quoted, mut escaped) = (String::new(), false, false);
    for c in graph.chars() {
        match c {
            '"' if !escaped => quoted = !quoted,
            c if !quoted => out.push(c),
            _ => {}
        }
        escaped = quoted && c == '\\' && !escaped;
    }
    assert!(!quoted, "a string is not closed");
    out
}

#[test]
fn graphviz_has_everything() {
    let mut cpus = two("mlx5_", &[switched()]);
    cpus[1].children[0].children[2].set("link_width", "8");
    let graph = dot(&scene(cpus));
    for want in [
        "subgraph cluster_1",
        "label=\"GPU 3\\n0001:12:00.0\\nsm 90\"",
        "mlx5_1",
        "sw0 -- gpu0 [label=\"Gen5 x16 · 48 GB/s\"",
        "gpu0 -- nvs [label=\"18 links · 371 GB/s\"",
        "Gen5 x8 · 24 GB/s",
        "cpu0 -- cpu1",
        "gpu0 -- nic0 [style=dotted",
    ] {
        assert!(graph.contains(want), "{want} is not in\n{graph}");
    }
}

#[test]
fn the_largest_nodes_are_drawn_in_time_and_size() {
    let flat = (0..72).map(|g| gpu(&format!("0000:{:02x}:00.0", g + 1), g, &[switched()]));
    let nics = (0..128).map(|n| nic(&format!("0001:{:02x}:00.0", n + 1), n, &format!("mlx5_{n}")));
    let one = scene(vec![cpu(0, 0, flat.chain(nics).collect())]);
    let trays = (0..36).map(|c| {
        let id = |d: usize| format!("{c:04x}:{d:02x}:00.0");
        let gpus = (0..2).map(|g| gpu(&id(g + 1), c * 2 + g, &[switched()]));
        let nics = (0..2).map(|n| nic(&id(n + 9), c * 2 + n, &format!("mlx5_{}", c * 2 + n)));
        cpu(c % 2, c / 2, gpus.chain(nics).collect())
    });
    let many = scene(trays.collect());
    for scene in [one, many] {
        assert_eq!(scene.gpus.len(), 72);
        assert_tidy(&scene);
        let start = std::time::Instant::now();
        let svg = svg(&scene);
        // Without optimisation on a slow machine; optimised it is a few milliseconds.
        assert!(start.elapsed().as_millis() < 1000);
        assert!(svg.len() < 400_000, "{}", svg.len());
        let doc = roxmltree::Document::parse(&svg).unwrap();
        let side = |name| doc.root_element().attribute(name).and_then(|v| v.parse::<f32>().ok()).unwrap();
        assert!(side("width") <= 2400.0 && side("height") <= 3200.0);
    }
}

/// What hangs on a switch: GPUs, NICs, switches.
#[derive(Debug, Clone)]
struct Shape {
    gpus: usize,
    nics: usize,
    below: Vec<Shape>,
}

fn shape() -> impl Strategy<Value = Shape> {
    let leaf = (0..12_usize, 0..10_usize).prop_map(|(gpus, nics)| Shape { gpus, nics, below: Vec::new() });
    leaf.prop_recursive(4, 12, 3, |inner| {
        (0..3_usize, 0..3_usize, prop::collection::vec(inner, 0..3)).prop_map(|(gpus, nics, below)| Shape {
            gpus,
            nics,
            below,
        })
    })
}

#[derive(Default)]
struct Numbers {
    bus: usize,
    gpus: usize,
    nics: usize,
}

fn grow(shape: &Shape, n: &mut Numbers, links: &[Element]) -> Vec<Element> {
    let mut children = Vec::new();
    let next = |n: &mut Numbers| {
        n.bus += 1;
        format!("{:04x}:{:02x}:00.0", n.bus >> 8, n.bus & 0xff)
    };
    for _ in 0..shape.gpus {
        children.push(gpu(&next(n), n.gpus, links));
        n.gpus += 1;
    }
    for _ in 0..shape.nics {
        children.push(nic(&next(n), n.nics, &format!("mlx5_{}", n.nics)));
        n.nics += 1;
    }
    for s in &shape.below {
        let busid = next(n);
        let inner = grow(s, n, links);
        children.push(Element { children: inner, ..pci(&busid, "0x060400") });
    }
    children
}

fn document(cpus: &[(usize, Shape)], fabric: u8) -> Option<(Vec<Element>, Numbers)> {
    let mut n = Numbers::default();
    let switches = [switched()];
    let peers: Vec<Element> = (1..9).map(|b| peer(&format!("0000:{b:02x}:00.0"))).collect();
    let c2c = [Element::new("c2c").with("bw", "44712").with("count", "10"), switched()];
    let links = match fabric {
        0 => &[][..],
        1 => &switches,
        2 => &c2c,
        _ => &peers,
    };
    let all = cpus.iter().enumerate().map(|(i, (host, s))| cpu(i, *host, grow(s, &mut n, links))).collect();
    (n.gpus > 0).then_some((all, n))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_card_lies_on_another(cpus in prop::collection::vec((0..3_usize, shape()), 1..6), fabric in 0..4_u8) {
        let Some((elements, n)) = document(&cpus, fabric) else { return Ok(()) };
        let document = Document { system: Element { children: elements, ..Element::new("system").with("version", "1") } };
        let config = Config { input: Input::Fused, ..Config::default() };
        let Ok(analysis) = Analysis::new(&document, &config) else { return Ok(()) };
        let scene = Scene::new(&document, &analysis, &Extras::default());
        prop_assert_eq!((scene.gpus.len(), scene.nics.len()), (n.gpus, n.nics));
        assert_tidy(&scene);
        let drawing = svg(&scene);
        let doc = roxmltree::Document::parse(&drawing).unwrap();
        prop_assert_eq!(classes(&doc, "gpu"), n.gpus);
        let edges = dot(&scene).matches(" -- ").count();
        prop_assert!(edges >= n.gpus + n.nics);
    }

    #[test]
    fn any_name_is_drawn(name in "\\PC{0,60}|.{0,60}") {
        let extras = Extras { title: name.clone(), bottleneck: Some(name.clone()), ..Extras::default() };
        let scene = scene_with(two(&name, &[]), &extras);
        texts(&svg(&scene));
        let graph = dot(&scene);
        prop_assert!(graph.trim_end().ends_with(char::from(125)));
    }
}

#[test]
fn switches_nested_too_deep_are_counted() {
    let mut inner = gpu("0000:ff:00.0", 0, &[]);
    for i in (1..40).rev() {
        inner = pci(&format!("0000:{i:02x}:00.0"), "0x060400").holding(inner);
    }
    let scene = scene(vec![cpu(0, 0, vec![inner])]);
    assert_eq!(scene.switches.len(), 39);
    assert_tidy(&scene);
    assert!(texts(&svg(&scene)).iter().any(|t| t.contains("not drawn: 27")));
}

#[test]
fn real_nodes_are_drawn() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/nccl-oracle");
    let Ok(files) = std::fs::read_dir(&dir) else {
        println!("SKIPPED: ../shared/data is not here");
        return;
    };
    let mut drawn = 0;
    for file in files.flatten().map(|f| f.path()) {
        if !file.to_string_lossy().ends_with(".fused.xml") {
            continue;
        }
        let document = Document::parse(std::fs::read(&file).unwrap(), Dialect::Lenient).unwrap();
        let config = Config { input: Input::Fused, ..Config::default() };
        let analysis = Analysis::new(&document, &config).unwrap();
        let scene = Scene::new(&document, &analysis, &Extras::default());
        assert_tidy(&scene);
        let all = texts(&svg(&scene));
        for name in scene.gpus.iter().map(|g| &g.name) {
            assert!(all.contains(name), "{name} of {}", file.display());
        }
        drawn += 1;
    }
    assert!(drawn > 0);
}
