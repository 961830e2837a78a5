//! `vm/devices`.

use super::{LIBVIRT, READS_HOST, each_with_host, edit, subject};
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity, Source};
use linerate_node::pci::Kind;
use linerate_node::vms::Vm;

pub(super) static RULE: Rule = Rule {
    id: "vm/devices",
    title: "Each function that a domain passes to its guest is on the host, and libvirt may take it",
    severity: Severities::up_to(Severity::High, Severity::Critical),
    roles: Roles::VM_HOST,
    effect: Effect::sourced("the guest does not start"),
    sources: &[
        Source { title: "libvirt, Domain XML: host device assignment, managed", at: "https://libvirt.org/formatdomain.html#usb-pci-scsi-devices" },
        LIBVIRT,
    ],
    reads: READS_HOST,
    docs: "\
## What it checks
Whether each `<source><address>` of a hostdev is a function of this host, no bridge, and either `managed='yes'` (libvirt binds it to vfio-pci when the guest starts) or bound to vfio-pci already.

## Why it matters
After a card was moved, or the host's firmware numbered its buses anew, a domain names what is not there, or what is something else.

## See it yourself
`lspci -D -s ADDRESS`, `virsh nodedev-list --cap pci`.

## Fix
Correct the address of the source; `managed='yes'` unless something else binds the function.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    each_with_host(cx, out, judge);
}

fn judge(cx: &Cx<'_>, vm: &Vm, out: &mut Findings) {
    let mut wrong: Vec<(u32, String, bool)> = Vec::new();
    let mut unseen: Vec<u32> = Vec::new();
    for device in &vm.domain.hostdevs {
        let line = device.span.line;
        let Some(bdf) = device.source else {
            unseen.push(line);
            continue;
        };
        match cx.node.pci.find(bdf).map(|id| cx.node.pci.get(id)) {
            None => wrong.push((line, format!("{bdf} is not on this host"), true)),
            Some(f) if f.kind == Kind::Bridge => wrong.push((line, format!("{bdf} is a bridge"), true)),
            Some(f) if device.is_managed || f.driven_by("vfio-pci") => {}
            Some(f) => match f.driver.known() {
                Some(driver) if !driver.is_empty() => {
                    wrong.push((line, format!("{bdf} is driven by {driver}, and not managed"), false))
                }
                _ if f.driver.is_absent() => {
                    wrong.push((line, format!("{bdf} has no driver, and is not managed"), false))
                }
                _ => unseen.push(line),
            },
        }
    }
    let count = vm.domain.hostdevs.len();
    match (wrong.first(), unseen.is_empty()) {
        (Some((_, first, _)), _) => {
            let finding = out.fail(subject(vm), || match wrong.len() {
                1 => first.clone(),
                n => format!("{first}; {} more of {count} functions cannot be given", n - 1),
            });
            if wrong.iter().any(|w| w.2) {
                finding.severity(Severity::Critical);
            }
            for (line, why, _) in wrong.iter().take(8) {
                finding.at_noting(vm.at(*line), || why.clone());
            }
            finding.fix(|| {
                edit(
                    "correct the source addresses",
                    "lspci -D names the host's functions; managed='yes' has libvirt bind them",
                )
            });
        }
        (None, false) => {
            let finding = out.unknown(
                subject(vm),
                format_args!("{} of {count} functions: address or driver not readable", unseen.len()),
            );
            unseen.iter().take(4).for_each(|line| {
                finding.at(vm.at(*line));
            });
        }
        (None, true) => {
            out.pass(subject(vm), format_args!("{count} functions are on the host, and managed or on vfio-pci"))
                .at(vm.at(vm.domain.span.line))
                .at(cx.node.pci.seen);
        }
    }
}
