//! `ats/not-enabled-with-vm`.

use super::VM_DOC;
use crate::sources::linux;
use crate::{Cx, Effect, Findings, Remedy, Roles, Rule, Severities, Severity};
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "ats/not-enabled-with-vm",
    title: "ATS of RDMA NICs is switched on while a virtual machine uses them",
    severity: Severities::always(Severity::Medium),
    roles: Roles::VM_HOST,
    effect: Effect::direction_only("as without ATS: every packet to a GPU goes through the root complex"),
    sources: &[
        linux!("drivers/pci/ats.c", "pci_enable_ats, pci_ats_supported"),
        VM_DOC,
    ],
    reads: &["sys/bus/pci/devices/*/config", "lspci -vvv", "proc/cmdline"],
    docs: "\
## What it checks
The Enable bit of ATS of each RDMA NIC function passed to a virtual machine that has the capability, and `pci=noats`.

## Why it matters
The capability only offers. The IOMMU driver sets Enable when a device is attached to a translating domain of a unit that supports device
TLBs (Intel: the ATSR table; AMD: a flag of IVHD). vfio attaches it when the VM starts: with no VM running, `Enable-` is right.
What a host driver gets differs, so do not rely on it: with VT-d, Linux 6.1 and 6.12 enable ATS in translated domains and leave it off with `iommu=pt`; with
AMD-Vi, 6.1 was seen to enable it in both and 6.12 in neither (emulated device). Read the register; do not infer it from the domain.

## See it yourself
`sudo lspci -vvv -s BDF | grep ATSCtl` on the host, while the VM runs.

## Fix
Start the VM and read again. Still off: remove `pci=noats`, enable ATS in the firmware setup (Intel: `VT-d ATS support`), and see that the port is not
marked untrusted (external-facing).",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let nics = || {
        let passed = cx.node.pci.rdma_nics().map(|(_, f)| f).filter(|f| f.is_passed() && f.silent.is_none());
        passed.filter(|f| !f.ats.is_absent())
    };
    if nics().next().is_none() {
        out.not_applicable("no RDMA NIC with ATS is passed to a virtual machine").at(cx.node.pci.seen);
        return;
    }
    if cx.no_gpu(out) {
        return;
    }
    let noats = cx.pci_option("noats");
    for f in nics() {
        let Reading::Known(ats, at) = &f.ats else {
            out.unreadable(f.bdf, "ATS control", &f.ats);
            continue;
        };
        match (ats.enabled, noats) {
            (Some(true), _) => out.pass(f.bdf, "enabled").at(*at),
            (Some(false), Some(p)) => out.fail(f.bdf, "off, and pci=noats forbids it").at(*at).at(p).fix(|| {
                Remedy::kernel_args("boot the host without pci=noats", &[], &["pci=noats"])
                    .prove(format!("sys/bus/pci/devices/{}/config ATS control, with the VM running", f.bdf))
            }),
            (Some(false), None) => out
                .unknown(f.bdf, "off: right if no virtual machine uses it at the moment, wrong if one does")
                .at(*at)
                .see("read `lspci -vvv` on the host while the virtual machine runs"),
            (None, _) => out.unreadable(f.bdf, "ATS control", &f.ats),
        };
    }
}
