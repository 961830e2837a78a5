//! What a NIC carries to host and GPU memory, and what all NICs of a node carry together.

use super::derive::{Derivation, Element, ElementKind, Part, Quality, Range, Step, Unit};
use super::elements::{Elements, Info, gpu_name, net_name, together};
use super::fabric::INTEL_PEERS;
use super::link::Port;
use super::lp::{Flows, Most};
use super::pcie::{Direction, PcieLink};
use super::words::{Name, Words};
use crate::analysis::Analysis;
use crate::local::LocalNets;
use crate::path::PathType;
use crate::paths::Paths;
use crate::system::{CpuVendor, NodeId, NodeKind};
use std::borrow::Cow;

/// Ceilings of a NIC.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct NicCeilings {
    /// Its name.
    pub name: String,
    /// Its node.
    pub net: NodeId,
    /// It receives into host memory, in Gb/s.
    pub host_receive: Option<Derivation>,
    /// It sends from host memory, in Gb/s.
    pub host_send: Option<Derivation>,
    /// The GPU nearest to it.
    pub gpu: Option<String>,
    /// How far that is, by the hardware.
    pub gpu_path: Option<PathType>,
    /// It receives into that GPU's memory, straight, in Gb/s.
    pub gpu_receive: Option<Derivation>,
    /// It sends from that GPU's memory, straight, in Gb/s.
    pub gpu_send: Option<Derivation>,
}

/// Each NIC of a host. `raw` are the paths of the elements' system; `local` says which GPUs use which NICs, where that is known.
pub(crate) fn ceilings(e: &Elements, raw: &Paths, local: &[LocalNets]) -> Vec<NicCeilings> {
    let s = e.system;
    let nearest = |net: NodeId, kind: NodeKind| {
        let reached = s.of(kind).iter().filter_map(|to| Some((*to, raw.get(net, *to)?)));
        reached
            .filter(|(_, p)| p.kind < PathType::Net)
            .min_by(|(_, p), (_, q)| p.kind.cmp(&q.kind).then(q.bandwidth.total_cmp(&p.bandwidth)))
    };
    let one = |(net, data): (NodeId, &crate::system::Net)| {
        let cpu = nearest(net, NodeKind::Cpu).map(|(c, _)| c);
        let served = local.iter().find(|l| l.channels.first() == Some(&net)).map(|l| l.gpu);
        let gpu = served
            .and_then(|g| Some((g, raw.get(net, g)?)))
            .filter(|(_, p)| p.kind < PathType::Net)
            .or_else(|| nearest(net, NodeKind::Gpu));
        let along = |to: Option<NodeId>, d| path(e, raw, net, to?, d);
        NicCeilings {
            name: net_name(data),
            net,
            host_receive: along(cpu, Direction::Write),
            host_send: along(cpu, Direction::Read),
            gpu: gpu.and_then(|(g, _)| s.node(g)).map(|n| gpu_name(s, n)),
            gpu_path: gpu.map(|(_, p)| p.kind),
            gpu_receive: along(gpu.map(|(g, _)| g), Direction::Write),
            gpu_send: along(gpu.map(|(g, _)| g), Direction::Read),
        }
    };
    s.nets().map(one).collect()
}

/// One flow alone, between a NIC and memory, in Gb/s.
fn path(e: &Elements, paths: &Paths, net: NodeId, to: NodeId, direction: Direction) -> Option<Derivation> {
    let mut elements = Vec::new();
    let mut steps = Vec::new();
    // The port comes first: it is in the path from the NIC to the memory, too.
    let infos: Vec<&Info> = paths.hops(e.system, net, to).filter_map(|l| e.of(l)).collect();
    for i in &infos {
        elements.push(i.element(i.limit(direction).map(|v| v * 8.0)));
        steps.extend(i.steps(direction).iter().cloned());
    }
    if let Some(bridge) = intel_bridge(e, paths, net, to, &infos) {
        let limit = bridge.limit(direction).map(|v| v * 8.0);
        steps.extend(bridge.steps(direction).iter().cloned());
        elements.push(bridge.element(limit));
    }
    Derivation::of(Unit::Gigabits, elements, steps)
}

