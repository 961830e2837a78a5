//! What is not marked as open follows from the source alone: other assumptions give the same answer.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use crate::common;

use common::{lab, snapshot};
use linerate_compose::Description;
use linerate_node::Node;
use linerate_snapshot::{Coverage, Output, OutputKind, Snapshot};
use linerate_topology::from_node::from_node;
use linerate_topology::{Analysis, Config, Nvlink, Open, Search};

/// A composed node without the files whose paths have one of these in them.
fn without(name: &str, gone: &[&str]) -> Snapshot {
    let tree = Description::load(&lab().join(name)).unwrap().compose().unwrap();
    let mut s = snapshot(&tree, |path| !gone.iter().any(|g| path.contains(g)));
    if !gone.is_empty() {
        s.coverage = Coverage::Partial;
    }
    s
}

/// Configurations that differ in what is open.
fn variants(base: &Config, open: &[Open]) -> Vec<Config> {
    let mut out = vec![base.clone()];
    for o in open {
        let change: &[fn(&mut Config)] = match o {
            Open::NicSpeed => &[|c| c.assume.nic_speed = 25_000, |c| c.assume.nic_speed = 800_000],
            Open::NvlinkCount => {
                &[|c| c.assume.nvlink = Nvlink::Switch(Some(1)), |c| c.assume.nvlink = Nvlink::Switch(Some(18))]
            }
            Open::Nvlink => &[|c| c.assume.nvlink = Nvlink::None, |c| c.assume.nvlink = Nvlink::Switch(Some(12))],
            Open::Gdr => &[|c| c.assume.gdr = false],
            Open::Cpu => &[|c| c.assume.cpu = ("AuthenticAMD".to_owned(), 175, 17), |c| c.assume.cpu.2 = 79],
            Open::GpuSm => &[|c| c.assume.sm = 70, |c| c.assume.sm = 100],
            Open::TopologyFile | Open::C2c | Open::NicPorts | Open::Numa | Open::Place => &[],
        };
        for f in change {
            let mut c = base.clone();
            f(&mut c);
            out.push(c);
        }
        // And all at once.
        if let (Some(f), Some(all)) = (change.first(), out.first_mut()) {
            f(all);
        }
    }
    out
}

/// A conclusion: about what, whether something is open, and what it is.
type Conclusion = (String, bool, String);

fn conclusions(a: &Analysis, config: &Config) -> Vec<Conclusion> {
    let mut out = Vec::new();
    let gpus = a.system.gpus().map(|(id, g)| (id, format!("GPU{}", g.dev)));
    let ends: Vec<_> = gpus.chain(a.system.nets().map(|(id, n)| (id, format!("{:?}", n.name)))).collect();
    let say = |id| ends.iter().find(|(e, _)| *e == id).map_or("?", |(_, n)| n.as_str());
    for (from, x) in &ends {
        for (to, y) in ends.iter().filter(|(t, _)| t != from) {
            let (Some(raw), Some(used)) = (a.raw.get(*from, *to), a.paths.get(*from, *to)) else { continue };
            let typed = a.open_for_type(*from, *to);
            out.push((format!("type {x} {y}"), !typed.is_empty(), raw.kind.to_string()));
            let fast = a.open_for_bandwidth(*from, *to);
            out.push((format!("path {x} {y}"), !fast.is_empty(), format!("{} {}", used.kind, used.bandwidth)));
        }
    }
    for g in &a.gdr {
        let said = format!("{:?} {:?}", g.recv.mode, g.send.mode);
        out.push((format!("gdr {} {}", g.rank, say(g.net)), !a.open_for_gdr(g).is_empty(), said));
    }
    for l in &a.local_nets {
        let said = l.channels.iter().map(|n| say(*n)).collect::<Vec<_>>().join(" ");
        out.push((format!("local {}", l.rank), !a.open_for_local(l).is_empty(), said));
    }
    let s = Search::new(a, config.nodes);
    let said = format!("{} {} {}", s.ring.total_intra(), s.ring.type_intra, s.tree.total_inter());
    out.push(("search".to_owned(), !a.open_for_search(&s).is_empty(), said));
    out
}

