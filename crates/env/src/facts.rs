//! What of a node decides about settings. Pure data: fill it from a [`Node`], or by hand.

use crate::nearness::Nearness;
use linerate_formats::nvidia_smi::PathKind;
use linerate_node::Node;
use linerate_node::context::Role;
use linerate_node::dmabuf::{self, Support};
use linerate_node::gpu::Flavour;
use linerate_node::gpudirect::{self, Attachment};
use linerate_node::nccl::{Entry, Filter};
use linerate_node::pci::{Kind, PciFunction};
use linerate_node::rails;
use linerate_node::rdma::{LinkLayer, PortState, Purpose, RdmaDevice};

pub use linerate_node::pci::Distance;

/// Link layer of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Link {
    /// InfiniBand.
    InfiniBand,
    /// RoCE.
    Ethernet,
}

/// A port of an RDMA device. `None` is not seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Port {
    /// Number, from 1.
    pub number: u32,
    /// Logical state is ACTIVE: NCCL passes over all others.
    pub active: Option<bool>,
    /// Link layer.
    pub link: Option<Link>,
    /// Rate, Gb/s.
    pub gbps: Option<f64>,
    /// Network interface.
    pub netdev: Option<String>,
    /// Indices of GIDs that are RoCE v2 with an IPv4 address; `None` where the table was not seen.
    pub roce_v2_ipv4: Option<Vec<u32>>,
    /// Indices of GIDs that are RoCE v2 with an IPv6 address beyond the link; `None` where the table was not seen.
    pub roce_v2_ipv6: Option<Vec<u32>>,
}

/// An RDMA device.
#[derive(Debug, Clone, PartialEq)]
pub struct Nic {
    /// Name: `mlx5_0`.
    pub name: String,
    /// Ports.
    pub ports: Vec<Port>,
    /// How far the nearest GPU is.
    pub distance: Distance,
    /// Whether it is for the job: among the nearest NICs of a GPU, and not much slower than the fastest of those. `None`: not known.
    pub compute: Option<bool>,
}

impl Nic {
    /// Whether a filter lets NCCL use one of its ports. A port whose state is not known may be active.
    #[must_use]
    pub fn taken_by(&self, filter: &Filter) -> bool {
        self.ports.iter().any(|p| p.active != Some(false) && filter.takes(&self.name, Some(p.number)))
    }

    /// A port that NCCL would use.
    #[must_use]
    pub fn active(&self) -> Option<bool> {
        if self.ports.iter().any(|p| p.active == Some(true)) {
            return Some(true);
        }
        self.ports.iter().all(|p| p.active == Some(false)).then_some(false)
    }

    fn gbps(&self) -> Option<f64> {
        self.ports.iter().filter_map(|p| p.gbps).max_by(f64::total_cmp)
    }
}

/// A network interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Name.
    pub name: String,
    /// Up; `None`: not seen.
    pub up: Option<bool>,
    /// Of a PCI function.
    pub hardware: bool,
    /// Part of a bond or bridge, which has the address.
    pub enslaved: bool,
}

impl Interface {
    /// NCCL takes these only where there is nothing else (`ncclFindInterfaces`).
    #[must_use]
    pub fn is_last_resort(&self) -> bool {
        ["docker", "lo", "virbr"].iter().any(|p| self.name.starts_with(p))
    }
}

/// What `NCCL_IB_HCA` selects on a node, among the devices with an active port.
#[derive(Debug, Clone, Default)]
pub struct Selection<'a> {
    /// Taken.
    pub taken: Vec<&'a Nic>,
    /// Taken, and known not to be for the job.
    pub foreign: Vec<&'a Nic>,
    /// Not taken, and known to be for the job.
    pub left: Vec<&'a Nic>,
    /// Entries that name no device or port here.
    pub idle: Vec<&'a Entry>,
    /// The state of some port, or what some taken device is for, is not known.
    pub open: bool,
}

