//! `cmdline/iommu-unknown-value`.

use super::words::{self, KPARAM, X86_DMA};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity};
use linerate_formats::cmdline::kernel_bool;

pub(super) static RULE: Rule = Rule {
    id: "cmdline/iommu-unknown-value",
    title: "iommu=, iommu.passthrough= and iommu.strict= have values that the kernel understands",
    severity: Severities::always(Severity::Info),
    roles: Roles::ALL,
    effect: Effect::sourced("the word is ignored without a message"),
    sources: &[X86_DMA, KPARAM],
    reads: &["proc/cmdline"],
    docs: "\
## What it checks
The values of `iommu=` against those that x86 kernels know, and that `iommu.passthrough=` and `iommu.strict=` are booleans.

## Why it matters
`iommu=on`, `iommu=1` or `iommu.passthrough=pt` do nothing, and the kernel says nothing.

## See it yourself
`cat /proc/cmdline`; `dmesg | grep -i 'command line'` shows the same.

## Fix
Write what was meant: `iommu=pt` or `iommu.passthrough=1`. To switch an IOMMU on there is `intel_iommu=on`; AMD's and Arm's are on by default.",
    myths: &[Myth {
        claim: "iommu=on switches the IOMMU on.",
        truth: "No kernel knows the value. intel_iommu=on does it on Intel; AMD's and Arm's need no word.",
    }],
    check,
};

/// Prefixes, as the kernel compares; the last ones belong to AMD's old GART and to Calgary.
const KNOWN: [&str; 22] = [
    "off",
    "force",
    "noforce",
    "biomerge",
    "panic",
    "nopanic",
    "merge",
    "nomerge",
    "forcesac",
    "allowdac",
    "nodac",
    "usedac",
    "soft",
    "pt",
    "nopt",
    "fullflush",
    "nofullflush",
    "noagp",
    "noaperture",
    "memaper",
    "leak",
    "calgary",
];

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some((c, place)) = words::seen(cx, out) else { return };
    for (option, word) in c.options("iommu").filter(|(o, _)| !KNOWN.iter().any(|k| o.starts_with(k))) {
        let why = || match option {
            "on" | "1" | "enable" | "enabled" => "ignored; no word of this name switches an IOMMU on".to_owned(),
            o => match words::nearest(o, KNOWN.into_iter()) {
                Some(k) => format!("ignored; `{k}` exists"),
                None => "ignored; no such value".to_owned(),
            },
        };
        out.fail(words::subject("iommu", option), why)
            .at(place.line(word.line))
            .fix(|| words::remove(&[&format!("iommu={option}")], ""));
    }
    for name in ["iommu.passthrough", "iommu.strict"] {
        for word in c.get_all(name) {
            let value = word.value.as_deref().unwrap_or_default();
            if kernel_bool(value).is_none() {
                out.fail(words::subject(name, value), "ignored: not a boolean (1 or 0)")
                    .at(place.line(word.line))
                    .fix(|| words::remove(&[&word.raw], ""));
            }
        }
    }
    if out.is_empty() {
        words::none_of(out, "unknown value of iommu=, iommu.passthrough= or iommu.strict=", (c, place));
    }
}
