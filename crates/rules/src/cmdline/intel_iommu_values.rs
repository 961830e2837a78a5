//! `cmdline/intel-iommu-values`.

use super::words::{self, INTEL_IOMMU, KPARAM};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity};
use linerate_node::cpu::CpuVendor;

pub(super) static RULE: Rule = Rule {
    id: "cmdline/intel-iommu-values",
    title: "IOMMU parameters are those of this CPU's vendor, with existing values",
    severity: Severities::always(Severity::Info),
    roles: Roles::ALL,
    effect: Effect::sourced("none: the kernel ignores the word"),
    sources: &[INTEL_IOMMU, KPARAM],
    reads: &["proc/cmdline", "proc/cpuinfo"],
    docs: "\
## What it checks
Values of `intel_iommu=` that do not exist or are deprecated, and parameters of one vendor on a CPU of the other.

## Why it matters
They do nothing and suggest that they do. `intel_iommu=on` is redundant on kernels with CONFIG_INTEL_IOMMU_DEFAULT_ON (Ubuntu since
22.04), and without effect where the firmware has no DMAR table.

## See it yourself
`grep -m1 vendor_id /proc/cpuinfo; cat /proc/cmdline; dmesg | grep 'Unknown option'`.

## Fix
Remove the word. Deprecated: `strict` is `iommu.strict=1`, `forcedac` is `iommu.forcedac=1`.",
    myths: &[Myth {
        claim: "intel_iommu=on iommu=pt is the line for every GPU server.",
        truth: "On AMD and Arm the first word is ignored; on kernels that are on by default it is redundant; with the IOMMU off in the firmware setup neither does anything.",
    }],
    check,
};

const KNOWN: [&str; 9] = ["on", "off", "igfx_off", "forcedac", "strict", "sp_off", "sm_on", "sm_off", "tboot_noforce"];

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some((c, place)) = words::seen(cx, out) else { return };
    let vendor = cx.node.cpu.vendor.known();
    for (option, word) in c.options("intel_iommu") {
        let message = match (vendor, option) {
            (Some(CpuVendor::Intel) | None, "strict" | "forcedac") => {
                format!("deprecated: use iommu.{option}=1")
            }
            (Some(CpuVendor::Intel) | None, o) if KNOWN.iter().any(|k| o.starts_with(k)) => continue,
            (Some(CpuVendor::Intel) | None, o) => match words::nearest(o, KNOWN.into_iter()) {
                Some(k) => format!("unknown value, ignored; `{k}` exists"),
                None => "unknown value, ignored".to_owned(),
            },
            // Guests of any host may have an emulated VT-d unit, which the same driver serves.
            (Some(_), _) if cx.node.context.role.value == Some(linerate_node::context::Role::VmGuest) => continue,
            (Some(_), _) => "a parameter of Intel's driver, without effect on this CPU".to_owned(),
        };
        out.fail(words::subject("intel_iommu", option), message)
            .at(place.line(word.line))
            .fix(|| words::remove(&[&format!("intel_iommu={option}")], ""));
    }
    if matches!(vendor, Some(CpuVendor::Intel)) {
        for (option, word) in c.options("amd_iommu").chain(c.options("amd_iommu_intr")) {
            out.fail(words::subject(&word.name, option), "a parameter of AMD's driver, without effect on this CPU")
                .at(place.line(word.line))
                .fix(|| words::remove(&[&format!("{}={option}", word.name)], ""));
        }
    }
    if !out.is_empty() {
        return;
    }
    let any = c.options("intel_iommu").chain(c.options("amd_iommu")).next().is_some();
    if any && vendor.is_none() {
        out.unreadable(crate::Subject::Node, "CPU vendor", &cx.node.cpu.vendor);
    } else {
        words::none_of(out, "IOMMU parameter of the other vendor and no unknown value", (c, place));
    }
}
