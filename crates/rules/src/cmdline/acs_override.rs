//! `cmdline/acs-override`.

use super::words::{self, KPARAM};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Source};

pub(super) static RULE: Rule = Rule {
    id: "cmdline/acs-override",
    title: "pcie_acs_override is not used",
    severity: Severities::up_to(Severity::Medium, Severity::High),
    roles: Roles::ALL,
    effect: Effect::sourced("mainline and distribution kernels ignore it; a patched kernel pretends isolation that does not exist"),
    sources: &[
        KPARAM,
        Source {
            title: "Linux patch, never merged: PCI: Enable overrides for missing ACS capabilities",
            at: "https://lkml.org/lkml/2013/5/30/513",
        },
    ],
    reads: &["proc/cmdline"],
    docs: "\
## What it checks
`pcie_acs_override=` on the command line.

## Why it matters
The parameter comes with a patch that mainline, RHEL, Ubuntu and Talos kernels do not have: there it does nothing. Where the patch
is applied (Proxmox, zen kernels) the kernel treats ports without ACS as isolating and splits IOMMU groups. It clears no ACS bit,
enables no peer-to-peer traffic, and lets devices of different virtual machines write to each other.

## See it yourself
`cat /proc/cmdline; lspci -vvv | grep ACSCtl` shows the same bits with and without it.

## Fix
Remove it. To route peer-to-peer directly on bare metal: see acs/redirect-on-p2p-path.",
    myths: &[Myth {
        claim: "pcie_acs_override=downstream,multifunction disables ACS so that GPUDirect works.",
        truth: "It touches no register. It makes groups smaller, which is the contrary of what switching ACS off does.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some((c, place)) = words::seen(cx, out) else { return };
    for word in c.get_all("pcie_acs_override") {
        let raw = words::short(&word.raw);
        let host = words::vm_host(cx);
        out.fail(
            crate::Subject::KernelArg(raw.clone()),
            if host {
                "ignored by mainline kernels; with the patch, guests can reach each other's devices"
            } else {
                "ignored by mainline kernels, and never disables ACS"
            },
        )
        .severity(if host { Severity::High } else { Severity::Low })
        .at(place.line(word.line))
        .fix(|| words::remove(&[&raw], "with a patched kernel, IOMMU groups become larger again"));
    }
    if out.is_empty() {
        words::none_of(out, "pcie_acs_override", (c, place));
    }
}
