//! What is tried next, in NCCL's order: NICs of a GPU, GPUs after a GPU.

use super::Pattern;
use crate::Analysis;
use crate::MAX_CHANNELS;
use crate::env::NetDevs;
use crate::path::PathType;
use crate::system::{LinkKind, NodeData, NodeId, NodeKind, System};

/// NICs in the order in which they are tried (`ncclTopoSelectNets`): those of channels first, then others by type.
#[derive(Debug, Clone, Default)]
pub(super) struct Nets {
    all: Vec<u16>,
    preferred: usize,
    /// How many there are up to each type.
    up_to: [usize; 12],
}

impl Nets {
    /// Up to a type; `None` is those of channels only.
    pub(super) fn up_to(&self, kind: Option<u8>) -> &[u16] {
        let n = kind.map_or(self.preferred, |k| self.up_to.get(usize::from(k)).copied().unwrap_or(0));
        self.all.get(..n).unwrap_or_default()
    }
}

/// The NICs for some GPUs.
pub(super) fn nets_of(analysis: &Analysis, gpus: &[NodeId]) -> Nets {
    let Analysis { system, paths, .. } = analysis;
    let nets = system.of(NodeKind::Net);
    let mut seen = vec![false; nets.len()];
    let mut list = Nets::default();
    let mut add = |all: &mut Vec<u16>, id: NodeId| {
        let at = first_of_id(system, NodeKind::Net, id);
        if let Some(s) = seen.get_mut(usize::from(at)).filter(|s| !**s) {
            *s = true;
            all.push(at);
        }
    };
    let of_gpu = |id: &NodeId| analysis.local_nets.iter().find(|l| l.gpu == *id).map(|l| l.channels.as_slice());
    let channels: Vec<&[NodeId]> = gpus.iter().filter_map(of_gpu).collect();
    if channels.len() < gpus.len() || channels.iter().any(|c| c.is_empty()) {
        // NCCL stops the search where a GPU has no NIC.
        return list;
    }
    if system.hosts() > 1 {
        // Several hosts: the first NIC of every GPU, then the second.
        for c in 0..MAX_CHANNELS as usize {
            channels.iter().filter_map(|n| n.get(c)).for_each(|id| add(&mut list.all, *id));
        }
    } else {
        channels.iter().flat_map(|n| n.iter()).for_each(|id| add(&mut list.all, *id));
    }
    list.preferred = list.all.len();
    let most = match analysis.env.netdevs {
        NetDevs::Max(n) => (n as usize).saturating_mul(gpus.len()),
        _ => usize::MAX,
    };
    let most = most.max(list.preferred);
    let mut by_type: [Vec<u16>; 12] = Default::default();
    for gpu in gpus {
        for (n, net) in nets.iter().enumerate().take(MAX_CHANNELS as usize) {
            if let (Some(l), Ok(n)) = (by_type.get_mut(paths.path(*gpu, *net).kind as usize), u16::try_from(n)) {
                l.push(n);
            }
        }
    }
    for (kind, nets) in by_type.iter().enumerate() {
        for n in nets {
            if let Some(s) = seen.get_mut(usize::from(*n)).filter(|s| !**s && list.all.len() < most) {
                *s = true;
                list.all.push(*n);
            }
        }
        if let Some(n) = list.up_to.get_mut(kind) {
            *n = list.all.len();
        }
    }
    list
}

/// The place of the first node of a kind that has the identity of this one.
pub(super) fn first_of_id(system: &System, kind: NodeKind, id: NodeId) -> u16 {
    let own = system.node(id).map(|n| n.id);
    let found = system.of(kind).iter().position(|o| system.node(*o).map(|n| n.id) == own);
    found.and_then(|n| u16::try_from(n).ok()).unwrap_or(u16::MAX)
}

/// GPUs after a GPU, the best first.
#[derive(Debug, Clone, Default)]
pub(super) struct Order {
    /// Each with its score within the node.
    gpus: Vec<(u16, (i32, u32))>,
}

impl Order {
    /// By bandwidth and links to the NIC, if there is one, then by those to the GPU, then by place after it.
    pub(super) fn of(analysis: &Analysis, gpu: usize, net: Option<NodeId>) -> Order {
        let Analysis { system, paths, .. } = analysis;
        let gpus = system.of(NodeKind::Gpu);
        let Some(own) = gpus.get(gpu) else { return Order::default() };
        let mut scored = Vec::with_capacity(gpus.len());
        for i in 1..gpus.len() {
            let g = (gpu + i) % gpus.len();
            let Some(id) = gpus.get(g) else { continue };
            let path = paths.path(*own, *id);
            if path.hops == 0 {
                continue;
            }
            let inter = net.map_or((0, 0, 0), |n| {
                let p = paths.path(n, *id);
                (-(p.bandwidth as i32), -pci_bandwidth(system, *id), p.hops)
            });
            let intra = (-(path.bandwidth as i32), path.hops);
            scored.push((inter, intra, i, u16::try_from(g).unwrap_or(u16::MAX)));
        }
        scored.sort_unstable();
        Order { gpus: scored.into_iter().map(|(_, intra, _, g)| (g, intra)).collect() }
    }

    pub(super) fn get(&self, at: usize) -> Option<u16> {
        self.gpus.get(at).map(|(g, _)| *g)
    }

    pub(super) fn len(&self) -> usize {
        self.gpus.len()
    }

    /// Whether all that are free have one score within the node.
    pub(super) fn is_uniform(&self, free: impl Fn(u16) -> bool) -> bool {
        let mut scores = self.gpus.iter().filter(|(g, _)| free(*g)).map(|(_, s)| s);
        scores.next().is_none_or(|first| scores.all(|s| s == first))
    }
}

