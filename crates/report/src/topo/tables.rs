//! Tables of a topology: who reaches whom, by what, how fast.

use super::names::name;
use crate::table::{Cell, Table, left};
use linerate_topology::system::{NodeId, NodeKind};
use linerate_topology::{Analysis, Open, PathType};

/// GPUs against GPUs and NICs: NCCL's type of path and its bandwidth. A type that hangs on what the source does not show has a `?`, a
/// bandwidth that does is left out. Where each type has one bandwidth, that is said once: the
/// second value.
#[must_use]
pub(super) fn nccl_paths(a: &Analysis) -> (Table, Vec<String>) {
    let gpus = a.system.of(NodeKind::Gpu);
    let ends: Vec<NodeId> = gpus.iter().chain(a.system.of(NodeKind::Net)).copied().collect();
    let mut of_type: Vec<(PathType, f32)> = Vec::new();
    let mut uniform = true;
    for (from, to) in gpus.iter().flat_map(|f| ends.iter().map(move |t| (f, t))).filter(|(f, t)| f != t) {
        let Some(p) = a.paths.get(*from, *to).filter(|p| p.kind < PathType::Dis) else { continue };
        if !a.open_for_bandwidth(*from, *to).is_empty() {
            continue;
        }
        match of_type.iter().find(|(t, _)| *t == p.kind) {
            Some((_, b)) => uniform &= (b - p.bandwidth).abs() < 0.05,
            None => of_type.push((p.kind, p.bandwidth)),
        }
    }
    let cell = |from: NodeId, to: NodeId| match a.paths.get(from, to) {
        _ if from == to => "X".to_owned(),
        Some(_) if !a.open_for_type(from, to).is_empty() => {
            format!("{}?", a.raw.get(from, to).map_or(PathType::Dis, |p| p.kind))
        }
        // Whether the drivers do GPUDirect RDMA may not be known: then it is how far they are, not how NCCL goes.
        Some(_) if a.open_for_bandwidth(from, to).contains(&Open::Gdr) => {
            a.raw.get(from, to).map_or(PathType::Dis, |p| p.kind).to_string()
        }
        Some(p) if p.kind < PathType::Dis && (uniform || !a.open_for_bandwidth(from, to).is_empty()) => {
            p.kind.to_string()
        }
        Some(p) if p.kind < PathType::Dis => format!("{} {}", p.kind, short(p.bandwidth)),
        _ => "DIS".to_owned(),
    };
    let columns = ends.iter().enumerate().map(|(i, end)| {
        let column = left(&name(&a.system, *end), 0);
        if i == gpus.len() { column.parting() } else { column }
    });
    let mut table = Table::of(std::iter::once(left("", 0)).chain(columns));
    for from in gpus {
        let cells = ends.iter().map(|to| Cell::whole(&cell(*from, *to)));
        table.row(std::iter::once(Cell::whole(&name(&a.system, *from))).chain(cells).collect());
    }
    of_type.sort_by_key(|(t, _)| *t);
    let once = of_type.iter().filter(|_| uniform).map(|(t, b)| format!("{t} {} GB/s", short(*b)));
    (table, once.collect())
}

/// GB/s with one decimal where there is one.
#[must_use]
pub(super) fn short(bandwidth: f32) -> String {
    let rounded = (bandwidth * 10.0).round() / 10.0;
    if rounded.fract() == 0.0 { format!("{rounded:.0}") } else { format!("{rounded:.1}") }
}

/// What each GPU does with the NICs: those it uses, how far they are, whether GPUDirect RDMA is used.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Use {
    /// The GPU.
    pub(super) gpu: NodeId,
    /// Its rank.
    pub(super) rank: i32,
    /// NICs of its channels, in order.
    pub(super) nets: Vec<NodeId>,
    /// How far they are.
    pub(super) kind: PathType,
    /// Of these, NICs that write into the GPU's memory themselves.
    pub(super) recv: usize,
    /// Of these, NICs that read from it.
    pub(super) send: usize,
    /// Other GPUs that use one of these.
    pub(super) shared_with: Vec<NodeId>,
    /// What the choice hangs on.
    pub(super) open: Vec<Open>,
    /// What GPUDirect RDMA with them hangs on.
    pub(super) open_gdr: Vec<Open>,
}

