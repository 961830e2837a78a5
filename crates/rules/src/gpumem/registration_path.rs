//! `gpumem/registration-path`.

use super::{no_own_gpu, paths};
use crate::sources::open_modules;
use crate::{About, Cx, Effect, Finding, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::gpu::Flavour;
use linerate_snapshot::Reading;

/// NVIDIA's comparison of the ways.
pub(super) const OPERATOR: Source = Source {
    title: "NVIDIA GPU Operator, GPUDirect RDMA: DMA-BUF is recommended over nvidia-peermem; requirements of both",
    at: "https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-operator-rdma.html",
};

/// Where NCCL looks.
pub(super) const NCCL: Source = Source {
    title: "NCCL, src/transport/net_ib.cc (net_ib/gdr.cc): ncclIbGdrModules, ibv_reg_dmabuf_mr probe",
    at: "https://github.com/NVIDIA/nccl/tree/master/src/transport",
};

/// The module's source.
pub(super) const PEERMEM: Source = open_modules!("kernel-open/nvidia-peermem/nvidia-peermem.c", "nv_mem_client_init");

pub(super) static RULE: Rule = Rule {
    id: "gpumem/registration-path",
    title: "The NIC can register GPU memory: by DMA-BUF or by a peer-memory module",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::estimate("without either, GPUDirect RDMA is off and every message is staged through host memory: 1.5 to 4 times slower"),
    sources: &[OPERATOR, NCCL, PEERMEM],
    reads: &[
        "proc/driver/nvidia/version",
        "proc/sys/kernel/osrelease",
        "sys/bus/pci/devices/*/driver",
        "sys/kernel/mm/memory_peers/*/version",
        "sys/module/nvidia_peermem/version",
    ],
    docs: "\
## What it checks
That at least one of two ways to hand GPU memory to the NIC exists. DMA-BUF: open NVIDIA kernel modules (Turing or later), and a NIC driver
that takes dma-bufs on this kernel: mlx5 since Linux 5.12, efa 5.16, irdma 6.3, bnxt_re 6.6, mana 6.15, mlx4 never; of other drivers that
is not known, and kernels of vendors may carry newer ones. Peer memory: a module nvidia_peermem or
nv_peer_mem that shows one of its files. Either is enough; the absence of nvidia_peermem alone is normal.

## Why it matters
Without a way to register GPU memory the library copies through host memory. Nothing fails; it is just slow, and no channel of NCCL's
log shows `/GDRDMA`. For DMA-BUF the user side matters too: CUDA 11.7, rdma-core 34, NCCL 2.13, which a node's files do not show.

## See it yourself
`cat /proc/driver/nvidia/version; uname -r; ls /sys/kernel/mm/memory_peers; cat /sys/module/nvidia_peermem/version`.

## Fix
Prefer the open kernel modules with DMA-BUF. Else, with MLNX_OFED or DOCA-OFED, `modprobe nvidia-peermem` and load it at each boot.
With the kernel's own RDMA stack nvidia-peermem cannot load: it lacks the peer-memory interface, unless the distribution added it
(`grep ib_register_peer_memory_client /proc/kallsyms`).",
    myths: &[
        Myth {
            claim: "nvidia_peermem is required for GPUDirect RDMA.",
            truth: "It is one of two ways. With open kernel modules, Linux 5.12 and NCCL 2.13 DMA-BUF is used, and NVIDIA recommends it.",
        },
        Myth {
            claim: "dmesg must say \"nvidia peermem registered\".",
            truth: "No such message exists. The module prints nothing when it loads.",
        },
        Myth {
            claim: "\"GPU Direct RDMA disabled\" in NCCL's log means that iommu=pt is missing.",
            truth: "NCCL does not look at the IOMMU. No way to register memory, or too great a distance, is the cause.",
        },
    ],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if no_own_gpu(cx, out) {
        return;
    }
    if cx.no_subjects(cx.node.pci.rdma_nics().next().is_some(), "RDMA NIC", out) {
        return;
    }
    let dmabuf = paths::dmabuf(cx);
    let files = paths::peer_files(cx);
    if let Some(first) = files.first() {
        let also = if dmabuf.usable() == Some(true) { "; DMA-BUF too" } else { "" };
        out.pass(Subject::Node, format_args!("peer memory: {} exists{also}", first.path))
            .at_all(files.iter().map(|file| file.place));
        return;
    }
    let peer = paths::peer_memory(cx);
    if dmabuf.usable() == Some(true) {
        out.pass(Subject::Node, format_args!("DMA-BUF: {}", dmabuf.saying(Some(true))))
            .at_all(dmabuf.conditions.iter().map(|c| c.place));
        return;
    }
    if dmabuf.usable() == Some(false) && peer == Some(false) {
        fail(cx, &dmabuf, out);
        return;
    }
    let mut unseen: Vec<String> = Vec::new();
    if dmabuf.usable().is_none() {
        unseen.push(format!("DMA-BUF needs: {}", dmabuf.saying(None)));
    }
    if peer.is_none() {
        unseen.push("the files of peer-memory modules".to_owned());
    }
    out.unknown(Subject::Node, format_args!("not seen: {}", unseen.join("; ")))
        .see("capture with `linerate collect`, in a container with the host's /sys and /proc")
        .at(dmabuf.conditions.iter().find(|c| c.holds.is_none()).map_or(cx.node.peermem.clients.place(), |c| c.place));
}

fn fail<'o>(cx: &Cx<'_>, dmabuf: &paths::Way, out: &'o mut Findings) -> &'o mut Finding {
    let why = dmabuf.saying(Some(false));
    let old = paths::before_turing(cx);
    let message = format!("neither way: no DMA-BUF ({why}), and no peer-memory module");
    let f = out.fail(Subject::Node, message);
    f.follows("gpumem/peermem-symbols", About::Any);
    f.at_all(dmabuf.conditions.iter().filter(|c| c.holds == Some(false)).map(|c| c.place));
    f.at(cx.node.peermem.clients.place()).at(cx.node.peermem.nvidia_peermem.loaded.place());
    let stack = interface(cx);
    let driverless = cx.node.nvidia.driver.flavour.is_absent();
    let remedy = match (&stack, old) {
        _ if driverless => Remedy::load_module("load the NVIDIA driver first", "nvidia"),
        (Some(stack), _) => Remedy::load_module(
            format!("load nvidia-peermem at each boot ({stack} has the interface), or use the open kernel modules"),
            "nvidia-peermem",
        )
        .because("a driver built before the RDMA stack must be rebuilt first, else the module refuses to load"),
        (None, None) if cx.node.nvidia.driver.flavour.known() == Some(&Flavour::Open) => Remedy::software(
            format!("what DMA-BUF lacks is not the GPU driver: {why}; boot a kernel that has it, or install an RDMA stack with the peer-memory interface (MLNX_OFED, DOCA-OFED) and load nvidia-peermem"),
            "a kernel in which the NIC driver registers DMA-BUFs",
        )
        .because("the kernel or the RDMA stack is replaced: drain the node"),
        (None, None) => Remedy::software(
            "install the open NVIDIA kernel modules (with a kernel of 5.12 or later): DMA-BUF needs nothing else here; or, where \
             `grep ib_register_peer_memory_client /proc/kallsyms` finds it, load nvidia-peermem at each boot",
            "open NVIDIA kernel modules",
        )
        .because("the driver is replaced: drain the node"),
        (None, Some((architecture, place))) => {
            f.at(place);
            if mlx4_only(cx) {
                // Nothing sensible is left: gpumem/volta-cx3 explains.
                return f.severity(Severity::Info);
            }
            Remedy::software(
                format!("{architecture} GPUs need nvidia-peermem, and that needs MLNX_OFED or DOCA-OFED"),
                "an RDMA stack with the peer-memory interface, then nvidia-peermem",
            )
            .because("replaces the RDMA stack: drain the node")
        }
    };
    f.fix(|| remedy.prove("sys/kernel/mm/memory_peers/nv_mem/version").prove("proc/driver/nvidia/version"))
}

/// Which RDMA stack has the peer-memory interface: MLNX_OFED or DOCA-OFED by the version of `mlx5_core`, or any ib_core that made
/// the directory of its clients. Without the directory there may be an interface without clients: nobody can tell from here.
fn interface(cx: &Cx<'_>) -> Option<String> {
    let peer = &cx.node.peermem;
    let ofed = peer.ofed().map(|(v, _)| format!("RDMA stack {v}"));
    ofed.or_else(|| peer.clients.known().map(|_| "this kernel's ib_core: kernel/mm/memory_peers exists".to_owned()))
}

/// All RDMA NICs that this system uses are ConnectX-3.
pub(super) fn mlx4_only(cx: &Cx<'_>) -> bool {
    let mut any = false;
    for (_, f) in cx.node.pci.rdma_nics() {
        match &f.driver {
            Reading::Known(d, _) if d == "mlx4_core" => any = true,
            Reading::Known(d, _) if linerate_node::pci::is_vfio(d) => {}
            _ => return false,
        }
    }
    any
}
