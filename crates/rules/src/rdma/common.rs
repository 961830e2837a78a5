//! What the rules about ports share: which ports are judged, and what each is for.

use crate::{Cx, Findings, Severity, Source, Subject};
use linerate_node::net::NetDev;
use linerate_node::pci::PciFunction;
use linerate_node::rails::Rail;
use linerate_node::rdma::{PortState, Purpose, RdmaDevice, RdmaPort};
use linerate_snapshot::{Place, Reading};

pub(super) const ABI: Source = Source {
    title: "Linux ABI: /sys/class/infiniband/<device>/ports/<port>",
    at: "https://github.com/torvalds/linux/blob/master/Documentation/ABI/stable/sysfs-class-infiniband",
};
pub(super) const NCCL_IB: Source = Source {
    title: "NCCL, net_ib: ncclIbInit skips ports that are not ACTIVE; ncclIbGetGidIndex and ncclUpdateGidIndex choose the GID",
    at: "https://github.com/NVIDIA/nccl/tree/master/src/transport/net_ib",
};
pub(super) const NCCL_ENV: Source = Source {
    title: "NCCL user guide, environment variables",
    at: "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
};

/// What a port is for, as far as the source tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// Nearest to a GPU, below one PCIe switch with it.
    Rail,
    /// Nearest to a GPU, through the root complex.
    RailByHost,
    /// Other NICs are nearer to every GPU, or faster at the same distance.
    Other,
    /// There is no GPU on the node: RDMA of host memory.
    Host,
    /// RDMA in software: no GPU can depend on it.
    Software,
    /// The source does not tell.
    Unknown,
}

impl Use {
    /// The given severity where a GPU depends on the port; low at most where there is none on the node; Info where none does or nothing tells: a slow front end is normal.
    pub(super) fn weigh(self, on_rail: Severity) -> Severity {
        match self {
            Use::Rail | Use::RailByHost => on_rail,
            Use::Host => on_rail.min(Severity::Low),
            Use::Unknown | Use::Other | Use::Software => Severity::Info,
        }
    }

    /// For messages.
    pub(super) fn words(self) -> &'static str {
        match self {
            Use::Rail => "shares a PCIe switch with a GPU",
            Use::RailByHost => "is the nearest NIC of a GPU",
            Use::Other => "no GPU depends on it",
            Use::Host => "RDMA of host memory: there is no GPU",
            Use::Software => "software RoCE, of no use to GPUs",
            Use::Unknown => "whether a GPU depends on it is not visible",
        }
    }
}

/// Ports of hardware that lead to other nodes through InfiniBand or Ethernet: no EFA, no functions that manage NVLink, no Soft-RoCE, and of virtual functions only those that a guest sees as its own devices.
pub(crate) fn ports<'a>(cx: &Cx<'a>) -> impl Iterator<Item = (&'a RdmaDevice, &'a RdmaPort)> {
    devices(cx).flat_map(|d| d.ports.iter().map(move |p| (d, p)))
}

/// Those ports, and those of Soft-RoCE: the kernel gives both their state, MTU and GID table in the same way.
pub(super) fn ports_with_software<'a>(cx: &Cx<'a>) -> impl Iterator<Item = (&'a RdmaDevice, &'a RdmaPort)> {
    // siw is iWARP: it has no GID table of RoCE and no RDMA MTU.
    let wanted = |d: &&RdmaDevice| !d.is_software() || !d.name.starts_with("siw");
    not_virtual(cx).filter(wanted).flat_map(|d| d.ports.iter().map(move |p| (d, p)))
}

/// Devices of hardware; see [`ports`].
pub(super) fn devices<'a>(cx: &Cx<'a>) -> impl Iterator<Item = &'a RdmaDevice> {
    not_virtual(cx).filter(|d| !d.is_software())
}

fn not_virtual<'a>(cx: &Cx<'a>) -> impl Iterator<Item = &'a RdmaDevice> {
    let node = cx.node;
    let all = || node.rdma.known().into_iter().flatten().filter(|d| d.is_network());
    let is_vf = move |d: &RdmaDevice| d.pci.and_then(|b| node.pci.find(b)).is_some_and(|id| node.pci.get(id).is_vf());
    // Beside physical ones they are others': of pods and guests. Where there are only virtual ones, in a guest or a pod, they are its own.
    let physical = all().any(|d| !d.is_software() && !is_vf(d));
    all().filter(move |d| !physical || !is_vf(d))
}

