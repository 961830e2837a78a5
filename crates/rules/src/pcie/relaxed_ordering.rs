//! `pcie/relaxed-ordering`.

use super::{PCI_REGS, PHYSICAL};
use crate::sources::linux;
use crate::{Action, Cx, Effect, Finding, Findings, Myth, Remedy, Rule, Severities, Severity, Source};
use linerate_node::pci::{ExpressRegister, FnId, PciFunction};

pub(super) static RULE: Rule = Rule {
    id: "pcie/relaxed-ordering",
    title: "RDMA NICs may use relaxed ordering",
    severity: Severities::always(Severity::Medium),
    roles: PHYSICAL,
    effect: Effect::sourced("\"can greatly help the performance of InfiniBand networks in virtualized environments\"; no number published"),
    sources: &[
        Source {
            title: "NCCL user guide, NCCL_IB_PCI_RELAXED_ORDERING",
            at: "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html#nccl-ib-pci-relaxed-ordering",
        },
        linux!("drivers/pci/quirks.c", "quirk_relaxedordering_disable; probe.c: pci_configure_relaxed_ordering"),
        PCI_REGS,
    ],
    reads: &["sys/bus/pci/devices/*/config", "lspci -vv"],
    docs: "\
## What it checks
Bit 4 of Device Control, `RlxdOrd`, of each physical function of an RDMA NIC. It only permits: the firmware setting PCI_WR_ORDERING and the
application's request per memory region are two more gates.

## Why it matters
Without it each write waits for all earlier ones. With it the root complex may complete writes to different cache lines as they come, which
matters on AMD, on Arm and in virtual machines.

## See it yourself
`sudo lspci -vvv -s BDF | grep RlxdOrd`: the line under DevCtl.

## Fix
The bit is set after reset; something cleared it. The kernel does so below root ports with known errata (Intel Haswell and Broadwell server
parts, AMD A1100): leave it there. Elsewhere look for a raw setpci or a firmware option, or set the bit with a masked write at boot.",
    myths: &[
        Myth {
            claim: "PCI_WR_ORDERING per_mkey means that relaxed ordering is off.",
            truth: "It means that each memory region chooses. NCCL since 2.12 asks for it by itself.",
        },
        Myth {
            claim: "RlxdOrd- on a virtual function must be repaired.",
            truth: "The bit of a virtual function is wired to zero; the physical function's counts.",
        },
    ],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let nics = || cx.node.pci.rdma_nics().filter(|(_, f)| f.silent.is_none());
    if cx.no_subjects(nics().next().is_some(), "RDMA NIC", out) {
        return;
    }
    for (id, f) in nics().filter(|(_, f)| !f.is_vf()) {
        judge(cx, id, f, out);
    }
    if out.is_empty() {
        out.not_applicable("virtual functions only: their bit is wired to zero, the physical function's counts")
            .at(cx.node.pci.seen);
    }
}

/// Root ports below which the kernel forbids it: quirk_relaxedordering_disable's table.
fn forbidden_by_kernel(f: &PciFunction<'_>) -> bool {
    match (f.vendor.known(), f.device.known()) {
        (Some(0x8086), Some(d)) => matches!(d, 0x6f02..=0x6f0e | 0x2f01..=0x2f0e),
        (Some(0x1022), Some(d)) => matches!(d, 0x1a00..=0x1a02),
        _ => false,
    }
}

fn judge<'o>(cx: &Cx<'_>, id: FnId, f: &PciFunction<'_>, out: &'o mut Findings) -> &'o mut Finding {
    let Some(on) = f.express.known().and_then(|e| e.relaxed_ordering) else {
        return out.unreadable(f.bdf, "relaxed ordering enable", &f.express);
    };
    let at = f.express_place(ExpressRegister::DevCtl);
    if on {
        return out.pass(f.bdf, "enabled").at(at);
    }
    let tree = &cx.node.pci;
    if let Some(root) = tree.ancestors(id).0.last().map(|r| tree.get(*r)).filter(|r| forbidden_by_kernel(r)) {
        return out
            .not_applicable_to(
                f.bdf,
                format_args!("off: the kernel clears it below root port {}, which has an erratum", root.bdf),
            )
            .at(at)
            .at(root.device.place());
    }
    out.fail(f.bdf, "disabled in Device Control")
        .severity(cx.serves_no_gpu(f).then_some(crate::Severity::Info))
        .at(at)
        .fix(|| {
            Remedy::new(
                "allow relaxed ordering in the NIC's Device Control",
                Action::DeviceControl { function: f.bdf, field: "relaxed-ordering".into(), value: 1 },
            )
            .because("software that polls the last byte of a write may not use it without its own ordering")
            .prove(format!("sys/bus/pci/devices/{}/config Device Control", f.bdf))
        })
}
