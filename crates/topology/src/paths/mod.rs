//! The path from every node to every CPU, GPU, NIC and NVLink switch.

mod adjust;
mod bfs;

use crate::path::PathType;
use crate::system::{Link, NodeId, NodeKind, System};

/// Kinds of nodes that paths lead to.
const TARGETS: [NodeKind; 7] = {
    use NodeKind::*;
    [Cpu, Dev, Gpu, Net, Gin, Rma, Nvs]
};

/// No more hops.
const END: u32 = u32::MAX;

/// A path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Path {
    /// How far it is.
    pub kind: PathType,
    /// GB/s: that of the narrowest link.
    pub bandwidth: f32,
    /// Links in it.
    pub hops: u32,
    first: u32,
}

const NONE: Path = Path { kind: PathType::Dis, bandwidth: 0.0, hops: 0, first: END };

/// A hop, and the hops after it: paths share their ends.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Hop {
    link: u32,
    next: u32,
}

/// Paths of a system.
#[derive(Debug, Clone, PartialEq)]
pub struct Paths {
    /// Of each node: its row, where paths lead to it.
    row: Vec<u32>,
    nodes: usize,
    table: Vec<Path>,
    hops: Vec<Hop>,
    /// Of each node: kinds (as bits) that anything was found to lead to.
    reached: Vec<u16>,
}

impl Paths {
    fn empty(system: &System) -> Self {
        let nodes = system.nodes().len();
        let mut row = vec![END; nodes];
        let mut rows = 0_u32;
        for kind in TARGETS {
            for id in system.of(kind) {
                if let Some(r) = row.get_mut(id.index()) {
                    *r = rows;
                }
                rows += 1;
            }
        }
        Paths {
            row,
            nodes,
            table: vec![NONE; nodes * rows as usize],
            hops: Vec::with_capacity(nodes * rows as usize * 2),
            reached: vec![0; nodes],
        }
    }

    fn slot(&self, from: NodeId, to: NodeId) -> Option<usize> {
        let row = *self.row.get(to.index())?;
        (row != END && from.index() < self.nodes).then(|| row as usize * self.nodes + from.index())
    }

    /// The path from a node to a CPU, GPU, DEV, NIC or NVLink switch; `None` for other ends.
    #[must_use]
    pub fn get(&self, from: NodeId, to: NodeId) -> Option<Path> {
        self.table.get(self.slot(from, to)?).copied()
    }

    /// The same, with "not connected" for what is not there.
    pub(crate) fn path(&self, from: NodeId, to: NodeId) -> Path {
        self.get(from, to).unwrap_or(NONE)
    }

    fn set(&mut self, from: NodeId, to: NodeId, path: Path) {
        if let Some(slot) = self.slot(from, to).and_then(|s| self.table.get_mut(s)) {
            *slot = path;
        }
    }

    fn set_kind(&mut self, from: NodeId, to: NodeId, kind: PathType) {
        let path = self.path(from, to);
        self.set(from, to, Path { kind, ..path });
    }

    /// Whether anything of a kind was found from a node: where not, NCCL has no paths there at all.
    pub(crate) fn reaches(&self, from: NodeId, kind: NodeKind) -> bool {
        self.reached.get(from.index()).is_some_and(|m| m & (1 << kind as u16) != 0)
    }

    /// The links of a path, in their order.
    pub fn hops<'a>(&'a self, system: &'a System, from: NodeId, to: NodeId) -> impl Iterator<Item = &'a Link> {
        let mut at = self.path(from, to).first;
        std::iter::from_fn(move || {
            let hop = self.hops.get(at as usize)?;
            at = hop.next;
            system.links().get(hop.link as usize)
        })
    }

    /// The same, as places in [`System::links`].
    pub(crate) fn link_places(&self, from: NodeId, to: NodeId) -> impl Iterator<Item = u32> {
        let mut at = self.path(from, to).first;
        std::iter::from_fn(move || {
            let hop = self.hops.get(at as usize)?;
            at = hop.next;
            Some(hop.link)
        })
    }

    fn hop(&mut self, link: u32, next: u32) -> u32 {
        let at = u32::try_from(self.hops.len()).unwrap_or(END);
        self.hops.push(Hop { link, next });
        at
    }

    /// The first path, and the second after it.
    fn join(&mut self, one: Path, two: Path) -> u32 {
        let mut links = Vec::with_capacity(one.hops as usize);
        let mut at = one.first;
        while let Some(hop) = self.hops.get(at as usize) {
            links.push(hop.link);
            at = hop.next;
        }
        links.into_iter().rev().fold(two.first, |next, link| self.hop(link, next))
    }

    /// The nodes of a kind that are nearest by bandwidth, then by type, in the order of the system; and that type.
    pub(crate) fn local(&self, system: &System, from: NodeId, kind: NodeKind) -> (Vec<NodeId>, PathType) {
        let mut best = Path { kind: PathType::Dis, bandwidth: 0.0, ..NONE };
        let mut found = Vec::new();
        if !self.reaches(from, kind) {
            return (found, best.kind);
        }
        for id in system.of(kind) {
            let p = self.path(from, *id);
            if p.bandwidth > best.bandwidth || (p.bandwidth == best.bandwidth && p.kind < best.kind) {
                best = p;
                found.clear();
            }
            if p.bandwidth == best.bandwidth && p.kind == best.kind {
                found.push(*id);
            }
        }
        (found, best.kind)
    }
}
