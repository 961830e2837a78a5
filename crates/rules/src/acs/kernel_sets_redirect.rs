//! `acs/kernel-sets-redirect`.

use super::{KERNEL_PCI, control, control_place};
use crate::sources::linux;
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Subject};
use linerate_formats::pci::caps::AcsBits;
use linerate_node::pci::{Kind, PciFunction};

pub(super) static RULE: Rule = Rule {
    id: "acs/kernel-sets-redirect",
    title: "The kernel does not set ACS redirection by itself",
    severity: Severities::always(Severity::Info),
    roles: Roles::BARE_METAL,
    effect: Effect::sourced("a fix by setpci is lost at reboot, and already after an AER or DPC port reset, a hot-plug, or a resume"),
    sources: &[
        KERNEL_PCI,
        linux!("drivers/iommu/amd/init.c", "detect_ivrs calls pci_request_acs whenever the IVRS table exists"),
    ],
    reads: &["sys/kernel/iommu_groups", "sys/bus/pci/devices/*/config"],
    docs: "\
## What it checks
Whether an IOMMU is in use while bridges can do ACS: then the kernel itself sets source validation, request and completion redirect and
upstream forwarding (0x1d) on every capable port, at boot and whenever a port's state is restored.

## Why it matters
This is the usual origin of redirecting ports on bare metal, and the reason why they come back. `iommu=pt` changes nothing here: it picks the
domain type and leaves ACS on. With the IOMMU off in the firmware setup the kernel does not touch ACS; firmware may.

## See it yourself
`ls /sys/kernel/iommu_groups | wc -l`, and `sudo lspci -vvv | grep ACSCtl` before and after a reboot.

## Fix
Nothing to repair by itself. Prefer `pci=config_acs=` or `pci=disable_acs_redir=` over setpci: the kernel then applies the wish whenever it
sets ACS. If it must be setpci, run it at each boot and watch acs/redirect-on-p2p-path. Without virtual machines, IOMMU off is another way.",
    myths: &[Myth {
        claim: "iommu=pt switches ACS off.",
        truth: "It makes identity the default domain. The IOMMU stays in use, and with it the kernel keeps ACS redirection on.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let pci = &cx.node.pci;
    let any = pci.functions.iter().any(|f| f.kind == Kind::Bridge);
    if cx.no_subjects(any, "PCI bridge", out) {
        return;
    }
    let Some((groups, at)) = cx.node.iommu.group_count() else {
        out.unreadable(Subject::Node, "IOMMU groups", &cx.node.iommu.groups);
        return;
    };
    if groups == 0 {
        out.pass(Subject::Node, "no IOMMU in use: the kernel sets no ACS bits by itself").at(at);
        return;
    }
    let capable: Vec<&PciFunction<'_>> =
        pci.functions.iter().filter(|f| f.kind == Kind::Bridge && control(f).is_some()).collect();
    let Some(first) = capable.first() else {
        if pci.functions.iter().any(|f| f.kind == Kind::Bridge && f.acs.is_unreadable()) {
            out.unknown(
                Subject::Node,
                format_args!("an IOMMU is in use ({groups} groups); the ports' ACS registers are not visible"),
            )
            .at(at)
            .see("read as root (in a container: privileged, with the host's /sys)");
        } else {
            out.pass(Subject::Node, "no bridge has the ACS capability").at(at);
        }
        return;
    };
    let redirecting = capable.iter().filter(|f| control(f).is_some_and(|c| c.any(AcsBits::REDIRECT))).count();
    let shown = capable.iter().find(|f| control(f).is_some_and(|c| c.any(AcsBits::REDIRECT))).unwrap_or(first);
    out.fail(
        Subject::Node,
        format_args!(
            "an IOMMU is in use ({groups} groups), so the kernel sets redirection on every capable port: {redirecting} of {} have it now",
            capable.len()
        ),
    )
    .at(at)
    .at(control_place(shown));
}
