//! `pcie/config-space-visible`.

use super::links;
use crate::sources::linux;
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Subject};
use linerate_node::firmware::Lockdown;
use linerate_node::pci::PciFunction;
use linerate_snapshot::{Reading, Why};

pub(super) static RULE: Rule = Rule {
    id: "pcie/config-space-visible",
    title: "The whole configuration space of the path can be read",
    severity: Severities::always(Severity::Info),
    roles: Roles::BARE_METAL.or(Roles::VM_HOST),
    effect: Effect::derived("ACS, ATS, AER, SR-IOV and Resizable BAR cannot be judged"),
    sources: &[linux!("drivers/pci/pci-sysfs.c", "pci_read_config gives 64 bytes without CAP_SYS_ADMIN")],
    reads: &["sys/bus/pci/devices/*/config", "lspci -vvv"],
    docs: "\
## What it checks
Whether the extended capabilities of each GPU, RDMA NIC and the bridges above them could be read: 4096 bytes of configuration space, or the
output of `lspci -vvv` with them.

## Why it matters
Without CAP_SYS_ADMIN the kernel shows 64 bytes; access by other means may stop at 256. ACS, ATS, AER, SR-IOV lie behind byte 256. What was
not read is not right: the rules that need it answer unknown.

## See it yourself
`stat -c %s /sys/bus/pci/devices/BDF/config` says how long it is; `head -c 4096 … | wc -c` how much you may read. lspci prints `<access denied>`.

## Fix
Collect as root. In a container: privileged, with the host's /sys.",
    myths: &[Myth {
        claim: "lspci shows no ACSCtl, so ACS is off.",
        truth: "Without root lspci cannot see the register at all. Not shown is not off.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some(ends) = links::some_ends(cx, out) else { return };
    let path = links::with_bridges(cx, &ends);
    let hidden: Vec<&PciFunction<'_>> =
        path.iter().map(|id| cx.node.pci.get(*id)).filter(|f| f.silent.is_none() && f.acs.is_unreadable()).collect();
    let Some(first) = hidden.first() else {
        if let Some((_, f)) = ends.first() {
            out.pass(
                Subject::Node,
                format_args!("extended capabilities of all {} functions of the path are visible", path.len()),
            )
            .at(f.acs.place());
        }
        return;
    };
    let seen = match first.config_len {
        Some(64) => "64 bytes: read without privileges".to_owned(),
        Some(n) if n < 4096 => format!("{n} bytes: extended space not reached"),
        Some(_) => "the capability list is damaged".to_owned(),
        None => match &first.acs {
            Reading::Unreadable(_, why) => why.to_string(),
            _ => String::new(),
        },
    };
    out.unknown(
        Subject::Node,
        format_args!(
            "extended capabilities of {} of {} functions of the path are not visible, {} first ({seen})",
            hidden.len(),
            path.len(),
            first.bdf
        ),
    )
    .at(first.acs.place())
    .see(match (&first.acs, cx.node.firmware.lockdown.known()) {
        (_, Some(Lockdown::Confidentiality)) => {
            "kernel lockdown may hide it; read with `linerate collect` as root all the same"
        }
        (Reading::Unreadable(_, Why::NotCollected), _) => {
            "capture with `linerate collect` as root, or add `lspci -D -vvv` as root"
        }
        _ => "read as root (in a container: privileged, with the host's /sys)",
    });
}
