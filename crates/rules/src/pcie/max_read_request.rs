//! `pcie/max-read-request`.

use super::{KERNEL_PARAMETERS, PHYSICAL};
use crate::{Action, Cx, Effect, Finding, Findings, Myth, Remedy, Rule, Severities, Severity, Source};
use linerate_node::pci::{ExpressRegister, PciFunction};

pub(super) static RULE: Rule = Rule {
    id: "pcie/max-read-request",
    title: "RDMA NICs ask for up to 4096 bytes in one read",
    severity: Severities::always(Severity::Low),
    roles: PHYSICAL,
    effect: Effect::estimate("up to 10–20 % of the sending rate on some AMD platforms, nothing on many"),
    sources: &[
        Source {
            title: "NVIDIA NIC configuration operator, configvalidation.go: MaxReadRequest 4096, a runtime setting",
            at: "https://github.com/Mellanox/nic-configuration-operator/blob/main/pkg/configuration/configvalidation.go",
        },
        KERNEL_PARAMETERS,
    ],
    reads: &["sys/bus/pci/devices/*/config", "lspci -vv", "proc/cmdline"],
    docs: "\
## What it checks
MaxReadReq in Device Control of each physical function of an RDMA NIC.

## Why it matters
When it sends, the NIC reads from memory or from the GPU. Larger requests mean fewer of them in flight for the same bandwidth. The gain
depends on the platform; NVIDIA's operator sets 4096. It matters for the sending side only.

## See it yourself
`sudo lspci -vvv -s BDF | grep MaxReadReq`

## Fix
Write only the field: `setpci -s BDF CAP_EXP+8.w=5000:f000`. It is lost at reboot, function reset, firmware reset and often at driver
reload, so it belongs into a udev rule or a unit. Never copy a whole word from another machine. With `pci=pcie_bus_perf` the kernel keeps the
read request at MaxPayload on purpose: then leave it.",
    myths: &[Myth {
        claim: "setpci -s BDF 68.w=5936 is the RDMA setting.",
        truth: "A raw word also overwrites MaxPayload, relaxed ordering and tags, at an offset that differs between cards. Use CAP_EXP+8 and the mask f000.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let nics = || cx.node.pci.rdma_nics().map(|(_, f)| f).filter(|f| f.silent.is_none());
    if cx.no_subjects(nics().next().is_some(), "RDMA NIC", out) {
        return;
    }
    let clamped = cx.pci_option("pcie_bus_perf");
    for f in nics() {
        if f.is_vf() {
            continue;
        }
        if let Some(p) = clamped {
            out.not_applicable_to(f.bdf, "pci=pcie_bus_perf: the kernel keeps read requests at MaxPayload").at(p);
            continue;
        }
        judge(cx, f, out);
    }
    if out.is_empty() {
        out.not_applicable("virtual functions only: the physical function holds the setting").at(cx.node.pci.seen);
    }
}

fn judge<'o>(cx: &Cx<'_>, f: &PciFunction<'_>, out: &'o mut Findings) -> &'o mut Finding {
    let Some(bytes) = f.express.known().and_then(|e| e.max_read_request) else {
        return out.unreadable(f.bdf, "MaxReadReq", &f.express);
    };
    let at = f.express_place(ExpressRegister::Sizes);
    if bytes >= 4096 {
        return out.pass(f.bdf, format_args!("{bytes} bytes")).at(at);
    }
    out.fail(f.bdf, format_args!("{bytes} bytes of 4096"))
        .severity((cx.serves_no_gpu(f) || crate::gpumem::gpudirect(cx) == Some(false)).then_some(crate::Severity::Info))
        .at(at)
        .fix(|| raise(f, "set the largest read request to 4096 bytes"))
}

/// Raises a NIC's largest read request.
pub(super) fn raise(f: &PciFunction<'_>, words: &'static str) -> Remedy {
    Remedy::new(words, Action::DeviceControl { function: f.bdf, field: "max-read-request".into(), value: 4096 })
        .because("a masked write of one field")
        .prove(format!("sys/bus/pci/devices/{}/config Device Control", f.bdf))
}
