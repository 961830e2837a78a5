//! `vm/hugepages`.

use super::{READS, each, edit, subject};
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity, Source};
use linerate_node::vms::Vm;

pub(super) static RULE: Rule = Rule {
    id: "vm/hugepages",
    title: "Huge pages back the memory of a guest with passed devices",
    severity: Severities::always(Severity::Low),
    roles: Roles::VM_HOST,
    effect: Effect::direction_only("fewer entries in the IOMMU's tables, fewer misses in its cache; the guest starts faster"),
    sources: &[Source { title: "libvirt, Domain XML: memory backing", at: "https://libvirt.org/formatdomain.html#memory-backing" }],
    reads: READS,
    docs: "\
## What it checks
`<hugepages>` in `<memoryBacking>` of each domain that gives PCI functions to its guest, for each of its NUMA nodes.

## Why it matters
Each page of the guest is an entry in the IOMMU's tables, and devices reach all of its memory. Transparent huge pages help the CPU's tables, and the IOMMU's where the kernel finds runs of pages, which nothing ensures.

## See it yourself
`virsh dumpxml DOMAIN | grep -A3 memoryBacking`; on the host `grep Huge /sys/devices/system/node/node*/meminfo`.

## Fix
Reserve 1 GiB pages on each node of the host at boot, and `<hugepages><page size='1' unit='GiB'/></hugepages>`.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    each(cx, out, judge);
}

fn judge(_: &Cx<'_>, vm: &Vm, out: &mut Findings) {
    let d = &vm.domain;
    let Some(first) = d.huge_pages.first() else {
        out.fail(subject(vm), "the guest's memory is backed by pages of the usual size")
            .at(vm.at(d.memory_kib.as_ref().map_or(d.span.line, |m| m.line)))
            .fix(|| edit("back the guest's memory with huge pages", "<memoryBacking><hugepages><page size='1' unit='GiB'/></hugepages>, pages reserved on each node of the host"));
        return;
    };
    let bare = d.cells.iter().find(|c| {
        d.huge_pages.iter().all(|p| p.cells.as_ref().is_some_and(|set| !set.ranges.iter().any(|r| r.contains(&c.id))))
    });
    match bare {
        Some(cell) => out
            .fail(subject(vm), format_args!("guest node {} has no huge pages", cell.id))
            .at(vm.at(cell.span.line))
            .at(vm.at(first.line))
            .fix(|| {
                edit(
                    "huge pages for each guest node",
                    "nodeset of <page> names the guest's nodes; without it all are meant",
                )
            }),
        None => out
            .pass(subject(vm), || match first.size_kib {
                Some(kib) => format!("huge pages of {} MiB", kib >> 10),
                None => "huge pages of the host's default size".to_owned(),
            })
            .at(vm.at(first.line)),
    };
}
