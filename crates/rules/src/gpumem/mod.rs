//! GPU memory for RDMA: the driver, the ways to register memory with the NIC, and what the driver reports of the GPUs' health.

mod burn_errors;
mod dmabuf_attach;
mod driver_init;
mod driver_loaded;
mod gpu_query_agrees;
mod memory_errors;
mod nvlink_errors;
mod nvlink_fabric;
mod open_module;
mod paths;
mod pcie_replays;
mod peermem_inbox;
mod peermem_symbols;
mod peermem_visible_to_nccl;
mod registration_path;
mod volta_cx3;
mod xid;

use crate::finding::Findings;
use crate::rule::{Cx, Rule};
use linerate_node::pci::PciFunction;

pub(crate) static RULES: &[&Rule] = &[
    &driver_loaded::RULE,
    &driver_init::RULE,
    &gpu_query_agrees::RULE,
    &open_module::RULE,
    &registration_path::RULE,
    &volta_cx3::RULE,
    &peermem_visible_to_nccl::RULE,
    &peermem_inbox::RULE,
    &peermem_symbols::RULE,
    &dmabuf_attach::RULE,
    &xid::RULE,
    &memory_errors::RULE,
    &burn_errors::RULE,
    &nvlink_fabric::RULE,
    &nvlink_errors::RULE,
    &pcie_replays::RULE,
];

/// Whether the NIC can register GPU memory at all, by DMA-BUF or a peer-memory module; `None` where that is not seen.
pub(crate) fn gpudirect(cx: &Cx<'_>) -> Option<bool> {
    match (paths::dmabuf(cx).usable(), paths::peer_memory(cx)) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    }
}

/// GPUs that this system uses itself: not bound to vfio-pci, not virtual functions.
fn own_gpus<'a>(cx: &Cx<'a>) -> impl Iterator<Item = &'a PciFunction<'a>> {
    cx.node.pci.nvidia_gpus().map(|(_, f)| f).filter(|f| !f.is_vf() && !f.driven_by("vfio-pci"))
}

/// As [`no_own_gpu`], for what nvidia-smi alone shows: the GPUs that it lists are this system's own, whether or not the source has a list of PCI functions.
pub(crate) fn no_shown_gpu(cx: &Cx<'_>, out: &mut Findings) -> bool {
    let shown = cx.node.pci.seen.is_none() && !cx.node.nvidia.gpus.is_empty();
    !shown && no_own_gpu(cx, out)
}

/// Answers where this system uses no GPU itself: `true` if it answered.
pub(crate) fn no_own_gpu(cx: &Cx<'_>, out: &mut Findings) -> bool {
    if own_gpus(cx).next().is_some() {
        return false;
    }
    if let Some((_, f)) = cx.node.pci.nvidia_gpus().next() {
        out.not_applicable("the GPUs are bound to vfio-pci: their driver runs in the virtual machine")
            .at(f.driver.place());
        return true;
    }
    cx.no_subjects(false, "NVIDIA GPU", out)
}
