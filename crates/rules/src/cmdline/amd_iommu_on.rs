//! `cmdline/amd-iommu-on`.

use super::words::{self, AMD_INIT, KPARAM};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity};
use linerate_formats::dmesg::{AmdVi, Event};

pub(super) static RULE: Rule = Rule {
    id: "cmdline/amd-iommu-on",
    title: "amd_iommu= has only values that exist",
    severity: Severities::always(Severity::Info),
    roles: Roles::ALL,
    effect: Effect::sourced("none: the kernel ignores the word"),
    sources: &[AMD_INIT, KPARAM],
    reads: &["proc/cmdline", "dmesg"],
    docs: "\
## What it checks
The values of `amd_iommu=` against those that the kernel knows: fullflush, force_enable, off, force_isolation, pgtbl_v1, pgtbl_v2,
irtcachedis, nohugepages, v2_pgsizes_only. `on` is not among them.

## Why it matters
An ignored word makes people believe that they switched something on. AMD's IOMMU is on by default whenever firmware has the IVRS table.

## See it yourself
`cat /proc/cmdline; dmesg | grep 'AMD-Vi: Unknown option'`.

## Fix
Remove the word. If the IOMMU is to be on and there are 0 groups, switch it on in the firmware setup.",
    myths: &[
        Myth {
            claim: "On AMD, amd_iommu=on must be set for passthrough or GPUDirect.",
            truth: "The parser does not know the value (`AMD-Vi: Unknown option - 'on'`). The IOMMU is on unless amd_iommu=off, iommu=off, or the firmware says otherwise. Even vendor documentation prints it.",
        },
        Myth {
            claim: "iommu=pt is set but ineffective because amd_iommu=on is missing.",
            truth: "It is ineffective because there is no IOMMU at all (no IVRS table), and that is harmless.",
        },
    ],
    check,
};

/// The kernel compares prefixes.
const KNOWN: [&str; 9] = [
    "fullflush",
    "force_enable",
    "off",
    "force_isolation",
    "pgtbl_v1",
    "pgtbl_v2",
    "irtcachedis",
    "nohugepages",
    "v2_pgsizes_only",
];

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some((c, place)) = words::seen(cx, out) else { return };
    let complaint = cx.node.kernel.events(|e| matches!(e, Event::AmdVi(AmdVi::UnknownOption(_))).then_some(())).next();
    for (option, word) in c.options("amd_iommu").filter(|(o, _)| !KNOWN.iter().any(|k| o.starts_with(k))) {
        let hint = match option {
            "on" => "AMD's IOMMU is on without a parameter".to_owned(),
            o => match words::nearest(o, KNOWN.into_iter()) {
                Some(k) => format!("`{k}` exists"),
                None => "no such value in mainline kernels".to_owned(),
            },
        };
        out.fail(words::subject("amd_iommu", option), format_args!("unknown value, ignored; {hint}"))
            .at(place.line(word.line))
            .fix(|| words::remove(&[&format!("amd_iommu={}", words::short(option))], ""))
            .at(complaint.map(|(_, p)| p));
    }
    if out.is_empty() {
        words::none_of(out, "unknown amd_iommu= value", (c, place));
    }
}
