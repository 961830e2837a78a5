//! From the merged tree to the graph (`ncclTopoGetSystemFromXml`).

use super::tables::{self, nvlink_bandwidth};
use super::{
    Cpu, Gpu, LOCAL_BANDWIDTH, Link, LinkKind, MAX_LINKS, MAX_NODES, Net, Node, NodeData, NodeId, NodeKind, System,
    topo_id,
};
use crate::config::Config;
use crate::error::Error;
use crate::number::{bus_id, float, long, unsigned};
use crate::tree::{Tag, Tree};

/// Between the parts of a split GPU, in GB/s.
const PARTS_BANDWIDTH: f32 = 2618.0;
/// Bits of a bus id that a part of a GPU takes.
const PART_MASK: i64 = 3;

/// A graph that grows.
#[derive(Default)]
pub(crate) struct Builder {
    pub(super) nodes: Vec<Node>,
    pub(super) links: Vec<Vec<Link>>,
    pub(super) by_kind: [Vec<NodeId>; 10],
    gpus_of_dev: Vec<i64>,
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

    fn create(&mut self, kind: NodeKind, id: i64, data: NodeData, line: u32) -> Result<NodeId, Error> {
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
    fn connect(&mut self, from: NodeId, to: NodeId, kind: LinkKind, bandwidth: f32) -> Result<(), Error> {
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

    fn both(&mut self, a: NodeId, b: NodeId, kind: LinkKind, bandwidth: f32) -> Result<(), Error> {
        self.connect(a, b, kind, bandwidth)?;
        self.connect(b, a, kind, bandwidth)
    }

    fn host(&mut self, tree: &Tree, cpu: u32) -> i64 {
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
    fn local_cpu(&self, from: NodeId) -> Option<NodeId> {
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
    fn devs(&self, id: i64) -> Vec<NodeId> {
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

/// Builds the graph.
///
/// # Errors
///
/// Where NCCL stops: an attribute it needs is missing, or a table is full.
pub(crate) fn build(tree: &Tree, config: &Config) -> Result<System, Error> {
    let mut b = Build { b: Builder::default(), tree, config };
    for cpu in tree.children(0) {
        if tree.tag(*cpu) == Some(Tag::Cpu) {
            b.cpu(*cpu)?;
        }
    }
    b.second_pass(0, Tag::Nvlink, None, 0)?;
    b.second_pass(0, Tag::C2c, None, 0)?;
    b.second_pass(0, Tag::PciLink, None, 0)?;
    let mut b = b.b;
    b.flatten_broadcom()?;
    b.connect_cpus()?;
    b.sort();
    Ok(b.finish())
}

struct Build<'a> {
    b: Builder,
    tree: &'a Tree,
    config: &'a Config,
}

impl Build<'_> {
    fn line(&self, id: u32) -> u32 {
        self.tree.node(id).map_or(0, |n| n.at.line)
    }

    fn cpu(&mut self, id: u32) -> Result<(), Error> {
        let tree = self.tree;
        let numa = tree.need_int(id, "numaid")?;
        let host = self.b.host(tree, id);
        let arch = tables::arch(tree.need(id, "arch")?);
        let mut cpu = Cpu { numa, arch, vendor: None, model: None, affinity: tree.get(id, "affinity").map(Into::into) };
        if arch.is_none() {
            self.b.note(format!(
                "CPU {numa}: NCCL does not know the architecture {:?} and counts the way to other CPUs as local",
                tree.get(id, "arch").unwrap_or_default()
            ));
        }
        if arch == Some(tables::Arch::X86) {
            let vendor = tree.need(id, "vendor")?;
            cpu.vendor = tables::vendor(vendor);
            match cpu.vendor {
                None => self.b.note(format!(
                    "CPU {numa}: NCCL does not know the vendor {vendor:?} and counts the way to other CPUs as local"
                )),
                Some(tables::CpuVendor::Amd) => {}
                Some(v) => {
                    cpu.model = tables::model(v, tree.need_int(id, "familyid")?, tree.need_int(id, "modelid")?);
                }
            }
        }
        let line = self.line(id);
        let node = self.b.create(NodeKind::Cpu, topo_id(host, i64::from(numa)), NodeData::Cpu(cpu), line)?;
        for child in tree.children(id) {
            match tree.tag(*child) {
                Some(Tag::Pci) => self.pci(*child, node, host)?,
                Some(Tag::Nic) => {
                    let nic = match self.b.find(NodeKind::Nic, topo_id(host, 0)) {
                        Some(n) => n,
                        None => {
                            let n = self.b.create(NodeKind::Nic, topo_id(host, 0), NodeData::Plain, line)?;
                            self.b.both(node, n, LinkKind::Pci, LOCAL_BANDWIDTH)?;
                            n
                        }
                    };
                    self.nic(*child, nic, host)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn pci(&mut self, id: u32, parent: NodeId, host: i64) -> Result<(), Error> {
        let tree = self.tree;
        let class = tree.need(id, "class")?;
        let (kind, known) = tables::class(class);
        let busid_text = tree.need(id, "busid")?;
        let busid = bus_id(busid_text);
        let mut width = tree.need_int(id, "link_width")?;
        let speed_text = tree.need(id, "link_speed")?;
        if !known && tree.child(id, Tag::Nic).is_none() {
            self.b.note(format!("{busid_text}: NCCL does not know the class {class:?} and takes it for a switch"));
        }
        if width == 0 {
            width = 16;
            self.b.note(format!("{busid_text}: link_width is 0, which NCCL reads as 16 lanes"));
        }
        let (speed, known) = tables::link_speed(speed_text);
        if !known {
            self.b.note(format!(
                "{busid_text}: NCCL does not know link_speed {speed_text:?} and counts it as 8 GT/s (Gen3)"
            ));
        }
        #[allow(clippy::cast_possible_truncation)] // as NCCL: computed in double, kept in float
        let bandwidth = (f64::from(width.wrapping_mul(speed)) / 80.0) as f32;

        for child in tree.children(id) {
            if tree.tag(*child) == Some(Tag::Gpu) {
                if tree.get(*child, "rank").is_none() {
                    self.b.note(format!("{busid_text}: a GPU without a rank, which NCCL passes over"));
                    return Ok(());
                }
                self.gpu(id, *child, parent, host, busid, bandwidth)?;
            }
        }
        let line = self.line(id);
        let mut new = None;
        if let Some(nic) = tree.child(id, Tag::Nic) {
            // A NUMA node that NCCL adds to this identity falls out of its mask.
            let nic_id = topo_id(host, busid);
            let node = match self.b.find(NodeKind::Nic, nic_id) {
                Some(n) => n,
                None => {
                    let n = self.b.create(NodeKind::Nic, nic_id, NodeData::Plain, line)?;
                    new = Some(n);
                    n
                }
            };
            if tree.child(id, Tag::Pci).is_some() {
                self.b.note(format!("{busid_text}: holds a <nic> and <pci>: NCCL passes over the <pci>"));
            }
            self.nic(nic, node, host)?;
        } else if kind == NodeKind::Pci {
            let device = NodeData::Pci(self.device(id));
            let node = self.b.create(NodeKind::Pci, topo_id(host, busid), device, line)?;
            new = Some(node);
            for child in tree.children(id) {
                if tree.tag(*child) != Some(Tag::PciLink) {
                    self.pci(*child, node, host)?;
                }
            }
        }
        if let Some(node) = new {
            self.b.both(node, parent, LinkKind::Pci, bandwidth)?;
        }
        Ok(())
    }

    /// Vendor, device, subsystem vendor, subsystem device.
    fn device(&self, id: u32) -> u64 {
        ["vendor", "device", "subsystem_vendor", "subsystem_device"].iter().zip([48, 32, 16, 0]).fold(
            0_u64,
            |sum, (key, shift)| {
                let v = self.tree.get(id, key).map_or(0, long);
                sum.wrapping_add(v.wrapping_shl(shift).cast_unsigned())
            },
        )
    }

    fn part(&self, gpu: u32, busid: i64) -> Result<i64, Error> {
        let at = self.tree.node(gpu).map(|n| n.at).unwrap_or_default();
        if busid & PART_MASK != 0 {
            return Err(Error::Value {
                element: "pci",
                attribute: "busid",
                value: crate::number::bus_id_text(busid),
                why: "a GPU on a function other than 0 or 4: NCCL stops there: correct the bus id",
                at,
            });
        }
        match self.tree.int_or(gpu, "mlopart", -1) {
            part @ 2.. if self.config.env.split_mlopart => Err(Error::Value {
                element: "gpu",
                attribute: "mlopart",
                value: part.to_string(),
                why: "NCCL knows parts 0 and 1 only: correct it",
                at,
            }),
            -1 => Ok(busid),
            _ if !self.config.env.split_mlopart => Ok(busid),
            part => Ok(busid | ((i64::from(part) << 1 | 1) & PART_MASK)),
        }
    }

    fn gpu(&mut self, pci: u32, id: u32, parent: NodeId, host: i64, busid: i64, bw: f32) -> Result<(), Error> {
        let tree = self.tree;
        let dev_busid = self.part(id, busid)?;
        let sm = tree.need_int(id, "sm")?;
        let line = self.line(id);
        let dev_id = topo_id(host, dev_busid);
        let dev = match self.b.find(NodeKind::Dev, dev_id) {
            Some(d) => d,
            None => {
                let data = NodeData::Dev { dev: tree.need_int(id, "dev")?, sm, device: self.device(pci) };
                let d = self.b.create(NodeKind::Dev, dev_id, data, line)?;
                self.b.both(d, parent, LinkKind::Pci, bw)?;
                for part in self.b.devs(dev_id) {
                    if part != d {
                        self.b.both(d, part, LinkKind::Loc, PARTS_BANDWIDTH)?;
                    }
                }
                d
            }
        };
        let nth = self.b.gpus_of_dev.get(dev.index()).copied().unwrap_or(0);
        let local = (nth << 40) | (dev_busid & ((1 << 40) - 1));
        let gpu = Gpu {
            rank: tree.need_int(id, "rank")?,
            dev: tree.need_int(id, "dev")?,
            sm,
            gdr: tree.need_int(id, "gdr")? != 0,
            mlopart: tree.int_or(id, "mlopart", -1),
            parent: dev,
            busid: tree.get(pci, "busid").unwrap_or_default().to_owned(),
        };
        let gpu = self.b.create(NodeKind::Gpu, topo_id(host, local), NodeData::Gpu(gpu), line)?;
        self.b.both(dev, gpu, LinkKind::Loc, LOCAL_BANDWIDTH)?;
        if let Some(n) = self.b.gpus_of_dev.get_mut(dev.index()) {
            *n += 1;
        }
        Ok(())
    }

    fn nic(&mut self, id: u32, nic: NodeId, host: i64) -> Result<(), Error> {
        let tree = self.tree;
        for net in tree.children(id) {
            let net = *net;
            // Without a number it is none of the plugin's devices.
            if tree.tag(net) != Some(Tag::Net) || tree.get(net, "dev").is_none() {
                continue;
            }
            if tree.int_or(net, "net", 1) != 0 {
                self.net(net, nic, host)?;
            }
            for (key, kind) in [("gin", NodeKind::Gin), ("rma", NodeKind::Rma)] {
                if tree.int_or(net, key, 0) != 0 {
                    let dev = tree.need_int(net, "dev")?;
                    let line = self.line(net);
                    let n = self.b.create(kind, topo_id(host, i64::from(dev)), NodeData::Plugin(dev), line)?;
                    self.b.both(nic, n, LinkKind::Net, self.speed(net))?;
                }
            }
        }
        Ok(())
    }

    #[allow(clippy::cast_possible_truncation)] // as NCCL: computed in double, kept in float
    fn speed(&self, net: u32) -> f32 {
        let mbps = self.tree.int_or(net, "speed", 0);
        (f64::from(if mbps <= 0 { 10_000 } else { mbps }) / 8000.0) as f32
    }

    fn net(&mut self, id: u32, nic: NodeId, host: i64) -> Result<(), Error> {
        let tree = self.tree;
        let dev = tree.need_int(id, "dev")?;
        let net_id = topo_id(host, i64::from(dev));
        let name = tree.get(id, "name");
        if tree.int_or(id, "speed", 0) <= 0 {
            let name = name.unwrap_or("a NIC");
            self.b.note(format!("{name}: no speed, which NCCL counts as 10 Gb/s"));
        }
        let pci = std::iter::successors(tree.parent(id), |p| tree.parent(*p)).find(|p| tree.tag(*p) == Some(Tag::Pci));
        let bandwidth = self.speed(id);
        let net = Net {
            dev,
            name: name.map(Into::into),
            bandwidth,
            asic: tree.get(id, "guid").map_or(net_id.cast_unsigned(), |g| unsigned(g, 16)),
            port: tree.int_or(id, "port", 0),
            latency: tree.get(id, "latency").map_or(0.0, float),
            gdr: tree.int_or(id, "gdr", 0) != 0,
            coll: tree.int_or(id, "coll", 0) != 0,
            max_channels: tree.int_or(id, "maxconn", crate::MAX_CHANNELS),
            rail: tree.int_or(id, "rail", -1),
            plane: tree.int_or(id, "plane", -1),
            busid: pci.and_then(|p| tree.get(p, "busid")).map(Into::into),
        };
        let line = self.line(id);
        let node = self.b.create(NodeKind::Net, net_id, NodeData::Net(net), line)?;
        self.b.both(nic, node, LinkKind::Net, bandwidth)
    }

    /// Elements that join devices which are there by now.
    fn second_pass(&mut self, id: u32, tag: Tag, busid: Option<&str>, host: i64) -> Result<(), Error> {
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
        let bandwidth = count as f32 * nvlink_bandwidth(sm);
        match kind {
            NodeKind::Gpu => {
                let target = tree.need(id, "target")?;
                let there = self.b.devs(topo_id(host, bus_id(target)));
                if there.is_empty() {
                    let line = self.line(id);
                    self.b.note(format!("line {line}: no GPU {target} at the other end of an NVLink: NCCL passes over it"));
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

impl Builder {
    fn connect_cpus(&mut self) -> Result<(), Error> {
        let cpus = self.of(NodeKind::Cpu).to_vec();
        for a in &cpus {
            for b in &cpus {
                let (Some(one), Some(other)) = (self.node(*a), self.node(*b)) else { continue };
                if a != b && one.host() == other.host() {
                    let bandwidth = one.cpu().map_or(LOCAL_BANDWIDTH, tables::interconnect);
                    self.connect(*a, *b, LinkKind::Sys, bandwidth)?;
                }
            }
        }
        Ok(())
    }

    /// Puts the way up last among the links of what hangs on PCIe.
    fn sort(&mut self) {
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
            left.extend(links.iter().filter(|l| l.kind == LinkKind::Pci && Some(l.to) != up).map(|l| (l.to, Some(node))));
        }
    }
}

