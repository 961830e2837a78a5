//! `gpumem/peermem-inbox`.

use super::no_own_gpu;
use super::registration_path::{OPERATOR, PEERMEM};
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Subject};
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "gpumem/peermem-inbox",
    title: "nvidia-peermem is requested only where the RDMA stack has a peer-memory interface, and is loaded there",
    severity: Severities::up_to(Severity::Low, Severity::Medium),
    roles: Roles::ALL,
    effect: Effect::sourced("the module refuses to load (EINVAL); GPUDirect then depends on DMA-BUF"),
    sources: &[PEERMEM, OPERATOR],
    reads: &["etc/modules-load.d/*", "proc/modules", "sys/kernel/mm/memory_peers", "sys/module/mlx5_core/version"],
    docs: "\
## What it checks
Whether a file of /etc/modules-load.d is named after nvidia-peermem (or nv_peer_mem), whether the module is loaded, and whether the RDMA stack
shows a peer-memory interface: the directory /sys/kernel/mm/memory_peers, or modules of MLNX_OFED or DOCA-OFED.

## Why it matters
The interface (ib_register_peer_memory_client) is not in the mainline kernel. It comes with NVIDIA's RDMA stack and with some
distribution kernels. Without it the module ends with `could not insert 'nvidia_peermem': Invalid argument` at every boot, and people
conclude that GPUDirect is broken although DMA-BUF would do.

## See it yourself
`grep ib_register_peer_memory_client /proc/kallsyms`; `ls /sys/kernel/mm/memory_peers`; `modprobe nvidia-peermem`.

## Fix
With the kernel's own RDMA stack: remove the entry and use open kernel modules with DMA-BUF. With MLNX_OFED or DOCA-OFED: rebuild the
NVIDIA driver after the RDMA stack was installed, then load the module.",
    myths: &[Myth {
        claim: "nvidia_peermem does not load because ib_core must be loaded first.",
        truth: "Mostly the running ib_core has no peer-memory interface at all, or the driver was built against another one.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if no_own_gpu(cx, out) {
        return;
    }
    let peer = &cx.node.peermem;
    let loaded = [&peer.nvidia_peermem.loaded, &peer.nv_peer_mem.loaded].into_iter().find(|l| l.known().is_some());
    if let Some(loaded) = loaded {
        // It loads only with the interface.
        out.pass(Subject::Module("nvidia_peermem".into()), "loaded: the RDMA stack has the peer-memory interface")
            .at(loaded.place());
        return;
    }
    let wanted = match &peer.wanted_at_boot {
        Reading::Known(file, place) => (file, *place),
        Reading::Absent(place) => {
            out.not_applicable("nothing under /etc/modules-load.d is named after nvidia-peermem").at(*place);
            return;
        }
        r @ Reading::Unreadable(..) => {
            out.unreadable(Subject::Module("nvidia_peermem".into()), "modules wanted at boot", r);
            return;
        }
    };
    if !peer.nvidia_peermem.loaded.is_absent() {
        out.unreadable(
            Subject::Module("nvidia_peermem".into()),
            "whether the module is loaded",
            &peer.nvidia_peermem.loaded,
        );
        return;
    }
    let subject = Subject::Module("nvidia_peermem".into());
    let interface = match (&peer.clients, peer.ofed()) {
        (Reading::Known(_, p), _) => Some((true, *p)),
        (_, Some((_, p))) => Some((true, p)),
        (Reading::Absent(p), None) => Some((false, *p)),
        (Reading::Unreadable(..), None) => None,
    };
    match interface {
        Some((true, place)) => out
            .fail(
                subject,
                format_args!("{} asks for it, the RDMA stack has the interface, and it is not loaded", wanted.0),
            )
            .severity(Severity::Medium)
            .at(wanted.1)
            .at(peer.nvidia_peermem.loaded.place())
            .at(place)
            .fix(|| {
                Remedy::load_module(
                    "rebuild the NVIDIA driver against the running RDMA stack, then load nvidia-peermem",
                    "nvidia-peermem",
                )
                .because("a rebuild of the driver needs a drained node")
                .prove("sys/module/nvidia_peermem/version")
            }),
        Some((false, place)) => out
            .fail(subject, format_args!("{} asks for it, but the RDMA stack shows no peer-memory interface", wanted.0))
            .at(wanted.1)
            .at(peer.nvidia_peermem.loaded.place())
            .at(place)
            .fix(|| {
                Remedy::investigate(
                    "remove the entry and rely on DMA-BUF, or install an RDMA stack with the interface",
                    "which way of registering GPU memory this node should use",
                )
                .because("the entry does nothing but fail at each boot")
                .prove("gpumem/registration-path")
            }),
        None => out.unreadable(subject, "peer-memory interface of the RDMA stack", &peer.clients).at(wanted.1),
    };
}
