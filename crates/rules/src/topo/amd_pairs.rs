//! What the rules on pairs of AMD GPUs have in common.

use crate::{Cx, Findings, Source, Subject};
use linerate_node::amd::{Device, What};
use linerate_node::pci::Kind;
use linerate_snapshot::Place;

pub(super) const RCCL_TIPS: Source = Source {
    title: "RCCL usage tips: each pair of eight MI300X is connected with Infinity Fabric links, fully connected; peer access over PCIe needs large BARs",
    at: "https://rocm.docs.amd.com/projects/rccl/en/latest/how-to/rccl-usage-tips.html",
};
pub(super) const SMI_SOURCE: Source = Source {
    title: "AMD SMI, rocm_smi.cc: rsmi_topo_get_link_type (XGMI where KFD has a link, else PCIE; XGMI is always 1 hop), rsmi_is_P2P_accessible",
    at: "https://github.com/ROCm/amdsmi/blob/amd-staging/rocm_smi/src/rocm_smi.cc",
};

/// Answers where a table has no two GPUs: `true` if it did.
pub(super) fn no_table(cx: &Cx<'_>, gpus: &[Device], what: &str, out: &mut Findings) -> bool {
    if gpus.len() > 1 {
        return false;
    }
    let node = cx.node;
    let own = || node.pci.of_kind(Kind::AmdGpu).map(|(_, f)| f).filter(|f| !f.is_passed());
    if let Some(gpu) = gpus.first() {
        let at = node.amd.gpu_of(*gpu).map(|g| g.named);
        out.not_applicable("the table has one GPU").at(at);
    } else if own().count().max(node.amd.gpus.len()) > 1 {
        let at = node.amd.gpus.first().map(|g| g.named).or_else(|| own().next().map(|f| f.vendor.place()));
        out.unknown(Subject::Node, format_args!("{what} between AMD GPUs are not in this source"))
            .at(at)
            .see("add the output of `amd-smi topology`");
    } else {
        out.not_applicable("no two AMD GPUs in this source").at(node.pci.seen);
    }
    true
}

/// Each two of some GPUs, once.
pub(super) fn pairs(gpus: &[Device]) -> impl Iterator<Item = (Device, Device)> {
    gpus.iter().enumerate().flat_map(|(n, a)| gpus.iter().skip(n + 1).map(move |b| (*a, *b)))
}

/// What a table says of two GPUs: of both directions, where both are there and the same; of one, where the other is missing from the text's form.
pub(super) fn pair<'a>(cx: &Cx<'a>, what: What, a: Device, b: Device) -> Option<(&'a str, Place)> {
    match (cx.node.amd.cell(what, a, b), cx.node.amd.cell(what, b, a)) {
        (Some(one), Some(other)) => (one.0 == other.0).then_some(one),
        (one, other) => one.or(other),
    }
}

/// Whether a GPU is known to be an MI300X, by its tool or by the list of PCI devices.
pub(super) fn is_mi300x(cx: &Cx<'_>, gpu: Device) -> bool {
    const ID: u16 = 0x74a1;
    let shown = cx
        .node
        .amd
        .gpu_of(gpu)
        .is_some_and(|g| g.name.known().is_some_and(|n| n.contains("MI300X")) || g.device_id.known() == Some(&ID));
    let listed = |bdf| {
        let f = cx.node.pci.find(bdf).map(|id| cx.node.pci.get(id));
        f.is_some_and(|f| f.kind == Kind::AmdGpu && (f.device.known() == Some(&ID) || f.name.contains("MI300X")))
    };
    shown || matches!(gpu, Device::At(bdf) if listed(bdf))
}
