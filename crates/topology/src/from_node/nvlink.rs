//! `<nvlink>` and `<c2c>`: from `nvidia-smi topo -m`, which counts the links of each pair.

use super::Build;
use super::arena::Id;
use super::gpu::Listed;
use crate::system::nvlinks;
use crate::xml::Element;
use linerate_formats::nvidia_smi::{PathKind, Topo};
use linerate_node::pci::Kind;

/// How NCCL names an end of an NVLink that it cannot see.
const HIDDEN: &str = "fffffff:ffff:ff";
const NVSWITCH_CLASS: &str = "0x068000";

/// C2C links of a superchip as NVML reports them: GH200 has ten of 44 712 MB/s, each GPU of a GB200 or GB300 five.
const C2C_MBS: &str = "44712";

pub(super) fn place(b: &mut Build<'_, '_>, gpu: Id, all: &[Listed<'_>], g: &Listed<'_>) {
    match b.node.nvidia.topo.known() {
        Some(topo) => from_topo(b, gpu, all, g, topo),
        None => untold(b, all, g),
    }
    c2c(b, gpu, g);
}

fn from_topo(b: &mut Build<'_, '_>, gpu: Id, all: &[Listed<'_>], g: &Listed<'_>, topo: &Topo) {
    let name = |g: &Listed<'_>| format!("GPU{}", g.dev);
    let mut links: Vec<(&Listed<'_>, u16)> = Vec::new();
    for peer in all.iter().filter(|p| p.dev != g.dev) {
        match topo.path(&name(g), &name(peer)).map(|c| c.value) {
            Some(PathKind::Nv(n)) if *n > 0 => links.push((peer, *n)),
            Some(_) => {}
            None => {
                b.unknown(format!("links between GPU {} and GPU {} (not in `nvidia-smi topo -m`)", g.bdf, peer.bdf))
            }
        }
    }
    let Some(most) = links.iter().map(|l| l.1).max() else { return };
    if switched(b, &links, g) {
        b.assume("NVLink: all links of a GPU lead to NVLink switches, written as one hidden switch; NCCL makes one of all anyway");
        let e = Element::new("nvlink").with("target", HIDDEN).with("count", most.to_string());
        b.arena.add(gpu, e.with("tclass", NVSWITCH_CLASS));
        return;
    }
    b.assume("NVLink: counts of `nvidia-smi topo -m`, straight between GPUs; peers in NVML's order, not in that of the links");
    for (peer, count) in links {
        let class = peer.function.and_then(|f| b.node.pci.get(f).class.known().copied());
        let mut e = Element::new("nvlink").with("target", peer.bdf.to_string()).with("count", count.to_string());
        if let Some(c) = class {
            e.set("tclass", format!("{:#08x}", c.0));
        }
        b.arena.add(gpu, e);
    }
}

/// Whether the links lead to switches: the node has some, or the GPU would need more links than it has. Through switches a GPU
/// reaches each peer with all of its links.
fn switched(b: &Build<'_, '_>, links: &[(&Listed<'_>, u16)], g: &Listed<'_>) -> bool {
    let equal = links.iter().all(|l| Some(l.1) == links.first().map(|f| f.1));
    let sum: u32 = links.iter().map(|l| u32::from(l.1)).sum();
    let has = g.sm.map_or(18, nvlinks);
    let seen = b.node.pci.of_kind(Kind::NvSwitch).next().is_some();
    equal && links.len() > 1 && (seen || sum > has)
}

/// Nothing counts the links: what is there to suspect some?
fn untold(b: &mut Build<'_, '_>, all: &[Listed<'_>], g: &Listed<'_>) {
    let switches = b.node.pci.of_kind(Kind::NvSwitch).count();
    if switches > 0 {
        b.unknown(format!(
            "NVLink: the node has {switches} NVSwitch functions, and no `nvidia-smi topo -m` counts the links"
        ));
    } else if all.len() > 1 && g.sm.is_some_and(may_have_nvlink) {
        b.unknown("NVLink: no `nvidia-smi topo -m`, so links between GPUs would not be seen");
    }
}

/// Generations of which some boards have NVLink.
fn may_have_nvlink(sm: i32) -> bool {
    matches!(sm, 60 | 70 | 75 | 80 | 86 | 90 | 100 | 103)
}

fn c2c(b: &mut Build<'_, '_>, gpu: Id, g: &Listed<'_>) {
    if g.sm.is_none_or(|sm| sm < 90) {
        return;
    }
    let said = g.gpu.and_then(|g| g.c2c_mode.known()).is_some_and(|m| m == "Enabled");
    if !said {
        return;
    }
    let count = if g.sm == Some(90) { "10" } else { "5" };
    b.assume(format!(
        "C2C: nvidia-smi says it is enabled; {count} links of {C2C_MBS} MB/s, as NVML reports them on this generation"
    ));
    b.arena.add(gpu, Element::new("c2c").with("bw", C2C_MBS).with("count", count));
}
