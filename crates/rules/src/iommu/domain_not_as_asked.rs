//! `iommu/domain-not-as-asked`.

use super::ends::Domains;
use crate::cmdline::words::{self, INTEL_IOMMU, IOMMU_CORE, KPARAM, X86_DMA, asked_domain};
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Subject};
use linerate_formats::cmdline::Cmdline;
use linerate_node::context::Role;
use linerate_node::iommu::DomainType;

pub(super) static RULE: Rule = Rule {
    id: "iommu/domain-not-as-asked",
    title: "GPUs and NICs have the domain type that the command line asks for",
    severity: Severities::always(Severity::Medium),
    roles: Roles::ALL,
    effect: Effect::sourced("the node does not do what its configuration says"),
    sources: &[IOMMU_CORE, X86_DMA, INTEL_IOMMU, KPARAM],
    reads: &["proc/cmdline", "sys/kernel/iommu_groups/*/type", "dmesg"],
    docs: "\
## What it checks
`iommu=pt`/`nopt` (x86) and `iommu.passthrough=` against the domain types that GPUs and RDMA NICs have. Devices on vfio-pci are left out.

## Why it matters
Somebody believes that the node is in passthrough mode, and it is not (or the reverse). Usual reasons: a later word of the line
wins; `iommu=pt` on Arm, where it means nothing; a value that is not a boolean (`iommu.passthrough=pt`), which is ignored; an
emulated VT-d unit without passthrough support; a device behind an external port, which is always translated; the type was changed in
sysfs after boot. Memory encryption overrides only a default of the kernel's configuration, not the command line.

## See it yourself
`cat /proc/cmdline; cat /sys/kernel/iommu_groups/*/type | sort | uniq -c; dmesg | grep -i iommu`.

## Fix
One word is enough, and `iommu.passthrough=1` works on every architecture. Remove the others, reboot, read the types again.",
    myths: &[Myth {
        claim: "/proc/cmdline has iommu=pt, so the node is in passthrough mode.",
        truth: "The command line is a request. The type of each device's group is the answer.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some((c, place)) = words::seen(cx, out) else { return };
    let domains = Domains::in_use(cx);
    let ignored = ignored(cx, c);
    let Some(asked) = asked_domain(cx, c) else {
        match (ignored, domains.first(DomainType::translated)) {
            (Some(why), Some((n, (bdf, domain, at)))) => out
                .fail(
                    Subject::Node,
                    format_args!(
                        "{why}: {} {domain}, {bdf} first",
                        linerate_formats::counted(n, "GPU or NIC function is", "GPU or NIC functions are")
                    ),
                )
                .at(place)
                .at(*at)
                .fix(one_word),
            _ => out.not_applicable("the command line does not ask for a domain type").at(place),
        };
        return;
    };
    let word = words::short(&asked.word.raw);
    let place = place.line(asked.word.line);
    let wrong = domains.first(|d| if asked.identity { d.translated() } else { d == DomainType::Identity });
    if let Some((n, (bdf, domain, at))) = wrong {
        let why = reason(cx, asked.identity);
        out.fail(
            Subject::KernelArg(word.clone()),
            format_args!(
                "`{word}` asks for {}, but {} {domain}, {bdf} first{why}",
                wanted(asked.identity),
                linerate_formats::counted(n, "GPU or NIC function is", "GPU or NIC functions are")
            ),
        )
        .at(place)
        .at(*at)
        .fix(look)
        .severity((!asked.identity).then_some(Severity::Info));
    } else if !domains.of.is_empty() {
        out.pass(
            Subject::Node,
            format_args!(
                "`{word}` asks for {}, and that is what {}",
                wanted(asked.identity),
                linerate_formats::counted(domains.of.len(), "function has", "functions have")
            ),
        )
        .at(place)
        .at(domains.of.first().map_or(place, |d| d.2));
        overridden(cx, c, asked.identity, out);
    } else if domains.unseen > 0 {
        out.unreadable(Subject::Node, "domains of GPUs and NICs", &cx.node.iommu.groups).at(place);
    } else {
        out.not_applicable("no GPU or NIC of a host driver is in an IOMMU group").at(place);
    }
}

fn wanted(identity: bool) -> &'static str {
    if identity { "passthrough" } else { "translation" }
}

/// An earlier word asks for the contrary: it works, and misleads.
fn overridden(cx: &Cx<'_>, c: &Cmdline, identity: bool, out: &mut Findings) {
    if let Some(p) = words::asking(cx, c, !identity).next() {
        let word = words::short(&p.raw);
        out.fail(Subject::KernelArg(word.clone()), format_args!("`{word}` is overruled by a later word of the line"))
            .severity(Severity::Info)
            .at(cx.node.kernel.cmdline.place().line(p.line));
    }
}

/// A request for passthrough which the kernel does not understand.
fn ignored(cx: &Cx<'_>, c: &Cmdline) -> Option<&'static str> {
    if cx.node.cpu.is_arm() && c.has_option("iommu", "pt") {
        return Some("`iommu=pt` is an x86 parameter, ignored on Arm");
    }
    let not_boolean = c
        .get_all("iommu.passthrough")
        .any(|p| p.value.as_deref().is_none_or(|v| linerate_formats::cmdline::kernel_bool(v).is_none()));
    not_boolean.then_some("`iommu.passthrough` has a value that is not a boolean, so it is ignored")
}

fn reason(cx: &Cx<'_>, identity: bool) -> &'static str {
    if !identity {
        return "";
    }
    if super::ends::snp_wanted(cx).is_some() {
        return " (SEV-SNP requires translation)";
    }
    if cx.node.context.role.value == Some(Role::VmGuest) {
        return " (an emulated IOMMU without passthrough support translates always)";
    }
    ""
}

fn one_word() -> Remedy {
    Remedy::kernel_args("boot with iommu.passthrough=1", &["iommu.passthrough=1"], &[])
        .because("host DMA is no longer confined by the IOMMU; SEV-SNP hosts need translation")
        .prove("sys/kernel/iommu_groups/*/type")
}

fn look() -> Remedy {
    Remedy::investigate(
        "find out what overrides the request",
        "read the kernel log for `Default domain type`, memory encryption and SNP; ask whether somebody wrote to /sys/kernel/iommu_groups/N/type; in a guest, whether the emulated IOMMU supports passthrough",
    )
    .prove("sys/kernel/iommu_groups/*/type")
}
