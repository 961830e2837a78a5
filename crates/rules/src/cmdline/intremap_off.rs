//! `cmdline/intremap-off`.

use super::words::{self, KPARAM};
use crate::sources::linux;
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity};

pub(super) static RULE: Rule = Rule {
    id: "cmdline/intremap-off",
    title: "Interrupt remapping is not switched off on a VM host",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::sourced(
        "VM host: VFIO refuses devices unless it may allow unsafe interrupts (allow_unsafe_interrupts); CPUs beyond 255 cannot take interrupts",
    ),
    sources: &[KPARAM, linux!("drivers/vfio/vfio_iommu_type1.c", "allow_unsafe_interrupts")],
    reads: &["proc/cmdline"],
    docs: "\
## What it checks
`intremap=off`, `nointremap`, `intremap=nosid`, and on AMD `amd_iommu_intr=legacy` (reported as Info).

## Why it matters
Without interrupt remapping a guest that owns a device can inject interrupts into the host, so VFIO refuses it
(`No interrupt remapping support`). It has no effect on GPUDirect RDMA of host drivers.

## See it yourself
`cat /proc/cmdline; dmesg | grep -i 'remapping'`.

## Fix
Remove the word on a VM host. `vfio_iommu_type1.allow_unsafe_interrupts=1` does not fix it.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some((c, place)) = words::seen(cx, out) else { return };
    let options =
        c.options("intremap").filter(|(o, _)| matches!(*o, "off" | "nosid")).map(|(o, p)| (format!("intremap={o}"), p));
    let old = c.get_all("nointremap").map(|p| ("nointremap".to_owned(), p));
    for (text, word) in options.chain(old) {
        let host = words::vm_host(cx);
        let weak = text.ends_with("nosid");
        let message = match (host, weak) {
            (true, true) => "the source of an interrupt is not checked, on a host of virtual machines",
            (true, false) => "no interrupt remapping on a host of virtual machines: VFIO refuses devices",
            (false, _) => "without effect on GPUDirect RDMA of host drivers",
        };
        let f = out.fail(crate::Subject::KernelArg(text.clone()), message);
        f.at(place.line(word.line));
        if host {
            f.fix(|| words::remove(&[&text], ""));
        } else {
            f.severity(Severity::Info);
        }
    }
    if let Some((o, word)) = c.options("amd_iommu_intr").find(|(o, _)| *o == "legacy") {
        out.fail(words::subject("amd_iommu_intr", o), "guest interrupts are not posted by the IOMMU")
            .severity(Severity::Info)
            .at(place.line(word.line));
    }
    if out.is_empty() {
        words::none_of(out, "option against interrupt remapping", (c, place));
    }
}
