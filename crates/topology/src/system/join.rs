//! Elements that join devices which are there by now: NVLink, C2C, and links between switches.

use super::build::Build;
use super::builder::{Builder, PART_MASK};
use super::{LOCAL_BANDWIDTH, LinkKind, Node, NodeData, NodeId, NodeKind, tables, topo_id};
use crate::error::Error;
use crate::number::bus_id;
use crate::tree::Tag;

impl Build<'_> {
    /// Elements that join devices which are there by now.
    pub(super) fn second_pass(&mut self, id: u32, tag: Tag, busid: Option<&str>, host: i64) -> Result<(), Error> {
        let tree = self.tree;
        if tree.tag(id) == Some(tag) {
            return match tag {
                Tag::Nvlink => self.nvlink(id, busid, host),
                Tag::C2c => self.c2c(id, busid, host),
                _ => self.pci_link(id, busid, host),
            };
        }
        let host = if tree.tag(id) == Some(Tag::Cpu) { self.b.host(tree, id) } else { host };
        let busid = tree.get(id, "busid").or(busid);
        for child in tree.children(id) {
            self.second_pass(*child, tag, busid, host)?;
        }
        Ok(())
    }

    /// The DEV node of the GPU that holds a link; `None` where another GPU of the same device speaks for it.
    fn dev_of(&self, link: u32, busid: Option<&str>, host: i64) -> Result<Option<NodeId>, Error> {
        let tree = self.tree;
        let Some(gpu) = tree.parent(link) else { return Ok(None) };
        let part = tree.int_or(gpu, "mlopart", -1);
        let siblings = tree.parent(gpu).map_or(&[][..], |p| tree.children(p));
        let before = siblings.iter().take_while(|s| **s != gpu).filter(|s| tree.tag(**s) == Some(Tag::Gpu));
        let split = self.config.env.split_mlopart;
        if before.into_iter().any(|s| !split || tree.int_or(*s, "mlopart", -1) == part) {
            return Ok(None);
        }
        let busid = self.part(gpu, bus_id(busid.unwrap_or_default()))?;
        match self.b.find(NodeKind::Dev, topo_id(host, busid)) {
            Some(d) => Ok(Some(d)),
            None => Err(Error::Internal(format!(
                "line {}: no GPU for a link of {}",
                self.line(link),
                crate::number::bus_id_text(busid)
            ))),
        }
    }

    fn nvlink(&mut self, id: u32, busid: Option<&str>, host: i64) -> Result<(), Error> {
        let Some(dev) = self.dev_of(id, busid, host)? else { return Ok(()) };
        let tree = self.tree;
        let count = tree.need_int(id, "count")?;
        let (kind, _) = tables::class(tree.need(id, "tclass")?);
        let (dev_id, sm) = match self.b.node(dev) {
            Some(Node { id, data: NodeData::Dev { sm, .. }, .. }) => (*id, *sm),
            _ => return Ok(()),
        };
        #[allow(clippy::cast_precision_loss)] // NCCL's numbers are floats
        let parts = |n: usize| n.max(1) as f32;
        let local = parts(self.b.devs(dev_id).len());
        #[allow(clippy::cast_precision_loss)]
        let bandwidth = count as f32 * tables::nvlink(sm, self.config.version);
        match kind {
            NodeKind::Gpu => {
                let target = tree.need(id, "target")?;
                let there = self.b.devs(topo_id(host, bus_id(target)));
                if there.is_empty() {
                    let line = self.line(id);
                    self.b.note(format!("line {line}: no GPU {target} at the other end of an NVLink: NCCL ignores it"));
                }
                for remote in &there {
                    self.b.connect(dev, *remote, LinkKind::Nvl, bandwidth / parts(there.len()) / local)?;
                }
                Ok(())
            }
            NodeKind::Cpu => match self.b.local_cpu(dev) {
                Some(cpu) => self.b.both(dev, cpu, LinkKind::Nvl, bandwidth / local),
                None => Ok(()),
            },
            _ => {
                // All switches are one to NCCL.
                let switch = match self.b.of(NodeKind::Nvs).first() {
                    Some(s) => *s,
                    None => self.b.create(NodeKind::Nvs, 0, NodeData::Plain, 0)?,
                };
                self.b.both(dev, switch, LinkKind::Nvl, bandwidth / local)
            }
        }
    }

    fn c2c(&mut self, id: u32, busid: Option<&str>, host: i64) -> Result<(), Error> {
        let Some(dev) = self.dev_of(id, busid, host)? else { return Ok(()) };
        let tree = self.tree;
        let total = tree.need_int(id, "bw")?.wrapping_mul(tree.need_int(id, "count")?);
        #[allow(clippy::cast_possible_truncation)] // as NCCL: computed in double, kept in float
        let bandwidth = (f64::from(total) / 1000.0) as f32;
        let Some(cpu) = self.b.local_cpu(dev) else { return Ok(()) };
        let dev_id = self.b.node(dev).map_or(0, |n| n.id);
        if self.b.devs(dev_id).len() < 2 {
            return self.b.both(dev, cpu, LinkKind::C2c, bandwidth);
        }
        // The parts of a GPU share the link.
        let shared = dev_id & !PART_MASK;
        let bridge = match self.b.find(NodeKind::Cxb, shared) {
            Some(x) => x,
            None => {
                let x = self.b.create(NodeKind::Cxb, shared, NodeData::Plain, 0)?;
                self.b.both(x, cpu, LinkKind::C2c, bandwidth)?;
                x
            }
        };
        self.b.both(dev, bridge, LinkKind::C2c, bandwidth)
    }

    fn pci_link(&mut self, id: u32, busid: Option<&str>, host: i64) -> Result<(), Error> {
        let switch = |b: &Builder, s: &str| b.find(NodeKind::Pci, topo_id(host, bus_id(s)));
        let Some(from) = switch(&self.b, busid.unwrap_or_default()) else {
            return Err(Error::Internal(format!("line {}: a <pcilink> outside of a switch", self.line(id))));
        };
        match switch(&self.b, self.tree.need(id, "target")?) {
            Some(to) => self.b.connect(from, to, LinkKind::Loc, LOCAL_BANDWIDTH),
            None => Ok(()),
        }
    }
}
