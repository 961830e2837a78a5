//! `iommu/strict-invalidation`.

use super::ends::Domains;
use crate::cmdline::words::{ABI_GROUPS, KPARAM};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Subject};
use linerate_node::iommu::DomainType;

pub(super) static RULE: Rule = Rule {
    id: "iommu/strict-invalidation",
    title: "Translated devices, if there are any, use lazy invalidation",
    severity: Severities::always(Severity::Info),
    roles: Roles::ALL,
    effect: Effect::direction_only("each unmap waits for the IOMMU; the extra cost on top of translation is workload dependent"),
    sources: &[KPARAM, ABI_GROUPS],
    reads: &["sys/kernel/iommu_groups/*/type"],
    docs: "\
## What it checks
Among GPUs and RDMA NICs in translated domains: whether invalidation is strict (`DMA`) or lazy (`DMA-FQ`).
With identity domains or without an IOMMU the question does not arise.

## Why it matters
Strict invalidation makes each unmap wait for the IOMMU. It is a flush policy of translated domains, and a cost on top of
translation; for GPUDirect RDMA translation itself is the problem, whatever the policy.

## See it yourself
`cat /sys/kernel/iommu_groups/*/type | sort | uniq -c`: `DMA` is strict, `DMA-FQ` is lazy. x86 defaults to lazy, arm64 to strict.

## Fix
Get out of translation (iommu/translated-domain). Where translation must stay: `iommu.strict=0`.",
    myths: &[Myth {
        claim: "iommu.strict=1 means translated mode, iommu.strict=0 means passthrough.",
        truth: "The parameter only chooses when a translated domain invalidates. It has no meaning for identity domains.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let domains = Domains::in_use(cx);
    if let Some((n, (bdf, _, place))) = domains.first(|d| d == DomainType::Dma) {
        out.fail(
            Subject::Node,
            format_args!(
                "{} translated with strict invalidation, {bdf} first",
                linerate_formats::counted(n, "GPU or NIC function is", "GPU or NIC functions are")
            ),
        )
        .at(*place);
    } else if domains.unseen > 0 {
        out.unreadable(Subject::Node, "domains of GPUs and NICs", &cx.node.iommu.groups);
    } else if let Some((n, (bdf, _, place))) = domains.first(|d| d == DomainType::DmaFq) {
        out.pass(
            Subject::Node,
            format_args!(
                "{} translated, with lazy invalidation, {bdf} first",
                linerate_formats::counted(n, "GPU or NIC function is", "GPU or NIC functions are")
            ),
        )
        .at(*place);
    } else if !cx.no_subjects(!domains.of.is_empty() || domains.none + domains.vfio > 0, "GPU or RDMA NIC", out) {
        out.not_applicable("no GPU or NIC of a host driver is translated").at(cx.node.iommu.groups.place());
    }
}
