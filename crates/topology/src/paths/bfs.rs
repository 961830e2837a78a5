//! The search for paths (`ncclTopoSetPaths`): breadth first from every target, by type, then bandwidth, then hops.

use super::{END, Hop, Path, Paths, TARGETS};
use crate::error::Error;
use crate::path::PathType;
use crate::system::{LOCAL_BANDWIDTH, Link, LinkKind, NodeData, NodeId, NodeKind, System};

/// A link, as the search needs it.
#[derive(Clone, Copy)]
struct Step {
    to: u32,
    /// The link that leads back.
    back: u32,
    bandwidth: f32,
    kind: LinkKind,
}

/// What the search reads of a system, close together.
struct Graph<'a> {
    system: &'a System,
    kinds: Vec<NodeKind>,
    steps: Vec<Step>,
    nvb: bool,
}

impl<'a> Graph<'a> {
    fn of(system: &'a System, nvb: bool) -> Self {
        let step = |l: &Link| {
            let start = system.link_range(l.to).start;
            let there = system.links_of(l.to).iter().position(|b| b.to == l.from && b.kind == l.kind);
            let back = there.map_or(END, |i| u32::try_from(start + i).unwrap_or(END));
            Step { to: l.to.0, back, bandwidth: l.bandwidth, kind: l.kind }
        };
        let steps = system.links().iter().map(step).collect();
        Graph { system, kinds: system.nodes().iter().map(|n| n.kind).collect(), steps, nvb }
    }

    fn steps_of(&self, node: u32) -> &[Step] {
        self.steps.get(self.system.link_range(NodeId(node))).unwrap_or_default()
    }

    fn kind(&self, node: u32) -> Option<NodeKind> {
        self.kinds.get(node as usize).copied()
    }

    fn name(&self, node: u32) -> String {
        self.system.node(NodeId(node)).map_or_else(String::new, ToString::to_string)
    }
}

impl Paths {
    /// Paths as the hardware has them.
    ///
    /// # Errors
    ///
    /// Where a link has no way back, at which NCCL stops.
    pub(crate) fn search(system: &System, nvb: bool) -> Result<Paths, Error> {
        let mut paths = Paths::empty(system);
        let graph = Graph::of(system, nvb);
        let mut lists = Lists { seen: vec![0; system.nodes().len()], round: 0, now: Vec::new(), next: Vec::new() };
        for kind in TARGETS {
            for id in system.of(kind) {
                paths.lead_to(&graph, *id, &mut lists)?;
            }
        }
        Ok(paths)
    }

    fn lead_to(&mut self, graph: &Graph, id: NodeId, lists: &mut Lists) -> Result<(), Error> {
        let system = graph.system;
        let Some(target) = system.node(id) else { return Ok(()) };
        // Where two nodes have one identity, NCCL writes into the first one's paths.
        let twin = system.of(target.kind).iter().find(|t| system.node(**t).is_some_and(|t| t.id == target.id));
        let to = twin.copied().unwrap_or(id);
        let bit = 1_u16 << target.kind as u16;
        let (length, own_dev) = match &target.data {
            NodeData::Gpu(g) => (2, g.parent.0),
            _ => (1, id.0),
        };
        let Some(start) = self.slot(NodeId(0), to) else { return Ok(()) };
        let Paths { table, hops, reached, nodes, .. } = self;
        let Some(row) = table.get_mut(start..start + *nodes) else { return Ok(()) };
        if let (Some(own), Some(mark)) = (row.get_mut(id.index()), reached.get_mut(id.index())) {
            *own = Path { kind: PathType::Loc, bandwidth: LOCAL_BANDWIDTH, hops: 0, first: END };
            *mark |= bit;
        }
        lists.now.clear();
        lists.now.push(id.0);
        while !lists.now.is_empty() {
            lists.round += 1;
            let now = std::mem::take(&mut lists.now);
            for at in now.iter().copied() {
                let Some(node) = graph.kind(at) else { continue };
                for link in graph.steps_of(at) {
                    let Some(remote) = graph.kind(link.to) else { continue };
                    if let Some(mark) = reached.get_mut(link.to as usize) {
                        *mark |= bit;
                    }
                    // Read again for each link: the path here may have changed.
                    let (Some(path), Some(old)) = (row.get(at as usize), row.get(link.to as usize)) else { continue };
                    // Through a foreign GPU only to its ranks, or over NVLink while that is short.
                    if at != own_dev
                        && node == NodeKind::Dev
                        && (link.kind != LinkKind::Loc || remote != NodeKind::Gpu)
                        && (!graph.nvb || link.kind != LinkKind::Nvl || remote != NodeKind::Dev || path.hops > length)
                    {
                        continue;
                    }
                    let kind = path.kind.max(step(node, remote, link.kind, path, length));
                    let bandwidth = path.bandwidth.min(link.bandwidth);
                    let better = kind < old.kind
                        || (kind == old.kind && old.bandwidth < bandwidth)
                        || (kind == old.kind && old.bandwidth == bandwidth && old.hops > path.hops + 1);
                    if !better {
                        continue;
                    }
                    let mut back = link.back;
                    if back == END {
                        // Without a way back NCCL keeps the first hop of the path that it had.
                        let Some(hop) = hops.get(old.first as usize) else {
                            return Err(Error::OneWay { from: graph.name(link.to), to: graph.name(at) });
                        };
                        back = hop.link;
                    }
                    let first = u32::try_from(hops.len()).unwrap_or(END);
                    hops.push(Hop { link: back, next: path.first });
                    let path = Path { kind, bandwidth, hops: path.hops + 1, first };
                    if let Some(slot) = row.get_mut(link.to as usize) {
                        *slot = path;
                    }
                    lists.add(link.to);
                }
            }
            lists.now = std::mem::replace(&mut lists.next, now);
            lists.next.clear();
        }
        Ok(())
    }
}

/// What one more link makes of a path.
fn step(node: NodeKind, remote: NodeKind, link: LinkKind, path: &Path, length: u32) -> PathType {
    let kind = match link {
        LinkKind::Loc | LinkKind::Net => PathType::Loc,
        LinkKind::Nvl => PathType::Nvl,
        LinkKind::C2c => PathType::C2c,
        LinkKind::Pci => PathType::Pix,
        LinkKind::Sys => PathType::Sys,
    };
    if link == LinkKind::Pci && (node == NodeKind::Cpu || remote == NodeKind::Cpu) {
        return PathType::Phb;
    }
    if node == NodeKind::Pci && remote == NodeKind::Pci {
        return PathType::Pxb;
    }
    if node == NodeKind::Dev && path.kind == PathType::Nvl && kind == PathType::Nvl && path.hops == length {
        return PathType::Nvb;
    }
    kind
}

/// Nodes of this round and the next.
struct Lists {
    seen: Vec<u32>,
    round: u32,
    now: Vec<u32>,
    next: Vec<u32>,
}

impl Lists {
    /// Puts a node into the next round, once.
    fn add(&mut self, node: u32) {
        if let Some(s) = self.seen.get_mut(node as usize).filter(|s| **s != self.round) {
            *s = self.round;
            self.next.push(node);
        }
    }
}
