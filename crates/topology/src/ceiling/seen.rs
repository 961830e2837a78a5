//! What a document says that the system made of it does not, and which devices are below which.

use crate::number::bus_id;
use crate::system::{LinkKind, NodeId, NodeKind, System};
use crate::tree::{Tag, Tree as Elements};
use linerate_formats::pci::LinkSpeed;
use std::collections::{BTreeMap, HashMap};

/// A PCIe device of a document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pci {
    pub(super) speed: Option<LinkSpeed>,
    pub(super) width: Option<u32>,
    pub(super) depth: usize,
    pub(super) nvlinks: u32,
}

/// What the document says that the system does not.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) pci: HashMap<i64, Pci>,
    /// Speeds of network devices, in Mb/s.
    pub(super) nets: HashMap<i32, i32>,
}

impl Seen {
    pub(super) fn of(document: &Elements) -> Seen {
        let mut seen = Seen::default();
        let mut clash: Vec<i64> = Vec::new();
        let mut stack = vec![(0_u32, 0_usize)];
        while let Some((e, depth)) = stack.pop() {
            let get = |k| document.get(e, k);
            if document.tag(e) == Some(Tag::Pci) {
                let number = |e, k| document.get(e, k).and_then(|v| v.trim().parse::<u32>().ok());
                let links = document.child(e, Tag::Gpu).into_iter().flat_map(|g| document.children(g));
                let links = links.filter(|l| document.tag(**l) == Some(Tag::Nvlink));
                let pci = Pci {
                    speed: get("link_speed").and_then(LinkSpeed::parse),
                    width: number(e, "link_width"),
                    depth,
                    nvlinks: links.filter_map(|l| number(*l, "count")).fold(0, u32::saturating_add),
                };
                if let Some(id) = get("busid").map(bus_id)
                    && seen.pci.insert(id, pci).is_some_and(|other| other != pci)
                {
                    clash.push(id);
                }
            }
            if document.tag(e) == Some(Tag::Net) {
                let int = |k| get(k).and_then(|v| v.trim().parse::<i32>().ok());
                if let (Some(dev), Some(speed)) = (int("dev"), int("speed")) {
                    seen.nets.insert(dev, speed);
                }
            }
            stack.extend(document.children(e).iter().map(|c| (*c, depth + 1)));
        }
        // Hosts whose bus ids are the same and whose links are not.
        for id in clash {
            seen.pci.remove(&id);
        }
        seen
    }
}

/// PCIe devices below CPUs.
pub(crate) struct Tree {
    children: BTreeMap<NodeId, Vec<NodeId>>,
}

impl Tree {
    pub(crate) fn of(s: &System) -> Tree {
        let mut children: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
        let mut seen = vec![false; s.nodes().len()];
        let mut queue: std::collections::VecDeque<NodeId> = s.of(NodeKind::Cpu).iter().copied().collect();
        let mut first = |id: NodeId| seen.get_mut(id.index()).is_some_and(|v| !std::mem::replace(v, true));
        queue.iter().for_each(|c| {
            first(*c);
        });
        while let Some(id) = queue.pop_front() {
            for l in s.links_of(id).iter().filter(|l| l.kind == LinkKind::Pci) {
                if first(l.to) {
                    children.entry(id).or_default().push(l.to);
                    queue.push_back(l.to);
                }
            }
        }
        Tree { children }
    }

    /// GPUs and NICs below a switch.
    pub(crate) fn below(&self, s: &System, switch: NodeId) -> (usize, usize) {
        let inside = self.subtree(switch);
        let count = |k| inside.iter().filter(|n| s.node(**n).is_some_and(|n| n.kind == k)).count();
        (count(NodeKind::Dev), count(NodeKind::Nic))
    }

    /// A node and all below it.
    pub(crate) fn subtree(&self, top: NodeId) -> Vec<NodeId> {
        let mut all = vec![top];
        let mut at = 0;
        while let Some(id) = all.get(at) {
            if let Some(c) = self.children.get(id) {
                all.extend(c.clone());
            }
            at += 1;
        }
        all
    }
}