fn judged(name: &str, snapshot: &Snapshot) -> Option<Analysis> {
    let found = from_node(&Node::decode(snapshot)).ok()?;
    let mut first = None;
    for nodes in [1, 2] {
        let mut base = Config { nodes, ..Config::default() };
        found.configure(&mut base);
        let a = Analysis::new(&found.document, &base).unwrap();
        let own = conclusions(&a, &base);
        for c in variants(&base, &a.open) {
            let other = Analysis::new(&found.document, &c).unwrap();
            let theirs = conclusions(&other, &c);
            for (what, _, said) in own.iter().filter(|(_, open, _)| !open) {
                // A network that is faster than the inside cuts the host: the other part is not judged then.
                let Some((_, _, instead)) = theirs.iter().find(|(w, ..)| w == what) else { continue };
                assert_eq!(said, instead, "{name}, {nodes} nodes, {what}, open {:?}: {:?}", a.open, c.assume);
            }
        }
        first = first.or(Some(a));
    }
    first
}

#[test]
fn what_is_not_open_does_not_hang_on_assumptions() {
    let cuts: [&[&str]; 6] = [
        &[],
        &["infiniband"],
        &["cmd/"],
        &["infiniband", "cmd/", "proc/", "sys/module"],
        &["proc/cpuinfo"],
        &["sys/module", "proc/driver"],
    ];
    let mut seen = 0;
    for name in std::fs::read_dir(lab()).unwrap().flatten().map(|e| e.file_name().into_string().unwrap()) {
        for cut in cuts.iter().filter(|_| name.ends_with(".toml")) {
            seen += usize::from(judged(&format!("{name} without {cut:?}"), &without(&name, cut)).is_some());
        }
    }
    assert!(seen >= 24, "{seen}");
}

/// `lspci -vvv` of a server with eight H100 and four NVSwitches: what it shows is concluded, the rest is named.
#[test]
fn a_text_of_lspci_is_no_topology_of_assumptions() {
    let Some(dir) = common::shared("lspci") else { return };
    let text = std::fs::read(dir.join("gpud-lspci-vvv.txt")).unwrap();
    let mut snapshot = Snapshot::new("lspci");
    snapshot.coverage = Coverage::Partial;
    let entry = snapshot.add_file("pasted/lspci", &text).unwrap();
    snapshot.outputs.push(Output { kind: OutputKind::Lspci, entry, argv: Vec::new(), status: None });
    let a = judged("gpud", &snapshot).unwrap();
    for o in [Open::NvlinkCount, Open::NicPorts, Open::NicSpeed, Open::Gdr, Open::Cpu] {
        assert!(a.open.contains(&o), "{o:?} {:?}", a.open);
    }
    assert!(!a.open.contains(&Open::Nvlink) && !a.open.contains(&Open::C2c), "{:?}", a.open);
    assert!(a.local_nets.iter().all(|l| !a.open_for_local(l).is_empty()));
    let gpus: Vec<_> = a.system.gpus().map(|(id, _)| id).collect();
    let kind = a.paths.get(*gpus.first().unwrap(), *gpus.last().unwrap()).unwrap().kind;
    assert_eq!(kind.name(), "NVL", "NVSwitches are in the text");
}

/// What somebody says is not open.
#[test]
fn what_was_said_is_not_assumed() {
    let found = from_node(&Node::decode(&without("healthy-8gpu.toml", &["infiniband", "cmd/"]))).unwrap();
    let mut config = Config::default();
    config.told.extend([Open::NicSpeed, Open::NicPorts, Open::Nvlink, Open::NvlinkCount]);
    config.assume.nvlink = Nvlink::Switch(Some(4));
    found.configure(&mut config);
    let a = Analysis::new(&found.document, &config).unwrap();
    assert!(config.told.iter().all(|o| !a.open.contains(o)), "{:?}", a.open);
    assert_eq!(config.assume.nvlink, Nvlink::Switch(Some(4)));
}