/// An Intel CPU between two peers, which cuts what one writes to the other.
fn intel_bridge(e: &Elements, paths: &Paths, net: NodeId, to: NodeId, infos: &[&Info]) -> Option<Info> {
    let s = e.system;
    s.node(to).filter(|n| n.kind == NodeKind::Gpu)?;
    let cpu =
        paths.hops(s, net, to).filter_map(|l| s.node(l.to)?.cpu()).find(|c| c.vendor == Some(CpuVendor::Intel))?;
    let on_pcie = infos.iter().filter(|i| matches!(i.kind, ElementKind::Pcie | ElementKind::Uplink));
    let link = on_pcie.map(|i| i.write).reduce(Range::min)?;
    let limit = link.times(INTEL_PEERS);
    let name = Name::from(format!("Intel CPU of NUMA {} between the peers (cuts writes at 64 B)", cpu.numa));
    let step = Step {
        what: name.clone().into(),
        formula: Words::of(move |f| write!(f, "{link} × {INTEL_PEERS}")),
        value: limit,
        unit: Unit::Gigabytes,
        source: "NCCL topo.h, INTEL_P2P_OVERHEAD 6/5; header arithmetic",
        quality: Quality::Estimate,
    };
    Some(Info::one(name, ElementKind::HostBridge, Part::Other, limit, vec![step]))
}

/// An adapter by itself, without a topology: its ports at once, through its PCIe link. In Gb/s; `None` where no port's rate is known.
#[must_use]
pub fn adapter(ports: &[(&str, Port)], link: Option<&PcieLink>, direction: Direction) -> Option<Derivation> {
    let each: Vec<Derivation> = ports.iter().map(|(name, port)| port.payload(name)).collect::<Option<_>>()?;
    let sum = each.iter().map(|d| d.result).reduce(|a, b| Range { low: a.low + b.low, high: a.high + b.high })?;
    let names: Vec<&str> = each.iter().map(|d| &*d.limiting.name).collect();
    let together = Name::from(names.join(" + "));
    let mut elements = vec![Element { name: together.clone(), kind: ElementKind::Port, part: Part::Other, limit: sum }];
    let mut steps: Vec<Step> = each.iter().flat_map(|d| d.steps.clone()).collect();
    if each.len() > 1 {
        steps.push(Step { what: "ports together".into(), unit: Unit::Gigabits, ..total_step(together.into(), sum) });
    }
    if let Some(link) = link {
        let name = Name::from(format!("{} link", link.name()));
        let limit = link.data(direction).map(|v| v * 8.0);
        steps.extend(link.steps(direction, &name));
        elements.push(Element { name, kind: ElementKind::Pcie, part: Part::Other, limit });
    }
    Derivation::of(Unit::Gigabits, elements, steps)
}

/// What all NICs of a node carry together, one direction, in GB/s: what limits it, and what is behind that.
#[derive(Debug, Clone, PartialEq)]
pub struct NicTotal {
    /// GB/s.
    pub total: Range,
    /// What limits, with `total` as its limit.
    pub limiting: Element,
    /// What would.
    pub next: Option<Element>,
    /// The arithmetic.
    pub steps: Vec<Step>,
}

impl NicTotal {
    /// Of equal NICs that share nothing: `count` times the lesser of port and link.
    #[must_use]
    pub fn of_equal(count: u32, one: &Derivation) -> Option<NicTotal> {
        let n = f64::from(count);
        let bytes = one.gigabytes();
        let total = bytes.map(|v| v * n);
        let gb = |r: Range| if one.unit == Unit::Gigabits { r.map(|v| v / 8.0) } else { r };
        let scaled = |e: &Element| Element {
            name: format!("{count} × {}", e.name).into(),
            kind: e.kind,
            part: e.part.clone(),
            limit: gb(e.limit).map(|v| v * n),
        };
        let mut steps = one.steps.clone();
        steps.push(total_step(Words::of(move |f| write!(f, "{count} × {bytes} GB/s")), total));
        (count > 0).then(|| NicTotal {
            total,
            limiting: scaled(&one.limiting),
            next: one.next.as_ref().map(scaled),
            steps,
        })
    }
}

