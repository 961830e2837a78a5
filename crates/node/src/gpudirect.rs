//! Whether a GPU can do GPUDirect RDMA, and how it is joined to its CPU: one place for topology, rules and environment.
//!
//! Device ids: the list of supported GPUs in NVIDIA's open-gpu-kernel-modules (README.md).

use crate::Node;
use crate::pci::{Kind, PciFunction};
use linerate_snapshot::{Place, Reading};

/// How a GPU is joined to its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attachment {
    /// By PCIe alone.
    Pcie,
    /// Coherently over NVLink-C2C (GH200, GB200, GB300): NICs reach its memory through the CPU, too, and the driver does not demand a
    /// common PCIe switch.
    C2c,
    /// One chip with one memory (GB10).
    OneChip,
}

/// Why a GPU has no GPUDirect RDMA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lacks {
    /// GeForce: the driver refuses.
    GeForce,
    /// GB10: its memory is the system's; there is nothing to register.
    Gb10,
}

/// How it is joined, and where that is seen; `None` where no source tells what it is.
#[must_use]
pub fn attachment(node: &Node<'_>, f: &PciFunction<'_>) -> Option<(Attachment, Place)> {
    if f.kind != Kind::Gpu {
        return None;
    }
    let smi = node.nvidia.gpu(f.bdf);
    if let Some(Reading::Known(mode, at)) = smi.map(|g| &g.c2c_mode)
        && mode == "Enabled"
    {
        return Some((Attachment::C2c, *at));
    }
    let of = |device: u16| match device {
        0x2e12 => Attachment::OneChip,
        0x2342 | 0x2348 | 0x2941 | 0x31c2 => Attachment::C2c,
        _ => Attachment::Pcie,
    };
    f.device.known().map(|d| (of(*d), f.device.place()))
}

/// Whether a GPU is of a kind that has no GPUDirect RDMA, and where that is seen.
#[must_use]
pub fn lacks(node: &Node<'_>, f: &PciFunction<'_>) -> Option<(Lacks, Place)> {
    if let Some((Attachment::OneChip, at)) = attachment(node, f) {
        return Some((Lacks::Gb10, at));
    }
    let smi = node.nvidia.gpu(f.bdf).and_then(|g| Some((g.name.known()?.as_str(), g.name.place())));
    let (name, at) = smi.unwrap_or((f.name.as_str(), f.class.place()));
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    words.find_map(|w| match w {
        "GB10" => Some((Lacks::Gb10, at)),
        w if w.eq_ignore_ascii_case("GeForce") => Some((Lacks::GeForce, at)),
        _ => None,
    })
}
