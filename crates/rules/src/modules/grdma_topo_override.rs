//! `modules/grdma-topo-override`.

use super::nvidia::{self, NV_REG, READS};
use crate::cmdline::words::RDMA_TOPO;
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity, Source, Subject};

pub(super) static RULE: Rule = Rule {
    id: "modules/grdma-topo-override",
    title: "The GPU driver's topology check for GPUDirect RDMA is not overridden",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::sourced("1: \"unprivileged userspace can trigger platform RAS failures\"; 2: GPUDirect RDMA is refused"),
    sources: &[
        RDMA_TOPO,
        NV_REG,
        Source {
            title: "open-gpu-kernel-modules, nv-pci.c: nv_grdma_pci_topology_supported",
            at: "https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/kernel-open/nvidia/nv-pci.c",
        },
    ],
    reads: READS,
    docs: "\
## What it checks
`NVreg_GrdmaPciTopoCheckOverride` in force (else asked for): 0 checks, 1 allows always, 2 denies always.

## Why it matters
The check exists for root complexes that forward no peer-to-peer traffic (Grace, Ampere). With 1 the driver hands out mappings that the
platform cannot serve, and any user with access to GPU and NIC can bring the machine down. With 2 no NIC gets a mapping at all. On x86
the check always allows, so that 1 changes nothing.

## See it yourself
`grep GrdmaPciTopoCheckOverride /proc/driver/nvidia/params`.

## Fix
Remove the option. GPU and NIC belong below one PCIe switch, see iommu/arm-peer-to-peer.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let subject = || Subject::Module("nvidia NVreg_GrdmaPciTopoCheckOverride".into());
    match nvidia::effective_or_asked(cx, "GrdmaPciTopoCheckOverride") {
        Some((0, place)) => out.pass(subject(), "0: the driver checks").at(place),
        Some((1, place)) => {
            let (severity, note) = if cx.node.cpu.is_x86() {
                (Severity::Low, "; on x86 the check allows anyway")
            } else {
                (Severity::High, "")
            };
            out.fail(subject(), format_args!("1: mappings are handed out whatever the topology{note}"))
                .severity(severity)
                .at(place)
                .fix(|| {
                    nvidia::reset(
                        "GrdmaPciTopoCheckOverride",
                        "GPUDirect RDMA stops where it only worked because of the override",
                    )
                })
        }
        Some((value, place)) => out
            .fail(subject(), format_args!("{value}: no NIC gets a mapping of GPU memory"))
            .at(place)
            .fix(|| nvidia::reset("GrdmaPciTopoCheckOverride", "")),
        None => nvidia::without_value(cx, out, "the driver has no such parameter (before branch 570)"),
    };
}
