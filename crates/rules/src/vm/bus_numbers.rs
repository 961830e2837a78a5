//! `vm/bus-numbers`.

use super::{LIBVIRT, QEMU_PXB, READS, each, edit, subject};
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity};
use linerate_node::vms::Vm;
use linerate_vm::guest::guest;

pub(super) static RULE: Rule = Rule {
    id: "vm/bus-numbers",
    title: "Each port of the guest has a PCI bus number",
    severity: Severities::always(Severity::High),
    roles: Roles::VM_HOST,
    effect: Effect::sourced("devices below ports without a number are not there in the guest"),
    sources: &[LIBVIRT, QEMU_PXB],
    reads: READS,
    docs: "\
## What it checks
A guest has 256 bus numbers. Each expander bus begins at its `busNr` and has those up to the next expander's; each root port, upstream and downstream port takes one. The rule counts them as the guest's firmware does,
depth first.

## Why it matters
libvirt chooses a `busNr` that leaves two numbers above an expander. A switch with two devices needs five.

## See it yourself
In the guest `dmesg | grep 'bus'`: `can't allocate child bus`. `lspci` does not list the devices.

## Fix
A lower `busNr`: the ranges of expander buses must hold the ports below them. `linerate vm layout` numbers them so, and says what is left.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    each(cx, out, judge);
}

fn judge(_: &Cx<'_>, vm: &Vm, out: &mut Findings) {
    let tree = guest(&vm.domain);
    if let Some(line) = tree.without_number.first() {
        let finding = out.fail(
            subject(vm),
            format_args!("{} ports have no bus number: the ranges of their roots are full", tree.without_number.len()),
        );
        finding.at(vm.at(*line)).fix(|| {
            edit("lower busNr of the expander buses", "each range must hold the expander and every port below it")
        });
    } else if !tree.unplaced.is_empty() {
        super::unplaced(vm, &tree.unplaced, out);
    } else {
        out.pass(subject(vm), || {
            let ranges: Vec<String> = tree
                .ranges
                .iter()
                .map(|(first, last, end)| format!("{first:#04x}: {} of {}", last + 1 - first, end + 1 - first))
                .collect();
            format!("bus numbers used from each root on: {}", ranges.join(", "))
        })
        .at(vm.at(vm.domain.span.line));
    }
}
