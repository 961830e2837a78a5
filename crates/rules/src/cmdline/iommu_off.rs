//! `cmdline/iommu-off`.

use super::words::{self, INTEL_IOMMU, KPARAM, X86_DMA};
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity};
use linerate_node::cpu::CpuVendor;

pub(super) static RULE: Rule = Rule {
    id: "cmdline/iommu-off",
    title: "A VM host does not switch DMA remapping off",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::sourced("VM host: nothing can be passed through; bare metal: none"),
    sources: &[X86_DMA, INTEL_IOMMU, KPARAM],
    reads: &["proc/cmdline", "proc/cpuinfo"],
    docs: "\
## What it checks
`iommu=off` (x86) and `intel_iommu=off` (Intel; the last of `on` and `off` wins).

## Why it matters
Without DMA remapping there are no IOMMU groups and nothing can be passed to a guest. On bare metal it is a legitimate way to run
GPUDirect RDMA. Interrupt remapping, which machines with more than 255 CPUs need, is a separate switch.

## See it yourself
`cat /proc/cmdline; ls /sys/kernel/iommu_groups | wc -l`.

## Fix
VM host: remove the word. Bare metal: nothing.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some((c, place)) = words::seen(cx, out) else { return };
    let off = words::iommu_off(cx, c).filter(|(_, p)| !p.name.starts_with("amd"));
    let other = || c.options("iommu").chain(c.options("intel_iommu")).find(|(o, _)| o.starts_with("off"));
    let Some((option, word)) = off else {
        match (other(), cx.node.cpu.vendor.known()) {
            (Some((o, p)), None) => out.unreadable(words::subject(&p.name, o), "CPU vendor", &cx.node.cpu.vendor),
            (Some((o, p)), Some(vendor)) => {
                let why = match vendor {
                    CpuVendor::Intel => "a later word switches it on",
                    _ => "ignored on this CPU",
                };
                out.not_applicable_to(words::subject(&p.name, o), why).at(place.line(p.line))
            }
            _ => words::none_of(out, "iommu=off or intel_iommu=off", (c, place)),
        };
        return;
    };
    let subject = words::subject(&word.name, option);
    let place = place.line(word.line);
    if words::vm_host(cx) {
        out.fail(subject, "switches DMA remapping off on a host of virtual machines").at(place).fix(|| {
            words::remove(
                &[&format!("{}={option}", word.name)],
                "host drivers get translated domains unless iommu=pt is there",
            )
        });
    } else {
        out.fail(subject, "switches DMA remapping off: fine for GPUDirect RDMA, rules out passthrough to guests")
            .severity(Severity::Info)
            .at(place);
    }
}