/// What of a node decides about settings. `None` is not seen.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NodeFacts {
    /// RDMA devices, without software ones.
    pub nics: Option<Vec<Nic>>,
    /// Network interfaces.
    pub interfaces: Option<Vec<Interface>>,
    /// GPUs.
    pub gpus: Option<u32>,
    /// Whether GPUs have NVLink between them.
    pub nvlink: Option<bool>,
    /// Of each GPU: how far its nearest NICs are.
    pub nearest: Vec<Distance>,
    /// Distances are those of a topology file, by which NCCL goes, not the kernel's.
    pub by_file: bool,
    /// The node is a virtual machine.
    pub guest: Option<bool>,
    /// A peer-memory module (nvidia-peermem) is loaded.
    pub peermem: Option<bool>,
    /// GPUs that are joined to their CPUs by C2C (GH200, GB200).
    pub c2c: Option<bool>,
    /// Neither a peer-memory module nor DMA-BUF can serve: no GPUDirect RDMA at any distance.
    pub no_gpudirect: bool,
    /// All RDMA devices are EFA, which NCCL's own transport passes over.
    pub efa_only: Option<bool>,
    /// It has GPUs of AMD, and none of NVIDIA.
    pub amd_only: bool,
}

impl NodeFacts {
    /// From a node.
    #[must_use]
    pub fn of(node: &Node<'_>) -> Self {
        Self::in_job(node, None)
    }

    /// From a node whose job sets `NCCL_TOPO_FILE`.
    #[must_use]
    pub fn in_job(node: &Node<'_>, topology_file: Option<&str>) -> Self {
        let gpus = node.nccl_gpus();
        let nearness = Nearness::of(node, topology_file);
        NodeFacts {
            nics: node.rdma.known().map(|devices| nics(node, devices, &nearness)),
            interfaces: node.net.known().map(|list| list.iter().map(interface).collect()),
            gpus: u32::try_from(gpus.len()).ok().filter(|n| *n > 0),
            nvlink: nvlink(node),
            nearest: nearness.nearest(node),
            by_file: matches!(nearness, Nearness::File(_)),
            guest: node.context.role.value.map(|r| r == Role::VmGuest),
            peermem: peermem(node),
            no_gpudirect: no_gpudirect(node),
            c2c: c2c(node),
            efa_only: efa_only(node),
            amd_only: gpus.is_empty() && node.pci.of_kind(Kind::AmdGpu).next().is_some(),
        }
    }

    /// Devices with an active port, and how they are connected: what NCCL would use without a filter.
    pub fn active(&self) -> impl Iterator<Item = &Nic> {
        self.nics.iter().flatten().filter(|n| n.active() == Some(true))
    }

    /// What a filter selects here; `None`: RDMA devices were not seen.
    #[must_use]
    pub fn select<'a>(&'a self, filter: &'a Filter) -> Option<Selection<'a>> {
        let nics = self.nics.as_ref()?;
        let ports: Vec<(&str, u32)> =
            nics.iter().flat_map(|n| n.ports.iter().map(|p| (n.name.as_str(), p.number))).collect();
        let of = |taken: bool, compute: Option<Option<bool>>| -> Vec<&Nic> {
            let wanted = |n: &&Nic| n.taken_by(filter) == taken && compute.is_none_or(|c| c == n.compute);
            self.active().filter(wanted).collect()
        };
        let open = nics.iter().any(|n| n.active().is_none()) || self.active().any(|n| n.compute.is_none());
        Some(Selection {
            taken: of(true, None),
            foreign: of(true, Some(Some(false))),
            left: of(false, Some(Some(true))),
            idle: filter.idle(&ports),
            open,
        })
    }

    /// GPUs and their nearest NIC are all in one NUMA node, and some pair is not below a switch.
    #[must_use]
    pub fn behind_root_ports(&self) -> Option<bool> {
        if self.nearest.is_empty() || self.nearest.contains(&Distance::Unknown) {
            return None;
        }
        Some(self.nearest.contains(&Distance::Phb) && self.nearest.iter().all(|d| *d <= Distance::Phb))
    }
}

