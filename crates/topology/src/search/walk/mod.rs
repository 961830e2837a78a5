//! The walk (`ncclTopoSearchRec*`): NCCL recurses; here the way back is a stack, so that no topology exhausts it.

mod begin;
mod complete;
mod ends;
mod frame;
mod leap;

use super::Pattern;
use super::bound::Bound;
use super::flow::{Flows, Load};
use super::lists::{Near, Nets, Order, neighbours, nets_of};
use super::memo::Memo;
use super::plan::Plan;
use crate::Analysis;
use crate::system::{NodeId, NodeKind};
use ends::{NetState, net_mark, net_states};
use frame::{Choice, Done, Frame, Sequence, Taken, Visit};
use leap::Leap;

/// Steps for the attempt in the GPUs' own order.
const OWN_ORDER_STEPS: i32 = 1 << 10;

/// The state of a search.
pub(super) struct Walker<'a> {
    analysis: &'a Analysis,
    pub(super) flows: Flows<'a>,
    /// What is sought, and the channels so far.
    pub(super) plan: Plan,
    /// The best so far.
    pub(super) best: Plan,
    pub(super) inter: bool,
    gpus: usize,
    nvswitch: bool,
    /// Behind NVSwitches: the GPUs that follow each, by pattern.
    near: Vec<Near>,
    /// Whether runs through all GPUs are taken at once.
    pub(super) leaps: bool,
    /// Whether a walk leaves everything as it was.
    pub(super) repeatable: bool,
    /// Of each GPU: the first of its rank.
    first: Vec<u16>,
    /// Of each GPU: channels that it is in, as bits.
    used: Vec<u64>,
    nets: Vec<NetState>,
    /// What stands for the bandwidths of all NICs.
    net_mark: u64,
    begin: Nets,
    nets_of: Vec<Option<Nets>>,
    /// Of each GPU and each NIC: where channels of this search may end that began there.
    ends: Vec<Option<Box<[u16]>>>,
    /// Which of them are known.
    known_ends: Vec<usize>,
    orders: Vec<Order>,
    order_of: Vec<u32>,
    stack: Vec<Frame>,
    memo: Memo,
    /// What cannot be exceeded, and the speeds that may be tried yet.
    pub(super) bound: Option<(Bound, &'static [f32])>,
    left: i32,
    kept: i32,
    pub(super) steps: u64,
}

impl<'a> Walker<'a> {
    pub(super) fn new(analysis: &'a Analysis, inter: bool, plan: Plan) -> Self {
        let system = &analysis.system;
        let ids = system.of(NodeKind::Gpu);
        let gpus = ids.len();
        let place = |id: &NodeId| ids.iter().position(|g| g == id).and_then(|g| u16::try_from(g).ok());
        let first =
            system.gpus().map(|(id, g)| place(&system.gpu_of_rank(g.rank).unwrap_or(id)).unwrap_or(u16::MAX)).collect();
        let nets = if inter { net_states(analysis) } else { Vec::new() };
        let nvswitch = !system.of(NodeKind::Nvs).is_empty();
        let begin = if inter { nets_of(analysis, ids) } else { Nets::default() };
        let mut flows = Flows::new(analysis);
        if nvswitch && gpus > 2 {
            flows.find_lanes();
        }
        Walker {
            analysis,
            flows,
            best: plan.clone(),
            plan,
            inter,
            gpus,
            leaps: true,
            repeatable: nets.iter().all(|n| n.connected),
            nvswitch,
            near: if nvswitch { (0..gpus).map(|g| neighbours(analysis, g)).collect() } else { Vec::new() },
            first,
            used: vec![0; gpus],
            nets_of: vec![None; gpus],
            ends: vec![None; gpus * nets.len()],
            known_ends: Vec::new(),
            order_of: vec![u32::MAX; gpus * (nets.len() + 1)],
            net_mark: (0..).zip(&nets).map(|(i, n)| net_mark(i, n.bandwidth)).fold(0, u64::wrapping_add),
            nets,
            begin,
            orders: Vec::new(),
            stack: Vec::new(),
            memo: Memo::default(),
            bound: None,
            left: 0,
            kept: 0,
            steps: 0,
        }
    }

