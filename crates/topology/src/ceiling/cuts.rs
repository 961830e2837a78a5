//! What can leave a group of GPUs: collectives cross the border of every group, the more the slower.

use super::collective::{Collective, Shape};
use super::derive::{Element, ElementKind, Part, Range, Step};
use super::elements::{Elements, Info, gpu_name, together};
use super::pcie::Direction;
use super::words::Name;
use crate::path::PathType;
use crate::paths::Paths;
use crate::system::{LinkKind, NodeId, NodeKind, System};

/// Whether all GPUs reach each other by NVLink alone. NCCL then uses nothing else.
pub(crate) fn all_nvlink(s: &System, paths: &Paths) -> bool {
    let gpus = s.of(NodeKind::Gpu);
    let near = |a: &NodeId, b: &NodeId| a == b || paths.path(*a, *b).kind <= PathType::Nvb;
    gpus.len() > 1 && gpus.iter().all(|a| gpus.iter().all(|b| near(a, b)))
}

/// What leaves a group of GPUs, each way.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cut {
    /// GPUs in the group.
    pub(crate) gpus: u32,
    /// Whether what comes from the network crosses this border, too: no NIC is inside, and no other link leads in.
    pub(crate) closed: bool,
    /// GB/s out of it, and by what.
    pub(crate) out: Element,
    pub(crate) steps: Vec<Step>,
}

/// Cuts of a node: its GPUs one by one, and groups below a switch, below a CPU, and joined by NVLink.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cuts {
    pub(crate) single: Vec<Cut>,
    pub(crate) groups: Vec<Cut>,
    gpus: u32,
}

impl Cuts {
    pub(crate) fn of(e: &Elements, paths: &Paths) -> Cuts {
        let s = e.system;
        let nvlink_only = all_nvlink(s, paths);
        let devs = gpu_devices(s);
        let single = devs.iter().filter_map(|d| cut(e, &[*d], &devs, nvlink_only)).collect();
        let mut groups = Vec::new();
        if !nvlink_only {
            for kind in [NodeKind::Pci, NodeKind::Cpu] {
                groups.extend(s.of(kind).iter().filter_map(|t| cut(e, &e.tree.subtree(*t), &devs, false)));
            }
            groups.extend(nvlink_groups(s, &devs).iter().filter_map(|g| cut(e, g, &devs, false)));
        }
        Cuts { single: sorted(single), groups: sorted(groups), gpus: u32::try_from(devs.len()).unwrap_or(u32::MAX) }
    }

    /// Arithmetic of the narrowest.
    pub(crate) fn steps(&self) -> Vec<Step> {
        let both = [self.single.first(), self.groups.first()].into_iter().flatten();
        both.min_by(|a, b| a.out.limit.low.total_cmp(&b.out.limit.low)).map(|c| c.steps.clone()).unwrap_or_default()
    }

    /// A ring through the node's GPUs alone: it comes back, so it leaves each group at least once. Bus bandwidth.
    pub(crate) fn ring(&self) -> Vec<Element> {
        merged(self.all().map(|c| c.out.clone()))
    }

    /// A ring through several nodes, which enters and leaves each by a NIC. It crosses a closed border both ways. It crosses an open one
    /// at least once, one way or the other; and it makes one step less within the node than there are GPUs. Bus bandwidth.
    pub(crate) fn ring_of_many(&self) -> Vec<Element> {
        let g = f64::from(self.gpus);
        let each = self.all().map(|c| scaled(&c.out, if c.closed { 1.0 } else { 2.0 }));
        let mean = self.mean().filter(|_| self.gpus > 1).map(|m| scaled(&m, g / (g - 1.0)));
        merged(each.chain(mean))
    }

    /// Like [`Cuts::any`], in the bus bandwidth of a job on several nodes. What NICs bring is taken to be spread evenly over the GPUs.
    pub(crate) fn any_of_many(&self, collective: Collective, shape: Shape) -> Vec<Element> {
        let (n, g) = (f64::from(shape.ranks()), f64::from(self.gpus));
        let Some(ratio) = shape.of_intra(collective) else { return Vec::new() };
        let of = |c: &Cut| {
            let u = f64::from(c.gpus);
            scaled(
                &c.out,
                match (collective, c.closed) {
                    (Collective::AllReduce, _) => collective.factor(shape.ranks()),
                    (_, true) => (n - 1.0) / (n - u),
                    (_, false) => (g - 1.0) / (g - u) * ratio,
                },
            )
        };
        let mean = self.mean().filter(|_| collective == Collective::AllReduce);
        let closed = self.single.iter().all(|c| c.closed);
        let mean = mean.map(|m| scaled(&m, if closed { 1.0 } else { ratio }));
        merged(mean.into_iter().chain(self.all().filter(|c| c.gpus < self.gpus).map(of)))
    }

    fn all(&self) -> impl Iterator<Item = &Cut> {
        self.single.iter().chain(&self.groups)
    }

    /// The least that must cross whatever the algorithm, as long as GPUs reduce and not switches. Bus bandwidth of this node alone.
    pub(crate) fn any(&self, collective: Collective) -> Vec<Element> {
        let g = f64::from(self.gpus);
        if collective == Collective::AllReduce {
            // The sum of all crosses every border, each way. All GPUs together send 2(g-1) times the data.
            let every = self.all().map(|c| scaled(&c.out, collective.factor(self.gpus)));
            return merged(self.mean().into_iter().chain(every));
        }
        // The parts of the others cross the border of a group.
        merged(self.all().filter(|c| c.gpus < self.gpus).map(|c| scaled(&c.out, (g - 1.0) / (g - f64::from(c.gpus)))))
    }

