//! `cmdline/noats`.

use super::words::{self, KPARAM, PCI_CORE};
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity, Source};

pub(super) static RULE: Rule = Rule {
    id: "cmdline/noats",
    title: "PCIe address translation services are not switched off where virtual machines need them",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::sourced("VM host: every GPUDirect RDMA packet climbs to the root complex; ACS also blocks translated requests"),
    sources: &[
        PCI_CORE,
        KPARAM,
        Source {
            title: "NCCL user guide, troubleshooting: in virtual machines ATS needs to be enabled in network adapters",
            at: "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
        },
    ],
    reads: &["proc/cmdline"],
    docs: "\
## What it checks
The option `pci=noats` on the command line.

## Why it matters
Peer-to-peer inside virtual machines relies on ATS: the NIC keeps translated addresses, and the switch routes such packets directly.
`noats` switches ATS off and makes the kernel set Translation Blocking on every ACS port. On bare metal with identity domains ATS is not used.

## See it yourself
`cat /proc/cmdline; lspci -vvv | grep -E 'ATSCtl|ACSCtl'`.

## Fix
Remove it on a VM host, and reboot.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some((c, place)) = words::seen(cx, out) else { return };
    let Some((option, word)) = c.options("pci").find(|(o, _)| o.starts_with("noats")) else {
        words::none_of(out, "pci=noats", (c, place));
        return;
    };
    let place = place.line(word.line);
    let subject = words::subject("pci", option);
    if words::vm_host(cx) && cx.has_gpu() {
        out.fail(subject, "no ATS, and translated requests are blocked, on a host of virtual machines")
            .at(place)
            .fix(|| words::remove(&["pci=noats"], "devices with ATS start to use it"));
    } else {
        out.fail(subject, "no ATS: without effect on GPUDirect RDMA of host drivers")
            .severity(Severity::Info)
            .at(place);
    }
}
