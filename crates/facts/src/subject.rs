//! What a fact is about.

use linerate_formats::kubernetes::{Condition, Pair, Resource, Taint};
use linerate_formats::mlxconfig::Param;
use linerate_formats::pci::Bdf;
use linerate_formats::pci::caps::ResizableBar;
use linerate_formats::slurm::gres::Gres;
use linerate_node::Node;
use linerate_node::cpu::IdleState;
use linerate_node::gpu::Gpu;
use linerate_node::iommu::IommuGroup;
use linerate_node::net::NetDev;
use linerate_node::net_text::NetShown;
use linerate_node::net_written::NetWritten;
use linerate_node::nicfw::NicFirmware;
use linerate_node::numa::NumaNode;
use linerate_node::pci::{Bar, PciFunction};
use linerate_node::rails::Rail;
use linerate_node::rdma::{Gid, RdmaDevice, RdmaPort};
use linerate_node::sysctl::Sysctl;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

/// What a fact is about. What belongs to a PCI function leads to it, so that two nodes can be aligned by where things are instead of by
/// their names.
#[derive(Debug, Clone, Copy)]
pub enum Subject<'n> {
    /// The node: its kernel, firmware, processors, memory.
    Node,
    /// A NUMA node.
    NumaNode(&'n NumaNode),
    /// An idle state of the processors.
    IdleState(&'n IdleState),
    /// A setting of the sysctl tree.
    Sysctl(&'n Sysctl),
    /// An IOMMU group.
    IommuGroup(&'n IommuGroup),
    /// A GPU, in the PCI list or only in the driver's.
    Gpu(GpuAt<'n>),
    /// The firmware settings of a NIC.
    NicFirmware(&'n NicFirmware),
    /// One of them.
    Setting(&'n NicFirmware, &'n Param),
    /// An RDMA device.
    RdmaDevice(&'n RdmaDevice),
    /// A port of it.
    Port(&'n RdmaDevice, &'n RdmaPort),
    /// An entry of a port's GID table.
    Gid(&'n RdmaDevice, &'n RdmaPort, &'n Gid),
    /// A network interface.
    Interface(&'n NetDev<'n>),
    /// An interface as texts show it.
    InterfaceShown(&'n NetShown),
    /// An interface as the node's configuration writes it.
    InterfaceWritten(&'n NetWritten),
    /// A PCI function.
    Function(&'n PciFunction<'n>),
    /// A base address register of it.
    Bar(&'n PciFunction<'n>, &'n Bar),
    /// A resizable one, as its capability shows it.
    ResizableBar(&'n PciFunction<'n>, ResizableBar),
    /// A label of the node's object in Kubernetes.
    Label(&'n Pair),
    /// An annotation of it.
    Annotation(&'n Pair),
    /// A taint of it.
    Taint(&'n Taint),
    /// A resource of it.
    Resource(&'n Resource),
    /// A condition of it.
    NodeCondition(&'n Condition),
    /// A generic resource of the node's record in Slurm.
    Gres(&'n Gres),
}

/// A GPU as PCI and as its driver show it.
#[derive(Debug, Clone, Copy)]
pub struct GpuAt<'n> {
    /// Address.
    pub bdf: Bdf,
    /// In the PCI list.
    pub function: Option<&'n PciFunction<'n>>,
    /// With its nearest NICs.
    pub rail: Option<&'n Rail>,
    /// As the driver reports it.
    pub driver: Option<&'n Gpu>,
}

impl<'n> GpuAt<'n> {
    /// By address: those of the PCI list, and those that only the driver shows.
    pub(crate) fn all(node: &'n Node<'n>) -> Vec<Subject<'n>> {
        let rails: HashMap<_, _> = node.rails.iter().map(|r| (r.gpu, r)).collect();
        let mut all: BTreeMap<Bdf, GpuAt<'n>> = BTreeMap::new();
        for (id, f) in node.pci.nvidia_gpus() {
            let rail = rails.get(&id).copied();
            all.insert(f.bdf, GpuAt { bdf: f.bdf, function: Some(f), rail, driver: None });
        }
        for g in &node.nvidia.gpus {
            let new = GpuAt { bdf: g.bdf, function: None, rail: None, driver: None };
            all.entry(g.bdf).or_insert(new).driver = Some(g);
        }
        all.into_values().map(Subject::Gpu).collect()
    }
}

impl Subject<'_> {
    /// What the ids of its facts begin with; empty for the node.
    #[must_use]
    pub fn prefix(&self) -> &'static str {
        match self {
            Subject::Node => "",
            Subject::NumaNode(_) => "numa",
            Subject::IdleState(_) => "cpu.idle_states",
            Subject::Sysctl(_) => "sysctl",
            Subject::IommuGroup(_) => "iommu.groups",
            Subject::Gpu(_) => "gpus",
            Subject::NicFirmware(_) => "nic_firmware",
            Subject::Setting(..) => "nic_firmware.settings",
            Subject::RdmaDevice(_) => "rdma",
            Subject::Port(..) => "rdma.ports",
            Subject::Gid(..) => "rdma.ports.gids",
            Subject::Interface(_) => "net",
            Subject::InterfaceShown(_) => "net_shown",
            Subject::InterfaceWritten(_) => "net_written",
            Subject::Function(_) => "pci",
            Subject::Bar(..) => "pci.bars",
            Subject::ResizableBar(..) => "pci.resizable_bars",
            Subject::Label(_) => "kubernetes.labels",
            Subject::Annotation(_) => "kubernetes.annotations",
            Subject::Taint(_) => "kubernetes.taints",
            Subject::Resource(_) => "kubernetes.resources",
            Subject::NodeCondition(_) => "kubernetes.conditions",
            Subject::Gres(_) => "slurm.gres",
        }
    }

    /// The PCI function that it is or belongs to, where the source shows it: where two nodes are the same, whatever their names.
    #[must_use]
    pub fn function(&self) -> Option<Bdf> {
        match self {
            Subject::Node | Subject::NumaNode(_) | Subject::IdleState(_) | Subject::IommuGroup(_) => None,
            Subject::Sysctl(_) | Subject::InterfaceWritten(_) => None,
            Subject::Label(_) | Subject::Annotation(_) | Subject::Taint(_) => None,
            Subject::Resource(_) | Subject::NodeCondition(_) | Subject::Gres(_) => None,
            Subject::Gpu(g) => Some(g.bdf),
            Subject::NicFirmware(n) | Subject::Setting(n, _) => n.bdf,
            Subject::RdmaDevice(d) | Subject::Port(d, _) | Subject::Gid(d, ..) => d.pci,
            Subject::Interface(n) => n.pci,
            Subject::InterfaceShown(n) => n.pci.known().copied(),
            Subject::Function(f) | Subject::Bar(f, _) | Subject::ResizableBar(f, _) => Some(f.bdf),
        }
    }
}

impl fmt::Display for Subject<'_> {
    /// `rdma[mlx5_0].ports[1]`; nothing for the node.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Node => Ok(()),
            Subject::NumaNode(n) => write!(f, "numa[{}]", n.id),
            Subject::IdleState(i) => write!(f, "cpu.idle_states[{}]", i.name),
            Subject::Sysctl(c) => write!(f, "sysctl[{}]", c.name),
            Subject::IommuGroup(g) => write!(f, "iommu.groups[{}]", g.id),
            Subject::Gpu(g) => write!(f, "gpus[{}]", g.bdf),
            Subject::NicFirmware(n) => write!(f, "nic_firmware[{}]", n.name),
            Subject::Setting(n, p) => write!(f, "nic_firmware[{}].settings[{}]", n.name, p.name),
            Subject::RdmaDevice(d) => write!(f, "rdma[{}]", d.name),
            Subject::Port(d, p) => write!(f, "rdma[{}].ports[{}]", d.name, p.number),
            Subject::Gid(d, p, g) => write!(f, "rdma[{}].ports[{}].gids[{}]", d.name, p.number, g.index),
            Subject::Interface(n) => write!(f, "net[{}]", n.name),
            Subject::InterfaceShown(n) => write!(f, "net_shown[{}]", n.name),
            Subject::InterfaceWritten(n) => write!(f, "net_written[{}]", n.label()),
            Subject::Function(p) => write!(f, "pci[{}]", p.bdf),
            Subject::Bar(p, b) => write!(f, "pci[{}].bars[{}]", p.bdf, b.index),
            Subject::ResizableBar(p, b) => write!(f, "pci[{}].resizable_bars[{}]", p.bdf, b.bar),
            Subject::Label(l) => write!(f, "kubernetes.labels[{}]", l.name),
            Subject::Annotation(a) => write!(f, "kubernetes.annotations[{}]", a.name),
            Subject::Taint(t) => write!(f, "kubernetes.taints[{}]", t.name),
            Subject::Resource(r) => write!(f, "kubernetes.resources[{}]", r.name),
            Subject::NodeCondition(c) => write!(f, "kubernetes.conditions[{}]", c.name),
            Subject::Gres(g) => write!(f, "slurm.gres[{}]", g.key()),
        }
    }
}