/// The GPUs that follow a GPU behind NVSwitches, by pattern; `u16::MAX` where there is none.
pub(super) type Near = [[u16; 2]; 3];

/// Behind NVSwitches only neighbours by number are tried: at most two, in this order.
pub(super) fn neighbours(analysis: &Analysis, gpu: usize) -> Near {
    let ids = analysis.system.of(NodeKind::Gpu);
    let count = ids.len().max(1);
    let place = |g: usize| {
        let connected = ids.get(gpu).zip(ids.get(g)).is_some_and(|(f, t)| analysis.paths.path(*f, *t).hops > 0);
        u16::try_from(g).ok().filter(|_| connected).unwrap_or(u16::MAX)
    };
    let next = place((gpu + 1) % count);
    let before = if count > 2 { place((gpu + count - 1) % count) } else { u16::MAX };
    let mut near = Near::default();
    for (pattern, two) in
        [(Pattern::Ring, [before, next]), (Pattern::BalancedTree, [next, before]), (Pattern::Tree, [next, u16::MAX])]
    {
        if let Some(slot) = near.get_mut(pattern as usize) {
            *slot = two;
        }
    }
    near
}

/// Whole GB/s of a GPU's own PCIe link; -1 where there is none.
fn pci_bandwidth(system: &System, gpu: NodeId) -> i32 {
    let Some(dev) = system.node(gpu).and_then(|n| n.gpu()).map(|g| g.parent) else { return -1 };
    let links = system.links_of(dev).iter().filter(|l| l.kind == LinkKind::Pci);
    let mut ways = links.filter_map(|l| {
        let back = system.links_of(l.to).iter().find(|b| b.to == dev)?;
        Some(l.bandwidth.min(back.bandwidth) as i32)
    });
    ways.next().unwrap_or(-1)
}

/// The fastest way that a channel could take, and the links of the best-connected GPU (`ncclTopoSearchInit`), in GB/s.
pub(super) fn bandwidths(analysis: &Analysis, inter: bool) -> (f32, f32) {
    let Analysis { system, paths, .. } = analysis;
    if !inter && system.of(NodeKind::Gpu).len() == 1 {
        return (crate::system::LOCAL_BANDWIDTH, crate::system::LOCAL_BANDWIDTH);
    }
    let (mut max, mut total) = (0.0_f32, 0.0_f32);
    for dev in system.of(NodeKind::Dev) {
        for to in system.of(if inter { NodeKind::Net } else { NodeKind::Dev }) {
            let path = paths.path(*dev, *to);
            if path.hops > 0 {
                max = max.max(path.bandwidth);
            }
        }
        let (mut nvlink, mut pci) = (0.0_f32, 0.0_f32);
        for l in system.links_of(*dev) {
            match l.kind {
                LinkKind::Nvl => nvlink += l.bandwidth,
                LinkKind::Pci => pci = l.bandwidth,
                _ => {}
            }
        }
        total = total.max(nvlink.max(pci));
    }
    (max, total)
}

/// Compute capability, times ten, of the oldest GPU.
pub(super) fn oldest(system: &System) -> i32 {
    let sm = |id: &NodeId| match system.node(*id)?.data {
        NodeData::Dev { sm, .. } => Some(sm),
        _ => None,
    };
    system.of(NodeKind::Dev).iter().filter_map(sm).min().unwrap_or(0)
}

/// The nearest and the farthest type of path from GPUs, to others or to NICs.
pub(super) fn range(analysis: &Analysis, to: NodeKind) -> (u8, u8) {
    let Analysis { system, paths, .. } = analysis;
    let (mut min, mut max) = (PathType::Sys, PathType::Loc);
    for gpu in system.of(NodeKind::Gpu).iter().filter(|g| paths.reaches(**g, to)) {
        for peer in system.of(to).iter().filter(|p| *p != gpu) {
            let kind = paths.path(*gpu, *peer).kind;
            (min, max) = (min.min(kind), max.max(kind));
        }
    }
    (min as u8, max as u8)
}

/// Whether there are two groups of GPUs with NVLink within, and none between (`ncclTopoSplitNvLink`).
pub(super) fn is_split(analysis: &Analysis) -> bool {
    let gpus = analysis.system.of(NodeKind::Gpu);
    let mut group: Vec<usize> = (0..gpus.len()).collect();
    for (g, gpu) in gpus.iter().enumerate() {
        let own = group.get(g).copied().unwrap_or(g);
        for (p, peer) in gpus.iter().enumerate().skip(g + 1) {
            if let Some(of_peer) = group.get_mut(p).filter(|_| analysis.paths.path(*gpu, *peer).kind == PathType::Nvl) {
                *of_peer = own;
            }
        }
    }
    let size = |g: &usize| group.iter().filter(|o| *o == g).count();
    (0..gpus.len()).filter(|g| size(g) > 1).count() == 2
}

/// The types of paths that there are: between GPUs, and between GPUs and NICs.
pub(super) fn kinds(analysis: &Analysis) -> [Vec<u8>; 2] {
    let Analysis { system, paths, .. } = analysis;
    [NodeKind::Gpu, NodeKind::Net].map(|kind| {
        let mut seen = [false; 12];
        for gpu in system.of(NodeKind::Gpu) {
            for peer in system.of(kind) {
                for path in [paths.path(*gpu, *peer), paths.path(*peer, *gpu)] {
                    if let Some(s) = seen.get_mut(path.kind as usize) {
                        *s = true;
                    }
                }
            }
        }
        (0_u8..).zip(seen).filter(|(_, s)| *s).map(|(k, _)| k).collect()
    })
}
