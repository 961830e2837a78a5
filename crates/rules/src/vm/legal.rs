//! `vm/legal`.

use super::{LIBVIRT, LIBVIRT_PCI, QEMU_PCIE, READS, each, edit, subject};
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity};
use linerate_node::vms::Vm;

pub(super) static RULE: Rule = Rule {
    id: "vm/legal",
    title: "libvirt and QEMU accept the domain's PCI tree",
    severity: Severities::always(Severity::High),
    roles: Roles::VM_HOST,
    effect: Effect::sourced("the domain cannot be defined, or its guest does not start"),
    sources: &[LIBVIRT, LIBVIRT_PCI, QEMU_PCIE],
    reads: READS,
    docs: "\
## What it checks
Each address of the domain: that its controller exists and has the slot, that nothing else has it, that the device plugs into that controller (only root ports plug into
an expander bus, only an upstream port into a switch's downstream side), bus numbers of expander buses, NUMA nodes that the guest has.
The rules are those of libvirt, as far as the domain alone decides them: what the emulator was built with, and what the host has, are not in it.

## Why it matters
One address that clashes keeps the whole guest from starting, and libvirt names one fault at a time.

## See it yourself
`virsh define --validate DOMAIN.xml`.

## Fix
Correct the lines that are named. Addresses that are left out are chosen by libvirt, but on the root and not where NCCL needs them.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    each(cx, out, judge);
}

fn judge(_: &Cx<'_>, vm: &Vm, out: &mut Findings) {
    let all = vm.domain.refusals();
    let Some(first) = all.first() else {
        out.pass(subject(vm), "nothing that libvirt refuses, as far as the domain shows it")
            .at(vm.at(vm.domain.span.line));
        return;
    };
    let more = all.len() - 1;
    let finding = out.fail(subject(vm), || match more {
        0 => format!("libvirt refuses it: {first}"),
        n => format!("libvirt refuses it: {first}; {n} more lines are refused"),
    });
    for illegal in all.iter().take(8) {
        finding.at_noting(vm.at(illegal.line), || illegal.refusal.to_string());
    }
    finding.fix(|| edit("correct the lines that libvirt refuses", "virsh define --validate says the first of them"));
}
