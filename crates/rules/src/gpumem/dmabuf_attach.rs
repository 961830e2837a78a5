//! `gpumem/dmabuf-attach`.

use crate::log::{count, no_log, silent_log};
use crate::sources::open_modules;
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Subject};
use linerate_formats::clip::clip;
use linerate_formats::dmesg::Event;

pub(super) static RULE: Rule = Rule {
    id: "gpumem/dmabuf-attach",
    title: "The GPU driver refused no NIC that wanted to attach to GPU memory",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::sourced("registration by DMA-BUF fails: no GPUDirect RDMA between that GPU and that NIC"),
    sources: &[open_modules!("kernel-open/nvidia/nv-dmabuf.c", "dma-buf attach failed")],
    reads: &["dmesg"],
    docs: "\
## What it checks
Lines `NVRM: dma-buf attach failed: …` of the kernel log, by reason.

## Why it matters
The driver checks the PCIe topology before it lets a NIC reach GPU memory. Its three reasons: the topology does not support peer-to-peer
(some Arm root complexes forward none, so GPU and NIC must share a switch); a mapping that is forced over PCIe where the topology does not support it; an importer that cannot handle device memory without page structures.

## See it yourself
`dmesg | grep 'dma-buf attach failed'`.

## Fix
Topology: give each GPU a NIC below its own switch, or on coherent platforms the C2C path. Importer: a newer NIC driver and kernel.
Do not override the check (GrdmaPciTopoCheckOverride): the fault it prevents is worse than the copy.",
    myths: &[Myth {
        claim: "Set NVreg_GrdmaPciTopoCheckOverride=1 and the error is gone.",
        truth: "The message is gone; the root complex still cannot route the packets, and unprivileged programs can then trigger platform faults.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if no_log(cx, "dma-buf", out) {
        return;
    }
    let said = count(cx.node.kernel.events(|e| match e {
        Event::DmabufAttachFailed(reason) => Some(reason.as_str()),
        _ => None,
    }));
    for (reason, count, place) in said {
        let advice = if reason.contains("FORCE_PCIE") {
            "map over the coherent link, or give GPU and NIC a common PCIe switch (ConnectX-8 Data Direct: one IOMMU group)"
        } else if reason.contains("topology") {
            "use a NIC below the same PCIe switch as the GPU; this root complex forwards no peer-to-peer traffic"
        } else if reason.contains("struct page") {
            "use a kernel and NIC driver that handle device memory without page structures"
        } else {
            "look up the reason in the driver's source"
        };
        let reason = clip(reason, 120);
        let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
        out.fail(Subject::Node, format_args!("dma-buf attach failed: {reason}{times}"))
            .at(place)
            .fix(|| Remedy::investigate(advice, "which GPU and NIC were to be paired").prove("dmesg"));
    }
    if out.is_empty() {
        silent_log(cx, "no refused attachment", out);
    }
}
