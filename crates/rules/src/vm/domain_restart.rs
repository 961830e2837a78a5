//! `vm/domain-restart`.

use super::{LIBVIRT, each, subject};
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity};
use linerate_node::vms::Vm;

pub(super) static RULE: Rule = Rule {
    id: "vm/domain-restart",
    title: "The guest runs with the current definition of its domain",
    severity: Severities::always(Severity::Low),
    roles: Roles::VM_HOST,
    effect: Effect::direction_only("none by itself: changes of the domain are not in the guest yet, and measurements show the old state"),
    sources: &[LIBVIRT],
    reads: &["virsh dumpxml", "etc/libvirt/qemu/*.xml"],
    docs: "\
## What it checks
Whether devices, PCI controllers, NUMA cells, CPUs and memory of the running domain are those of its definition.

## Why it matters
`virsh define` and `virsh edit` change the definition. The guest has it when it is shut down and started again; a reboot from inside keeps the old QEMU process, and with it the old tree.

## See it yourself
`diff <(virsh dumpxml DOMAIN) <(virsh dumpxml --inactive DOMAIN)`: libvirt adds aliases and labels to the first.

## Fix
Drain the guest, `virsh shutdown DOMAIN`, `virsh start DOMAIN`. Where the definition was not meant: define the old one again.",
    myths: &[Myth {
        claim: "A reboot of the guest takes the new definition.",
        truth: "QEMU goes on running over a reboot. Only a new QEMU process has the new definition.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    each(cx, out, judge);
}

fn judge(cx: &Cx<'_>, vm: &Vm, out: &mut Findings) {
    let own = vm.at(vm.domain.span.line);
    match (&vm.next, vm.awaits(), cx.node.vms.hidden) {
        (Some((next, text)), Some(what), _) => {
            out.fail(subject(vm), format_args!("{what}: the running guest differs from the definition of its domain"))
                .at(own)
                .at(text.line(next.span.line))
                .fix(|| {
                    Remedy::investigate(
                        "shut the guest down and start it, if the definition is meant",
                        "virsh shutdown DOMAIN; virsh start DOMAIN; a reboot from inside is not enough",
                    )
                    .because("everything in the guest ends")
                    .prove("virsh dumpxml")
                });
        }
        (Some((next, text)), None, _) => {
            out.pass(subject(vm), "the guest runs with the current definition of its domain")
                .at(own)
                .at(text.line(next.span.line));
        }
        (None, _, Some(place)) if vm.domain.is_running => {
            out.unknown(subject(vm), "the definition of the domain is not readable in this source")
                .at(place)
                .see("collect as root");
        }
        (None, ..) => {
            let why = if vm.domain.is_running { "the source shows only what runs" } else { "the guest does not run" };
            out.not_applicable_to(subject(vm), why).at(own);
        }
    }
}
