//! What each link of a system is, and what it can carry.

use super::derive::{ElementKind, Quality, Range, Step, Unit};
use super::extra::Extra;
use super::fabric;
use super::pcie::{Direction, Gen};
use crate::number::{bus_id, bus_id_text};
use crate::system::{LOCAL_BANDWIDTH, Link, LinkKind, Node, NodeData, NodeId, NodeKind, System};
use crate::xml;
use std::collections::{BTreeMap, HashMap};

/// What a link is.
#[derive(Debug, Clone)]
pub(crate) struct Info {
    pub(crate) name: String,
    pub(crate) kind: ElementKind,
    /// GB/s when the device that starts the transfer writes.
    pub(crate) write: Range,
    /// The same when it reads.
    pub(crate) read: Range,
    /// The arithmetic for writes, then for reads.
    steps: [Vec<Step>; 2],
}

impl Info {
    pub(crate) fn limit(&self, direction: Direction) -> Range {
        if direction == Direction::Write { self.write } else { self.read }
    }

    pub(crate) fn steps(&self, direction: Direction) -> &[Step] {
        let [write, read] = &self.steps;
        if direction == Direction::Write { write } else { read }
    }

    pub(crate) fn one(name: String, kind: ElementKind, limit: Range, steps: Vec<Step>) -> Info {
        Info { name, kind, write: limit, read: limit, steps: [steps.clone(), steps] }
    }
}

/// Links of a system by their place in it. `None`: not a limit, or nothing is known.
pub(crate) struct Elements<'a> {
    pub(crate) system: &'a System,
    pub(crate) tree: Tree,
    info: Vec<Option<Info>>,
    pub(crate) notes: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Pci {
    speed: Option<Gen>,
    width: Option<u32>,
    depth: usize,
    nvlinks: u32,
}

/// What the document says that the system does not.
#[derive(Default)]
struct Seen {
    pci: HashMap<i64, Pci>,
    /// Speeds of network devices, in Mb/s.
    nets: HashMap<i32, i32>,
}

impl Seen {
    fn of(document: &xml::Document) -> Seen {
        let mut seen = Seen::default();
        let mut clash: Vec<i64> = Vec::new();
        let mut stack = vec![(&document.system, 0_usize)];
        while let Some((e, depth)) = stack.pop() {
            if &*e.name == "pci" {
                let number = |k| e.get(k).and_then(|v| v.trim().parse::<u32>().ok());
                let links = e.named("gpu").next().into_iter().flat_map(|g| g.named("nvlink"));
                let pci = Pci {
                    speed: e.get("link_speed").and_then(Gen::parse),
                    width: number("link_width"),
                    depth,
                    nvlinks: links
                        .filter_map(|l| l.get("count")?.trim().parse::<u32>().ok())
                        .fold(0, u32::saturating_add),
                };
                if let Some(id) = e.get("busid").map(bus_id)
                    && seen.pci.insert(id, pci).is_some_and(|other| other != pci)
                {
                    clash.push(id);
                }
            }
            if &*e.name == "net" {
                let int = |k| e.get(k).and_then(|v| v.trim().parse::<i32>().ok());
                if let (Some(dev), Some(speed)) = (int("dev"), int("speed")) {
                    seen.nets.insert(dev, speed);
                }
            }
            stack.extend(e.children.iter().map(|c| (c, depth + 1)));
        }
        // Hosts whose bus ids are the same and whose links are not.
        for id in clash {
            seen.pci.remove(&id);
        }
        seen
    }
}