/// Head of a check: answers where there is no port of hardware to judge. `true` if it did.
pub(super) fn none(cx: &Cx<'_>, out: &mut Findings) -> bool {
    nothing(cx, ports(cx).next().is_none(), out)
}

/// The same for checks that judge Soft-RoCE too.
pub(super) fn none_with_software(cx: &Cx<'_>, out: &mut Findings) -> bool {
    nothing(cx, ports_with_software(cx).next().is_none(), out)
}

fn nothing(cx: &Cx<'_>, no_port: bool, out: &mut Findings) -> bool {
    match &cx.node.rdma {
        Reading::Known(all, place) => {
            if !no_port {
                return false;
            }
            let of = |p: Purpose| all.iter().filter(|d| d.purpose == p).count();
            let (efa, nvlink) = (of(Purpose::Efa), of(Purpose::NvlinkManagement));
            let what = match (efa, nvlink) {
                (0, 0) => String::new(),
                (_, 0) => format!(" ({efa} are EFA, which is neither InfiniBand nor RoCE)"),
                (0, _) => format!(" ({nvlink} manage NVLink switches)"),
                _ => format!(" ({efa} are EFA, {nvlink} manage NVLink switches)"),
            };
            out.not_applicable(format_args!("no port of an RDMA NIC among {} RDMA devices{what}", all.len())).at(*place)
        }
        Reading::Absent(place) => out.not_applicable("no RDMA device: see rdma/device-present").at(*place),
        r @ Reading::Unreadable(..) => out
            .unreadable(Subject::Node, "list of RDMA devices", r)
            .see("capture the node with `linerate collect`, or add the output of `ibv_devinfo -v`"),
    };
    true
}

/// What the device is for.
pub(crate) fn usage(cx: &Cx<'_>, d: &RdmaDevice) -> Use {
    let node = cx.node;
    if d.is_software() {
        return Use::Software;
    }
    let Some(f) = d.pci.and_then(|b| node.pci.find(b)).map(|id| node.pci.get(id)) else { return Use::Unknown };
    if !cx.has_gpu() {
        return Use::Host;
    }
    // A virtual function is where its card is.
    let card = f.physfn.and_then(|b| node.pci.find(b)).map(|id| node.pci.get(id));
    let f = card.unwrap_or(f);
    let Some(rail) = node.rail_of(f) else { return Use::Other };
    if rail.distance == linerate_node::pci::Distance::Unknown {
        return Use::Unknown;
    }
    // A front-end card at the same distance as the rails is slower than they are.
    let fastest = rail
        .nics
        .iter()
        .filter_map(|id| node.rdma_of(node.pci.get(*id)))
        .filter_map(active_rate)
        .fold(0.0_f64, f64::max);
    match active_rate(d) {
        Some(own) if own < fastest * 0.75 && !same_board(cx, d, rail, fastest) => Use::Other,
        _ if rail.shares_switch() => Use::Rail,
        _ => Use::RailByHost,
    }
}

/// A slower port of the same product as the fastest of its neighbours is a rail that runs slow, not a front end.
fn same_board(cx: &Cx<'_>, d: &RdmaDevice, rail: &Rail, fastest: f64) -> bool {
    rail.nics
        .iter()
        .filter_map(|id| cx.node.rdma_of(cx.node.pci.get(*id)))
        .any(|o| active_rate(o).is_some_and(|r| r >= fastest * 0.75) && board(o).is_some() && board(o) == board(d))
}

/// Another product that is as near to the GPU satisfies `good`: then this one may be a front end. Servers exist that have
/// their front-end cards below the same switches as the rails.
pub(super) fn stand_in(cx: &Cx<'_>, rail: &Rail, own: &PciFunction<'_>, good: impl Fn(&RdmaDevice) -> bool) -> bool {
    rail.nics.iter().map(|id| cx.node.pci.get(*id)).any(|f| {
        f.device.known().is_some() && f.device.known() != own.device.known() && cx.node.rdma_of(f).is_some_and(&good)
    })
}