/// Of each GPU.
#[must_use]
pub(super) fn uses(a: &Analysis) -> Vec<Use> {
    let of = |l: &linerate_topology::local::LocalNets| {
        let mut nets = l.channels.clone();
        nets.dedup();
        nets
    };
    let all: Vec<Vec<NodeId>> = a.local_nets.iter().map(of).collect();
    let one = |(l, nets): (&linerate_topology::local::LocalNets, &Vec<NodeId>)| {
        let decided = || a.gdr.iter().filter(|g| g.gpu == l.gpu && nets.contains(&g.net));
        let shared =
            a.local_nets.iter().zip(&all).filter(|(o, n)| o.gpu != l.gpu && n.iter().any(|n| nets.contains(n)));
        Use {
            gpu: l.gpu,
            rank: l.rank,
            nets: nets.clone(),
            kind: l.kind,
            recv: decided().filter(|g| g.recv.mode.is_some()).count(),
            send: decided().filter(|g| g.send.mode.is_some()).count(),
            shared_with: shared.map(|(o, _)| o.gpu).collect(),
            open: a.open_for_local(l),
            open_gdr: decided().flat_map(|g| a.open_for_gdr(g)).collect(),
        }
    };
    a.local_nets.iter().zip(&all).map(one).collect()
}

/// NICs nearest to a GPU in the PCIe tree, and how near.
#[must_use]
pub(super) fn nearest(a: &Analysis, gpu: NodeId) -> (Vec<NodeId>, Option<PathType>) {
    let kind = |net: &NodeId| a.raw.get(gpu, *net).map(|p| p.kind);
    let nets = a.system.of(NodeKind::Net);
    let best = nets.iter().filter_map(kind).min();
    (nets.iter().filter(|n| best.is_some() && kind(n) == best).copied().collect(), best)
}

/// NICs that no GPU uses; none where the choice hangs on what the source does not show.
#[must_use]
pub(super) fn idle_nets(a: &Analysis, uses: &[Use]) -> Vec<NodeId> {
    if uses.iter().any(|u| !u.open.is_empty()) {
        return Vec::new();
    }
    let used = |n: &NodeId| uses.iter().any(|u| u.nets.contains(n));
    a.system.of(NodeKind::Net).iter().filter(|n| !used(n)).copied().collect()
}

/// Why no GPU uses a NIC, as far as the paths and the channels tell; `None` where they do not.
#[must_use]
pub(super) fn why_idle(a: &Analysis, net: NodeId) -> Option<String> {
    let nearest = a.local_nets.iter().find(|l| l.set.contains(&net));
    if let Some(l) = nearest {
        // As near as those that are used: the GPUs spread over them, a share each.
        let (gpu, near) = (name(&a.system, l.gpu), l.set.len());
        return Some(match l.channels.len() {
            0 => format!("{gpu} has no channel for it"),
            1 => format!("{near} NICs are equally near to {gpu}, which takes one of them"),
            n => format!("{near} NICs are equally near to {gpu}, which takes {n} of them"),
        });
    }
    let ways = a.local_nets.iter().filter_map(|l| Some((l, a.paths.get(l.gpu, net)?)));
    let (l, best) = ways
        .filter(|(_, p)| p.kind < PathType::Dis)
        .max_by(|(_, p), (_, q)| p.bandwidth.total_cmp(&q.bandwidth).then(q.kind.cmp(&p.kind)))?;
    let used = *l.set.first()?;
    let other = a.paths.get(l.gpu, used)?;
    let (gpu, used) = (name(&a.system, l.gpu), name(&a.system, used));
    Some(if other.bandwidth > best.bandwidth {
        format!(
            "every GPU has a better one: {gpu} reaches {used} at {} GB/s ({}), this at {} GB/s ({})",
            short(other.bandwidth),
            other.kind,
            short(best.bandwidth),
            best.kind
        )
    } else {
        format!("every GPU has a better one: {gpu} reaches {used} by {}, this by {}", other.kind, best.kind)
    })
}