impl<'a> Elements<'a> {
    pub(crate) fn new(system: &'a System, document: &xml::Document, extra: &Extra) -> Elements<'a> {
        let seen = Seen::of(document);
        let mut notes = Vec::new();
        let tree = Tree::of(system);
        let look = Look { s: system, seen: &seen, extra, tree: &tree };
        let info = system.links().iter().map(|l| look.describe(l, &mut notes)).collect();
        notes.sort();
        notes.dedup();
        Elements { system, tree, info, notes }
    }

    /// The place of a link.
    pub(crate) fn index(&self, link: &Link) -> Option<usize> {
        let range = self.system.link_range(link.from);
        range.into_iter().find(|i| self.system.links().get(*i).is_some_and(|l| l == link))
    }

    pub(crate) fn info(&self, index: usize) -> Option<&Info> {
        self.info.get(index)?.as_ref()
    }

    pub(crate) fn of(&self, link: &Link) -> Option<&Info> {
        self.info(self.index(link)?)
    }

    pub(crate) fn len(&self) -> usize {
        self.info.len()
    }
}

struct Look<'a> {
    s: &'a System,
    seen: &'a Seen,
    extra: &'a Extra,
    tree: &'a Tree,
}

impl Look<'_> {
    fn describe(&self, l: &Link, notes: &mut Vec<String>) -> Option<Info> {
        let (s, seen, extra) = (self.s, self.seen, self.extra);
        let (from, to) = (s.node(l.from)?, s.node(l.to)?);
        let model = f64::from(l.bandwidth);
        match l.kind {
            LinkKind::Loc => None,
            LinkKind::Pci => self.pcie(l, from, to, notes),
            LinkKind::Net => {
                let net = from.net().or_else(|| to.net())?;
                port(seen, extra, net, notes)
            }
            LinkKind::Nvl => nvlink(s, seen, l, from, to),
            LinkKind::C2c => {
                let dev = if from.kind == NodeKind::Cpu { to } else { from };
                let name = format!("chip-to-chip link of {}", gpu_name(s, dev));
                let step =
                    estimate(&name, "the topology's bw × count".to_owned(), Range::exact(model), "NCCL's topology");
                Some(Info::one(name, ElementKind::C2c, Range::exact(model), vec![step]))
            }
            LinkKind::Sys => {
                let (a, b) = (from.cpu()?, to.cpu()?);
                let limit = fabric::smp(a, model)?;
                let name = format!("{} between NUMA {} and {}", smp_name(a), a.numa.min(b.numa), a.numa.max(b.numa));
                let formula = "NCCL's constant for device traffic, to all links of such a CPU".to_owned();
                let step = estimate(&name, formula, limit, "NCCL topo.h; vendors' data sheets, from memory");
                Some(Info::one(name, ElementKind::Smp, limit, vec![step]))
            }
        }
    }

    fn pcie(&self, l: &Link, from: &Node, to: &Node, notes: &mut Vec<String>) -> Option<Info> {
        let (s, seen, extra) = (self.s, self.seen, self.extra);
        // NICs without a PCIe device hang on the CPU by a link that stands for nothing.
        if l.bandwidth >= LOCAL_BANDWIDTH {
            return None;
        }
        let depth = |n: &Node| match n.kind {
            NodeKind::Cpu => 0,
            NodeKind::Pci => seen.pci.get(&n.local_id()).map_or(1, |p| p.depth),
            _ => usize::MAX,
        };
        let (child, id) = if depth(from) >= depth(to) { (from, l.from) } else { (to, l.to) };
        let busid = bus_id_text(child.local_id());
        let pci = seen.pci.get(&child.local_id());
        let (what, kind) = match child.kind {
            NodeKind::Pci => {
                let (gpus, nics) = self.tree.below(s, id);
                (format!("switch uplink {busid} shared by {}", devices(gpus, nics)), ElementKind::Uplink)
            }
            NodeKind::Nic => {
                let mut nets = s.links_of(id).iter().filter_map(|k| s.node(k.to)?.net());
                let net = nets.next().map_or_else(|| "NIC".to_owned(), net_name);
                (format!("PCIe link of {net} ({busid})"), ElementKind::Pcie)
            }
            _ => (format!("PCIe link of {} ({busid})", gpu_name(s, child)), ElementKind::Pcie),
        };
        match extra.link(&busid, pci.and_then(|p| p.speed), pci.and_then(|p| p.width)) {
            Some(link) => {
                let name = match kind {
                    ElementKind::Uplink => format!("{what} ({})", link.name()),
                    _ => what.replacen("PCIe link", &format!("{} link", link.name()), 1),
                };
                let steps = [Direction::Write, Direction::Read].map(|d| link.steps(d, &name));
                let (write, read) = (link.data(Direction::Write), link.data(Direction::Read));
                Some(Info { name, kind, write, read, steps })
            }
            None => {
                notes.push(format!(
                "{busid}: speed or width of the link is not known, NCCL's figure stands for it: give what it runs at"
            ));
                // NCCL's figure is 3/4 of the raw rate.
                let limit = Range::new(f64::from(l.bandwidth), f64::from(l.bandwidth) * 4.0 / 3.0);
                let step = Step {
                    quality: Quality::Unseen,
                    ..estimate(&what, "NCCL's figure, to 4/3 of it".to_owned(), limit, "NCCL topo.cc")
                };
                Some(Info::one(what, kind, limit, vec![step]))
            }
        }
    }
}

