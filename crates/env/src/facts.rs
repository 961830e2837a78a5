//! What of a node decides about settings. Pure data: fill it from a [`Node`], or by hand.

use linerate_formats::nvidia_smi::PathKind;
use linerate_node::Node;
use linerate_node::context::Role;
use linerate_node::pci::Kind;
use linerate_node::rails;
use linerate_node::rdma::{LinkLayer, PortState, RdmaDevice};

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
    /// The node is a virtual machine.
    pub guest: Option<bool>,
    /// A peer-memory module (nvidia-peermem) is loaded.
    pub peermem: Option<bool>,
    /// CPUs with NVIDIA's C2C (Grace).
    pub c2c: Option<bool>,
}

impl NodeFacts {
    /// From a node.
    #[must_use]
    pub fn of(node: &Node<'_>) -> Self {
        let gpus = node.pci.gpus().count();
        NodeFacts {
            nics: node.rdma.known().map(|devices| nics(node, devices)),
            interfaces: node.net.known().map(|list| list.iter().map(interface).collect()),
            gpus: u32::try_from(gpus).ok().filter(|n| *n > 0),
            nvlink: nvlink(node),
            nearest: node.rails.iter().map(|r| r.distance).collect(),
            guest: node.context.role.value.map(|r| r == Role::VmGuest),
            peermem: peermem(node),
            c2c: node.nvidia.topo().known().map(|t| t.rows.iter().any(|r| r.cells.contains(&PathKind::C2c))),
        }
    }

    /// Devices with an active port, and how they are connected: what NCCL would use without a filter.
    pub fn active(&self) -> impl Iterator<Item = &Nic> {
        self.nics.iter().flatten().filter(|n| n.active() == Some(true))
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

fn nics(node: &Node<'_>, devices: &[RdmaDevice]) -> Vec<Nic> {
    // What serves a GPU; not to be told where the tree does not show the way.
    let told = !node.rails.is_empty() && node.rails.iter().all(|r| r.distance != Distance::Unknown);
    let mut all: Vec<Nic> = Vec::new();
    for d in devices.iter().filter(|d| !d.is_software()) {
        let function = d.pci.and_then(|b| node.pci.find(b));
        let near = function.is_some_and(|f| node.rails.iter().any(|r| r.nics.contains(&f)));
        let distance = function.map_or(Distance::Unknown, |f| {
            rails::all(&node.pci, &[f]).iter().map(|r| r.distance).min().unwrap_or(Distance::Unknown)
        });
        let compute = (told && function.is_some()).then_some(near);
        all.push(Nic { name: d.name.clone(), ports: d.ports.iter().map(port).collect(), distance, compute });
    }
    slower(node, devices, &mut all);
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
        link: p.link_layer.known().map(|l| match l {
            LinkLayer::InfiniBand => Link::InfiniBand,
            LinkLayer::Ethernet => Link::Ethernet,
        }),
        gbps: p.data_rate_gbps(),
        netdev: p.netdev.known().cloned(),
        roce_v2_ipv4: p
            .gids
            .known()
            .filter(|g| !g.is_empty())
            .map(|g| g.iter().filter(|g| g.is_roce_v2() && g.is_ipv4()).map(|g| g.index).collect()),
    }
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

fn peermem(node: &Node<'_>) -> Option<bool> {
    let modules = [&node.peermem.nvidia_peermem.loaded, &node.peermem.nv_peer_mem.loaded];
    if modules.iter().any(|m| m.known().is_some()) {
        return Some(true);
    }
    modules.iter().all(|m| m.is_absent()).then_some(false)
}

impl NodeFacts {
    /// NICs for the job, where there are others, too, that NCCL would take; `None`: no filter is needed, or it is not known. Those whose
    /// ports are down are among them: NCCL passes over them until they are mended.
    #[must_use]
    pub fn wanted(&self) -> Option<Vec<&Nic>> {
        if self.active().any(|n| n.compute.is_none()) {
            return None;
        }
        let wanted: Vec<&Nic> = self.nics.iter().flatten().filter(|n| n.compute == Some(true)).collect();
        let others = self.active().any(|n| n.compute == Some(false));
        (others && !wanted.is_empty()).then_some(wanted)
    }
}
