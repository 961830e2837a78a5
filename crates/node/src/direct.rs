//! Data Direct: a ConnectX-8 with a second function (15b3:2100) below a switch that it shares with a GPU. That function moves the data; the
//! physical function is where drivers, ports and names are.
//!
//! Devices, tree and match: `kernel-boot/rdma_topo` of rdma-core (`pci_device_types`, `__get_nvcx_complex`, `NVCX_DMA_Complex`).

use crate::pci::{DataPath, FnId, Kind, PciFunction, PciTree};

/// What a function is to rdma_topo, as far as ports and their ACS bits go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Root port of Grace.
    GraceRootPort,
    /// Root port of Vera.
    VeraRootPort,
    /// Port of a switch inside a ConnectX.
    ConnectXSwitch,
    /// Port of a switch inside a BlueField-3.
    BlueFieldSwitch,
}

/// What a function is, by its ids.
#[must_use]
pub fn part(f: &PciFunction<'_>) -> Option<Part> {
    match (f.vendor.known()?, f.device.known()?) {
        (0x10de, 0x22b1 | 0x22b2 | 0x22b8) => Some(Part::GraceRootPort),
        (0x10de, 0x2f95 | 0x2f96) => Some(Part::VeraRootPort),
        (0x15b3, 0x1979 | 0x197c) => Some(Part::ConnectXSwitch),
        (0x15b3, 0x197b) => Some(Part::BlueFieldSwitch),
        _ => None,
    }
}

/// The ports of one Data Direct function and its GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Complex {
    /// The Data Direct function.
    pub dma: FnId,
    /// Its GPU.
    pub gpu: FnId,
    /// Port of the shared switch towards the Data Direct function.
    pub dma_port: FnId,
    /// Port of the shared switch towards the GPU. The port directly above the GPU is another one, of an inner switch.
    pub gpu_port: FnId,
    /// Root port above both.
    pub root: FnId,
}

/// Why a tree is not the one that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoComplex {
    /// The bridges above the function are not seen.
    Unseen,
    /// Above the function is something else than port, upstream port, root port of Grace.
    OtherAbove,
    /// Not exactly one GPU below the root port.
    Gpus(usize),
    /// The GPU is not below port, upstream port, port of the same switch.
    OtherWay,
}

impl NoComplex {
    /// In words.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            NoComplex::Unseen => "the source does not show the bridges above the Data Direct function".into(),
            NoComplex::OtherAbove => {
                "above the Data Direct function is not a ConnectX switch below a root port of Grace: rdma_topo does not know this tree".into()
            }
            NoComplex::Gpus(n) => format!("{n} GPUs are below its root port, and rdma_topo expects one"),
            NoComplex::OtherWay => {
                "the GPU below the same root port is not behind a nested ConnectX switch: rdma_topo does not know this tree".into()
            }
        }
    }
}

/// The complex of a Data Direct function.
///
/// # Errors
/// Where the tree is not seen, or not the one that rdma_topo knows.
pub fn complex(pci: &PciTree<'_>, dma: FnId) -> Result<Complex, NoComplex> {
    let (above, complete) = pci.ancestors(dma);
    let (&[dma_port, shared, root], true) = (above.as_slice(), complete) else {
        return Err(if complete { NoComplex::OtherAbove } else { NoComplex::Unseen });
    };
    let is = |id: FnId, p: Part| part(pci.get(id)) == Some(p);
    if !is(dma_port, Part::ConnectXSwitch) || !is(shared, Part::ConnectXSwitch) || !is(root, Part::GraceRootPort) {
        return Err(NoComplex::OtherAbove);
    }
    let below: Vec<(FnId, Vec<FnId>)> =
        pci.nvidia_gpus().map(|(g, _)| (g, pci.ancestors(g).0)).filter(|(_, up)| up.contains(&root)).collect();
    let [(gpu, up)] = below.as_slice() else { return Err(NoComplex::Gpus(below.len())) };
    let &[inner, inner_up, gpu_port, common, top] = up.as_slice() else { return Err(NoComplex::OtherWay) };
    let switch = [inner, inner_up, gpu_port].into_iter().all(|p| is(p, Part::ConnectXSwitch));
    if !switch || common != shared || top != root {
        return Err(NoComplex::OtherWay);
    }
    Ok(Complex { dma, gpu: *gpu, dma_port, gpu_port, root })
}

/// Which functions can have a Data Direct function: ConnectX-8 and -9, physical.
fn may_have(f: &PciFunction<'_>) -> bool {
    f.kind == Kind::RdmaNic
        && !f.is_vf()
        && f.vendor.known() == Some(&0x15b3)
        && matches!(f.device.known(), Some(0x1023 | 0x1025))
}

/// Matches NICs to Data Direct functions by V3 of their Vital Product Data.
pub(crate) fn data_paths(pci: &PciTree<'_>) -> Vec<(FnId, DataPath)> {
    let uuid = |f: &PciFunction<'_>| f.vpd.known().and_then(|v| v.v3.clone());
    let direct: Vec<(FnId, Option<String>)> = pci.of_kind(Kind::DataDirect).map(|(id, f)| (id, uuid(f))).collect();
    if direct.is_empty() {
        return Vec::new();
    }
    let all_known = direct.iter().all(|(_, u)| u.is_some());
    let path = |f: &PciFunction<'_>| match uuid(f) {
        None => DataPath::Unknown,
        own => match direct.iter().find(|(_, u)| *u == own) {
            Some((id, _)) => DataPath::Direct(*id),
            None if all_known => DataPath::Own,
            None => DataPath::Unknown,
        },
    };
    pci.iter().filter(|(_, f)| may_have(f)).map(|(id, f)| (id, path(f))).collect()
}