fn interface(n: &linerate_node::net::NetDev<'_>) -> Interface {
    Interface {
        name: n.name.to_owned(),
        up: n.operstate.known().and_then(|s| match *s {
            "up" => Some(true),
            "down" | "lowerlayerdown" | "notpresent" => Some(false),
            _ => None,
        }),
        hardware: n.pci.is_some(),
        enslaved: n.master.is_some(),
    }
}

fn nics(node: &Node<'_>, devices: &[RdmaDevice], nearness: &Nearness) -> Vec<Nic> {
    let kernel = matches!(nearness, Nearness::Kernel);
    // What serves a GPU; not known where the tree does not show the way.
    let told = kernel && !node.rails.is_empty() && node.rails.iter().all(|r| r.distance != Distance::Unknown);
    let mut all: Vec<Nic> = Vec::new();
    // EFA is not among what NCCL's own transport lists; what manages NVLink is, and serves no job.
    for d in devices.iter().filter(|d| !d.is_software() && d.purpose != Purpose::Efa) {
        let function = d.pci.and_then(|b| node.pci.find(b));
        let near = function.is_some_and(|f| node.rails.iter().any(|r| r.nics.contains(&f)));
        let (distance, by_file) = match nearness {
            Nearness::Kernel => {
                let rails = function.map(|f| rails::all(&node.pci, &[f])).unwrap_or_default();
                (rails.iter().map(|r| r.distance).min().unwrap_or(Distance::Unknown), None)
            }
            Nearness::File(f) => f.device(&d.name, d.pci),
            Nearness::Unknown => (Distance::Unknown, None),
        };
        let compute = match d.purpose {
            Purpose::NvlinkManagement => Some(false),
            Purpose::PerhapsNvlinkManagement => None,
            _ if !kernel => by_file,
            _ => (told && function.is_some()).then_some(near),
        };
        all.push(Nic { name: d.name.clone(), ports: d.ports.iter().map(port).collect(), distance, compute });
    }
    if kernel {
        slower(node, devices, &mut all);
    }
    all
}

/// Beside a root complex that all share, distance does not tell: a management card is as near as the others, and slower. A slow one of
/// the model of the fast ones may as well be a fault, and what is the only one near a GPU is for the job in any case.
fn slower(node: &Node<'_>, devices: &[RdmaDevice], all: &mut [Nic]) {
    let function = |name: &str| devices.iter().find(|d| d.name == name).and_then(|d| node.pci.find(d.pci?));
    let model = |name: &str| function(name).and_then(|f| node.pci.get(f).device.known().copied());
    let rates: Vec<(String, f64)> =
        all.iter().filter(|n| n.compute == Some(true)).filter_map(|n| Some((n.name.clone(), n.gbps()?))).collect();
    for n in all.iter_mut().filter(|n| n.compute == Some(true) && n.active() == Some(true)) {
        let (Some(own), Some(at)) = (n.gbps(), function(&n.name)) else { continue };
        let faster: Vec<&str> = rates.iter().filter(|(_, r)| own * 2.0 <= *r).map(|(name, _)| name.as_str()).collect();
        let near_faster = |r: &rails::Rail| r.nics.iter().any(|x| faster.iter().any(|f| function(f) == Some(*x)));
        let mine = || node.rails.iter().filter(|r| r.nics.contains(&at));
        if faster.is_empty() || !mine().all(near_faster) {
            continue;
        }
        let twin = model(&n.name).is_none() || faster.iter().any(|f| model(f) == model(&n.name));
        n.compute = if twin { None } else { Some(false) };
    }
}

fn port(p: &linerate_node::rdma::RdmaPort) -> Port {
    Port {
        number: p.number,
        active: p.state.known().map(|s| *s == PortState::Active),
        link: p.link_layer.known().and_then(|l| match l {
            LinkLayer::InfiniBand => Some(Link::InfiniBand),
            LinkLayer::Ethernet => Some(Link::Ethernet),
            LinkLayer::Unspecified => None,
        }),
        gbps: p.data_rate_gbps(),
        netdev: p.netdev.known().cloned(),
        roce_v2_ipv4: indices(p, |g| g.is_ipv4()),
        roce_v2_ipv6: indices(p, |g| !g.is_ipv4() && !g.is_link_local() && !g.is_zero()),
    }
}

