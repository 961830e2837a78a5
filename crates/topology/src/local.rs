//! Which NICs a GPU uses, and which GPU a NIC (`ncclTopoGetLocalNet`, `ncclTopoGetLocalGpu`).

use crate::MAX_CHANNELS;
use crate::env::NetDevs;
use crate::gdr::first_of_ranks;
use crate::path::PathType;
use crate::paths::Paths;
use crate::system::{NodeId, NodeKind, System};

/// The nearest NICs of GPUs and GPUs of NICs, kept until a path of theirs changes.
pub(crate) struct Locals {
    nets: Vec<Option<Vec<NodeId>>>,
    gpus: Vec<Option<Vec<NodeId>>>,
    /// Of each node that is a GPU: the first GPU of its rank, which is the one that NCCL finds.
    first: Vec<NodeId>,
    policy: NetDevs,
}

impl Locals {
    pub(crate) fn new(system: &System, policy: NetDevs) -> Self {
        let n = system.nodes().len();
        let mut first: Vec<NodeId> = (0..n).map(NodeId::of).collect();
        for (own, (id, _)) in first_of_ranks(system).into_iter().zip(system.gpus()) {
            if let Some(f) = first.get_mut(id.index()) {
                *f = own;
            }
        }
        Locals { nets: vec![None; n], gpus: vec![None; n], first, policy }
    }

    /// A path from this node has changed.
    pub(crate) fn changed(&mut self, id: NodeId) {
        for list in [&mut self.nets, &mut self.gpus] {
            if let Some(l) = list.get_mut(id.index()) {
                *l = None;
            }
        }
    }

    fn nets(&mut self, system: &System, paths: &Paths, gpu: NodeId) -> &[NodeId] {
        match self.nets.get_mut(gpu.index()) {
            Some(l) => l.get_or_insert_with(|| paths.local(system, gpu, NodeKind::Net).0),
            None => &[],
        }
    }

    fn gpus(&mut self, system: &System, paths: &Paths, net: NodeId) -> &[NodeId] {
        match self.gpus.get_mut(net.index()) {
            Some(l) => l.get_or_insert_with(|| paths.local(system, net, NodeKind::Gpu).0),
            None => &[],
        }
    }

    /// The NIC that a GPU uses for a channel.
    pub(crate) fn net(&mut self, system: &System, paths: &Paths, gpu: NodeId, channel: usize) -> Option<NodeId> {
        let gpu = self.first.get(gpu.index()).copied().unwrap_or(gpu);
        let dev = system.node(gpu)?.gpu()?.dev;
        let first = *self.nets(system, paths, gpu).first()?;
        let gpus = self.gpus(system, paths, first).len();
        let policy = self.policy;
        let nets = self.nets(system, paths, gpu);
        let count = nets.len();
        if gpus == 0 {
            return None;
        }
        let each = match policy {
            NetDevs::Auto => count.div_ceil(gpus),
            NetDevs::All => count,
            NetDevs::Max(n) => count.min(n as usize),
        };
        // GPUs of one switch spread over its NICs: NVML's number, its bits mirrored where there is a power of two of NICs.
        let gpus = i64::try_from(gpus).unwrap_or(1);
        let mut at = usize::try_from(i64::from(dev).rem_euclid(gpus)).unwrap_or(0);
        if count.is_power_of_two() {
            at = mirror(at, count);
        }
        at += channel % each.max(1);
        nets.get(at % count).copied()
    }

    /// The GPU that uses a NIC first.
    pub(crate) fn gpu(&mut self, system: &System, paths: &Paths, net: NodeId) -> Option<NodeId> {
        let gpus = self.gpus(system, paths, net).to_vec();
        (0..MAX_CHANNELS as usize)
            .find_map(|c| gpus.iter().copied().find(|g| self.net(system, paths, *g, c) == Some(net)))
    }

    /// Whether a GPU is one of the nearest of a NIC.
    pub(crate) fn is_near(&mut self, system: &System, paths: &Paths, net: NodeId, gpu: NodeId) -> bool {
        self.gpus(system, paths, net).contains(&gpu)
    }
}

/// The bits below a power of two, mirrored.
fn mirror(value: usize, power: usize) -> usize {
    let mut mirrored = 0;
    let (mut bit, mut other) = (1, power >> 1);
    while bit < power {
        if value & bit != 0 {
            mirrored |= other;
        }
        bit <<= 1;
        other >>= 1;
    }
    mirrored
}

/// The NICs of a rank.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalNets {
    /// The rank.
    pub rank: i32,
    /// Its GPU.
    pub gpu: NodeId,
    /// The nearest NICs.
    pub set: Vec<NodeId>,
    /// How far they are.
    pub kind: PathType,
    /// The NIC of each channel, up to where they repeat.
    pub channels: Vec<NodeId>,
    /// NICs that it takes to fill the GPU's own way to the CPU.
    pub count_by_bandwidth: usize,
    /// Their bandwidth together, in GB/s.
    pub bandwidth: f32,
    /// Bandwidth of the slowest of the channels' NICs, in GB/s.
    pub min_bandwidth: f32,
}

impl LocalNets {
    /// The NIC of a channel.
    #[must_use]
    pub fn of_channel(&self, channel: usize) -> Option<NodeId> {
        self.channels.get(channel.checked_rem(self.channels.len())?).copied()
    }
}

/// The NICs of each rank, by the final paths.
pub(crate) fn local_nets(
    system: &System,
    paths: &Paths,
    policy: NetDevs,
    local_cpu: impl Fn(NodeId) -> Option<NodeId>,
) -> Vec<LocalNets> {
    let mut locals = Locals::new(system, policy);
    let mut all = Vec::new();
    for (gpu, data) in system.gpus() {
        let (set, kind) = paths.local(system, gpu, NodeKind::Net);
        let mut channels = Vec::new();
        let mut min_bandwidth = f32::MAX;
        for c in 0..MAX_CHANNELS as usize {
            let Some(net) = locals.net(system, paths, gpu, c) else { break };
            if c > 0 && channels.first() == Some(&net) {
                break;
            }
            channels.push(net);
            min_bandwidth = min_bandwidth.min(paths.path(gpu, net).bandwidth);
        }
        let own = local_cpu(gpu).map_or(0.0, |c| paths.path(gpu, c).bandwidth);
        let (mut count_by_bandwidth, mut bandwidth) = (0, 0.0);
        for net in &channels {
            bandwidth += paths.path(gpu, *net).bandwidth;
            count_by_bandwidth += 1;
            if bandwidth >= own {
                break;
            }
        }
        let min_bandwidth = if channels.is_empty() { 0.0 } else { min_bandwidth };
        let rank = data.rank;
        all.push(LocalNets { rank, gpu, set, kind, channels, count_by_bandwidth, bandwidth, min_bandwidth });
    }
    all
}

#[cfg(test)]
mod tests {
    #[test]
    fn bits_are_mirrored() {
        let mirrored: Vec<_> = (0..8).map(|n| super::mirror(n, 8)).collect();
        assert_eq!(mirrored, [0, 4, 2, 6, 1, 5, 3, 7]);
        assert_eq!(super::mirror(1, 1), 0);
    }
}
