//! What is known of the two ways to register GPU memory: DMA-BUF and peer memory.

use crate::Cx;
use linerate_node::dmabuf::{self, Support};
use linerate_node::gpu::Flavour;
use linerate_snapshot::{Place, Reading};

/// A condition: whether it holds (`None`: not seen), in words, where.
pub(super) struct Condition {
    pub(super) holds: Option<bool>,
    pub(super) text: String,
    pub(super) place: Place,
}

/// A way to register memory.
pub(super) struct Way {
    pub(super) conditions: Vec<Condition>,
}

impl Way {
    /// Holds if all conditions do; fails if one is known not to hold.
    pub(super) fn usable(&self) -> Option<bool> {
        if self.conditions.iter().any(|c| c.holds == Some(false)) {
            return Some(false);
        }
        self.conditions.iter().all(|c| c.holds == Some(true)).then_some(true)
    }

    /// Texts of the conditions with this answer.
    pub(super) fn saying(&self, holds: Option<bool>) -> String {
        let texts: Vec<&str> = self.conditions.iter().filter(|c| c.holds == holds).map(|c| c.text.as_str()).collect();
        texts.join(", ")
    }
}

/// DMA-BUF: open kernel modules, a NIC driver that takes dma-bufs on this kernel; with mlx5 memory regions on demand.
pub(super) fn dmabuf(cx: &Cx<'_>) -> Way {
    let node = cx.node;
    let flavour = &node.nvidia.driver.flavour;
    let mut conditions = vec![match flavour {
        Reading::Known(Flavour::Open, p) => condition(Some(true), "open NVIDIA kernel modules", *p),
        Reading::Known(Flavour::Proprietary, p) => condition(Some(false), "proprietary NVIDIA kernel modules", *p),
        Reading::Absent(p) => condition(Some(false), "no NVIDIA driver is loaded", *p),
        Reading::Unreadable(p, _) => condition(None, "flavour of the NVIDIA kernel modules", *p),
    }];
    conditions.push(nic(cx));
    Way { conditions }
}

/// One NIC whose driver takes dma-bufs is enough.
fn nic(cx: &Cx<'_>) -> Condition {
    let node = cx.node;
    let mut best: Option<Condition> = None;
    let rank = |c: &Condition| match c.holds {
        Some(true) => 2,
        None => 1,
        Some(false) => 0,
    };
    for (_, f) in node.pci.rdma_nics() {
        let next = match &f.driver {
            // Passed to a virtual machine: not a NIC of this system.
            Reading::Known(d, _) if linerate_node::pci::is_vfio(d) => continue,
            Reading::Known(d, p) => match (dmabuf::of(node, f), node.kernel.release.known()) {
                (Some(Support::Yes), Some(k)) => condition(Some(true), format!("NIC driver {d}, kernel {k}"), *p),
                (Some(Support::KernelWithout(option)), _) => {
                    let place = dmabuf::missing_option(node, f).map_or(*p, |(_, place)| place);
                    condition(Some(false), format!("kernel built without CONFIG_{option}"), place)
                }
                (Some(Support::Never), _) => condition(Some(false), format!("NIC driver {d} takes no dma-buf"), *p),
                (Some(Support::Since(major, minor)), Some(k)) => condition(
                    Some(false),
                    format!("NIC driver {d} takes dma-bufs since Linux {major}.{minor}, kernel {k} is older"),
                    *p,
                ),
                (Some(Support::Backport(major, minor)), Some(k)) => condition(
                    None,
                    format!(
                        "NIC driver {d} (takes dma-bufs since Linux {major}.{minor}; kernel {k} may have a newer driver)"
                    ),
                    *p,
                ),
                (Some(Support::UnknownDriver), _) => {
                    condition(None, format!("whether NIC driver {d} takes dma-bufs"), *p)
                }
                // mlx4 never did, whatever the kernel.
                _ if d == "mlx4_core" => condition(Some(false), format!("NIC driver {d} takes no dma-buf"), *p),
                _ => condition(None, "kernel release", node.kernel.release.place()),
            },
            Reading::Absent(p) => condition(Some(false), "the NIC has no driver", *p),
            Reading::Unreadable(p, _) => condition(None, "driver of the RDMA NIC", *p),
        };
        if best.as_ref().is_none_or(|b| rank(&next) > rank(b)) {
            best = Some(next);
        }
    }
    best.unwrap_or_else(|| {
        condition(None, "RDMA NIC", node.pci.seen.unwrap_or_else(|| node.nvidia.driver.flavour.place()))
    })
}

