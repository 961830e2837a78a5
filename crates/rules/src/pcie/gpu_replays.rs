//! `pcie/gpu-replays`.

use super::PHYSICAL;
use crate::{Cx, Effect, Findings, Rule, Severities, Severity, Source};
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "pcie/gpu-replays",
    title: "GPUs have not repeated PCIe packets",
    severity: Severities::always(Severity::Info),
    roles: PHYSICAL,
    effect: Effect::direction_only("each replay delays what follows; many mean bad signals"),
    sources: &[Source {
        title: "nvidia-smi, PCI: Replays Since Reset, Replay Number Rollovers",
        at: "https://docs.nvidia.com/deploy/nvidia-smi/index.html",
    }],
    reads: &["nvidia-smi -q"],
    docs: "\
## What it checks
`Replays Since Reset` of each GPU, as the driver counts them.

## Why it matters
A replay repairs a packet that arrived damaged. A few over weeks are nothing; a number that grows under load is a link that is going bad.

## See it yourself
`nvidia-smi -q | grep -E '^GPU|Replays Since Reset'`, twice, with traffic in between.

## Fix
If it grows: reseat GPU board or riser, update retimer firmware, compare with pcie/aer-errors on the port above.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let any = cx.node.pci.gpus().next().is_some() || !cx.node.nvidia.gpus.is_empty();
    if cx.no_subjects(any, "GPU", out) {
        return;
    }
    for g in &cx.node.nvidia.gpus {
        match &g.replays {
            Reading::Known(0, p) => out.pass(g.bdf, "no replays since reset").at(*p),
            Reading::Known(n, p) => out.fail(g.bdf, format_args!("{n} replays since reset; sample twice")).at(*p),
            r => out.unreadable(g.bdf, "replays", r),
        };
    }
    if out.is_empty() && crate::gpumem::no_own_gpu(cx, out) {
        return;
    }
    if out.is_empty() {
        out.unreadable(crate::Subject::Node, "replay counters of GPUs", &cx.node.nvidia.asked)
            .see("add the output of `nvidia-smi -q`");
    }
}