/// Indices of RoCE v2 entries of a kind.
fn indices(p: &linerate_node::rdma::RdmaPort, kind: impl Fn(&linerate_node::rdma::Gid) -> bool) -> Option<Vec<u32>> {
    let table = p.gids.known().filter(|g| !g.is_empty())?;
    Some(table.iter().filter(|g| g.is_roce_v2() && kind(g)).map(|g| g.index).collect())
}

fn nvlink(node: &Node<'_>) -> Option<bool> {
    if node.pci.of_kind(Kind::NvSwitch).next().is_some() {
        return Some(true);
    }
    let matrix = node.nvidia.topo().known()?;
    let gpus: Vec<&str> = matrix.devices.iter().map(String::as_str).filter(|d| d.starts_with("GPU")).collect();
    let links = gpus.iter().flat_map(|a| gpus.iter().map(move |b| matrix.path(a, b)));
    (gpus.len() > 1).then(|| links.flatten().any(|p| matches!(p.value, PathKind::Nv(_))))
}

/// As the GPUs' kind says, else as `nvidia-smi topo -m` shows it.
fn c2c(node: &Node<'_>) -> Option<bool> {
    let mut kinds = node.pci.nvidia_gpus().filter_map(|(_, f)| gpudirect::attachment(node, f)).map(|(a, _)| a);
    if let Some(first) = kinds.next() {
        return Some(first == Attachment::C2c || kinds.any(|a| a == Attachment::C2c));
    }
    node.nvidia.topo().known().map(|t| t.rows.iter().any(|r| r.cells.contains(&PathKind::C2c)))
}

fn efa_only(node: &Node<'_>) -> Option<bool> {
    let devices = node.rdma.known()?;
    let mut hardware = devices.iter().filter(|d| !d.is_software() && d.purpose != Purpose::NvlinkManagement).peekable();
    hardware.peek()?;
    Some(hardware.all(|d| d.purpose == Purpose::Efa))
}

fn peermem(node: &Node<'_>) -> Option<bool> {
    let modules = [&node.peermem.nvidia_peermem.loaded, &node.peermem.nv_peer_mem.loaded];
    if modules.iter().any(|m| m.known().is_some()) {
        return Some(true);
    }
    modules.iter().all(|m| m.is_absent()).then_some(false)
}

/// DMA-BUF needs the open kernel modules and a NIC driver that takes it on this kernel; rules' gpumem/registration-path says it in
/// full. Only what is seen counts.
fn no_gpudirect(node: &Node<'_>) -> bool {
    let proprietary = node.nvidia.driver.flavour.known() == Some(&Flavour::Proprietary);
    let mut nics = node.pci.rdma_nics().peekable();
    let never = |f: &PciFunction<'_>| {
        f.driven_by("mlx4_core") || matches!(dmabuf::of(node, f), Some(Support::Never | Support::Since(..)))
    };
    let no_dma_buf = nics.peek().is_some() && nics.all(|(_, f)| never(f));
    let mut gpus = node.pci.gpus().peekable();
    let unable = gpus.peek().is_some() && gpus.all(|(_, f)| gpudirect::lacks(node, f).is_some());
    unable || peermem(node) == Some(false) && (proprietary || no_dma_buf)
}

impl NodeFacts {
    /// NICs for the job, where there are others, too, that NCCL would take; `None`: no filter is needed, or it is not known. Those whose
    /// ports are down are among them: NCCL passes over them until they are mended.
    #[must_use]
    pub fn wanted(&self) -> Option<Vec<&Nic>> {
        // One without an active port may come back: where its place is not known, neither is the list.
        let open = |n: &Nic| n.compute.is_none() && (n.active() != Some(false) || self.by_file);
        if self.nics.iter().flatten().any(open) {
            return None;
        }
        let wanted: Vec<&Nic> = self.nics.iter().flatten().filter(|n| n.compute == Some(true)).collect();
        let others = self.active().any(|n| n.compute == Some(false));
        (others && !wanted.is_empty()).then_some(wanted)
    }
}