fn total_step(formula: Words, value: Range) -> Step {
    Step {
        what: "NICs of a node together".into(),
        formula,
        value,
        unit: Unit::Gigabytes,
        source: "arithmetic",
        quality: Quality::Exact,
    }
}

/// All NICs at once, each with the GPUs that NCCL gives it, by NCCL's paths: the lesser of receiving and sending.
pub(crate) fn total(a: &Analysis, e: &Elements) -> Option<NicTotal> {
    let receive = one_way(a, e, Direction::Write)?;
    let send = one_way(a, e, Direction::Read)?;
    let mut least = if send.total.low < receive.total.low { send.clone() } else { receive.clone() };
    least.total = receive.total.min(send.total);
    least.limiting.limit = least.total;
    Some(least)
}

fn one_way(a: &Analysis, e: &Elements, direction: Direction) -> Option<NicTotal> {
    let s = e.system;
    let mut infos: Vec<Cow<'_, Info>> = (0..e.len()).filter_map(|i| e.info(i).map(Cow::Borrowed)).collect();
    let mut place = vec![None; e.len()];
    (0..e.len()).filter(|i| e.info(*i).is_some()).enumerate().for_each(|(at, i)| {
        if let Some(p) = place.get_mut(i) {
            *p = Some(at);
        }
    });
    let mut through: Vec<Vec<usize>> = Vec::new();
    for local in &a.local_nets {
        let mut nets = local.channels.clone();
        nets.sort_unstable();
        nets.dedup();
        for net in nets {
            let (from, to) = if direction == Direction::Write { (net, local.gpu) } else { (local.gpu, net) };
            let links: Vec<usize> = a.paths.hops(s, from, to).filter_map(|l| e.index(l)).collect();
            let mut flow: Vec<usize> = links.into_iter().filter_map(|i| place.get(i).copied().flatten()).collect();
            let gdr = a.gdr.iter().any(|g| g.gpu == local.gpu && g.net == net && g.recv.mode.is_some());
            if gdr && direction == Direction::Write {
                let on_path: Vec<&Info> = flow.iter().filter_map(|i| infos.get(*i).map(|i| &**i)).collect();
                if let Some(bridge) = intel_bridge(e, &a.paths, net, local.gpu, &on_path) {
                    flow.push(infos.len());
                    infos.push(Cow::Owned(bridge));
                }
            }
            through.push(flow);
        }
    }
    if through.is_empty() {
        return None;
    }
    // Completions are taken to be as large as writes: how large they are is shown with each NIC.
    let ends = |f: fn(Range) -> f64| infos.iter().map(|i| f(i.write)).collect::<Vec<f64>>();
    let (mut low, mut high) = (ends(|r| r.low), ends(|r| r.high));
    let most = |capacity: &[f64]| Flows { capacity, through: &through }.most();
    let (first, best): (Most, Most) = (most(&low)?, most(&high)?);
    let named = |m: &Most, limit: Range| {
        let tight: Vec<&Info> = m.tight.iter().filter_map(|i| infos.get(*i).map(|i| &**i)).collect();
        together(&tight, limit)
    };
    let total = Range::new(first.total, best.total);
    let limiting = named(&first, total)?;
    // Equal ones once.
    let mut steps: Vec<Step> = Vec::new();
    let mut told: Vec<Range> = Vec::new();
    for i in first.tight.iter().filter_map(|i| infos.get(*i)) {
        if !told.contains(&i.write) {
            told.push(i.write);
            steps.extend(i.steps(Direction::Write).iter().cloned());
        }
    }
    let way = if direction == Direction::Write { "into" } else { "out of" };
    let (flows, by) = (through.len(), limiting.name.clone());
    let formula =
        Words::of(move |f| write!(f, "the most that {flows} flows {way} GPUs carry through what they share: {by}"));
    steps.push(total_step(formula, total));
    for i in &first.tight {
        for ends in [&mut low, &mut high] {
            if let Some(v) = ends.get_mut(*i) {
                *v = f64::INFINITY;
            }
        }
    }
    let next = most(&low).and_then(|m| {
        let behind = most(&high).map_or(m.total, |h| h.total);
        named(&m, Range::new(m.total, behind))
    });
    Some(NicTotal { total, limiting, next, steps })
}
