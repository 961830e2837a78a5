//! Bandwidth taken off the links of a path, and put back (`followPath`).

mod demand;
mod lane;

use crate::Analysis;
use crate::path::PathType;
use crate::system::{Arch, CpuVendor, LinkKind, NodeData, NodeId, NodeKind, System};
use demand::Demand;
pub(super) use demand::{Load, megabytes};
use lane::Lane;
pub(super) use lane::Run;

const NONE: u32 = u32::MAX;

/// A link of a path, as the search needs it.
#[derive(Debug, Clone, Copy)]
struct Step {
    link: u32,
    /// The link that leads back, where traffic loads it, too.
    back: u32,
    /// How much: an eighth, or (POWER's NVLink to the CPU) all of it.
    all_back: bool,
    pci: bool,
}

/// A path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Flow {
    pub(super) kind: u8,
    /// Type of the way back.
    back_kind: u8,
    /// An Intel CPU splits what GPUs send each other into small packets: PCIe carries 6/5 as much.
    intel: bool,
    /// Whether any link that leads back is loaded.
    backward: bool,
    /// Whether all links have the plain demand, only they, and each once.
    plain: bool,
    start: u32,
    pub(super) hops: u32,
    /// Sums of the links' numbers: those with the plain demand, PCIe behind Intel, and the same backwards.
    marks: [u64; 4],
}

/// Links with what is left of them, and the paths that were asked for.
pub(super) struct Flows<'a> {
    analysis: &'a Analysis,
    left: Vec<i32>,
    steps: Vec<Step>,
    /// The link of each step.
    links: Vec<u32>,
    flows: Vec<Flow>,
    /// Of each pair of ends: its flow.
    table: Vec<u32>,
    ends: Vec<NodeId>,
    gpus: usize,
    demands: [Demand; 3],
    /// The ways through all GPUs, up and down.
    lanes: [Option<Lane>; 2],
    /// What stands for the state of all links: equal where they are.
    mark: u64,
}

impl<'a> Flows<'a> {
    pub(super) fn new(analysis: &'a Analysis) -> Self {
        let system = &analysis.system;
        let gpus = system.of(NodeKind::Gpu);
        let ends: Vec<NodeId> = gpus.iter().chain(system.of(NodeKind::Net)).copied().collect();
        Flows {
            analysis,
            left: system.links().iter().map(|l| megabytes(l.bandwidth)).collect(),
            steps: Vec::new(),
            links: Vec::new(),
            flows: Vec::new(),
            table: vec![NONE; ends.len() * ends.len()],
            gpus: gpus.len(),
            ends,
            demands: [Demand::default(); 3],
            lanes: [None, None],
            mark: 0,
        }
    }

    /// What stands for the state of all links.
    pub(super) fn mark(&self) -> u64 {
        self.mark
    }

    /// The place of a NIC among the ends; a GPU's is its own.
    pub(super) fn end_of_net(&self, net: u16) -> usize {
        self.gpus + usize::from(net)
    }

    pub(super) fn demand(&mut self, intra: f32, inter: f32) {
        self.demands = [Demand::of(intra), Demand::of(inter), Demand::of(inter / 2.0)];
    }

    /// The flow from one end to another.
    #[inline]
    pub(super) fn flow(&mut self, from: usize, to: usize) -> Option<u32> {
        let known = *self.table.get(from * self.ends.len() + to)?;
        if known == NONE { self.add(from, to) } else { Some(known) }
    }

    #[cold]
    fn add(&mut self, from: usize, to: usize) -> Option<u32> {
        let slot = from * self.ends.len() + to;
        let built = self.build(*self.ends.get(from)?, *self.ends.get(to)?);
        let id = u32::try_from(self.flows.len()).ok().filter(|n| *n != NONE)?;
        self.flows.push(built);
        *self.table.get_mut(slot)? = id;
        Some(id)
    }

    pub(super) fn get(&self, flow: u32) -> Option<&Flow> {
        self.flows.get(flow as usize)
    }

    fn build(&mut self, from: NodeId, to: NodeId) -> Flow {
        let Analysis { system, paths, .. } = self.analysis;
        let (path, back) = (paths.path(from, to), paths.path(to, from));
        let start = self.steps.len();
        let from_gpu = system.node(from).is_some_and(|n| n.kind == NodeKind::Gpu);
        let mut flow = Flow {
            kind: path.kind as u8,
            back_kind: back.kind as u8,
            intel: false,
            backward: false,
            plain: true,
            start: u32::try_from(start).unwrap_or(NONE),
            hops: path.hops,
            marks: [0; 4],
        };
        for place in paths.link_places(from, to) {
            let Some(link) = system.links().get(place as usize) else { continue };
            let mut step = Step { link: place, back: NONE, all_back: false, pci: link.kind == LinkKind::Pci };
            match system.node(link.to).map(|n| &n.data) {
                Some(NodeData::Cpu(c)) => {
                    let intel = c.arch == Some(Arch::X86) && c.vendor == Some(CpuVendor::Intel);
                    flow.intel |= intel && from_gpu && path.kind == PathType::Phb;
                    step.all_back = c.arch == Some(Arch::Power) && link.kind == LinkKind::Nvl;
                    if step.all_back {
                        step.back = reverse(system, place);
                    }
                }
                Some(NodeData::Dev { sm, .. }) if *sm < 80 && !from_gpu => step.back = reverse(system, place),
                _ => {}
            }
            flow.backward |= step.back != NONE;
            self.steps.push(step);
            self.links.push(step.link);
        }
        let steps = self.steps.get(start..).unwrap_or_default();
        for (at, step) in steps.iter().enumerate() {
            flow.plain &= !steps.iter().take(at).any(|s| s.link == step.link);
            let class = usize::from(step.pci && flow.intel);
            flow.plain &= class == 0 && step.back == NONE;
            add_mark(&mut flow.marks, class, step.link);
            if step.back != NONE {
                add_mark(&mut flow.marks, if step.all_back { class } else { class + 2 }, step.back);
            }
        }
        flow
    }

