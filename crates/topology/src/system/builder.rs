//! A graph while it is built.

use super::tables;
use super::{LOCAL_BANDWIDTH, Link, LinkKind, MAX_LINKS, MAX_NODES, Node, NodeData, NodeId, NodeKind, System};
use crate::Version;
use crate::error::Error;
use crate::number::unsigned;
use crate::tree::Tree;

/// Bits of a bus id that a part of a GPU takes.
pub(super) const PART_MASK: i64 = 3;

/// A graph that grows.
#[derive(Default)]
pub(crate) struct Builder {
    pub(super) nodes: Vec<Node>,
    pub(super) links: Vec<Vec<Link>>,
    pub(super) by_kind: [Vec<NodeId>; 10],
    pub(super) gpus_of_dev: Vec<i64>,
    hosts: Vec<u64>,
    notes: Vec<String>,
}

impl Builder {
    pub(super) fn push(&mut self, mut node: Node) -> NodeId {
        let id = NodeId::of(self.nodes.len());
        if let Some(list) = self.by_kind.get_mut(node.kind as usize) {
            node.index = u32::try_from(list.len()).unwrap_or(u32::MAX);
            list.push(id);
        }
        self.nodes.push(node);
        self.links.push(Vec::new());
        self.gpus_of_dev.push(0);
        id
    }

    pub(super) fn create(&mut self, kind: NodeKind, id: i64, data: NodeData, line: u32) -> Result<NodeId, Error> {
        if self.of(kind).len() >= MAX_NODES {
            return Err(Error::TooMany { what: kind.name(), limit: MAX_NODES });
        }
        Ok(self.push(Node { kind, id, index: 0, data, line }))
    }

    pub(super) fn of(&self, kind: NodeKind) -> &[NodeId] {
        self.by_kind.get(kind as usize).map_or(&[], Vec::as_slice)
    }

    pub(super) fn find(&self, kind: NodeKind, id: i64) -> Option<NodeId> {
        self.of(kind).iter().copied().find(|n| self.node(*n).is_some_and(|n| n.id == id))
    }

