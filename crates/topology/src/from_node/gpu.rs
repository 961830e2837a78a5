//! `<gpu>`: which GPUs, in NVML's order, and what NCCL asks of each.

use super::Build;
use super::{link, nvlink, sm};
use crate::xml::Element;
use linerate_formats::pci::Bdf;
use linerate_node::gpu::Gpu;
use linerate_node::gpudirect::lacks;
use linerate_node::pci::{FnId, PciFunction};

/// GPUs in a document, at most: NCCL's XML has room for 256 elements, and each GPU takes two.
const MOST: usize = 128;

/// A GPU of the document.
#[derive(Debug, Clone)]
pub(super) struct Listed<'a> {
    /// NVML's number.
    pub(super) dev: usize,
    pub(super) bdf: Bdf,
    /// Where the PCI tree has it.
    pub(super) function: Option<FnId>,
    /// What the driver says.
    pub(super) gpu: Option<&'a Gpu>,
    /// Compute capability times ten.
    pub(super) sm: Option<i32>,
}

/// GPUs as NVML numbers them: those that the driver reported, else those of the PCI tree.
pub(super) fn list<'a>(b: &mut Build<'a, '_>) -> Vec<Listed<'a>> {
    let node = b.node;
    let listed = |(dev, bdf): (usize, Bdf)| Listed {
        dev,
        bdf,
        function: node.pci.find(bdf),
        gpu: node.nvidia.gpus.get(dev),
        sm: None,
    };
    let mut gpus: Vec<Listed<'a>> = node.nccl_gpus().into_iter().enumerate().map(listed).collect();
    if node.nvidia.gpus.is_empty() && !gpus.is_empty() {
        b.assumed
            .say("GPUs: from the PCI tree, numbered by address, because the driver was not asked or did not answer");
    }
    if gpus.len() > MOST {
        b.left_out.say(format!("{} GPUs after the first {MOST}: NCCL has room for no more", gpus.len() - MOST));
        gpus.truncate(MOST);
    }
    for (_, f) in node.pci.nvidia_gpus().take(MOST) {
        if !gpus.iter().any(|g| g.bdf == f.bdf) {
            b.left_out.of(&format!("the NVIDIA driver does not report it{}", bound(f)), f.bdf);
        } else if f.driver.known().is_some_and(|d| d != "nvidia") {
            b.assumed.of(&format!("counted, although NCCL on this host would not see it{}", bound(f)), f.bdf);
        }
    }
    for g in &mut gpus {
        g.sm = capability(b, g);
    }
    gpus
}

fn bound(f: &PciFunction<'_>) -> String {
    match f.driver.known() {
        Some(d) => format!(": its driver is {d}"),
        None => String::new(),
    }
}

fn capability(b: &mut Build<'_, '_>, g: &Listed<'_>) -> Option<i32> {
    let architecture = g.gpu.and_then(|g| g.architecture.known()).and_then(|a| sm::of_architecture(a));
    if architecture.is_some() {
        b.assumed.say("compute capability of GPUs: from the architecture that nvidia-smi names");
        return architecture;
    }
    let device = g.function.and_then(|f| b.node.pci.get(f).device.known().copied());
    let found = device.and_then(sm::of_device);
    if found.is_some() {
        b.assumed.say("compute capability of GPUs: from their PCI device ids");
        return found;
    }
    let named = g.gpu.and_then(|g| g.name.known()).and_then(|n| sm::of_name(n));
    match named {
        Some(_) => b.assumed.say("compute capability of GPUs: from their product names"),
        None => b.unknown.of("compute capability", g.bdf),
    }
    named
}

/// Adds a GPU with all that is above it.
pub(super) fn place(b: &mut Build<'_, '_>, all: &[Listed<'_>], g: &Listed<'_>, ways: nvlink::Ways) {
    let pci = match g.function {
        Some(f) => link::pci(b, f, g.gpu),
        None => link::pci_without_function(b, g.bdf, g.gpu),
    };
    let id = b.arena.child(pci, "gpu").unwrap_or_else(|| b.arena.add(pci, Element::new("gpu")));
    b.arena.meet(id);
    b.arena.init(id, "dev", g.dev.to_string());
    if let Some(sm) = g.sm {
        b.arena.init(id, "sm", sm.to_string());
    }
    b.arena.set(id, "rank", g.dev.to_string());
    let gdr = !cannot_gdr(b, g);
    if gdr {
        b.assumed.say("GPUs support GPUDirect RDMA, as all data-centre GPUs do (only CUDA shows it, not a snapshot)");
    }
    b.arena.init(id, "gdr", u8::from(gdr).to_string());
    if b.options.release.since(2, 30) {
        b.arena.set(id, "mlopart", "-1");
    }
    nvlink::place(b, id, all, g, ways);
}

/// GeForce and GB10 (DGX Spark) cannot.
fn cannot_gdr(b: &mut Build<'_, '_>, g: &Listed<'_>) -> bool {
    let named = g.gpu.and_then(|g| g.name.known()).is_some_and(|n| n.contains("GeForce"));
    let cannot = named || g.sm == Some(121) || g.function.is_some_and(|f| lacks(b.node, b.node.pci.get(f)).is_some());
    if cannot {
        b.assumed.of("no GPUDirect RDMA, because GeForce and GB10 do not have it", g.bdf);
    }
    cannot
}
