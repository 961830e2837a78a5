//! Distance of GPUs and NICs, and NUMA nodes.

mod balancing;
mod cross_socket_nic;
mod no_shared_switch;
mod node_unknown;
mod nps;

use crate::rule::{Rule, Source};

pub(crate) static RULES: &[&Rule] =
    &[&node_unknown::RULE, &cross_socket_nic::RULE, &no_shared_switch::RULE, &balancing::RULE, &nps::RULE];

pub(crate) const NCCL_PATHS: Source = Source {
    title: "NCCL src/graph/paths.cc: ncclTopoSetPaths, ncclTopoCheckGdr (default level PXB; over C2C since 2.27, as level P2C since 2.29)",
    at: "https://github.com/NVIDIA/nccl/blob/master/src/graph/paths.cc",
};

/// Names of functions for a message, at most three.
pub(crate) fn names(cx: &crate::Cx<'_>, ids: &[linerate_node::pci::FnId]) -> String {
    let pci = &cx.node.pci;
    let mut out: Vec<String> = ids
        .iter()
        .take(3)
        .map(|id| {
            let f = pci.get(*id);
            match cx.node.rdma_of(f) {
                Some(d) => format!("{} ({})", f.bdf, d.name),
                None => f.bdf.to_string(),
            }
        })
        .collect();
    if ids.len() > 3 {
        out.push(format!("{} more", ids.len() - 3));
    }
    out.join(", ")
}

/// The nearest NICs of each GPU that have a link, or of which that is not seen. NCCL passes over ports that are not active.
fn serving(cx: &crate::Cx<'_>) -> Vec<linerate_node::rails::Rail> {
    let node = cx.node;
    let linked = |id: &linerate_node::pci::FnId| !node.rdma_of(node.pci.get(*id)).is_some_and(unlinked);
    let all = linerate_node::rails::candidates(&node.pci);
    let some: Vec<_> = all.iter().copied().filter(linked).collect();
    if some.is_empty() || some.len() == all.len() {
        return node.rails.clone();
    }
    linerate_node::rails::all(&node.pci, &some)
}

/// Every port is known to be down.
fn unlinked(d: &linerate_node::rdma::RdmaDevice) -> bool {
    let down = |p: &linerate_node::rdma::RdmaPort| p.state.known() == Some(&linerate_node::rdma::PortState::Down);
    !d.ports.is_empty() && d.ports.iter().all(down)
}

/// Appended where a nearer NIC is there and has no link.
fn passed_over(cx: &crate::Cx<'_>, rail: &linerate_node::rails::Rail) -> String {
    match cx.node.rails.iter().find(|r| r.gpu == rail.gpu && r.distance < rail.distance) {
        Some(r) => format!(" ({} is nearer and has no link: see rdma/port-state)", names(cx, &r.nics)),
        None => String::new(),
    }
}

/// Head of the rules about distances: `true` if there is no pair of GPU and NIC whose distance matters, and that was said.
pub(crate) fn no_pairs(cx: &crate::Cx<'_>, out: &mut crate::Findings) -> bool {
    let node = cx.node;
    let any = node.pci.gpus().next().is_some() && node.pci.rdma_nics().next().is_some();
    if cx.no_subjects(any, "GPU together with an RDMA NIC", out) {
        return true;
    }
    let gb10 =
        |f| linerate_node::gpudirect::lacks(node, f).filter(|(l, _)| *l == linerate_node::gpudirect::Lacks::Gb10);
    if let Some((_, at)) = node.pci.gpus().next().and_then(|(_, f)| gb10(f)) {
        out.not_applicable("GB10 has no GPUDirect RDMA: NICs reach the system's memory, wherever they are").at(at);
        return true;
    }
    // A card that only serves as Ethernet, or is not cabled, is nobody's rail. Ports that could not be read may be.
    if let linerate_snapshot::Reading::Known(devices, place) = &node.rdma {
        let mut ports = devices.iter().flat_map(|d| &d.ports);
        let idle = |p: &linerate_node::rdma::RdmaPort| {
            p.state.known().is_some_and(|s| *s == linerate_node::rdma::PortState::Down)
        };
        if !devices.is_empty() && devices.iter().all(|d| !d.ports.is_empty()) && ports.all(idle) {
            out.not_applicable("no RDMA port has a link: see rdma/port-state").at(*place);
            return true;
        }
    }
    false
}

/// Answers for a GPU whose distance from its NICs is not known.
fn path_hidden(gpu: &linerate_node::pci::PciFunction<'_>, out: &mut crate::Findings) {
    out.unknown(gpu.bdf, "the PCIe path to the NICs is not visible (bridges or NUMA nodes are missing in this source)")
        .at(gpu.numa_node.place())
        .see("capture with `linerate collect`, or `lspci -D -nn -vvv` as root");
}
