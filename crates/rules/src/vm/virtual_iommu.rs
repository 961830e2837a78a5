//! `vm/virtual-iommu`.

use super::{READS, each, edit, subject};
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity, Source};
use linerate_node::vms::Vm;

/// CPUs that a guest may have without remapping of interrupts.
const PLAIN: u32 = linerate_formats::libvirt::MOST_CPUS;

pub(super) static RULE: Rule = Rule {
    id: "vm/virtual-iommu",
    title: "The domain has no virtual IOMMU",
    severity: Severities::always(Severity::Medium),
    roles: Roles::VM_HOST,
    effect: Effect::sourced("the guest may put its devices in translated domains on top of the host's: faults, a GPU driver that fails to start, or slow DMA"),
    sources: &[Source { title: "libvirt, Domain XML: IOMMU devices", at: "https://libvirt.org/formatdomain.html#iommu-devices" }],
    reads: READS,
    docs: "\
## What it checks
`<iommu>` in the domain. With more than 255 virtual CPUs it is needed for interrupts and is information only. Whether it translates, the guest shows: iommu/guest-viommu.

## Why it matters
A guest that finds an IOMMU uses it. Peer-to-peer mappings then go through two translations, and ATS requests are not answered by the emulated one unless it is set to.

## See it yourself
`virsh dumpxml DOMAIN | grep -A3 '<iommu'`; in the guest `ls /sys/class/iommu`.

## Fix
Remove it unless the guest passes devices on to guests of its own; else boot the guest with `iommu=pt`.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    each(cx, out, judge);
}

fn judge(_: &Cx<'_>, vm: &Vm, out: &mut Findings) {
    let d = &vm.domain;
    let Some(iommu) = &d.iommu else {
        out.pass(subject(vm), "no virtual IOMMU").at(vm.at(d.devices_span.line.max(d.span.line)));
        return;
    };
    let many = d.vcpus.as_ref().is_some_and(|v| v.value > PLAIN);
    let why = if many { ", which more than 255 virtual CPUs need for their interrupts" } else { "" };
    let finding = out.fail(subject(vm), format_args!("a virtual IOMMU ({}){why}", iommu.value));
    finding.at(vm.at(iommu.line));
    if many {
        finding.severity(Severity::Info);
    }
    finding.fix(|| {
        edit("take the virtual IOMMU out", "remove <iommu>; nested passthrough and more than 255 virtual CPUs need it")
    });
}
