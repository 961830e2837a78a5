//! From the merged tree to the graph (`ncclTopoGetSystemFromXml`).

use super::builder::{Builder, PART_MASK};
use super::{Cpu, Gpu, LOCAL_BANDWIDTH, LinkKind, Net, NodeData, NodeId, NodeKind, System, tables, topo_id};
use crate::config::Config;
use crate::error::Error;
use crate::number::{bus_id, float, long, unsigned};
use crate::tree::{Tag, Tree};

/// Between the parts of a split GPU, in GB/s.
const PARTS_BANDWIDTH: f32 = 2618.0;

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
    // Since 2.20.
    if config.version.since(2, 20) {
        b.flatten_broadcom()?;
    }
    b.connect_cpus(config.version)?;
    b.sort();
    Ok(b.finish())
}

pub(super) struct Build<'a> {
    pub(super) b: Builder,
    pub(super) tree: &'a Tree,
    pub(super) config: &'a Config,
}

impl Build<'_> {
    pub(super) fn line(&self, id: u32) -> u32 {
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
                "NUMA {numa}: NCCL does not know the architecture {:?} and counts the way to other CPUs as local",
                tree.get(id, "arch").unwrap_or_default()
            ));
        }
        if arch == Some(tables::Arch::X86) {
            let vendor = tree.need(id, "vendor")?;
            cpu.vendor = tables::vendor(vendor);
            match cpu.vendor {
                None => self.b.note(format!(
                    "NUMA {numa}: NCCL does not know the vendor {vendor:?} and counts the way to other CPUs as local"
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
        let bandwidth = tables::pcie_bandwidth(speed, width);

        for child in tree.children(id) {
            if tree.tag(*child) == Some(Tag::Gpu) {
                if tree.get(*child, "rank").is_none() {
                    self.b.note(format!("{busid_text}: a GPU without a rank, which NCCL ignores"));
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
                self.b.note(format!("{busid_text}: holds a <nic> and <pci>: NCCL ignores the <pci>"));
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

    pub(super) fn part(&self, gpu: u32, busid: i64) -> Result<i64, Error> {
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
            // Without a number it is not one of the plugin's devices.
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
}
