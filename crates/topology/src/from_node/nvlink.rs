//! `<nvlink>` and `<c2c>`: from `nvidia-smi topo -m`, which counts the links of each pair.

use super::Build;
use super::arena::Id;
use super::gpu::Listed;
use crate::fill::Nvlink;
use crate::open::Open;
use crate::system::nvlinks;
use crate::xml::Element;
use linerate_formats::nvidia_smi::{PathKind, Topo};
use linerate_node::cpu::CpuVendor;
use linerate_node::gpudirect::{Attachment, attachment};
use linerate_node::pci::{Kind, Parent, PciFunction};

/// How NCCL names an end of an NVLink that it cannot see.
const HIDDEN: &str = "fffffff:ffff:ff";
const NVSWITCH_CLASS: &str = "0x068000";

/// C2C links of a superchip as NVML reports them: GH200 has ten of 44 712 MB/s, each GPU of a GB200 or GB300 five.
const C2C_MBS: &str = "44712";

/// Where NVLinks lead: one answer for all GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ways {
    /// To NVLink switches.
    Switched,
    /// From GPU to GPU.
    Direct,
}

pub(super) fn place(b: &mut Build<'_, '_>, gpu: Id, all: &[Listed<'_>], g: &Listed<'_>, ways: Ways) {
    match b.node.nvidia.topo().known() {
        // What a topology file counts holds.
        _ if b.arena.child(gpu, "nvlink").is_some() => {}
        Some(topo) => from_topo(b, gpu, all, g, topo, ways),
        None => untold(b, all, g),
    }
    c2c(b, gpu, g);
}

/// Peers with their counts of links.
fn peers<'a, 'g>(all: &'a [Listed<'g>], g: &Listed<'_>, topo: &Topo) -> (Vec<(&'a Listed<'g>, u16)>, bool) {
    let name = |g: &Listed<'_>| format!("GPU{}", g.dev);
    let (mut links, mut complete) = (Vec::new(), true);
    for peer in all.iter().filter(|p| p.dev != g.dev) {
        match topo.path(&name(g), &name(peer)).map(|c| c.value) {
            Some(PathKind::Nv(n)) if *n > 0 => links.push((peer, *n)),
            Some(_) => {}
            None => complete = false,
        }
    }
    (links, complete)
}

