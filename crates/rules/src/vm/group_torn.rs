//! `vm/group-torn`.

use super::{READS_HOST, each_with_host, edit, functions, subject};
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity, Source};
use linerate_node::vms::Vm;
use linerate_vm::choose::torn;
use std::collections::BTreeSet;

pub(super) static RULE: Rule = Rule {
    id: "vm/group-torn",
    title: "No member of an IOMMU group stays bound to a driver of the host",
    severity: Severities::always(Severity::High),
    roles: Roles::VM_HOST,
    effect: Effect::sourced("vfio refuses the group: the guest does not start"),
    sources: &[Source {
        title: "Linux Documentation/driver-api/vfio.rst: groups, devices and IOMMUs",
        at: "https://docs.kernel.org/driver-api/vfio.html",
    }],
    reads: READS_HOST,
    docs: "\
## What it checks
For each function that the domain gives away, the other members of its IOMMU group: none may have a driver of the host. PCI Express ports may keep their driver, and functions without a driver may stay.

## Why it matters
A group is the smallest unit that the IOMMU can isolate. vfio gives a group to one owner as a whole.

## See it yourself
`ls /sys/bus/pci/devices/ADDRESS/iommu_group/devices`.

## Fix
Give the other members to the guest, too, or unbind them; or have the switch above isolate its ports (ACS), which the kernel does where the ports have it.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    each_with_host(cx, out, judge);
}

fn judge(cx: &Cx<'_>, vm: &Vm, out: &mut Findings) {
    let all: BTreeSet<_> = functions(cx, vm).map(|f| f.0).collect();
    let groups = torn(cx.node, &all);
    if let Some(first) = groups.first() {
        let finding = out.fail(subject(vm), || {
            let left: Vec<String> = first.left.iter().map(ToString::to_string).collect();
            let more = if groups.len() > 1 { format!("; {} more groups", groups.len() - 1) } else { String::new() };
            format!(
                "group {} would be torn: {} left on the host ({}){more}",
                first.group,
                left.join(", "),
                first.drivers.join(", ")
            )
        });
        for group in groups.iter().take(4) {
            let member = functions(cx, vm).find(|(_, f, _)| f.iommu_group.known() == Some(&group.group));
            if let Some((_, f, line)) = member {
                finding.at(vm.at(line)).at(f.iommu_group.place());
            }
        }
        finding.fix(|| {
            edit(
                "give whole groups",
                "add the members that are named to the domain, or unbind them from the host's drivers",
            )
        });
        return;
    }
    match functions(cx, vm).find(|(_, f, _)| !matches!(f.iommu_group, linerate_snapshot::Reading::Known(..))) {
        Some((_, f, line)) if f.iommu_group.is_absent() => out
            .fail(subject(vm), format_args!("{} is in no IOMMU group: vfio needs an IOMMU", f.bdf))
            .at(f.iommu_group.place())
            .at(vm.at(line))
            .fix(|| {
                edit(
                    "switch the host's IOMMU on",
                    "VT-d or AMD-Vi in the firmware setup; intel_iommu=on on the kernel command line",
                )
            }),
        Some((_, f, line)) => {
            out.unreadable(subject(vm), "IOMMU groups of the functions", &f.iommu_group).at(vm.at(line))
        }
        None => {
            let place = functions(cx, vm).next().map(|(_, f, _)| f.iommu_group.place());
            match place {
                Some(p) => out.pass(subject(vm), format_args!("groups of {} functions are whole", all.len())).at(p),
                None => {
                    out.unknown(subject(vm), "none of its functions is on this host").at(vm.at(vm.domain.span.line))
                }
            }
        }
    };
}
