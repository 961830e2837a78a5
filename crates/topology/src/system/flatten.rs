//! Broadcom's switches show themselves as two levels though they are one: they become one (`ncclTopoFlattenBcmSwitches`).

use super::builder::Builder;
use super::{Link, MAX_LINKS, NodeData, NodeId, NodeKind};
use crate::error::Error;

/// Generation of such a switch at a level: 0 above, 1 below.
fn generation(device: u64, level: u64) -> Option<u8> {
    match device & 0xffff_ffff_ffff_f000 {
        0x1000_c010_1000_a000 => Some(4),
        d if d == 0x1000_c030_1000_0000 | level << 12 => Some(5),
        _ => None,
    }
}

impl Builder {
    fn switch_generation(&self, id: NodeId, level: u64) -> Option<u8> {
        match self.node(id)?.data {
            NodeData::Pci(device) => generation(device, level),
            _ => None,
        }
    }

    pub(super) fn flatten_broadcom(&mut self) -> Result<(), Error> {
        let mut dead = Vec::new();
        // A flattened switch is marked, so this ends.
        while let Some(top) = self.of(NodeKind::Pci).iter().copied().find(|s| self.switch_generation(*s, 0).is_some()) {
            let of = self.switch_generation(top, 0);
            let below = |l: &Link| self.switch_generation(l.to, 1) == of;
            let subs: Vec<NodeId> = self.links_of(top).iter().filter(|l| below(l)).map(|l| l.to).collect();
            if let Some(links) = self.links.get_mut(top.index()) {
                links.retain(|l| !subs.contains(&l.to));
            }
            for sub in subs {
                self.absorb(top, sub)?;
                dead.push(sub);
            }
            if let Some(NodeData::Pci(device)) = self.nodes.get_mut(top.index()).map(|n| &mut n.data) {
                *device |= 0xffff;
            }
        }
        if !dead.is_empty() {
            self.remove(&dead);
        }
        Ok(())
    }

    /// What hangs on `sub` hangs on `top` from now on.
    fn absorb(&mut self, top: NodeId, sub: NodeId) -> Result<(), Error> {
        let moved: Vec<Link> = self.links_of(sub).iter().filter(|l| l.to != top).copied().collect();
        for link in moved {
            if self.links_of(top).len() >= MAX_LINKS {
                return Err(Error::TooMany { what: "links of one device", limit: MAX_LINKS });
            }
            self.append(Link { from: top, ..link });
            let back = self.links.get_mut(link.to.index()).and_then(|l| l.iter_mut().find(|l| l.to == sub));
            if let Some(back) = back {
                back.to = top;
            }
        }
        for links in &mut self.links {
            links.retain(|l| l.to != sub);
        }
        if let Some(links) = self.links.get_mut(sub.index()) {
            links.clear();
        }
        if let Some(list) = self.by_kind.get_mut(NodeKind::Pci as usize) {
            list.retain(|n| *n != sub);
        }
        Ok(())
    }

    /// Closes the gaps that absorbed switches left.
    fn remove(&mut self, dead: &[NodeId]) {
        let mut kept = Vec::with_capacity(self.nodes.len());
        let mut at = 0;
        for i in 0..self.nodes.len() {
            let gone = dead.contains(&NodeId::of(i));
            kept.push(NodeId::of(at));
            at += usize::from(!gone);
        }
        let new = |id: NodeId| kept.get(id.index()).copied().unwrap_or(id);
        let mut i = 0;
        let mut live = || {
            i += 1;
            !dead.contains(&NodeId::of(i - 1))
        };
        self.nodes.retain(|_| live());
        let mut i = 0;
        self.links.retain(|_| {
            i += 1;
            !dead.contains(&NodeId::of(i - 1))
        });
        for link in self.links.iter_mut().flatten() {
            link.from = new(link.from);
            link.to = new(link.to);
        }
        for id in self.by_kind.iter_mut().flatten() {
            *id = new(*id);
        }
        self.reparent(new);
    }
}
