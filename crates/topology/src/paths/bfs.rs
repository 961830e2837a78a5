//! The search for paths (`ncclTopoSetPaths`): breadth first from every target, by type, then bandwidth, then hops.

use super::{END, Path, Paths, TARGETS};
use crate::error::Error;
use crate::path::PathType;
use crate::system::{LOCAL_BANDWIDTH, LinkKind, NodeData, NodeId, NodeKind, System};

impl Paths {
    /// Paths as the hardware has them.
    ///
    /// # Errors
    ///
    /// Where a link has no way back, at which NCCL stops.
    pub(crate) fn search(system: &System, nvb: bool) -> Result<Paths, Error> {
        let mut paths = Paths::empty(system);
        // Links that lead back, found once.
        let back: Vec<u32> = system
            .links()
            .iter()
            .map(|l| {
                let range = system.link_range(l.to);
                let there = system.links_of(l.to).iter().position(|b| b.to == l.from && b.kind == l.kind);
                there.map_or(END, |i| u32::try_from(range.start + i).unwrap_or(END))
            })
            .collect();
        let mut lists = Lists { seen: vec![0; system.nodes().len()], round: 0 };
        for kind in TARGETS {
            for id in system.of(kind) {
                paths.from(system, *id, &back, nvb, &mut lists)?;
            }
        }
        Ok(paths)
    }

    fn from(
        &mut self,
        system: &System,
        id: NodeId,
        back: &[u32],
        nvb: bool,
        lists: &mut Lists,
    ) -> Result<(), Error> {
        let Some(target) = system.node(id) else { return Ok(()) };
        // Where two nodes have one identity, NCCL writes into the first one's paths.
        let twin = system.of(target.kind).iter().find(|t| system.node(**t).is_some_and(|t| t.id == target.id));
        let to = twin.copied().unwrap_or(id);
        let Some(base) = self.slot(NodeId(0), to) else { return Ok(()) };
        let bit = 1_u16 << target.kind as u16;
        let (length, own_dev) = match &target.data {
            NodeData::Gpu(g) => (2, g.parent),
            _ => (1, id),
        };
        self.set(id, to, Path { kind: PathType::Loc, bandwidth: LOCAL_BANDWIDTH, hops: 0, first: END });
        self.mark(id, bit);
        let mut now = vec![id];
        let mut next = Vec::new();
        while !now.is_empty() {
            lists.round += 1;
            for at in now.drain(..) {
                let Some(node) = system.node(at) else { continue };
                let mut range = system.link_range(at);
                for link in system.links_of(at) {
                    let n = range.next().unwrap_or(0);
                    let Some(remote) = system.node(link.to) else { continue };
                    self.mark(link.to, bit);
                    let path = self.table.get(base + at.index()).copied().unwrap_or(super::NONE);
                    // Through a foreign GPU only to its ranks, or over NVLink while that is short.
                    if at != own_dev
                        && node.kind == NodeKind::Dev
                        && (link.kind != LinkKind::Loc || remote.kind != NodeKind::Gpu)
                        && (!nvb
                            || link.kind != LinkKind::Nvl
                            || remote.kind != NodeKind::Dev
                            || path.hops > length)
                    {
                        continue;
                    }
                    let kind = path.kind.max(step(node.kind, remote.kind, link.kind, path, length));
                    let bandwidth = path.bandwidth.min(link.bandwidth);
                    let Some(old) = self.table.get(base + link.to.index()).copied() else { continue };
                    let better = kind < old.kind
                        || (kind == old.kind && old.bandwidth < bandwidth)
                        || (kind == old.kind && old.bandwidth == bandwidth && old.hops > path.hops + 1);
                    if !better {
                        continue;
                    }
                    let mut first = back.get(n).copied().unwrap_or(END);
                    if first == END {
                        // Without a way back NCCL keeps the first hop of the path that it had.
                        match self.hops.get(old.first as usize) {
                            Some(hop) => first = hop.link,
                            None => {
                                return Err(Error::OneWay { from: remote.to_string(), to: node.to_string() });
                            }
                        }
                    }
                    let first = self.hop(first, path.first);
                    if let Some(slot) = self.table.get_mut(base + link.to.index()) {
                        *slot = Path { kind, bandwidth, hops: path.hops + 1, first };
                    }
                    if lists.is_new(link.to) {
                        next.push(link.to);
                    }
                }
            }
            std::mem::swap(&mut now, &mut next);
        }
        Ok(())
    }

    fn mark(&mut self, id: NodeId, bit: u16) {
        if let Some(m) = self.reached.get_mut(id.index()) {
            *m |= bit;
        }
    }
}

/// What one more link makes of a path.
fn step(node: NodeKind, remote: NodeKind, link: LinkKind, path: Path, length: usize) -> PathType {
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

/// Which nodes are in the list of the next round.
struct Lists {
    seen: Vec<u32>,
    round: u32,
}

impl Lists {
    fn is_new(&mut self, id: NodeId) -> bool {
        match self.seen.get_mut(id.index()) {
            Some(s) if *s != self.round => {
                *s = self.round;
                true
            }
            _ => false,
        }
    }
}