fn from_topo(b: &mut Build<'_, '_>, gpu: Id, all: &[Listed<'_>], g: &Listed<'_>, topo: &Topo, ways: Ways) {
    let (links, complete) = peers(all, g, topo);
    if !complete {
        b.unknown.of("NVLinks to all other GPUs (`nvidia-smi topo -m` lacks some)", g.bdf);
        b.open.push(Open::Nvlink);
    }
    let Some(most) = links.iter().map(|l| l.1).max() else { return };
    if ways == Ways::Switched {
        b.assumed.say(
            "NVLink: all links of a GPU lead to NVLink switches, written as one hidden switch; NCCL makes one of all anyway",
        );
        let e = Element::new("nvlink").with("target", HIDDEN).with("count", most.to_string());
        b.arena.add(gpu, e.with("tclass", NVSWITCH_CLASS));
        return;
    }
    if links.len() == 1 && g.sm.is_some_and(|sm| u32::from(most) == nvlinks(sm)) {
        b.assumed
            .of("all its NVLinks lead to one peer: straight, and not through NVLink switches that are hidden", g.bdf);
    }
    b.assumed.say(
        "NVLink: counts of `nvidia-smi topo -m`, straight between GPUs; in NVML's order, not in that of the links",
    );
    for (peer, count) in links {
        let class = peer.function.and_then(|f| b.node.pci.get(f).class.known().copied());
        let class = class.map_or_else(|| "0x030200".to_owned(), |c| format!("{:#08x}", c.0));
        let e = Element::new("nvlink").with("target", peer.bdf.to_string()).with("count", count.to_string());
        b.arena.add(gpu, e.with("tclass", class));
    }
}

/// Where NVLinks lead: to switches where the node has some or a GPU has joined a fabric of them, or where a GPU would need more links
/// than it has: through switches it reaches each peer with all of its links.
pub(super) fn ways(b: &Build<'_, '_>, all: &[Listed<'_>]) -> Ways {
    let Some(topo) = b.node.nvidia.topo().known() else { return Ways::Direct };
    // From Hopper on, a GPU on NVLink switches joins a fabric.
    let fabric = |g: &Listed<'_>| g.gpu.and_then(|g| g.fabric_state.known()).is_some_and(|s| s == "Completed");
    let seen = b.node.pci.of_kind(Kind::NvSwitch).next().is_some() || all.iter().any(fabric);
    let more = |g: &Listed<'_>| {
        let links = peers(all, g, topo).0;
        links.iter().map(|l| u32::from(l.1)).sum::<u32>() > g.sm.map_or(18, nvlinks)
    };
    if seen || all.iter().any(more) { Ways::Switched } else { Ways::Direct }
}

/// Nothing counts the links: what is there to suspect some?
fn untold(b: &mut Build<'_, '_>, all: &[Listed<'_>], g: &Listed<'_>) {
    let switches = b.node.pci.of_kind(Kind::NvSwitch).count();
    if switches > 0 {
        b.unknown.say(format!(
            "NVLink: the node has {switches} NVSwitch functions, and no `nvidia-smi topo -m` counts the links; each GPU is taken to have as many as \
             its generation"
        ));
        b.nvlink = Nvlink::Switch(None);
        b.open.push(Open::NvlinkCount);
    } else if all.len() > 1 && g.sm.is_some_and(may_have_nvlink) {
        b.unknown.say("NVLink: no `nvidia-smi topo -m`, so links between GPUs would not be seen");
        b.open.push(Open::Nvlink);
    }
}

/// Whether the CPU is known to be x86: by itself, or by its root ports.
fn is_x86(node: &linerate_node::Node<'_>) -> bool {
    let port = |f: &PciFunction<'_>| {
        let made_by = ["Intel", "Advanced Micro Devices"].iter().any(|m| f.name.contains(m));
        f.parent == Parent::RootComplex && (matches!(f.vendor.known(), Some(0x8086 | 0x1022)) || made_by)
    };
    match node.cpu.vendor.known() {
        Some(v) => matches!(v, CpuVendor::Intel | CpuVendor::Amd | CpuVendor::Zhaoxin),
        None => node.pci.functions.iter().any(port),
    }
}

/// Generations of which some boards have NVLink.
fn may_have_nvlink(sm: i32) -> bool {
    matches!(sm, 60 | 70 | 75 | 80 | 86 | 90 | 100 | 103)
}

fn c2c(b: &mut Build<'_, '_>, gpu: Id, g: &Listed<'_>) {
    if g.sm.is_none_or(|sm| sm < 90) || b.arena.child(gpu, "c2c").is_some() {
        return;
    }
    let said = g.gpu.and_then(|g| g.c2c_mode.known());
    let by_id = g.function.and_then(|f| attachment(b.node, b.node.pci.get(f)));
    let joined = match (said, by_id) {
        (Some(mode), _) => mode == "Enabled",
        (None, Some((a, _))) => a == Attachment::C2c,
        (None, None) => false,
    };
    if !joined {
        // Such a link leads to an Arm CPU; which CPU there is may not be known either.
        if said.is_none() && by_id.is_none() && !is_x86(b.node) {
            b.open.push(Open::C2c);
        }
        return;
    }
    let count = if g.sm == Some(90) { "10" } else { "5" };
    let why = if said.is_some() { "nvidia-smi says it is enabled" } else { "as all GPUs of this device id have it" };
    b.assumed.say(format!("C2C: {why}; {count} links of {C2C_MBS} MB/s, as NVML reports them on this generation"));
    b.arena.add(gpu, Element::new("c2c").with("bw", C2C_MBS).with("count", count));
}
