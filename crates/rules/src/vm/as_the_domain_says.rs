//! `vm/as-the-domain-says`.

use super::{LIBVIRT_PCI, each, edit, subject};
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity};
use linerate_node::vms::Vm;
use linerate_vm::guest::What;

pub(super) static RULE: Rule = Rule {
    id: "vm/as-the-domain-says",
    title: "The guest shows its devices where the domain has them",
    severity: Severities::always(Severity::Medium),
    roles: Roles::VM_GUEST,
    effect: Effect::direction_only("a topology file made for the domain names devices that are not there, and NCCL falls back to the guest's tree"),
    sources: &[LIBVIRT_PCI, crate::topo::NCCL_SYSTEM],
    reads: &["virsh dumpxml", "sys/bus/pci/devices/* (tree)", "sys/bus/pci/devices/*/numa_node"],
    docs: "\
## What it checks
Where the domain of this guest is in the source, too: each function of the host at the address in the guest that follows from the domain, on the NUMA node of its expander bus.

## Why it matters
Bus numbers are counted by the guest's firmware, depth first, and differ with every port that is added. A guest that still runs with an older domain, or a firmware that counts otherwise, shows other addresses.

## See it yourself
`lspci -D` in the guest, beside `<address>` in the domain: its `bus` is a controller's index, not a bus number.

## Fix
Shut the guest down and start it again (a reboot from inside keeps the old domain); write the topology file anew.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    each(cx, out, judge);
}

fn judge(cx: &Cx<'_>, vm: &Vm, out: &mut Findings) {
    let Some(placed) = super::placed(cx, vm, out) else { return };
    let pci = &cx.node.pci;
    let Some(seen) = pci.seen else {
        out.unknown(subject(vm), "the guest's PCI devices are not in this source")
            .at(vm.at(vm.domain.span.line))
            .see("add `lspci -D -nn` of the guest, or capture it");
        return;
    };
    let mut wrong: Vec<(u32, String)> = Vec::new();
    let mut count = 0;
    for f in placed.tree.functions.iter().filter(|f| matches!(f.what, What::Host(_))) {
        count += 1;
        match pci.find(f.bdf).map(|id| pci.get(id)) {
            None => wrong.push((f.line, format!("{} is not in the guest", f.bdf))),
            Some(g) => {
                let node = g.numa_node.known().and_then(|n| u32::try_from(*n).ok());
                if g.numa_node.known().is_some() && node != f.cell {
                    wrong.push((f.line, format!("{} is on another NUMA node than its expander bus", f.bdf)));
                }
            }
        }
    }
    match wrong.first() {
        None => {
            out.pass(subject(vm), format_args!("{count} functions are where the domain has them"))
                .at(seen)
                .at(vm.at(vm.domain.span.line));
        }
        Some((line, first)) => {
            let finding = out.fail(subject(vm), || match wrong.len() {
                1 => first.clone(),
                n => format!("{first}; {} more of {count} functions", n - 1),
            });
            finding.at(vm.at(*line)).at(seen);
            finding.fix(|| {
                edit(
                    "shut the guest down and start it; then write the topology file again",
                    "virsh shutdown and virsh start; linerate vm layout --nccl",
                )
            });
        }
    }
}
