//! What is known of the two ways to register GPU memory: DMA-BUF and peer memory.

use crate::Cx;
use linerate_formats::kernel_config::{self, Setting};
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

/// DMA-BUF: open kernel modules, Linux 5.12 with memory regions on demand, a NIC driver that takes dma-bufs.
pub(super) fn dmabuf(cx: &Cx<'_>) -> Way {
    let node = cx.node;
    let flavour = &node.nvidia.driver.flavour;
    let mut conditions = vec![match flavour {
        Reading::Known(Flavour::Open, p) => condition(Some(true), "open NVIDIA kernel modules", *p),
        Reading::Known(Flavour::Proprietary, p) => condition(Some(false), "proprietary NVIDIA kernel modules", *p),
        Reading::Absent(p) => condition(Some(false), "no NVIDIA driver is loaded", *p),
        Reading::Unreadable(p, _) => condition(None, "flavour of the NVIDIA kernel modules", *p),
    }];
    let release = &node.kernel.release;
    conditions.push(match release {
        Reading::Known(k, p) if k.at_least(5, 12) => condition(Some(true), format!("kernel {k}"), *p),
        // Red Hat's 4.18 and 5.3 to 5.11 of others carry backports; older kernels never had the interface.
        Reading::Known(k, p) if k.at_least(4, 18) && k.rest.contains("el8") => {
            condition(None, format!("kernel {k} (older than 5.12, perhaps with backports)"), *p)
        }
        Reading::Known(k, p) => condition(Some(false), format!("kernel {k} is older than 5.12"), *p),
        r => condition(None, "kernel release", r.place()),
    });
    // Memory regions from dma-bufs are part of on-demand paging in mlx5. Out-of-tree stacks have their own configuration.
    if let Reading::Known(config, p) = &node.kernel.config {
        for name in ["DMA_SHARED_BUFFER", "INFINIBAND_ON_DEMAND_PAGING"] {
            let off = kernel_config::find(config, name).filter(|o| o.setting == Setting::NotSet);
            if let Some(o) = off.filter(|_| node.peermem.ofed().is_none()) {
                let text = format!("kernel built without CONFIG_{name}");
                conditions.push(condition(Some(false), text, p.line(o.line)));
            }
        }
    }
    conditions.push(nic(cx));
    Way { conditions }
}

/// Drivers with dma-buf memory regions (rdma-core providers that have reg_dmabuf_mr).
const DMABUF_DRIVERS: [&str; 7] = ["mlx5_core", "irdma", "ice", "efa", "bnxt_en", "mana", "ionic"];

fn nic(cx: &Cx<'_>) -> Condition {
    let mut unseen: Option<Place> = None;
    let mut other: Option<(String, Place)> = None;
    for (_, f) in cx.node.pci.rdma_nics() {
        match &f.driver {
            Reading::Known(d, p) if DMABUF_DRIVERS.contains(&d.as_ref()) => {
                return condition(Some(true), format!("NIC driver {d}"), *p);
            }
            // Passed to a virtual machine: not a NIC of this system.
            Reading::Known(d, _) if d == "vfio-pci" => {}
            Reading::Known(d, p) => other = Some((d.to_string(), *p)),
            Reading::Absent(p) => other = Some(("none".to_owned(), *p)),
            Reading::Unreadable(p, _) => unseen = Some(*p),
        }
    }
    match (unseen, other) {
        (Some(p), _) => condition(None, "driver of the RDMA NIC", p),
        (None, Some((d, p))) if d == "mlx4_core" || d == "none" => {
            condition(Some(false), format!("NIC driver {d} takes no dma-buf"), p)
        }
        (None, Some((d, p))) => condition(None, format!("whether NIC driver {d} takes dma-bufs"), p),
        (None, None) => {
            condition(None, "RDMA NIC", cx.node.pci.seen.unwrap_or_else(|| cx.node.nvidia.driver.flavour.place()))
        }
    }
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
    for (_, f) in cx.node.pci.gpus() {
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
