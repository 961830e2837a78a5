//! Distance of GPUs and NICs, and NUMA nodes.

mod balancing;
mod cross_socket_nic;
mod no_shared_switch;
mod node_unknown;
mod nps;

use crate::rule::{Cx, Rule, Source};
use crate::sources::nccl;
use crate::{Finding, Findings};
use linerate_node::gpudirect::{self, Lacks};
use linerate_node::pci::{FnId, PciFunction};
use linerate_node::rails::{self, Rail};
use linerate_node::rdma::{PortState, RdmaDevice, RdmaPort};
use linerate_snapshot::Reading;

pub(crate) static RULES: &[&Rule] =
    &[&node_unknown::RULE, &cross_socket_nic::RULE, &no_shared_switch::RULE, &balancing::RULE, &nps::RULE];

pub(crate) const NCCL_PATHS: Source = nccl!(
    "src/graph/paths.cc",
    "ncclTopoSetPaths, ncclTopoCheckGdr (default level PXB; over C2C since 2.27, as level P2C since 2.29)"
);

/// Names of functions for a message, at most three.
pub(crate) fn names(cx: &Cx<'_>, ids: &[FnId]) -> String {
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
fn serving(cx: &Cx<'_>) -> Vec<Rail> {
    let node = cx.node;
    let linked = |id: &FnId| !node.rdma_of(node.pci.get(*id)).is_some_and(unlinked);
    let all = rails::candidates(&node.pci);
    let some: Vec<_> = all.iter().copied().filter(linked).collect();
    if some.is_empty() || some.len() == all.len() {
        return node.rails.clone();
    }
    rails::all(&node.pci, &some)
}

/// Every port is known to be down.
fn unlinked(d: &RdmaDevice) -> bool {
    let down = |p: &RdmaPort| p.state.known() == Some(&PortState::Down);
    !d.ports.is_empty() && d.ports.iter().all(down)
}

/// Appended where a nearer NIC is there and has no link.
fn passed_over(cx: &Cx<'_>, rail: &rails::Rail) -> String {
    match cx.node.rails.iter().find(|r| r.gpu == rail.gpu && r.distance < rail.distance) {
        Some(r) => format!(" ({} is nearer and has no link: see rdma/port-state)", names(cx, &r.nics)),
        None => String::new(),
    }
}

/// Head of the rules about distances: `true` if there is no pair of GPU and NIC whose distance matters, and that was said.
pub(crate) fn no_pairs(cx: &Cx<'_>, out: &mut Findings) -> bool {
    let node = cx.node;
    let any = node.pci.gpus().next().is_some() && node.pci.rdma_nics().next().is_some();
    if cx.no_subjects(any, "GPU together with an RDMA NIC", out) {
        return true;
    }
    let gb10 = |f| gpudirect::lacks(node, f).filter(|(l, _)| *l == Lacks::Gb10);
    if let Some((_, at)) = node.pci.gpus().next().and_then(|(_, f)| gb10(f)) {
        out.not_applicable("GB10 has no GPUDirect RDMA: NICs reach the system's memory, wherever they are").at(at);
        return true;
    }
    // A card that only serves as Ethernet, or is not cabled, is nobody's rail. Ports that could not be read may be.
    if let Reading::Known(devices, place) = &node.rdma {
        let mut ports = devices.iter().flat_map(|d| &d.ports);
        let idle = |p: &RdmaPort| p.state.known().is_some_and(|s| *s == PortState::Down);
        if !devices.is_empty() && devices.iter().all(|d| !d.ports.is_empty()) && ports.all(idle) {
            out.not_applicable("no RDMA port has a link: see rdma/port-state").at(*place);
            return true;
        }
    }
    false
}

/// Answers for a GPU whose distance from its NICs is not known.
fn path_hidden<'o>(gpu: &PciFunction<'_>, out: &'o mut Findings) -> &'o mut Finding {
    out.unknown(gpu.bdf, "the PCIe path to the NICs is not visible (bridges or NUMA nodes are missing in this source)")
        .at(gpu.numa_node.place())
        .see("capture with `linerate collect`, or `lspci -D -nn -vvv` as root")
}
