//! `acs/guest-ports`.

use super::{NCCL_ACS, VM_DOC, control, control_place};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::pci::Kind;

pub(super) static RULE: Rule = Rule {
    id: "acs/guest-ports",
    title: "ACS bits of virtual ports are left alone",
    severity: Severities::always(Severity::Info),
    roles: Roles::VM_GUEST,
    effect: Effect::sourced("none: packets do not pass virtual ports"),
    sources: &[
        NCCL_ACS,
        VM_DOC,
        Source { title: "QEMU docs/pcie.txt: what emulated root and switch ports are", at: "https://www.qemu.org/docs/master/system/devices/pci.html" },
    ],
    reads: &["sys/bus/pci/devices/*/config", "lspci -vvv"],
    docs: "\
## What it checks
Nothing can be wrong here. It says how many ports of the guest show ACS bits, so that nobody edits them.

## Why it matters
Root ports and switches of a virtual machine are emulated. What a NIC writes to a GPU passes the real switch of the host, whose ACS only the
host can see and set. Editing the guest's registers changes nothing, and misleads.

## See it yourself
`lspci -vvv | grep -B40 ACSCtl` in the guest: Red Hat or Texas Instruments ports are QEMU's.

## Fix
On the host: acs/vmhost-direct-translated and ats/vmhost. In the guest: the virtual topology, which NCCL reads.",
    myths: &[Myth {
        claim: "Clear ACS with setpci in the guest to make GPUDirect fast.",
        truth: "The guest's ports carry no traffic. The host's do.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let bridges = || cx.node.pci.functions.iter().filter(|f| f.kind == Kind::Bridge);
    if cx.no_subjects(bridges().next().is_some(), "PCI bridge", out) {
        return;
    }
    let with_bits = || bridges().filter(|f| control(f).is_some_and(|c| c.0 != 0));
    match with_bits().next() {
        Some(f) => {
            let n = with_bits().count();
            out.pass(Subject::Node, format_args!("{n} virtual ports show ACS bits: they carry no traffic, leave them"))
                .at(control_place(f));
        }
        None => match bridges().find(|f| !f.acs.is_unreadable()) {
            Some(f) => {
                out.pass(Subject::Node, "no virtual port shows ACS bits").at(f.acs.place());
            }
            None => {
                out.not_applicable("ACS of the virtual ports is not visible, and does not matter").at(bridges()
                    .next()
                    .map_or_else(|| linerate_snapshot::Place::of(cx.snapshot.root()), |f| f.class.place()));
            }
        },
    }
}
