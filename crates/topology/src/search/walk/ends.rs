//! Where a channel goes back to the network; and NICs, as the search needs them.

use super::Walker;
use super::frame::{Done, Frame, Taken, Visit};
use crate::Analysis;
use crate::path::PathType;
use crate::search::Pattern;
use crate::search::flow::{Load, scatter};
use crate::search::lists::{first_of_id, nets_of};
use crate::system::{NodeId, NodeKind};
use std::collections::HashMap;

/// NICs, as the search needs them.
pub(super) struct NetState {
    pub(super) bandwidth: f32,
    pub(super) asic: u64,
    pub(super) port: i32,
    pub(super) rail: i32,
    pub(super) plane: i32,
    /// The first with its identity.
    pub(super) first: u16,
    /// GPUs that a channel may begin with: the one that uses it first, then the others that are near.
    pub(super) local: Vec<u16>,
    pub(super) connected: bool,
    /// All devices of its port, in their order.
    pub(super) same_port: Vec<u16>,
}

/// What stands for a NIC's bandwidth.
pub(super) fn net_mark(net: u16, bandwidth: f32) -> u64 {
    scatter((u64::from(net) << 32) | u64::from(bandwidth.to_bits()))
}

/// All NICs, in their order.
pub(super) fn net_states(analysis: &Analysis) -> Vec<NetState> {
    let system = &analysis.system;
    let ids = system.of(NodeKind::Gpu);
    let place = |id: &NodeId| ids.iter().position(|g| g == id).and_then(|g| u16::try_from(g).ok());
    let mut ports: HashMap<(u64, i32), Vec<u16>> = HashMap::new();
    for (at, (_, n)) in (0_u16..).zip(system.nets()) {
        ports.entry((n.asic, n.port)).or_default().push(at);
    }
    let nets = system.nets().map(|(id, n)| {
        let (local, kind) = analysis.paths.local(system, id, NodeKind::Gpu);
        let net = first_of_id(system, NodeKind::Net, id);
        let user = local_gpu(analysis, id, &local).as_ref().and_then(place);
        NetState {
            bandwidth: n.bandwidth,
            asic: n.asic,
            port: n.port,
            rail: n.rail,
            plane: n.plane,
            first: net,
            local: user.into_iter().chain(local.iter().filter_map(place).filter(|g| Some(*g) != user)).collect(),
            connected: kind != PathType::Dis,
            same_port: ports.get(&(n.asic, n.port)).cloned().unwrap_or_default(),
        }
    });
    nets.collect()
}

impl Walker<'_> {
    /// From a GPU back to a NIC.
    pub(super) fn end_at_net(&mut self, frame: &mut Frame) -> Option<Frame> {
        let v = frame.visit;
        let g = usize::from(v.gpu);
        loop {
            if self.left <= 0 {
                return None;
            }
            let n = self.next_end(frame)?;
            let balanced = self.plan.pattern == Pattern::BalancedTree;
            let load = if balanced { Load::Half } else { Load::Inter };
            let to = self.flows.end_of_net(n);
            let Some(flow) = self.follow(g, to, load) else { continue };
            let first = self.nets.get(usize::from(n)).map_or(n, |n| n.first);
            self.plan.set_net(1, first);
            let below = Visit { to_net: (balanced && v.step == 0).then_some(1), ..v };
            let done = Done { taken: Taken::Flow(flow, load), used: None, own_steps: false };
            if let Some(below) = self.enter(frame, done, below) {
                return Some(below);
            }
        }
    }

    /// The next NIC at which a channel may end.
    fn next_end(&mut self, frame: &mut Frame) -> Option<u16> {
        let g = usize::from(frame.visit.gpu);
        let start = self.plan.net(self.plan.channels, 0)?;
        let slot = g * self.nets.len() + usize::from(start);
        if self.ends.get(slot)?.is_none() {
            let found = self.ends_of(g, start)?;
            *self.ends.get_mut(slot)? = Some(found);
            self.known_ends.push(slot);
        }
        let only = self.only_end(frame.visit.step);
        let rest = self.ends.get(slot)?.as_deref()?.get(usize::from(frame.next)..)?;
        let may_end = |n: &u16| only.is_none_or(|o| self.nets.get(usize::from(*n)).is_some_and(|n| n.first == o));
        let skipped = rest.iter().position(may_end)?;
        frame.next += u16::try_from(skipped).ok()?.checked_add(1)?;
        rest.get(skipped).copied()
    }

    /// Forgets where channels may end: another search may admit others.
    pub(super) fn forget_ends(&mut self) {
        while let Some(slot) = self.known_ends.pop() {
            if let Some(known) = self.ends.get_mut(slot) {
                *known = None;
            }
        }
    }

    /// By which NIC a channel must end, if by one, where it depends on what was walked before.
    fn only_end(&self, step: u16) -> Option<u16> {
        let c = self.plan.channels;
        let net = match self.plan.pattern {
            // The second of two channels ends where the first began.
            Pattern::Ring if self.plan.cross_nic == 2 && c % 2 == 1 => self.plan.net(c - 1, 0),
            // Both GPUs at the top use one NIC.
            Pattern::BalancedTree if step > 0 => self.plan.net(c, 1),
            _ => return None,
        };
        Some(net.unwrap_or(u16::MAX))
    }

    /// Where channels that began at a NIC may end, from a GPU: the same throughout a search (`ncclTopoSearchCheckNet`).
    fn ends_of(&mut self, gpu: usize, start: u16) -> Option<Box<[u16]>> {
        let analysis = self.analysis;
        let own = analysis.system.of(NodeKind::Gpu).get(gpu).map(std::slice::from_ref)?;
        let nets = self.nets_of.get_mut(gpu)?.get_or_insert_with(|| nets_of(analysis, own));
        let nets = nets.up_to(Some(self.plan.type_inter));
        let start = self.nets.get(usize::from(start))?;
        let plan = &self.plan;
        let by_rail = plan.cross_nic == 0;
        let may_end = |n: &u16| {
            let Some(end) = self.nets.get(usize::from(*n)) else { return false };
            let planes = end.plane == -1 || start.plane == -1 || end.plane == start.plane;
            let symmetric = plan.pattern != Pattern::Tree || end.first == start.first;
            let rails = end.rail != -1 && start.rail != -1;
            let same = if rails { end.rail == start.rail } else { (end.asic, end.port) == (start.asic, start.port) };
            planes && symmetric && (same || !by_rail)
        };
        Some(nets.iter().copied().filter(may_end).collect())
    }

    /// NICs of channels of one GPU.
    pub(in crate::search) fn preferred(&self, gpu: usize) -> Option<u16> {
        let own = self.analysis.system.of(NodeKind::Gpu).get(gpu).map(std::slice::from_ref)?;
        nets_of(self.analysis, own).up_to(None).first().copied()
    }
}

/// The GPU that uses a NIC first (`ncclTopoGetLocalGpu`).
fn local_gpu(analysis: &Analysis, net: NodeId, local: &[NodeId]) -> Option<NodeId> {
    let id = |n: NodeId| analysis.system.node(n).map(|n| n.id);
    let uses = |gpu: &NodeId, c: usize| {
        let rank = analysis.system.node(*gpu).and_then(|n| n.gpu()).map(|g| g.rank);
        let nets = analysis.local_nets.iter().find(|l| Some(l.rank) == rank);
        nets.and_then(|l| l.of_channel(c)).is_some_and(|n| id(n) == id(net))
    };
    let longest = analysis.local_nets.iter().map(|l| l.channels.len()).max().unwrap_or(0);
    (0..longest).find_map(|c| local.iter().find(|g| uses(g, c)).copied())
}
