//! `cmdline/pci-assign-busses`.

use super::words::{self, KPARAM, PCI_CORE, X86_PCI};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity};

pub(super) static RULE: Rule = Rule {
    id: "cmdline/pci-assign-busses",
    title: "Bus numbers are those of the firmware",
    severity: Severities::always(Severity::Medium),
    roles: Roles::ALL,
    effect: Effect::sourced("addresses differ from those in firmware tables, NCCL topology files, device plugins and fixes by address"),
    sources: &[
        X86_PCI,
        KPARAM,
        PCI_CORE,
    ],
    reads: &["proc/cmdline"],
    docs: "\
## What it checks
The option `pci=assign-busses`, which exists on x86 only.

## Why it matters
It makes the kernel number all PCI buses itself. Everything that names devices by address then means other devices: IOMMU scopes of
DMAR and IVRS, NCCL topology files, `pci=config_acs=` lists, setpci units, device plugins, machine configurations.

## See it yourself
`cat /proc/cmdline`; compare `lspci` with the addresses in the firmware's log.

## Fix
Remove it and reboot, then renew everything that names devices by address.",
    myths: &[Myth {
        claim: "pci=assign-busses is needed on machines with several root complexes.",
        truth: "Firmware numbers the buses of all of them. The option hides that, and applies fixes by address to the wrong device.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some((c, place)) = words::seen(cx, out) else { return };
    let Some((option, word)) = c.options("pci").find(|(o, _)| *o == "assign-busses") else {
        words::none_of(out, "pci=assign-busses", (c, place));
        return;
    };
    let place = place.line(word.line);
    let subject = words::subject("pci", option);
    if cx.node.cpu.is_arm() {
        out.fail(subject, "an x86 option: unknown on this CPU, ignored").severity(Severity::Info).at(place);
        return;
    }
    out.fail(subject, "buses are numbered by the kernel, not as firmware tables and configurations name them")
        .at(place)
        .fix(|| {
            words::remove(
                &["pci=assign-busses"],
                "all bus numbers may change: renew topology files, ACS lists and device plugins",
            )
        });
}
