//! What NCCL makes of the tree: which NIC each GPU gets, virtual switches, topology files. How AMD's GPUs are joined.

mod amd_pairs;
mod file;
mod flat_guest;
mod gpu_peer_access;
mod nic_shared_while_idle;
mod topology_file;
mod virtual_hides_affinity;
mod xgmi;

use crate::rule::{Rule, Source};
use crate::sources::nccl;
use crate::{Cx, Findings};
use linerate_node::nccl::Filter;
use linerate_node::pci::{FnId, PciFunction};
use linerate_node::rails;
use linerate_node::rdma::PortState;

pub(crate) static RULES: &[&Rule] = &[
    &nic_shared_while_idle::RULE,
    &virtual_hides_affinity::RULE,
    &flat_guest::RULE,
    &topology_file::RULE,
    &xgmi::RULE,
    &gpu_peer_access::RULE,
];

pub(crate) const NCCL_SYSTEM: Source = nccl!(
    "src/graph/topo.cc",
    "ncclTopoGetSystem (NCCL_TOPO_FILE, else /var/run/nvidia-topologyd/virtualTopology.xml), ncclTopoGetLocalNet"
);
pub(crate) const NCCL_VIRTUAL: Source = Source {
    title: "NCCL user guide, troubleshooting: topology detection in virtual machines",
    at: "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
};
pub(crate) const QEMU_PCIE: Source = Source {
    title: "QEMU docs/pcie.txt: pxb-pcie, root ports, x3130-upstream and xio3130-downstream",
    at: "https://gitlab.com/qemu-project/qemu/-/blob/master/docs/pcie.txt",
};
pub(crate) const LIBVIRT: Source = Source {
    title: "libvirt domain XML: controllers (pcie-expander-bus and its NUMA node)",
    at: "https://libvirt.org/formatdomain.html#controllers",
};

/// How the right layout is written, for remedies.
const LAYOUT: &str = "one pxb-pcie (libvirt: pcie-expander-bus) per host root complex, bound to the guest NUMA node of its host node; below it, per physical PCIe switch, one \
                      root port, one switch upstream port, and a downstream port for each GPU and its NIC";

/// NICs that NCCL would use: not known to be without a link, and chosen by NCCL_IB_HCA where `/etc/nccl.conf` has it.
fn usable(cx: &Cx<'_>) -> Vec<FnId> {
    let chosen = cx.node.nccl.variable("NCCL_IB_HCA").map(|(list, _)| Filter::parse(&list));
    let mut nics = rails::candidates(&cx.node.pci);
    nics.retain(|id| {
        let f = cx.node.pci.get(*id);
        let Some(d) = cx.node.rdma_of(f) else { return f.silent.is_none() };
        let idle =
            !d.ports.is_empty() && d.ports.iter().all(|p| p.state.known().is_some_and(|s| *s != PortState::Active));
        let taken = |f: &Filter| {
            d.ports.is_empty() && f.takes(&d.name, None) || d.ports.iter().any(|p| f.takes(&d.name, Some(p.number)))
        };
        !idle && chosen.as_ref().is_none_or(taken)
    });
    nics
}

/// A card: its functions share domain, bus and device.
type Slot = (u32, u8, u8);

fn slot(f: &PciFunction<'_>) -> Slot {
    (f.bdf.domain, f.bdf.bus, f.bdf.device)
}

/// Head of the rules on guests: answers where there is no choice to make, or where a topology file makes it. `true` if it did.
fn settled(cx: &Cx<'_>, out: &mut Findings) -> bool {
    if crate::numa::no_pairs(cx, out) {
        return true;
    }
    if cx.node.nccl.has_topology_file() == Some(true) {
        out.not_applicable("NCCL takes the tree from a topology file: see topo/topology-file").at(cx
            .node
            .nccl
            .topology
            .place());
        return true;
    }
    false
}

/// Whether the machine is one for which NCCL's network plugin brings a topology file of its own.
fn plugin_brings_file(cx: &Cx<'_>) -> bool {
    cx.node.firmware.sys_vendor.known().is_some_and(|v| v == "Amazon EC2")
}
