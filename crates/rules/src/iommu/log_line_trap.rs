//! `iommu/log-line-trap`.

use super::ends::{Domains, group_count};
use crate::cmdline::words::IOMMU_CORE;
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Subject};
use linerate_formats::dmesg::{DomainKind, Event};
use linerate_node::iommu::DomainType;

pub(super) static RULE: Rule = Rule {
    id: "iommu/log-line-trap",
    title: "The devices have the default domain that the boot log names",
    severity: Severities::always(Severity::Info),
    roles: Roles::ALL,
    effect: Effect::sourced("none by itself: the log line misleads the reader"),
    sources: &[IOMMU_CORE],
    reads: &["dmesg", "sys/kernel/iommu_groups/*/type"],
    docs: "\
## What it checks
The line `iommu: Default domain type: …` of the boot log against what exists: the number of IOMMU groups, and the domain types of
GPUs and RDMA NICs. It also says when memory encryption overrode a passthrough default of the kernel's configuration.

## Why it matters
The kernel prints the line on every boot, also where there is no IOMMU at all. It shows a default, not that an IOMMU exists or
what a device got. `DMAR: IOMMU enabled` is no better: it is printed when the option is parsed, and is absent on kernels that are
on by default.

A second line of the same kind: `iommu: DMA domain TLB invalidation policy: lazy mode` shows the default. Under a hypervisor AMD-Vi and
VT-d may go over to strict invalidation afterwards (`AMD-Vi: Using strict mode due to virtualization`, `DMAR: IOMMU batching disallowed
due to virtualization`): the groups are then `DMA`, not `DMA-FQ`.

## See it yourself
`dmesg | grep -E 'iommu: |Using strict mode|Memory encryption'; ls /sys/kernel/iommu_groups | wc -l; cat /sys/kernel/iommu_groups/*/type | sort | uniq -c`.

## Fix
Nothing to change. Judge a node by /sys/kernel/iommu_groups, never by this line.",
    myths: &[
        Myth {
            claim: "`iommu: Default domain type: Passthrough (set via kernel command line)` proves that the IOMMU runs in passthrough mode.",
            truth: "It is printed even with the IOMMU switched off in the firmware setup. With 0 groups there is nothing to pass through.",
        },
        Myth {
            claim: "`AMD-Vi: IOMMU performance counters supported` means that the IOMMU is enabled.",
            truth: "It names a feature of the hardware. Groups in /sys/kernel/iommu_groups are the proof.",
        },
    ],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let kernel = &cx.node.kernel;
    if kernel.log.known().is_none() {
        out.unreadable(Subject::Node, "kernel log", &kernel.log).see("dmesg as root, or journalctl -k -b");
        return;
    }
    let encryption = kernel.events(|e| matches!(e, Event::PassthroughDisabledByEncryption).then_some(())).next();
    if let Some(((), place)) = encryption {
        out.fail(Subject::Node, "memory encryption turned the kernel's passthrough default into translated domains")
            .at(place);
    }
    let line = kernel
        .events(|e| match e {
            Event::DefaultDomain { kind, .. } => Some(*kind),
            _ => None,
        })
        .last();
    let Some((kind, place)) = line else {
        if encryption.is_none() {
            out.not_applicable(
                "the log holds no line about the default domain (older than Linux 5.8, or the buffer wrapped)",
            )
            .at(kernel.log.place());
        }
        return;
    };
    let Some((groups, seen)) = group_count(cx) else {
        out.unreadable(Subject::Node, "IOMMU groups", &cx.node.iommu.groups).at(place);
        return;
    };
    let (word, other): (_, fn(DomainType) -> bool) = match kind {
        DomainKind::Passthrough => ("Passthrough", DomainType::translated),
        DomainKind::Translated => ("Translated", |d| d == DomainType::Identity),
    };
    if groups == 0 {
        out.fail(Subject::Node, format_args!("the log says {word}, but no IOMMU is in use: 0 groups"))
            .at(place)
            .at(seen);
        return;
    }
    let domains = Domains::in_use(cx);
    if let Some((n, (bdf, domain, at))) = domains.first(other) {
        let message = format!(
            "the log says {word}, but {} in {domain} domains, {bdf} first",
            linerate_formats::counted(n, "GPU or NIC function is", "GPU or NIC functions are")
        );
        out.fail(Subject::Node, message).at(place).at(*at);
    } else if domains.unseen > 0 {
        out.unreadable(Subject::Node, "domain types of GPUs and NICs", &cx.node.iommu.groups).at(place);
    } else {
        out.pass(Subject::Node, format_args!("default {word}, {groups} groups, none of a GPU or NIC contradicts"))
            .at(place)
            .at(seen);
    }
}
