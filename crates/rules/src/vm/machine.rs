//! `vm/machine`.

use super::{LIBVIRT_PCI, QEMU_PCIE, READS, each, edit, subject};
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity};
use linerate_node::vms::Vm;

pub(super) static RULE: Rule = Rule {
    id: "vm/machine",
    title: "The virtual machine is a PCI Express one (q35)",
    severity: Severities::always(Severity::High),
    roles: Roles::VM_HOST,
    effect: Effect::sourced("i440fx has one conventional PCI bus: no switches, no NUMA nodes of devices, 256 bytes of configuration space"),
    sources: &[QEMU_PCIE, LIBVIRT_PCI],
    reads: READS,
    docs: "\
## What it checks
The machine type of each domain that gives PCI functions to its guest: `q35` on x86, `virt` on Arm.

## Why it matters
On `pc` (i440fx) every device is a conventional PCI one. There are no root ports and switches below which a GPU and its NIC could be together, and drivers do not see the
extended capabilities (ATS, AER, resizable BARs).

## See it yourself
`virsh dumpxml DOMAIN | grep machine=`.

## Fix
`machine='q35'` in `<os><type>`, and new addresses for all devices (leave them out, libvirt chooses). The guest's disks stay as they are; names of network interfaces change, and a guest that was
installed with a BIOS needs `firmware` left as it is.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    each(cx, out, judge);
}

fn judge(_: &Cx<'_>, vm: &Vm, out: &mut Findings) {
    match &vm.domain.machine {
        None => out
            .unknown(subject(vm), "the domain names no machine type: libvirt chooses its default")
            .at(vm.at(vm.domain.span.line))
            .see("virsh dumpxml DOMAIN: libvirt writes the machine type that it chose"),
        Some(m) if vm.domain.is_pcie() => out.pass(subject(vm), || m.value.clone()).at(vm.at(m.line)),
        Some(m) => out.fail(subject(vm), format_args!("{} has no PCI Express", m.value)).at(vm.at(m.line)).fix(|| {
            edit(
                "use the machine type q35",
                "<type arch='x86_64' machine='q35'>hvm</type>, without the addresses of i440fx",
            )
        }),
    };
}