fn estimate(name: &str, formula: String, value: Range, source: &'static str) -> Step {
    Step { what: name.to_owned(), formula, value, unit: Unit::Gigabytes, source, quality: Quality::Estimate }
}

fn smp_name(cpu: &crate::system::Cpu) -> &'static str {
    use crate::system::CpuVendor::{Amd, Intel};
    match cpu.vendor {
        Some(Intel) => "UPI/QPI",
        Some(Amd) => "Infinity Fabric",
        _ => "CPU interconnect",
    }
}

pub(crate) fn gpu_name(s: &System, dev: &Node) -> String {
    match &dev.data {
        NodeData::Gpu(g) => format!("GPU {}", g.dev),
        NodeData::Dev { dev, .. } => format!("GPU {dev}"),
        _ => s
            .gpus()
            .find(|(id, _)| s.node(*id).is_some_and(|n| n.id == dev.id))
            .map_or_else(|| dev.to_string(), |(_, g)| format!("GPU {}", g.dev)),
    }
}

fn port(seen: &Seen, extra: &Extra, net: &crate::system::Net, notes: &mut Vec<String>) -> Option<Info> {
    // A speed of 0 is NCCL's way of not knowing, which it counts as 10 Gb/s: here it stays unknown.
    let rate = seen.nets.get(&net.dev).filter(|s| **s > 0).map(|s| f64::from(*s) / 1000.0);
    let port = extra.port(net.name.as_deref(), rate);
    let name = net_name(net);
    let Some(d) = port.payload(&name) else {
        notes.push(format!("{name}: no rate was seen, so its port is not counted as a limit: give the rate"));
        return None;
    };
    Some(Info::one(d.limiting.name.clone(), ElementKind::Port, d.gigabytes(), d.steps))
}

pub(crate) fn net_name(net: &crate::system::Net) -> String {
    net.name.as_ref().map_or_else(|| format!("NIC {}", net.dev), |n| format!("NIC {n}"))
}

fn nvlink(s: &System, seen: &Seen, l: &Link, from: &Node, to: &Node) -> Option<Info> {
    let (dev, id) = match (&from.data, &to.data) {
        (NodeData::Dev { .. }, _) => (from, l.from),
        (_, NodeData::Dev { .. }) => (to, l.to),
        _ => return None,
    };
    let NodeData::Dev { sm, .. } = dev.data else { return None };
    let all: f32 = s.links_of(id).iter().filter(|k| k.kind == LinkKind::Nvl).map(|k| k.bandwidth).sum();
    let links = f64::from(seen.pci.get(&dev.local_id()).map_or(0, |p| p.nvlinks));
    let share = f64::from(l.bandwidth) / f64::from(all);
    let name = match (from.kind, to.kind) {
        (NodeKind::Dev, NodeKind::Dev) => format!("NVLink between {} and {}", gpu_name(s, from), gpu_name(s, to)),
        _ => format!("NVLink of {}", gpu_name(s, dev)),
    };
    let (count, each) = (links * share, fabric::nvlink(sm));
    let (limit, formula) = if count > 0.0 && count.is_finite() {
        (each.map(|e| e * count), format!("{} links × {each} GB/s", Range::exact(count)))
    } else {
        (Range::exact(l.bandwidth.into()), "NCCL's figure; the number of links was not seen".to_owned())
    };
    let step = estimate(&name, formula, limit, "NCCL topo.h (lower); NVLink's signalling rate (upper)");
    Some(Info::one(name, ElementKind::NvLink, limit, vec![step]))
}

