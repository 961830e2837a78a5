//! `modules/dma-remap-peer-mmio`.

use super::nvidia::{self, NV_REG, READS};
use crate::cmdline::words::GDR_DOC;
use crate::iommu::ends::Domains;
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity, Subject};
use linerate_node::iommu::DomainType;

pub(super) static RULE: Rule = Rule {
    id: "modules/dma-remap-peer-mmio",
    title: "The GPU driver maps peer memory through the DMA interface of the kernel",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::sourced("in a translated domain the peer gets an address without a mapping: IOMMU faults"),
    sources: &[NV_REG, GDR_DOC],
    reads: READS,
    docs: "\
## What it checks
`NVreg_DmaRemapPeerMmio` in force (else asked for), together with the domains that GPUs and NICs are in.

## Why it matters
1, the default, lets the driver create IOMMU mappings for memory of a peer device. With 0 it only adds a fixed offset. That works
where nothing is translated; in a translated domain the peer then uses an address that the IOMMU does not know.

## See it yourself
`grep DmaRemapPeerMmio /proc/driver/nvidia/params; cat /sys/kernel/iommu_groups/*/type | sort | uniq -c`.

## Fix
Remove the option. Translated domains are wrong for GPUDirect RDMA on bare metal anyway: see iommu/translated-domain.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let params = &cx.node.nvidia.driver.params;
    let subject = || Subject::Module("nvidia NVreg_DmaRemapPeerMmio".into());
    match nvidia::effective_or_asked(cx, "DmaRemapPeerMmio") {
        Some((0, place)) => {
            let remedy = || nvidia::reset("DmaRemapPeerMmio", "");
            let domains = Domains::in_use(cx);
            if let Some((n, (bdf, domain, at))) = domains.first(DomainType::translated) {
                out.fail(
                    subject(),
                    format_args!(
                        "0, and {} translated ({domain}), {bdf} first",
                        linerate_formats::counted(n, "GPU or NIC function is", "GPU or NIC functions are")
                    ),
                )
                .at(place)
                .at(*at)
                .fix(remedy);
            } else {
                let seen = if domains.unseen > 0 { "the domains are not visible" } else { "nothing is translated" };
                out.fail(subject(), format_args!("0: harmless only while nothing is translated; {seen}"))
                    .severity(if domains.unseen > 0 { Severity::Low } else { Severity::Info })
                    .at(place)
                    .fix(remedy);
            }
        }
        Some((value, place)) => {
            out.pass(subject(), format_args!("{value}: peer memory is mapped through the kernel")).at(place);
        }
        None if params.known().is_some() => {
            out.not_applicable("the driver does not list the parameter").at(params.place());
        }
        None if params.is_absent() => {
            out.not_applicable("the nvidia driver is not loaded").at(params.place());
        }
        None => {
            out.unreadable(Subject::Node, "/proc/driver/nvidia/params", params);
        }
    }
}