    /// Takes a flow's demand off its links; `false`, and nothing taken, where one of them has not enough left.
    pub(super) fn take(&mut self, flow: u32, load: Load) -> bool {
        let Some(f) = self.flows.get(flow as usize) else { return false };
        if f.plain {
            let links = self.links.get(f.start as usize..).and_then(|l| l.get(..f.hops as usize));
            let (Some(links), Some(demand)) = (links, self.demands.get(load as usize)) else { return false };
            let amount = demand.plain[0];
            let left = &mut self.left;
            if !links.iter().all(|l| left.get(*l as usize).is_some_and(|l| *l >= amount.need)) {
                return false;
            }
            lane::add(links, -amount.take, left);
            self.mark = self.mark.wrapping_add(f.marks[0].wrapping_mul(u64::from(amount.take.unsigned_abs())));
            return true;
        }
        let Some(steps) = self.steps.get(f.start as usize..).and_then(|s| s.get(..f.hops as usize)) else {
            return false;
        };
        let Some(demand) = self.demands.get(load as usize) else { return false };
        for (done, step) in steps.iter().enumerate() {
            let class = usize::from(step.pci && f.intel);
            let amount = demand.plain[class];
            let back = if step.all_back { amount } else { demand.eighth[class] };
            let enough = self.left.get(step.link as usize).is_some_and(|l| *l >= amount.need)
                && (!f.backward || self.left.get(step.back as usize).is_none_or(|l| *l >= back.need));
            if !enough {
                put_back(&mut self.left, steps.get(..done).unwrap_or_default(), f, demand);
                return false;
            }
            if let Some(left) = self.left.get_mut(step.link as usize) {
                *left -= amount.take;
            }
            if let Some(left) = self.left.get_mut(step.back as usize).filter(|_| f.backward) {
                *left -= back.take;
            }
        }
        self.mark = self.mark.wrapping_add(f.mark(demand));
        true
    }

    /// Gives a flow's demand back.
    pub(super) fn give(&mut self, flow: u32, load: Load) {
        let Some(f) = self.flows.get(flow as usize) else { return };
        if f.plain {
            let links = self.links.get(f.start as usize..).and_then(|l| l.get(..f.hops as usize));
            if let (Some(links), Some(demand)) = (links, self.demands.get(load as usize)) {
                let take = demand.plain[0].take;
                lane::add(links, take, &mut self.left);
                self.mark = self.mark.wrapping_sub(f.marks[0].wrapping_mul(u64::from(take.unsigned_abs())));
            }
            return;
        }
        let steps = self.steps.get(f.start as usize..).and_then(|s| s.get(..f.hops as usize));
        if let (Some(steps), Some(demand)) = (steps, self.demands.get(load as usize)) {
            put_back(&mut self.left, steps, f, demand);
            self.mark = self.mark.wrapping_sub(f.mark(demand));
        }
    }
}

/// Adds a link's number to one of the sums.
fn add_mark(marks: &mut [u64; 4], class: usize, link: u32) {
    if let Some(m) = marks.get_mut(class) {
        *m = m.wrapping_add(scatter(u64::from(link)));
    }
}

/// A number that looks random, always the same.
pub(super) fn scatter(n: u64) -> u64 {
    let n = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

impl Flow {
    /// What its demand adds to the mark of the state.
    fn mark(&self, demand: &Demand) -> u64 {
        let amounts = demand.plain.iter().chain(&demand.eighth);
        let sums = self.marks.iter().zip(amounts).map(|(m, a)| m.wrapping_mul(u64::from(a.take.unsigned_abs())));
        sums.fold(0, u64::wrapping_add)
    }

    /// Whether its type, and for trees that of the way back, is near enough.
    pub(super) fn is_near(&self, limit: u8, both: bool) -> bool {
        self.kind < PathType::Dis as u8 && self.kind <= limit && (!both || self.back_kind <= limit)
    }
}

fn put_back(left: &mut [i32], steps: &[Step], flow: &Flow, demand: &Demand) {
    for step in steps {
        let class = usize::from(step.pci && flow.intel);
        let amount = demand.plain[class];
        if let Some(left) = left.get_mut(step.link as usize) {
            *left += amount.take;
        }
        if flow.backward {
            let back = if step.all_back { amount } else { demand.eighth[class] };
            if let Some(left) = left.get_mut(step.back as usize) {
                *left += back.take;
            }
        }
    }
}

/// The link that leads back.
fn reverse(system: &System, place: u32) -> u32 {
    let Some(link) = system.links().get(place as usize) else { return NONE };
    let range = system.link_range(link.to);
    let found = range.clone().zip(system.links_of(link.to)).find(|(_, l)| l.to == link.from && l.kind == link.kind);
    found.and_then(|(i, _)| u32::try_from(i).ok()).unwrap_or(NONE)
}
