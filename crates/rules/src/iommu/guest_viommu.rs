//! `iommu/guest-viommu`.

use super::ends::{Domains, group_count};
use crate::{Cx, Effect, Findings, Remedy, Roles, Rule, Severities, Severity, Source, Subject};

pub(super) static RULE: Rule = Rule {
    id: "iommu/guest-viommu",
    title: "The virtual machine has no virtual IOMMU, or one that translates nothing",
    severity: Severities::always(Severity::High),
    roles: Roles::VM_GUEST,
    effect: Effect::sourced("a second translation inside the guest: faults, a GPU driver that fails to start, or slow DMA"),
    sources: &[
        Source {
            title: "libvirt, Domain XML: IOMMU devices",
            at: "https://libvirt.org/formatdomain.html#iommu-devices",
        },
        crate::cmdline::words::GDR_DOC,
        crate::cmdline::words::INTEL_IOMMU,
    ],
    reads: &["sys/kernel/iommu_groups", "sys/class/iommu"],
    docs: "\
## What it checks
In a guest: whether the kernel sees IOMMU groups, that is a virtual IOMMU, and whether GPUs and NICs are in translated domains of it.

## Why it matters
A virtual IOMMU puts the guest's drivers in translated domains on top of the host's own translation. Peer-to-peer mappings then
fault on the host, and the GPU driver may not start at all. It is needed only for passthrough into nested guests, or for more than
255 virtual CPUs.

## See it yourself
`ls /sys/kernel/iommu_groups /sys/class/iommu` in the guest; `<iommu model=…>` in the domain's XML on the host.

## Fix
Remove the `<iommu>` device from the domain's XML; or, if it is needed, boot the guest with `iommu=pt`. An emulated VT-d unit
without passthrough support translates all the same: read the type again.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some((count, place)) = group_count(cx) else {
        out.unreadable(Subject::Node, "IOMMU groups", &cx.node.iommu.groups);
        return;
    };
    if count == 0 {
        out.pass(Subject::Node, "no virtual IOMMU: 0 groups").at(place);
        return;
    }
    let domains = Domains::in_use(cx);
    let many = cx.node.cpu.processors.known().is_some_and(|n| *n > 255);
    let need = if many { "; more than 255 virtual CPUs need its interrupt remapping" } else { "" };
    if let Some((n, (bdf, domain, at))) = domains.first(linerate_node::iommu::DomainType::translated) {
        let message = format!(
            "a virtual IOMMU translates {}, {bdf} first ({domain}){need}",
            linerate_formats::counted(n, "GPU or NIC function", "GPU or NIC functions")
        );
        let f = out.fail(Subject::Node, message);
        f.at(place).at(*at);
        if !cx.has_gpu() {
            // RDMA of host memory works through it.
            f.severity(Severity::Info);
            return;
        }
        f.fix(|| {
            Remedy::host_side(
                "take the virtual IOMMU out of the domain's XML, or boot the guest with iommu=pt",
                "remove <iommu model=…/> from the domain; the guest restarts",
            )
            .because("nested passthrough and more than 255 virtual CPUs need the virtual IOMMU")
            .prove("sys/kernel/iommu_groups")
        });
    } else if domains.unseen > 0 {
        out.unknown(
            Subject::Node,
            format_args!("there is a virtual IOMMU ({count} groups), but the domains of GPUs and NICs are not visible"),
        )
        .at(place)
        .see("cat /sys/kernel/iommu_groups/*/type in the guest");
    } else {
        let message = format!("there is a virtual IOMMU ({count} groups), but it translates no GPU or NIC{need}");
        out.fail(Subject::Node, message).severity(Severity::Info).at(place);
    }
}
