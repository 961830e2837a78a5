//! `cmdline/iommu-soft`.

use super::words::{self, KPARAM, X86_DMA};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Source};

pub(super) static RULE: Rule = Rule {
    id: "cmdline/iommu-soft",
    title: "DMA does not go through software bounce buffers",
    severity: Severities::always(Severity::Medium),
    roles: Roles::ALL,
    effect: Effect::direction_only("DMA beyond what the buffers hold is copied by the CPU or fails"),
    sources: &[
        KPARAM,
        X86_DMA,
        Source { title: "Linux: DMA and swiotlb", at: "https://docs.kernel.org/core-api/swiotlb.html" },
    ],
    reads: &["proc/cmdline"],
    docs: "\
## What it checks
`iommu=soft` and `swiotlb=force`.

## Why it matters
`iommu=soft` selects the kernel's bounce buffers in place of a hardware IOMMU: an old workaround for AMD desktops whose IOMMU hung
peer-to-peer traffic. `swiotlb=force` sends every DMA through them. Neither belongs on a node for GPUDirect RDMA.

## See it yourself
`cat /proc/cmdline; dmesg | grep -i swiotlb`.

## Fix
Remove the word; if the reason was a hang, the answer is `iommu=pt`, or the IOMMU off in the firmware setup.",
    myths: &[Myth {
        claim: "iommu=soft fixes hangs of NCCL.",
        truth: "It did, by keeping the hardware IOMMU out of the way on machines where that translated. Passthrough does the same without bounce buffers.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let Some((c, place)) = words::seen(cx, out) else { return };
    let soft = c.options("iommu").filter(|(o, _)| o.starts_with("soft") && !cx.node.cpu.is_arm());
    let forced = c.options("swiotlb").filter(|(o, _)| *o == "force");
    for (option, word) in soft.chain(forced) {
        let word_text = format!("{}={option}", word.name);
        out.fail(words::subject(&word.name, option), "sends DMA through software bounce buffers")
            .at(place.line(word.line))
            .fix(|| words::remove(&[&word_text], "with a hardware IOMMU in use, devices may get translated domains"));
    }
    if out.is_empty() {
        words::none_of(out, "iommu=soft or swiotlb=force", (c, place));
    }
}