    /// Searches with so many steps. What is left of them: 0 where they did not suffice, -1 where nothing better is to be had.
    pub(super) fn search(&mut self, steps: i32) -> i32 {
        self.left = steps;
        self.plan.channels = 0;
        self.flows.demand(self.plan.bw_intra, self.plan.bw_inter);
        self.stack.clear();
        self.memo.clear();
        self.forget_ends();
        let begin = self.begin();
        self.stack.push(begin);
        while let Some(mut frame) = self.stack.pop() {
            if let Some(done) = frame.done.take() {
                self.undo(done);
            }
            if let Some(below) = self.advance(&mut frame) {
                self.stack.push(frame);
                self.stack.push(below);
            } else if self.is_begin(&frame) {
                self.memo.leave(self.left);
                self.plan.channels = self.plan.channels.saturating_sub(1);
            }
        }
        self.left
    }

    fn is_begin(&self, frame: &Frame) -> bool {
        matches!(frame.choice, Choice::BeginIntra | Choice::BeginNet { .. })
    }

    /// A channel begins (`ncclTopoSearchParams`).
    fn begin(&self) -> Frame {
        let last = u16::try_from(self.gpus.saturating_sub(1)).unwrap_or(u16::MAX);
        let ring = self.plan.pattern == Pattern::Ring;
        let to_net = self.inter.then_some(if ring { last } else { 0 });
        let choice = if self.inter { Choice::BeginNet { attempt: 0 } } else { Choice::BeginIntra };
        let visit = Visit { gpu: 0, step: 0, to_net, closes: ring && !self.inter, sequence: Sequence::Free };
        Frame { visit, choice, next: 0, done: None }
    }

    /// Goes on until a choice leads down, or none is left.
    fn advance(&mut self, frame: &mut Frame) -> Option<Frame> {
        match frame.choice {
            Choice::BeginIntra => self.begin_intra(frame),
            Choice::BeginNet { .. } => self.begin_net(frame),
            Choice::ToNet => self.end_at_net(frame),
            Choice::Single => {
                if std::mem::replace(&mut frame.next, 1) > 0 {
                    return None;
                }
                let gpu = self.only(&frame.visit)?;
                self.go(frame, gpu)
            }
            Choice::Near(gpus) => loop {
                let gpu = *gpus.get(usize::from(frame.next))?;
                frame.next += 1;
                if !self.is_free(gpu) {
                    continue;
                }
                let below = match self.leap(&frame.visit, gpu) {
                    Leap::Through(done, below) => self.enter(frame, done, below),
                    Leap::Stuck => None,
                    Leap::None => self.go(frame, gpu),
                };
                if below.is_some() {
                    return below;
                }
            },
            Choice::Ordered { order, reverse } => loop {
                let order = self.orders.get(order as usize)?;
                let at = usize::from(frame.next);
                let at = if reverse { order.len().checked_sub(at + 1)? } else { at };
                let gpu = order.get(at)?;
                frame.next += 1;
                if self.is_free(gpu)
                    && let Some(below) = self.go(frame, gpu)
                {
                    return Some(below);
                }
            },
        }
    }

    /// The one GPU that follows: the first of the channel, the next by number, or as in the channel before.
    fn only(&self, visit: &Visit) -> Option<u16> {
        let step = usize::from(visit.step);
        if step + 1 >= self.gpus {
            return self.plan.gpu(self.plan.channels, 0);
        }
        match visit.sequence {
            Sequence::Again => self.plan.gpu(self.plan.channels.checked_sub(1)?, step + 1),
            _ => Some(visit.step + 1),
        }
    }

    fn is_free(&self, gpu: u16) -> bool {
        self.used.get(usize::from(gpu)).is_some_and(|u| u & self.bit() == 0)
    }

    fn bit(&self) -> u64 {
        1_u64.checked_shl(u32::try_from(self.plan.channels).unwrap_or(64)).unwrap_or(0)
    }

    /// Marks a GPU as used by the channel, or as free again.
    fn mark_used(&mut self, gpu: Option<u16>) {
        let Some(gpu) = gpu else { return };
        let bit = self.bit();
        if let Some(used) = self.used.get_mut(usize::from(gpu)) {
            *used ^= bit;
        }
    }