    /// The mean of what leaves a GPU, named after the narrowest.
    fn mean(&self) -> Option<Element> {
        let first = self.single.first()?;
        if self.gpus < 2 || self.single.len() != self.gpus as usize {
            return None;
        }
        let sum =
            |f: fn(&Range) -> f64| self.single.iter().map(|c| f(&c.out.limit)).sum::<f64>() / f64::from(self.gpus);
        let limit = Range::new(sum(|r| r.low), sum(|r| r.high));
        let more = self.single.len() - 1;
        let name = format!("{} (mean over it and {more} more)", first.out.name).into();
        Some(Element { name, limit, ..first.out.clone() })
    }
}

pub(crate) fn scaled(e: &Element, factor: f64) -> Element {
    Element { limit: e.limit.map(|v| v * factor), ..e.clone() }
}

fn sorted(mut cuts: Vec<Cut>) -> Vec<Cut> {
    cuts.sort_by(|a, b| a.out.limit.low.total_cmp(&b.out.limit.low).then(a.out.name.cmp(&b.out.name)));
    cuts
}

/// Symmetric nodes have the same bound many times: one name for all that are equal.
pub(crate) fn merged(all: impl IntoIterator<Item = Element>) -> Vec<Element> {
    let mut merged: Vec<(Element, Vec<Name>)> = Vec::new();
    for e in all {
        match merged.iter_mut().find(|(m, _)| m.kind == e.kind && m.limit == e.limit) {
            Some((m, others)) if m.name != e.name && !others.contains(&e.name) => others.push(e.name),
            Some(_) => {}
            None => merged.push((e, Vec::new())),
        }
    }
    merged
        .into_iter()
        .map(|(e, others)| match others.len() {
            0 => e,
            n => Element { name: format!("{} (and {n} more with the same limit)", e.name).into(), ..e },
        })
        .collect()
}

/// Devices that hold a rank.
pub(crate) fn gpu_devices(s: &System) -> Vec<NodeId> {
    let mut devs: Vec<NodeId> = s.gpus().map(|(_, g)| g.parent).collect();
    devs.sort_unstable();
    devs.dedup();
    devs
}

/// What leaves a set of nodes, if GPUs are on both sides of it and all links out of it are known.
fn cut(e: &Elements, inside: &[NodeId], devs: &[NodeId], nvlink_only: bool) -> Option<Cut> {
    let s = e.system;
    let mut is_inside = vec![false; s.nodes().len()];
    for n in inside {
        *is_inside.get_mut(n.index())? = true;
    }
    let within = |id: NodeId| is_inside.get(id.index()).copied().unwrap_or(false);
    let gpus_in = devs.iter().filter(|d| within(**d)).count();
    if gpus_in == 0 || gpus_in == devs.len() {
        return None;
    }
    let mut infos: Vec<&Info> = Vec::new();
    for id in inside {
        for l in s.links_of(*id).iter().filter(|l| !within(l.to)) {
            // Within the node: not to the network.
            let leads_to_gpus = s.node(l.to).is_some_and(|n| {
                matches!(n.kind, NodeKind::Pci | NodeKind::Nvs | NodeKind::Cpu | NodeKind::Dev | NodeKind::Cxb)
            });
            // Devices without a rank are no way anywhere.
            let idle = s.node(l.to).is_some_and(|n| n.kind == NodeKind::Dev) && !devs.contains(&l.to);
            if !leads_to_gpus || idle || (nvlink_only && l.kind != LinkKind::Nvl) {
                continue;
            }
            infos.push(e.of(l)?);
        }
    }
    let limit = infos.iter().map(|i| i.write).reduce(|a, b| Range { low: a.low + b.low, high: a.high + b.high })?;
    let steps = infos.iter().flat_map(|i| i.steps(Direction::Write)).cloned().collect();
    let one_gpu =
        if gpus_in == 1 { inside.first().and_then(|d| s.node(*d)).filter(|n| n.kind == NodeKind::Dev) } else { None };
    let out = match one_gpu {
        Some(dev) if infos.len() > 1 && infos.iter().all(|i| i.kind == ElementKind::NvLink) => {
            let name = format!("NVLink of {}", gpu_name(s, dev)).into();
            Element { name, kind: ElementKind::NvLink, part: Part::NvLink, limit }
        }
        _ => together(&infos, limit)?,
    };
    let gpus = u32::try_from(gpus_in).ok()?;
    let nics = inside.iter().any(|n| s.node(*n).is_some_and(|n| n.kind == NodeKind::Nic));
    Some(Cut { gpus, closed: !nics && !nvlink_only, out, steps })
}

/// Groups of GPUs that NVLink joins, where there are several and they have several.
fn nvlink_groups(s: &System, devs: &[NodeId]) -> Vec<Vec<NodeId>> {
    let mut left: Vec<NodeId> = devs.to_vec();
    let mut groups = Vec::new();
    while let Some(start) = left.pop() {
        let mut group = vec![start];
        let mut at = 0;
        while let Some(id) = group.get(at).copied() {
            for l in s.links_of(id).iter().filter(|l| l.kind == LinkKind::Nvl) {
                let joins = s.node(l.to).is_some_and(|n| matches!(n.kind, NodeKind::Dev | NodeKind::Nvs));
                if joins && !group.contains(&l.to) {
                    group.push(l.to);
                }
            }
            at += 1;
        }
        left.retain(|d| !group.contains(d));
        if group.iter().filter(|d| devs.contains(d)).count() > 1 {
            groups.push(group);
        }
    }
    groups
}