fn condition(holds: Option<bool>, text: impl Into<String>, place: Place) -> Condition {
    Condition { holds, text: text.into(), place }
}

/// A file by which NCCL recognises a peer-memory module, and which versions test it.
pub(super) struct PeerFile {
    pub(super) path: &'static str,
    pub(super) place: Place,
    /// First version that tests it: major, minor.
    pub(super) from: u32,
    /// Last one; `None`: still does (2.30).
    pub(super) to: Option<u32>,
}

/// Minor versions of NCCL 2 in whose sources the list of files differs.
pub(super) const FIRST: u32 = 4;

/// The peer-memory files that exist. NCCL tests, up to 2.8: nv_mem; 2.9 to 2.21: also nvidia-peermem; 2.22: nv_mem and nv_mem_nc; from
/// 2.23: nv_mem, nv_mem_nc and the module's own version.
pub(super) fn peer_files(cx: &Cx<'_>) -> Vec<PeerFile> {
    let peer = &cx.node.peermem;
    let mut out = Vec::new();
    for (name, path, from, to) in [
        ("nv_mem", "/sys/kernel/mm/memory_peers/nv_mem/version", FIRST, None),
        ("nv_mem_nc", "/sys/kernel/mm/memory_peers/nv_mem_nc/version", 22, None),
        ("nvidia-peermem", "/sys/kernel/mm/memory_peers/nvidia-peermem/version", 9, Some(21)),
    ] {
        if let Some(place) = peer.client(name) {
            out.push(PeerFile { path, place, from, to });
        }
    }
    if let Reading::Known(_, place) = &peer.nvidia_peermem.version {
        out.push(PeerFile { path: "/sys/module/nvidia_peermem/version", place: *place, from: 23, to: None });
    }
    out
}

/// Whether a peer-memory module serves: `Some(true)` with a file, `Some(false)` if there is certainly none.
pub(super) fn peer_memory(cx: &Cx<'_>) -> Option<bool> {
    if !peer_files(cx).is_empty() {
        return Some(true);
    }
    let peer = &cx.node.peermem;
    let no_clients = match &peer.clients {
        Reading::Absent(_) => true,
        Reading::Known(list, _) => {
            !list.iter().any(|c| matches!(c.name.as_str(), "nv_mem" | "nv_mem_nc" | "nvidia-peermem"))
        }
        Reading::Unreadable(..) => false,
    };
    let no_module = peer.nvidia_peermem.loaded.is_absent() || peer.nvidia_peermem.version.is_absent();
    (no_clients && no_module).then_some(false)
}

/// GPU architectures before Turing: the open kernel modules do not drive them. From the driver's words or the PCI device id.
pub(super) fn before_turing(cx: &Cx<'_>) -> Option<(&'static str, Place)> {
    for (_, f) in cx.node.pci.nvidia_gpus() {
        let smi = cx.node.nvidia.gpu(f.bdf);
        if let Some((name, place)) = smi.and_then(|g| match &g.architecture {
            Reading::Known(a, p) => Some((a.as_str(), *p)),
            _ => None,
        }) {
            match name {
                "Volta" => return Some(("Volta", place)),
                "Pascal" => return Some(("Pascal", place)),
                "Maxwell" => return Some(("Maxwell", place)),
                "Kepler" => return Some(("Kepler", place)),
                _ => continue,
            }
        }
        // GV100 and GP100 have ranges of ids of their own (pci.ids).
        match f.device.known() {
            Some(0x1d80..=0x1dff) => return Some(("Volta", f.device.place())),
            Some(0x15f0..=0x15ff) => return Some(("Pascal", f.device.place())),
            _ => {}
        }
    }
    None
}