fn devices(gpus: usize, nics: usize) -> String {
    let some = |n: usize, what: &str| match n {
        0 => None,
        1 => Some(format!("1 {what}")),
        n => Some(format!("{n} {what}s")),
    };
    let parts: Vec<String> = [some(gpus, "GPU"), some(nics, "NIC")].into_iter().flatten().collect();
    if parts.is_empty() { "nothing".to_owned() } else { parts.join(" and ") }
}

/// PCIe devices below CPUs.
pub(crate) struct Tree {
    children: BTreeMap<NodeId, Vec<NodeId>>,
}

impl Tree {
    pub(crate) fn of(s: &System) -> Tree {
        let mut children: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
        let mut seen = vec![false; s.nodes().len()];
        let mut queue: std::collections::VecDeque<NodeId> = s.of(NodeKind::Cpu).iter().copied().collect();
        let mut first = |id: NodeId| seen.get_mut(id.index()).is_some_and(|v| !std::mem::replace(v, true));
        queue.iter().for_each(|c| {
            first(*c);
        });
        while let Some(id) = queue.pop_front() {
            for l in s.links_of(id).iter().filter(|l| l.kind == LinkKind::Pci) {
                if first(l.to) {
                    children.entry(id).or_default().push(l.to);
                    queue.push_back(l.to);
                }
            }
        }
        Tree { children }
    }

    /// GPUs and NICs below a switch.
    pub(crate) fn below(&self, s: &System, switch: NodeId) -> (usize, usize) {
        let inside = self.subtree(switch);
        let count = |k| inside.iter().filter(|n| s.node(**n).is_some_and(|n| n.kind == k)).count();
        (count(NodeKind::Dev), count(NodeKind::Nic))
    }

    /// A node and all below it.
    pub(crate) fn subtree(&self, top: NodeId) -> Vec<NodeId> {
        let mut all = vec![top];
        let mut at = 0;
        while let Some(id) = all.get(at) {
            if let Some(c) = self.children.get(id) {
                all.extend(c.clone());
            }
            at += 1;
        }
        all
    }
}

/// Names of ports and links that limit together.
pub(crate) fn together(infos: &[&Info]) -> Option<(String, ElementKind)> {
    let mut names: Vec<&str> = Vec::new();
    for i in infos {
        if !names.contains(&i.name.as_str()) {
            names.push(&i.name);
        }
    }
    let kind = infos.first()?.kind;
    let name = match names.as_slice() {
        [one] => (*one).to_owned(),
        all => {
            let shown: Vec<&str> = all.iter().take(8).copied().collect();
            let more = all.len() - shown.len();
            let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
            // "NIC a: 400 Gb/s port", "PCIe Gen5 x16 link of GPU 0 (…)": what they have in common, once.
            let parts = |mark: &str| -> Vec<(&str, &str)> { shown.iter().filter_map(|n| n.split_once(mark)).collect() };
            let common =
                |split: &[(&str, &str)], what: fn(&(&str, &str)) -> String, who: fn(&(&str, &str)) -> String| {
                    let first = what(split.first()?);
                    let same = split.len() == shown.len() && split.iter().all(|s| what(s) == first);
                    let who: Vec<String> = split.iter().map(who).collect();
                    same.then(|| format!("{} × {first} ({}{tail})", all.len(), who.join(", ")))
                };
            let ports = common(&parts(": "), |s| s.1.to_owned(), |s| s.0.trim_start_matches("NIC ").to_owned());
            let links = common(&parts(" link of "), |s| format!("{} link", s.0), |s| s.1.to_owned());
            ports.or(links).unwrap_or_else(|| format!("{}{tail}", shown.join(" + ")))
        }
    };
    Some((name, kind))
}
