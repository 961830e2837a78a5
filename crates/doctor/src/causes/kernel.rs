//! What the kernel saw.

use super::{Found, Known, investigate, nccl};
use crate::answer::Confidence::{Certain, Likely};
use crate::observe::trouble::KernelTrouble;
use linerate_rules::{Action, Persistence, Remedy, Risk, Severity, Source};

pub(super) static ALL: &[&Known] = &[&FAULT, &XID, &OOM];

const GDR_DOC: Source = nccl("GPUDirect RDMA documentation: IOMMU", "https://docs.nvidia.com/cuda/gpudirect-rdma/");
const XID_DOC: Source = nccl("NVIDIA Xid catalogue", "https://docs.nvidia.com/deploy/xid-errors/");

static FAULT: Known = Known {
    id: "kernel/iommu-fault",
    title: "The IOMMU refused an address that a device used",
    severity: Severity::Critical,
    docs: "A device used an address for which the IOMMU had no mapping. Peer-to-peer traffic between GPU and NIC in a translated domain ends so: NCCL asks neither for the IOMMU's mode nor for ACS, and hangs or sees errors.",
    confirm: &[
        "whose is the address of the device? `lspci -s BDF`",
        "`linerate audit --rule 'iommu/*'`: the domain of GPU and NIC",
        "`iommu=pt` (or the IOMMU off) and the same job",
    ],
    refute: &["the device is neither a GPU nor a NIC nor a bridge above one"],
    rules: &["iommu/faults", "iommu/translated-domain", "cmdline/iommu-pt-without-iommu"],
    sources: &[GDR_DOC],
    remedy: || {
        Remedy::new(
            "Put the devices into identity domains: iommu=pt on the kernel command line",
            Action::KernelArgs { add: vec!["iommu=pt".into()], remove: Vec::new() },
            Persistence::NextBoot,
            Risk::Medium,
        )
        .because("the node is rebooted; devices of the host are no longer kept from each other's memory")
        .prove("/sys/kernel/iommu_groups/*/type is identity, and the fault lines are gone")
    },
    check: |c| {
        let found = c.kernel(|k| matches!(k, KernelTrouble::IommuFault(_)));
        let devices: Vec<String> = found
            .iter()
            .filter_map(|(k, _)| match k {
                KernelTrouble::IommuFault(Some(b)) => Some(*b),
                _ => None,
            })
            .map(|b| match c.nodes.iter().find_map(|n| describe(n, b)) {
                Some(what) => format!("{b} ({what})"),
                None => b.to_string(),
            })
            .collect();
        let (_, g) = found.first()?;
        let total: u64 = found.iter().map(|(_, g)| g.count).sum();
        let whose =
            if devices.is_empty() { String::new() } else { format!(" of {}", crate::ranges::some(&devices, 3)) };
        let words = format!("{total} IOMMU fault(s){whose}");
        let why = "the kernel's log says so; a device's address tells whether it is on the GPU-NIC path";
        Some(
            Found::new(Certain, words, why)
                .with(c.quotes(g))
                .join(c, &["iommu/translated-domain", "iommu/faults", "acs/redirect-on-p2p-path"]),
        )
    },
    follows: &[],
};

/// What a device is on a node that was given.
fn describe(n: &crate::nodes::NodeView<'_>, bdf: linerate_formats::pci::Bdf) -> Option<String> {
    let (_, f) = n.node.pci.iter().find(|(_, f)| f.bdf == bdf)?;
    Some(format!("{:?}", f.kind))
}

/// What an Xid says, as far as it decides what to do next. Short words of ours; the catalogue has the rest.
fn xid(number: u32) -> &'static str {
    match number {
        13 | 31 | 43 | 45 => "an error of the program on the GPU, as a rule: the first of several counts",
        48 | 63 | 64 | 92 | 94 | 95 => "memory errors of the GPU",
        74 => "an NVLink error",
        79 => "the GPU fell off the bus",
        109 | 119 | 120 => "the GPU's firmware (GSP) does not answer",
        137 | 144..=150 => "an NVLink fault",
        _ => "see the catalogue",
    }
}

