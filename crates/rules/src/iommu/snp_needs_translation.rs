//! `iommu/snp-needs-translation`.

use super::ends::{Domains, memory_encryption_asked, snp_wanted};
use crate::cmdline::words::{self, AMD_INIT, asked_domain};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_formats::dmesg::Event;
use linerate_node::cpu::CpuVendor;
use linerate_node::iommu::DomainType;
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "iommu/snp-needs-translation",
    title: "A host for SEV-SNP guests does not ask for IOMMU passthrough",
    severity: Severities::always(Severity::High),
    roles: Roles::BARE_METAL.or(Roles::VM_HOST),
    effect: Effect::sourced("the kernel refuses SEV-SNP: confidential guests do not start"),
    sources: &[
        AMD_INIT,
        Source { title: "Linux: AMD memory encryption", at: "https://docs.kernel.org/arch/x86/amd-memory-encryption.html" },
    ],
    reads: &["sys/module/kvm_amd/parameters/sev_snp", "proc/cmdline", "dmesg", "sys/kernel/iommu_groups/*/type"],
    docs: "\
## What it checks
On AMD hosts: whether SEV-SNP is on or asked for (`kvm_amd.sev_snp`; after a refusal by the kernel also `mem_encrypt=on`), while the command line asks
for passthrough or GPUs and NICs are in identity domains. The kernel's refusal alone is not a finding: every EPYC whose firmware has SNP on
prints it with `iommu=pt`, and a node for GPUDirect RDMA is right that way.

## Why it matters
SNP protects guest memory through the IOMMU's checks, so the kernel switches SNP off when the IOMMU is disabled or in passthrough:
`SNP: IOMMU disabled or configured in passthrough mode, SNP cannot be supported.` `iommu=pt`, right on other nodes, is wrong here.

## See it yourself
`cat /sys/module/kvm_amd/parameters/sev_snp; dmesg | grep SNP; cat /proc/cmdline`.

## Fix
Remove `iommu=pt` and `iommu.passthrough=1`. GPUDirect RDMA between host drivers is then not supported on this node; pass the
devices to guests instead, with ATS and ACS Direct Translated.",
    myths: &[Myth {
        claim: "`SNP: IOMMU disabled or configured in passthrough mode` is an error: remove iommu=pt.",
        truth: "It says that confidential guests cannot run here. Where nobody runs them, passthrough is right and the line means nothing.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let kernel = &cx.node.kernel;
    let asked = kernel.cmdline.known().and_then(|c| asked_domain(cx, c)).filter(|a| a.identity);
    let fix = |note| match asked {
        Some(a) => words::remove(&[&a.word.raw], note),
        None => words::remove(&["iommu=pt", "iommu.passthrough=1"], note),
    };
    const NOTE: &str = "host drivers get translated domains: GPUDirect RDMA by the host itself stops being supported";
    match cx.node.cpu.vendor.known() {
        Some(CpuVendor::Amd) => {}
        Some(_) => {
            out.not_applicable("SEV-SNP is a feature of AMD CPUs").at(cx.node.cpu.vendor.place());
            return;
        }
        None => {
            out.unreadable(Subject::Node, "CPU vendor", &cx.node.cpu.vendor);
            return;
        }
    }
    let refused = kernel.events(|e| matches!(e, Event::SnpNeedsTranslation).then_some(())).next();
    // A refusal alone says that the firmware offers SNP, not that anybody wants it; memory encryption alone does not exclude passthrough.
    let wanted = snp_wanted(cx).or_else(|| refused.and_then(|_| memory_encryption_asked(cx)));
    let Some(wanted) = wanted else {
        let param = linerate_node::kernel::module_param(cx.snapshot, "kvm_amd", "sev_snp");
        match (&param, refused) {
            (Reading::Unreadable(..), None) => {
                out.unreadable(Subject::Node, "kvm_amd.sev_snp", &param)
            }
            (r, None) => {
                out.not_applicable("SEV-SNP is neither on nor asked for").at(r.place())
            }
            (_, Some(((), place))) => {
                out.not_applicable(
                    "the firmware offers SEV-SNP, the kernel left it off because of passthrough, and nothing on this node asks for it",
                )
                .at(place)
            }
        };
        return;
    };
    if let Some(((), place)) = refused {
        out.fail(
            Subject::Node,
            "SEV-SNP is wanted, and the kernel refused it: the IOMMU is off or in passthrough mode",
        )
        .at(wanted)
        .at(place)
        .fix(|| fix(NOTE));
        return;
    }
    let domains = Domains::in_use(cx);
    if let Some(a) = asked {
        let word = words::short(&a.word.raw);
        out.fail(
            Subject::KernelArg(word.clone()),
            format_args!("SEV-SNP is wanted, but `{word}` asks for passthrough"),
        )
        .at(wanted)
        .at(kernel.cmdline.place().line(a.word.line))
        .fix(|| fix(NOTE));
    } else if let Some((n, (bdf, _, place))) = domains.first(|d| d == DomainType::Identity) {
        out.fail(
            Subject::Node,
            format_args!(
                "SEV-SNP is wanted, but {} in identity domains, {bdf} first",
                linerate_formats::counted(n, "GPU or NIC function is", "GPU or NIC functions are")
            ),
        )
        .at(wanted)
        .at(*place)
        .fix(|| fix(NOTE));
    } else if let Reading::Known(_, place) = &kernel.cmdline {
        out.pass(Subject::Node, "SEV-SNP is wanted and nothing asks for passthrough").at(wanted).at(*place);
    } else {
        out.unreadable(Subject::Node, "kernel command line", &kernel.cmdline);
    }
}
