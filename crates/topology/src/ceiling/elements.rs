//! What each link of a system is, and what it can carry.

use super::derive::{Element, ElementKind, Part, Quality, Range, Step, Unit};
use super::extra::Extra;
use super::fabric;
use super::pcie::{Direction, PcieLink};
use super::seen::{Seen, Tree};
use super::words::{Name, Words};
use crate::number::bus_id_text;
use crate::system::{LOCAL_BANDWIDTH, Link, LinkKind, Node, NodeData, NodeKind, System, nvlinks};
use linerate_formats::pci::LinkSpeed;
use std::sync::Arc;

/// What a link is.
#[derive(Debug, Clone)]
pub(crate) struct Info {
    pub(crate) name: Name,
    pub(crate) kind: ElementKind,
    pub(crate) part: Part,
    /// GB/s when the device that starts the transfer writes.
    pub(crate) write: Range,
    /// The same when it reads.
    pub(crate) read: Range,
    /// The arithmetic for writes, then for reads.
    steps: [Arc<[Step]>; 2],
}

impl Info {
    pub(crate) fn limit(&self, direction: Direction) -> Range {
        if direction == Direction::Write { self.write } else { self.read }
    }

    pub(crate) fn steps(&self, direction: Direction) -> &[Step] {
        let [write, read] = &self.steps;
        if direction == Direction::Write { write } else { read }
    }

    /// It as what limits.
    pub(crate) fn element(&self, limit: Range) -> Element {
        Element { name: self.name.clone(), kind: self.kind, part: self.part.clone(), limit }
    }

    pub(crate) fn one(name: Name, kind: ElementKind, part: Part, limit: Range, steps: Vec<Step>) -> Info {
        let steps: Arc<[Step]> = steps.into();
        Info { name, kind, part, write: limit, read: limit, steps: [steps.clone(), steps] }
    }
}

/// Links of a system by their place in it. `None`: not a limit, or nothing is known.
pub(crate) struct Elements<'a> {
    pub(crate) system: &'a System,
    pub(crate) tree: Tree,
    info: Vec<Option<Arc<Info>>>,
    pub(crate) notes: Vec<String>,
}

impl<'a> Elements<'a> {
    pub(crate) fn new(system: &'a System, document: &crate::tree::Tree, extra: &Extra) -> Elements<'a> {
        let seen = Seen::of(document);
        let mut notes = Vec::new();
        let tree = Tree::of(system);
        let look = Look { s: system, seen: &seen, extra, tree: &tree };
        let info = look.all(&mut notes);
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
        self.info.get(index)?.as_deref()
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
    fn all(&self, notes: &mut Vec<String>) -> Vec<Option<Arc<Info>>> {
        let mut info: Vec<Option<Arc<Info>>> = Vec::new();
        for l in self.s.links() {
            // A PCIe link or a port is the same in both directions, and is shown once.
            let back = |k: &Link| (k.from, k.to, k.kind, k.bandwidth) == (l.to, l.from, l.kind, l.bandwidth);
            let seen =
                matches!(l.kind, LinkKind::Pci | LinkKind::Net).then(|| self.s.links_of(l.to).iter().position(back));
            let seen = seen.flatten().and_then(|at| info.get(self.s.link_range(l.to).start + at));
            let one = match seen {
                Some(known) => known.clone(),
                None => self.describe(l, notes).map(Arc::new),
            };
            info.push(one);
        }
        info
    }

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
            LinkKind::Nvl => nvlink(s, seen, l, from, to, notes),
            LinkKind::C2c => {
                let dev = if from.kind == NodeKind::Cpu { to } else { from };
                let name: Name = format!("chip-to-chip link of {}", gpu_name(s, dev)).into();
                let step = estimate(&name, "the topology's bw × count".into(), Range::exact(model), "NCCL's topology");
                Some(Info::one(name, ElementKind::C2c, Part::Other, Range::exact(model), vec![step]))
            }
            LinkKind::Sys => {
                let (a, b) = (from.cpu()?, to.cpu()?);
                let limit = fabric::smp(a, model)?;
                let name = format!("{} between NUMA {} and {}", smp_name(a), a.numa.min(b.numa), a.numa.max(b.numa));
                let name = Name::from(name);
                let formula = "NCCL's constant for device traffic, to all links of such a CPU".into();
                let step = estimate(&name, formula, limit, "NCCL topo.h; vendors' data sheets, from memory");
                Some(Info::one(name, ElementKind::Smp, Part::Other, limit, vec![step]))
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
                let name = Name::from(name);
                let steps = [Direction::Write, Direction::Read].map(|d| link.steps(d, &name).into());
                let (write, read) = (link.data(Direction::Write), link.data(Direction::Read));
                Some(Info { name, kind, part: Part::Function(busid.into()), write, read, steps })
            }
            // What a hypervisor emulates carries nothing and limits nothing; and what NCCL makes of it says nothing about the wires.
            None if extra.virtual_links => {
                notes.push(
                    "a guest does not show the PCIe links of this node, or not all: hidden links are not counted as limits, so less may be reached; the host shows them"
                        .to_owned(),
                );
                None
            }
            None => {
                // A guest shows no width or speed. What NCCL makes of that is an estimate; no more than 16 lanes are possible.
                let speed = extra.pcie.get(&busid).and_then(|p| p.speed).or(pci.and_then(|p| p.speed));
                let widest = PcieLink::new(speed.unwrap_or(LinkSpeed::Gen6), 16);
                let most = widest.data(Direction::Write).high;
                let limit = Range::new(f64::from(l.bandwidth).min(most), most);
                notes.push(format!(
                    "{busid}: speed or width of the link was not seen: counted as NCCL does, {} GB/s, up to {}; give what the host shows",
                    Range::exact(limit.low),
                    widest.name()
                ));
                let what = Name::from(format!("{what}, speed or width not seen"));
                let formula = Words::of(move |f| write!(f, "NCCL's figure, up to {}", widest.name()));
                let step = Step { quality: Quality::Unseen, ..estimate(&what, formula, limit, "NCCL topo.cc") };
                Some(Info::one(what, kind, Part::Function(busid.into()), limit, vec![step]))
            }
        }
    }
}

