//! `cmdline/amd-iommu-off`.

use super::words::{self, AMD_INIT, KPARAM};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity};
use linerate_node::cpu::CpuVendor;

pub(super) static RULE: Rule = Rule {
    id: "cmdline/amd-iommu-off",
    title: "A VM host does not switch AMD's IOMMU off",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::sourced("VM host: nothing can be passed through; bare metal: none"),
    sources: &[AMD_INIT, KPARAM],
    reads: &["proc/cmdline", "proc/cpuinfo"],
    docs: "\
## What it checks
The option `amd_iommu=off` on a node with an AMD CPU.

## Why it matters
With it there are 0 IOMMU groups: right for GPUDirect RDMA on bare metal, impossible for passthrough. It does not keep ACS off: the
kernel still finds the IVRS table and asks for ACS before it honours the option, so switch ports may redirect all the same.

## See it yourself
`cat /proc/cmdline; ls /sys/kernel/iommu_groups | wc -l`.

## Fix
VM host: remove the word. Bare metal: keep it or not; to keep the kernel from enabling ACS as well, switch the IOMMU off in the
firmware setup, and read the ACS registers either way.",
    myths: &[Myth {
        claim: "With amd_iommu=off, ACS is not enabled by the kernel.",
        truth: "detect_ivrs() asks for ACS as soon as the IVRS table exists, before the disabled state is reached. Read ACSCtl, do not infer.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some((c, place)) = words::seen(cx, out) else { return };
    let Some((option, word)) = c.options("amd_iommu").find(|(o, _)| o.starts_with("off")) else {
        words::none_of(out, "amd_iommu=off", (c, place));
        return;
    };
    let subject = words::subject("amd_iommu", option);
    match cx.node.cpu.vendor.known() {
        Some(CpuVendor::Amd) => {}
        Some(_) => {
            out.not_applicable_to(subject, "not an AMD CPU: ignored").at(place).at(cx.node.cpu.vendor.place());
            return;
        }
        None => {
            out.unreadable(subject, "CPU vendor", &cx.node.cpu.vendor);
            return;
        }
    }
    let place = place.line(word.line);
    if words::vm_host(cx) {
        out.fail(subject, "switches the IOMMU off on a host of virtual machines")
            .at(place)
            .fix(|| words::remove(&["amd_iommu=off"], "host drivers get translated domains unless iommu=pt is there"));
    } else {
        out.fail(
            subject,
            "switches the IOMMU off: fine for GPUDirect RDMA, but switch ports may redirect (ACS) all the same",
        )
        .severity(Severity::Info)
        .at(place);
    }
}