    pub(super) fn node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.index())
    }

    pub(super) fn kind(&self, id: NodeId) -> Option<NodeKind> {
        self.node(id).map(|n| n.kind)
    }

    pub(super) fn links_of(&self, id: NodeId) -> &[Link] {
        self.links.get(id.index()).map_or(&[], Vec::as_slice)
    }

    /// Appends a link as it is.
    pub(super) fn append(&mut self, link: Link) {
        if let Some(l) = self.links.get_mut(link.from.index()) {
            l.push(link);
        }
    }

    pub(super) fn reparent(&mut self, new: impl Fn(NodeId) -> NodeId) {
        for node in &mut self.nodes {
            if let NodeData::Gpu(g) = &mut node.data {
                g.parent = new(g.parent);
            }
        }
    }

    /// Adds bandwidth to a link, and keeps the links of a node in falling order of bandwidth.
    pub(super) fn connect(&mut self, from: NodeId, to: NodeId, kind: LinkKind, bandwidth: f32) -> Result<(), Error> {
        let Some(links) = self.links.get_mut(from.index()) else { return Ok(()) };
        let mut at = match links.iter().position(|l| l.to == to && l.kind == kind) {
            Some(i) => i,
            None if links.len() >= MAX_LINKS => {
                return Err(Error::TooMany { what: "links of one device", limit: MAX_LINKS });
            }
            None => {
                links.push(Link { from, to, kind, bandwidth: 0.0 });
                links.len() - 1
            }
        };
        if let Some(l) = links.get_mut(at) {
            l.bandwidth += bandwidth;
        }
        while at > 0 {
            match (links.get(at - 1), links.get(at)) {
                (Some(before), Some(l)) if before.bandwidth < l.bandwidth => links.swap(at - 1, at),
                _ => break,
            }
            at -= 1;
        }
        Ok(())
    }

    pub(super) fn both(&mut self, a: NodeId, b: NodeId, kind: LinkKind, bandwidth: f32) -> Result<(), Error> {
        self.connect(a, b, kind, bandwidth)?;
        self.connect(b, a, kind, bandwidth)
    }

    pub(super) fn host(&mut self, tree: &Tree, cpu: u32) -> i64 {
        let hash = tree.get(cpu, "host_hash").map_or(0, |h| unsigned(h, 16));
        let host = match self.hosts.iter().position(|h| *h == hash) {
            Some(i) => i,
            None => {
                self.hosts.push(hash);
                self.hosts.len() - 1
            }
        };
        // 128 hosts at most: more would not fit into NCCL's identity.
        i64::try_from(host).unwrap_or(0) & 0x7f
    }

    pub(crate) fn note(&mut self, note: String) {
        if self.notes.len() < 1000 && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// The nearest CPU upwards, over PCIe only.
    pub(super) fn local_cpu(&self, from: NodeId) -> Option<NodeId> {
        let mut left = vec![(from, from)];
        while let Some((node, came)) = left.pop() {
            if self.kind(node) == Some(NodeKind::Cpu) {
                return Some(node);
            }
            let up = self.links_of(node).iter().rev().filter(|l| {
                l.kind == LinkKind::Pci
                    && l.to != came
                    && matches!(self.kind(l.to), Some(NodeKind::Pci | NodeKind::Cpu))
            });
            left.extend(up.map(|l| (l.to, node)));
        }
        None
    }

    /// DEV nodes of a GPU: one, or one a part.
    pub(super) fn devs(&self, id: i64) -> Vec<NodeId> {
        let same = |n: &&NodeId| self.node(**n).is_some_and(|n| n.id & !PART_MASK == id & !PART_MASK);
        self.of(NodeKind::Dev).iter().filter(same).copied().collect()
    }

    pub(super) fn finish(mut self) -> System {
        for list in &mut self.by_kind {
            for (i, id) in (0_u32..).zip(list) {
                if let Some(n) = self.nodes.get_mut(id.index()) {
                    n.index = i;
                }
            }
        }
        let mut system = System { notes: self.notes, nodes: self.nodes, by_kind: self.by_kind, ..System::default() };
        let mut at = 0_u32;
        for links in self.links {
            system.first.push(at);
            at += u32::try_from(links.len()).unwrap_or(0);
            system.links.extend(links);
        }
        system.first.push(at);
        system
    }
}

impl Builder {
    pub(super) fn connect_cpus(&mut self, version: Version) -> Result<(), Error> {
        let cpus = self.of(NodeKind::Cpu).to_vec();
        for a in &cpus {
            for b in &cpus {
                let (Some(one), Some(other)) = (self.node(*a), self.node(*b)) else { continue };
                if a != b && one.host() == other.host() {
                    let bandwidth = one.cpu().map_or(LOCAL_BANDWIDTH, |c| tables::interconnect(c, version));
                    self.connect(*a, *b, LinkKind::Sys, bandwidth)?;
                }
            }
        }
        Ok(())
    }

    /// Puts the way up last among the links of what hangs on PCIe.
    pub(super) fn sort(&mut self) {
        let mut left: Vec<(NodeId, Option<NodeId>)> = self.of(NodeKind::Cpu).iter().map(|c| (*c, None)).collect();
        let mut seen = vec![false; self.nodes.len()];
        while let Some((node, up)) = left.pop() {
            match seen.get_mut(node.index()) {
                Some(s) if !*s => *s = true,
                _ => continue,
            }
            let Some(links) = self.links.get_mut(node.index()) else { continue };
            if let Some(at) = up.and_then(|up| links.iter().position(|l| l.to == up)) {
                let link = links.remove(at);
                links.push(link);
            }
            left.extend(
                links.iter().filter(|l| l.kind == LinkKind::Pci && Some(l.to) != up).map(|l| (l.to, Some(node))),
            );
        }
    }
}