    /// From a GPU to a GPU.
    fn go(&mut self, frame: &mut Frame, gpu: u16) -> Option<Frame> {
        let v = frame.visit;
        let closing = usize::from(v.step) + 1 >= self.gpus;
        let below = Visit { gpu, step: v.step + 1, closes: v.closes && !closing, ..v };
        let flow = self.follow(usize::from(v.gpu), usize::from(gpu), Load::Intra)?;
        let used = (!closing).then_some(gpu);
        self.enter(frame, Done { taken: Taken::Flow(flow, Load::Intra), used, own_steps: false }, below)
    }

    /// Takes a path, if it is near enough and has the bandwidth.
    fn follow(&mut self, from: usize, to: usize, load: Load) -> Option<u32> {
        if self.left <= 0 {
            return None;
        }
        let flow = self.flows.flow(from, to)?;
        let path = self.flows.get(flow)?;
        let limit = if load == Load::Intra { self.plan.type_intra } else { self.plan.type_inter };
        let hops = path.hops as i32;
        if !path.is_near(limit, self.plan.pattern != Pattern::Ring) || !self.flows.take(flow, load) {
            return None;
        }
        self.plan.hops += hops;
        Some(flow)
    }

    fn undo(&mut self, done: Done) {
        match done.taken {
            Taken::Nothing => {}
            Taken::Flow(flow, load) => {
                self.flows.give(flow, load);
                self.plan.hops -= self.flows.get(flow).map_or(0, |f| f.hops as i32);
            }
            Taken::Run(run) => self.plan.hops -= self.flows.give_run(run),
        }
        self.mark_used(done.used);
        if done.own_steps && self.left >= 0 {
            self.left = self.kept;
        }
    }

    /// Goes down after a choice, or undoes it.
    fn enter(&mut self, frame: &mut Frame, done: Done, below: Visit) -> Option<Frame> {
        self.mark_used(done.used);
        let below = if self.is_dead_end(&below) { None } else { self.visit(below) };
        match below {
            Some(_) => frame.done = Some(done),
            None => self.undo(done),
        }
        below
    }

    /// A step (`ncclTopoSearchRecGpu`): what to choose from, or nothing where this way ends.
    fn visit(&mut self, visit: Visit) -> Option<Frame> {
        if self.left <= 0 {
            return None;
        }
        self.left -= 1;
        self.steps += 1;
        let step = usize::from(visit.step);
        if step >= self.gpus {
            return self.complete();
        }
        let first = self.first.get(usize::from(visit.gpu)).copied().unwrap_or(visit.gpu);
        self.plan.set_gpu(step, first);
        let choice = if visit.to_net == Some(visit.step) {
            Choice::ToNet
        } else if step + 1 < self.gpus {
            match visit.sequence {
                Sequence::Free => self.free(&visit),
                _ => Choice::Single,
            }
        } else if visit.closes {
            Choice::Single
        } else {
            let step = u16::try_from(self.gpus).unwrap_or(u16::MAX);
            return self.visit(Visit { step, ..visit });
        };
        Some(Frame { visit, choice, next: 0, done: None })
    }

    /// GPUs to try in NCCL's order (`ncclTopoSearchNextGpuSort`).
    fn free(&mut self, visit: &Visit) -> Choice {
        let gpu = usize::from(visit.gpu);
        if self.nvswitch {
            let near = self.near.get(gpu).and_then(|n| n.get(self.plan.pattern as usize));
            return Choice::Near(near.copied().unwrap_or_default());
        }
        let net = visit.to_net.and_then(|_| self.plan.net(self.plan.channels, 0));
        let slot = net.map_or(0, |n| usize::from(n) + 1) * self.gpus + gpu;
        let known = self.order_of.get(slot).copied().unwrap_or(u32::MAX);
        let order = if known == u32::MAX {
            let id = net.and_then(|n| self.analysis.system.of(NodeKind::Net).get(usize::from(n)).copied());
            let new = u32::try_from(self.orders.len()).unwrap_or(u32::MAX);
            self.orders.push(Order::of(self.analysis, gpu, id));
            if let Some(o) = self.order_of.get_mut(slot) {
                *o = new;
            }
            new
        } else {
            known
        };
        // On the way back to the NIC, all else being equal, from the farthest.
        let returns = visit.to_net.is_some_and(|n| n != visit.step + 1);
        let reverse = returns && self.orders.get(order as usize).is_some_and(|o| o.is_uniform(|g| self.is_free(g)));
        Choice::Ordered { order, reverse }
    }

    fn is_ring(&self) -> bool {
        self.plan.pattern == Pattern::Ring
    }
}