/// Board id, else hardware type.
pub(super) fn board(d: &RdmaDevice) -> Option<&str> {
    d.board_id.known().or(d.hca_type.known()).map(String::as_str)
}

pub(super) fn active_rate(d: &RdmaDevice) -> Option<f64> {
    d.ports.iter().filter(|p| is_active(p)).filter_map(|p| p.rate_gbps.known().copied()).reduce(f64::max)
}

/// Logical state is ACTIVE.
pub(crate) fn is_active(p: &RdmaPort) -> bool {
    matches!(p.state.known(), Some(PortState::Active | PortState::ActiveDefer))
}

/// Appended to what is right or does not matter: a software device must not read like a NIC.
pub(super) fn remark(d: &RdmaDevice) -> &'static str {
    if d.is_software() { " (software RoCE)" } else { "" }
}

/// `mlx5_0/1`.
pub(super) fn subject(d: &RdmaDevice, p: &RdmaPort) -> Subject {
    Subject::RdmaPort(d.name.clone(), p.number)
}

/// Any place that shows the device.
pub(super) fn place(d: &RdmaDevice) -> Place {
    Place::of(d.home)
}

/// Another port of the same card is ACTIVE: the same device, or another function of the same slot.
pub(super) fn card_has_active_port(cx: &Cx<'_>, d: &RdmaDevice) -> bool {
    devices(cx).any(|o| {
        let same = o.name == d.name
            || matches!((o.pci, d.pci), (Some(a), Some(b)) if (a.domain, a.bus, a.device) == (b.domain, b.bus, b.device));
        same && o.ports.iter().any(is_active)
    })
}

/// The interfaces whose flow control counts for a port: its own, or the members of its bond.
pub(super) fn wires<'a>(cx: &Cx<'a>, net: &'a NetDev<'a>) -> Vec<&'a NetDev<'a>> {
    let names = net.bond_mode.known().and(net.bond_slaves.known()).copied().unwrap_or_default();
    let all = cx.node.net.known().map_or(&[][..], Vec::as_slice);
    let members: Vec<_> = names.split_whitespace().filter_map(|n| all.iter().find(|d| d.name == n)).collect();
    if members.is_empty() { vec![net] } else { members }
}

/// Whether the card is known to be none of NVIDIA's.
pub(super) fn is_of_another_vendor(cx: &Cx<'_>, d: &RdmaDevice) -> bool {
    let function = d.pci.and_then(|b| cx.node.pci.find(b)).map(|id| cx.node.pci.get(id));
    function.and_then(|f| f.vendor.known()).is_some_and(|v| *v != 0x15b3)
}

/// Whether a card has no RDMA device here and one of its virtual functions has: then this is a pod, and the card's own device is in
/// another network namespace.
pub(crate) fn has_vf_here(cx: &Cx<'_>, card: &PciFunction<'_>) -> bool {
    let function = |d: &RdmaDevice| Some(cx.node.pci.get(cx.node.pci.find(d.pci?)?));
    let all = || cx.node.rdma.known().into_iter().flatten();
    !all().any(|d| d.pci == Some(card.bdf)) && all().filter_map(function).any(|f| f.physfn == Some(card.bdf))
}

/// Whether a port's flow control is not judged here: no GPU's traffic, or a virtual function, which is answered.
pub(super) fn has_no_flow_control(cx: &Cx<'_>, d: &RdmaDevice, p: &RdmaPort, out: &mut Findings) -> bool {
    if matches!(usage(cx, d), Use::Other | Use::Host) {
        return true;
    }
    let is_virtual = is_virtual(cx, d);
    if is_virtual {
        out.not_applicable_to(subject(d, p), "a virtual function: flow control is its card's, on the host")
            .at(place(d));
    }
    is_virtual
}

/// Whether the device is that of a virtual function.
pub(super) fn is_virtual(cx: &Cx<'_>, d: &RdmaDevice) -> bool {
    d.pci.and_then(|b| cx.node.pci.find(b)).is_some_and(|id| cx.node.pci.get(id).is_vf())
}