static XID: Known = Known {
    id: "kernel/xid",
    title: "The GPU driver reported an error (Xid)",
    severity: Severity::Critical,
    docs: "An Xid is the driver's report of an error of a GPU. 79 (off the bus), 48/63/64/94/95 (memory), 74 (NVLink), 119/120 (GSP) are hardware or firmware; 13, 31, 43 and 45 follow from the program or from another error. \
           The rank on that GPU fails, all others wait for it.",
    confirm: &[
        "`nvidia-smi -q` on that node: pending retirements, remapped rows, NVLink errors",
        "`dcgmi diag -r 3` with the node drained",
    ],
    refute: &["13, 31 or 43 alone: look at the program"],
    rules: &["gpumem/xid", "gpumem/nvlink-fabric", "pcie/device-gone"],
    sources: &[XID_DOC],
    remedy: || investigate("Drain the node and reset or replace the GPU, as the Xid's entry in the catalogue says"),
    check: |c| {
        // Those of NVLink are told by gpu/nvlink.
        let found = c.kernel(|k| matches!(k, KernelTrouble::Xid { number, .. } if !super::gpu::is_nvlink(*number)));
        // 43 and 45 follow from others.
        let rank = |k: &KernelTrouble| match k {
            KernelTrouble::Xid { number: 43 | 45, .. } => 2,
            KernelTrouble::Xid { number: 13 | 31, .. } => 1,
            _ => 0,
        };
        if found.is_empty() {
            let lost = c.kernel(|k| matches!(k, KernelTrouble::GpuLost));
            let (_, g) = lost.first()?;
            return Some(Found::new(Certain, "a GPU fell off the bus", "the driver says so").with(c.quotes(g)));
        }
        let (k, g) = found.iter().min_by_key(|(k, g)| (rank(k), g.first))?;
        let KernelTrouble::Xid { number, gpu } = k else { return None };
        let whose = gpu.map(|b| format!(" of {b}")).unwrap_or_default();
        let sure = if rank(k) == 0 { Certain } else { Likely };
        let words = format!("Xid {number}{whose}: {}", xid(*number));
        Some(Found::new(sure, words, "the driver's own report in the kernel's log").with(c.quotes(g)))
    },
    follows: &[],
};

static OOM: Known = Known {
    id: "kernel/oom",
    title: "The kernel ended a process for want of memory",
    severity: Severity::Critical,
    docs: "The host, or the memory cgroup of the container, ran out of memory, and the kernel killed a process. Where that was a rank, all others see a closed connection or wait.",
    confirm: &["name and pid of the killed process against the ranks", "memory.max and memory.events of the cgroup"],
    refute: &["the killed process is no part of the job"],
    rules: &[],
    sources: &[nccl("Linux, mm/oom_kill.c", "https://github.com/torvalds/linux/blob/master/mm/oom_kill.c")],
    remedy: || investigate("Give the job more host memory, or use less: data loaders, pinned buffers, checkpoints"),
    check: |c| {
        let found = c.kernel(|k| matches!(k, KernelTrouble::OutOfMemory));
        let (_, g) = found.first()?;
        let pids: Vec<u32> = c.processes().map(|(_, p)| p.pid).collect();
        let rank = g.quotes.iter().any(|q| {
            q.text
                .split(|ch: char| !ch.is_ascii_digit())
                .filter_map(|n| n.parse::<u32>().ok())
                .any(|n| n > 1 && pids.contains(&n))
        });
        let (sure, why) = if rank {
            (Certain, "the killed process is one of the ranks")
        } else {
            (Likely, "the kernel's log says so; whether the process was a rank, its pid tells")
        };
        Some(Found::new(sure, "the kernel killed a process for want of memory", why).with(c.quotes(g)))
    },
    follows: &[],
};
