//! NCCL's paths beside `nvidia-smi topo -m`: two vocabularies, and what it means where they disagree.

use super::matrix::word;
use crate::analysis::Analysis;
use crate::path::PathType;
use crate::paths::Paths;
use crate::system::{NodeId, System};
use linerate_formats::nvidia_smi::{PathKind, Topo};

/// A pair of devices of which the two views say different things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// One device, as the matrix names it.
    pub a: String,
    /// The other.
    pub b: String,
    /// NCCL's path type, as the hardware has it.
    pub ours: String,
    /// The matrix's word.
    pub theirs: String,
    /// What explains it.
    pub why: &'static str,
}

/// A device of the graph under the matrix's name. A NIC fused of several ports is under each of them.
struct Named {
    id: NodeId,
    name: String,
    gpu: bool,
    fused: bool,
}

/// Compares the paths between GPUs and with NICs, before NCCL adjusts them. Pairs that the matrix does not have are passed over.
#[must_use]
pub fn compare_with_topo_m(analysis: &Analysis, topo: &Topo) -> Vec<Difference> {
    // A host that NCCL cuts in several nodes is compared whole.
    let (system, paths) = match &analysis.whole {
        Some(w) => (&w.system, &w.raw),
        None => (&analysis.system, &analysis.raw),
    };
    let named = names(system);
    let mut out = Vec::new();
    for (i, a) in named.iter().enumerate() {
        // Between NICs NCCL has no use for paths.
        for b in named.iter().skip(i + 1).filter(|b| b.id != a.id && a.gpu) {
            let Some(theirs) = topo.path(&a.name, &b.name).map(|c| c.value) else { continue };
            let Some(ours) = kind(paths, a.id, b.id) else { continue };
            if agree(ours, theirs) {
                continue;
            }
            out.push(Difference {
                a: a.name.clone(),
                b: b.name.clone(),
                ours: ours.name().to_owned(),
                theirs: word(theirs),
                why: why(ours, theirs, a.fused || b.fused),
            });
        }
    }
    out
}

/// GPUs under their number, NICs under their names.
fn names(system: &System) -> Vec<Named> {
    let gpu =
        |(id, g): (NodeId, &crate::system::Gpu)| Named { id, name: format!("GPU{}", g.dev), gpu: true, fused: false };
    let mut out: Vec<Named> = system.gpus().map(gpu).collect();
    // Parts of a split GPU have one number.
    out.dedup_by(|a, b| a.name == b.name);
    for (id, net) in system.nets() {
        let Some(name) = &net.name else { continue };
        let parts: Vec<&str> = name.split('+').collect();
        let fused = parts.len() > 1;
        out.extend(parts.into_iter().map(|p| Named { id, name: p.to_owned(), gpu: false, fused }));
    }
    out
}

fn kind(paths: &Paths, a: NodeId, b: NodeId) -> Option<PathType> {
    paths.get(a, b).or_else(|| paths.get(b, a)).map(|p| p.kind)
}

/// NCCL's PHB is every way through one CPU, however many host bridges it has: PHB and NODE.
fn agree(ours: PathType, theirs: &PathKind) -> bool {
    matches!(
        (ours, theirs),
        (PathType::Loc, PathKind::Itself)
            | (PathType::Nvl, PathKind::Nv(_))
            | (PathType::C2c | PathType::P2c, PathKind::C2c)
            | (PathType::Pix, PathKind::Pix)
            | (PathType::Pxb, PathKind::Pxb)
            | (PathType::Phb, PathKind::Phb | PathKind::Node)
            | (PathType::Sys, PathKind::Sys)
    )
}

fn why(ours: PathType, theirs: &PathKind, fused: bool) -> &'static str {
    use PathType::{C2c, Nvb, Nvl, P2c, Phb, Pix, Pxb, Sys};
    match (ours, theirs) {
        (_, PathKind::Other(_)) => "this version does not know the word in the matrix",
        (Pix, PathKind::Pxb) => {
            "NCCL counts cascaded Broadcom switches as one switch, and does not count downstream ports"
        }
        (Pxb, PathKind::Pix) => {
            "NCCL's document has a switch between them that the node does not have: it is of another node, or was edited by hand"
        }
        (Phb, PathKind::Sys) => {
            "NCCL uses the NUMA node of the topmost switch and puts both below one CPU, but the functions themselves are in two NUMA nodes: the firmware contradicts itself, sub-NUMA clustering (SNC, NPS) changed since, or the document was edited by hand"
        }
        (Sys, PathKind::Node | PathKind::Phb) => {
            "the document has them below two CPUs, the node has them in one NUMA node: NCCL gives a function without a NUMA node (-1) a CPU of its own, or sub-NUMA clustering (SNC, NPS) changed since"
        }
        (Nvb, _) => "NCCL uses NVLink through another GPU; the matrix shows direct links only",
        (Nvl, _) => {
            "the document has NVLinks between them that the matrix does not show: links are down, or it is of another node"
        }
        (_, PathKind::Nv(_)) => {
            "the matrix shows NVLinks that the document lacks: it was written without them, or from a node whose links were down"
        }
        (C2c | P2c, _) => "NCCL uses C2C through the CPU; the matrix shows the PCIe path",
        (Pix | Pxb | Phb | Sys, _) if fused => {
            "NCCL fused ports of a card into one NIC: the path is that of the fused NIC"
        }
        (Pix | Pxb, PathKind::Node | PathKind::Phb | PathKind::Sys) => {
            "the document has both below one switch, the node does not: it has virtual functions under invented bridges (a provider's file), or is of another node"
        }
        (Phb | Sys, PathKind::Pix | PathKind::Pxb) => {
            "the node has both below one bridge, the document does not: NCCL does not count a root port as a switch, or the virtual machine hides the switches"
        }
        _ => "the terms do not explain it: the document and the matrix are of different nodes, or of different times",
    }
}