fn estimate(name: &Name, formula: Words, value: Range, source: &'static str) -> Step {
    Step { what: name.clone().into(), formula, value, unit: Unit::Gigabytes, source, quality: Quality::Estimate }
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
        NodeData::Gpu(g) => format!("GPU{}", g.dev),
        NodeData::Dev { dev, .. } => format!("GPU{dev}"),
        _ => s
            .gpus()
            .find(|(id, _)| s.node(*id).is_some_and(|n| n.id == dev.id))
            .map_or_else(|| dev.to_string(), |(_, g)| format!("GPU{}", g.dev)),
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
    Some(Info::one(d.limiting.name.clone(), ElementKind::Port, d.limiting.part.clone(), d.gigabytes(), d.steps))
}

pub(crate) fn net_name(net: &crate::system::Net) -> String {
    net.name.clone().unwrap_or_else(|| format!("NET{}", net.dev))
}

fn nvlink(s: &System, seen: &Seen, l: &Link, from: &Node, to: &Node, notes: &mut Vec<String>) -> Option<Info> {
    let (dev, id) = match (&from.data, &to.data) {
        (NodeData::Dev { .. }, _) => (from, l.from),
        (_, NodeData::Dev { .. }) => (to, l.to),
        _ => return None,
    };
    let NodeData::Dev { sm, .. } = dev.data else { return None };
    let all: f32 = s.links_of(id).iter().filter(|k| k.kind == LinkKind::Nvl).map(|k| k.bandwidth).sum();
    // Some files give a GPU's links once for each peer.
    let (listed, most) = (seen.pci.get(&dev.local_id()).map_or(0, |p| p.nvlinks), nvlinks(sm));
    if listed > most && most > 0 {
        let gpu = gpu_name(s, dev);
        notes.push(format!(
            "{gpu}: the topology lists {listed} NVLinks, such a GPU has {most} at most: {most} are counted"
        ));
    }
    let links = f64::from(if most > 0 { listed.min(most) } else { listed });
    let share = f64::from(l.bandwidth) / f64::from(all);
    let name = match (from.kind, to.kind) {
        (NodeKind::Dev, NodeKind::Dev) => format!("NVLink between {} and {}", gpu_name(s, from), gpu_name(s, to)),
        _ => format!("NVLink of {}", gpu_name(s, dev)),
    };
    let (count, each) = (links * share, fabric::nvlink(sm));
    let name = Name::from(name);
    let (limit, formula) = if count > 0.0 && count.is_finite() {
        let formula = Words::of(move |f| write!(f, "{} links × {each} GB/s", Range::exact(count)));
        (each.map(|e| e * count), formula)
    } else {
        (Range::exact(l.bandwidth.into()), "NCCL's figure; the number of links was not seen".into())
    };
    let step = estimate(&name, formula, limit, "NCCL topo.h (lower); NVLink's signalling rate (upper)");
    Some(Info::one(name, ElementKind::NvLink, Part::NvLink, limit, vec![step]))
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

/// Ports and links that limit together.
pub(crate) fn together(infos: &[&Info], limit: Range) -> Option<Element> {
    let mut each: Vec<&Info> = Vec::new();
    for i in infos {
        if !each.iter().any(|e| e.name == i.name) {
            each.push(i);
        }
    }
    let first = each.first()?;
    let (kind, mut part) = (first.kind, first.part.clone());
    let name = match each.as_slice() {
        [one] => one.name.clone(),
        all => {
            let function = all.iter().take(8).find(|i| matches!(i.part, Part::Function(_)));
            part = function.map_or(part, |i| i.part.clone());
            let shown: Vec<&str> = all.iter().take(8).map(|i| &*i.name).collect();
            let more = all.len() - shown.len();
            let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
            // "mlx5_0: 400 Gb/s port", "PCIe Gen5 x16 link of GPU0 (…)": what they have in common, once.
            let parts = |mark: &str| -> Vec<(&str, &str)> { shown.iter().filter_map(|n| n.split_once(mark)).collect() };
            let common =
                |split: &[(&str, &str)], what: fn(&(&str, &str)) -> String, who: fn(&(&str, &str)) -> String| {
                    let first = what(split.first()?);
                    let same = split.len() == shown.len() && split.iter().all(|s| what(s) == first);
                    let who: Vec<String> = split.iter().map(who).collect();
                    same.then(|| format!("{} × {first} ({}{tail})", all.len(), who.join(", ")))
                };
            let ports = common(&parts(": "), |s| s.1.to_owned(), |s| s.0.to_owned());
            let links = common(&parts(" link of "), |s| format!("{} link", s.0), |s| s.1.to_owned());
            if ports.is_some() {
                // No port stands for all.
                part = Part::Other;
            }
            ports.or(links).unwrap_or_else(|| format!("{}{tail}", shown.join(" + "))).into()
        }
    };
    Some(Element { name, kind, part, limit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_marks_one_thing() {
        let limit = Range::exact(1.0);
        let port = |nic: &str, rate: u32| {
            let name = format!("{nic}: {rate} Gb/s port").into();
            Info::one(name, ElementKind::Port, Part::Nic(nic.into()), limit, Vec::new())
        };
        let link = |id: &str| {
            let name = format!("PCIe Gen5 x16 link of GPU0 ({id})").into();
            Info::one(name, ElementKind::Pcie, Part::Function(id.into()), limit, Vec::new())
        };
        let nvlink = |gpu: &str| {
            Info::one(format!("NVLink of {gpu}").into(), ElementKind::NvLink, Part::NvLink, limit, Vec::new())
        };
        let (a, b, slow) = (port("mlx5_0", 400), port("mlx5_1", 400), port("mlx5_2", 200));
        let (one, other) = (link("0000:18:00.0"), link("0000:19:00.0"));
        let (left, right) = (nvlink("GPU0"), nvlink("GPU1"));
        for (infos, mark) in [
            (vec![&a], "mlx5_0"),
            (vec![&a, &a], "mlx5_0"),
            (vec![&a, &b], "2 × 400 Gb/s port (mlx5_0, mlx5_1)"),
            (vec![&a, &slow], "mlx5_0"),
            (vec![&one, &other], "0000:18:00.0"),
            (vec![&a, &other], "0000:19:00.0"),
            (vec![&left, &right], "NVLink"),
        ] {
            assert_eq!(together(&infos, limit).unwrap().mark(), mark);
        }
    }
}
