//! `cmdline/iommu-pt-on-arm`.

use super::words::{self, KPARAM, X86_DMA};
use crate::{Cx, Effect, Findings, Remedy, Roles, Rule, Severities, Severity};

pub(super) static RULE: Rule = Rule {
    id: "cmdline/iommu-pt-on-arm",
    title: "On Arm, passthrough is requested with iommu.passthrough=1",
    severity: Severities::always(Severity::Medium),
    roles: Roles::ALL,
    effect: Effect::sourced("iommu=pt is ignored: devices stay in translated, strict domains (the default on arm64)"),
    sources: &[X86_DMA, KPARAM],
    reads: &["proc/cmdline", "proc/cpuinfo"],
    docs: "\
## What it checks
`iommu=` on an Arm CPU without `iommu.passthrough=1` beside it.

## Why it matters
`iommu=` is parsed by x86 code only. On arm64 nothing reads it and nothing complains; the default there is translated and strict.

## See it yourself
`uname -m; cat /proc/cmdline; cat /sys/kernel/iommu_groups/*/type | sort | uniq -c`.

## Fix
`iommu.passthrough=1`, which works on every architecture.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some((c, place)) = words::seen(cx, out) else { return };
    let Some((option, word)) = c.options("iommu").find(|(o, _)| o.starts_with("pt")) else {
        words::none_of(out, "iommu=pt", (c, place));
        return;
    };
    let subject = words::subject("iommu", option);
    if !cx.node.cpu.is_arm() {
        match cx.node.cpu.vendor.known() {
            Some(_) => out.not_applicable_to(subject, "not an Arm CPU").at(cx.node.cpu.vendor.place()),
            None => out.unreadable(subject, "CPU vendor", &cx.node.cpu.vendor),
        };
        return;
    }
    let place = place.line(word.line);
    if words::asked_domain(cx, c).is_some_and(|a| a.identity) {
        out.fail(subject, "ignored on Arm; iommu.passthrough=1 beside it does the work")
            .severity(Severity::Info)
            .at(place);
        return;
    }
    let remedy = Remedy::kernel_args("boot with iommu.passthrough=1 instead", &["iommu.passthrough=1"], &["iommu=pt"])
        .because("host DMA is no longer confined by the IOMMU")
        .prove("sys/kernel/iommu_groups/*/type");
    out.fail(subject, "ignored on Arm: nothing asks for passthrough").at(place).fix(|| remedy);
}
