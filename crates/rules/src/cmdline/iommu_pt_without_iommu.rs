//! `cmdline/iommu-pt-without-iommu`.

use super::words::{self, AMD_INIT, IOMMU_CORE, KPARAM};
use crate::iommu::ends::group_count;
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Subject};

pub(super) static RULE: Rule = Rule {
    id: "cmdline/iommu-pt-without-iommu",
    title: "A node that asks for IOMMU passthrough has an IOMMU in use",
    severity: Severities::always(Severity::Info),
    roles: Roles::ALL,
    effect: Effect::sourced("none: without an IOMMU the word has no effect"),
    sources: &[IOMMU_CORE, AMD_INIT, KPARAM],
    reads: &["proc/cmdline", "sys/kernel/iommu_groups"],
    docs: "\
## What it checks
`iommu=pt` or `iommu.passthrough=1` on the command line together with 0 IOMMU groups.

## Why it matters
The word sets the default for an IOMMU that is not there. Harmless, and a fully supported state for GPUDirect RDMA; but labels and
documents that call such a node \"passthrough\" are wrong, and comparisons of \"pt\" with \"off\" compare off with off.

## See it yourself
`cat /proc/cmdline; ls /sys/kernel/iommu_groups | wc -l`.

## Fix
None needed. Keep the word if the IOMMU may be switched on in the firmware setup one day.",
    myths: &[Myth {
        claim: "iommu=pt enables the IOMMU in passthrough mode.",
        truth: "It enables, disables and speeds up nothing. It only chooses the default domain where an IOMMU is in use.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some((c, place)) = words::seen(cx, out) else { return };
    let Some(asked) = words::asked_domain(cx, c).filter(|a| a.identity) else {
        out.not_applicable("the command line does not ask for passthrough").at(place);
        return;
    };
    let word = words::short(&asked.word.raw);
    let place = place.line(asked.word.line);
    match group_count(cx) {
        None => out.unreadable(Subject::KernelArg(word), "IOMMU groups", &cx.node.iommu.groups),
        Some((0, seen)) => {
            out.fail(Subject::KernelArg(word), "without effect: no IOMMU is in use (0 groups)").at(place).at(seen)
        }
        Some((n, seen)) => {
            out.pass(Subject::KernelArg(word), format_args!("an IOMMU is in use ({n} groups)")).at(place).at(seen)
        }
    };
}
