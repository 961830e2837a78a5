//! `cmdline/noacs`.

use super::words::{self, KPARAM, PCI_CORE};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity};

pub(super) static RULE: Rule = Rule {
    id: "cmdline/noacs",
    title: "The command line does not rely on pci=noacs, which does not exist",
    severity: Severities::always(Severity::Low),
    roles: Roles::ALL,
    effect: Effect::sourced("none: ACS stays as it was"),
    sources: &[PCI_CORE, KPARAM],
    reads: &["proc/cmdline"],
    docs: "\
## What it checks
`pci=noacs`, `pci=disable_acs`, `pci=acs=off`, `noacs`, `acs=off`, `pcie_acs=off`.

## Why it matters
No mainline kernel has such an option: it prints `PCI: Unknown option` and leaves ACS alone.

## See it yourself
`cat /proc/cmdline; dmesg | grep 'PCI: Unknown option'; lspci -vvv | grep ACSCtl`.

## Fix
Remove it. What exists: `pci=disable_acs_redir=<devices>` (since 4.19) and `pci=config_acs=<flags>@<devices>` (since 6.11).",
    myths: &[Myth {
        claim: "pci=noacs switches ACS off.",
        truth: "There is no such option in mainline. Read ACSCtl after boot.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some((c, place)) = words::seen(cx, out) else { return };
    let in_pci = c
        .options("pci")
        .filter(|(o, _)| matches!(*o, "noacs" | "no_acs" | "disable_acs" | "acs=off" | "nopcie_acs" | "acs_off"))
        .map(|(o, p)| (format!("pci={}", words::short(o)), p));
    let alone = ["noacs", "acs", "pcie_acs", "nopcie_acs"]
        .into_iter()
        .flat_map(|n| c.get_all(n))
        .map(|p| (words::short(&p.raw), p));
    for (text, word) in in_pci.chain(alone) {
        out.fail(crate::Subject::KernelArg(text.clone()), "no kernel has this option: ACS stays as it was")
            .at(place.line(word.line))
            .fix(|| words::remove(&[&text], ""));
    }
    if out.is_empty() {
        words::none_of(out, "nonexistent option against ACS", (c, place));
    }
}
