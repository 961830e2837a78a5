//! `gpumem/volta-cx3`.

use super::registration_path::{NCCL, mlx4_only};
use super::{no_own_gpu, paths};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "gpumem/volta-cx3",
    title: "GPUs and NICs are of generations that can still use GPUDirect RDMA",
    severity: Severities::always(Severity::Info),
    roles: Roles::ALL,
    effect: Effect::sourced("GPUDirect RDMA is practically out of reach: messages are staged through host memory"),
    sources: &[
        Source {
            title: "open-gpu-kernel-modules, README: supported GPUs are Turing and later",
            at: "https://github.com/NVIDIA/open-gpu-kernel-modules#compatible-gpus",
        },
        Source {
            title: "rdma-core, providers/mlx4: no reg_dmabuf_mr",
            at: "https://github.com/linux-rdma/rdma-core/tree/master/providers/mlx4",
        },
        NCCL,
    ],
    reads: &["nvidia-smi -q", "sys/bus/pci/devices/*/{device,driver}"],
    docs: "\
## What it checks
The combination of GPUs older than Turing (Volta, Pascal) with only ConnectX-3 NICs, and no peer-memory module in place.

## Why it matters
The open kernel modules do not drive GPUs before Turing, and mlx4 has no dma-buf memory regions: no DMA-BUF. The old way needs the
peer-memory interface of MLNX_OFED 4.9 LTS, the last for ConnectX-3, which does not build on current kernels (from experience).
Weeks have been lost on this combination.

## See it yourself
`nvidia-smi -q | grep Architecture`; `readlink /sys/class/infiniband/*/device/driver`.

## Fix
Do not chase GPUDirect on it. RDMA between hosts works well; NCCL stages through host memory and its log shows no `/GDRDMA`: expected.",
    myths: &[Myth {
        claim: "V100 + ConnectX-3 + a current driver: ready for GPU RDMA.",
        truth: "Neither way of registering GPU memory exists there: no open modules for Volta, no dma-buf in mlx4, no peer memory in current kernels.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if no_own_gpu(cx, out) || cx.no_subjects(cx.node.pci.rdma_nics().next().is_some(), "RDMA NIC", out) {
        return;
    }
    let nics = || cx.node.pci.rdma_nics().map(|(_, f)| f);
    let newer = nics()
        .find(|f| matches!(&f.driver, Reading::Known(d, _) if d != "mlx4_core" && !linerate_node::pci::is_vfio(d)));
    if let Some(f) = newer {
        let driver = f.driver.known().map(|d| d.as_ref()).unwrap_or_default();
        out.pass(Subject::Node, format_args!("NIC {} is not a ConnectX-3 (driver {driver})", f.bdf))
            .at(f.driver.place());
        return;
    }
    if !mlx4_only(cx) {
        match nics().find(|f| f.driver.is_unreadable()) {
            Some(f) => out.unreadable(f.bdf, "driver of the RDMA NIC", &f.driver),
            None => out.not_applicable("no RDMA NIC is used by a driver of this system"),
        };
        return;
    }
    let nic = nics().map(|f| f.driver.place()).next();
    match (paths::before_turing(cx), paths::peer_memory(cx)) {
        (_, Some(true)) => out
            .pass(Subject::Node, "a peer-memory module serves the ConnectX-3")
            .at_all(paths::peer_files(cx).iter().map(|file| file.place)),
        (Some((architecture, place)), Some(false)) => out
            .fail(
                Subject::Node,
                format_args!(
                    "{architecture} GPUs with ConnectX-3 NICs and no peer-memory module: GPUDirect RDMA is out of reach"
                ),
            )
            .at(place)
            .at(nic),
        (Some((architecture, place)), None) => out
            .unknown(
                Subject::Node,
                format_args!(
                    "{architecture} GPUs with ConnectX-3 NICs; whether a peer-memory module is loaded was not seen"
                ),
            )
            .at(place)
            .see("ls /sys/kernel/mm/memory_peers; lsmod | grep peer"),
        (None, _) => out
            .not_applicable("ConnectX-3 NICs, but no GPU known to be older than Turing: see gpumem/registration-path")
            .at(nic),
    };
}
