//! `pcie/gpu-replays`.

use crate::grown;
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity, Source};
use linerate_node::counters::{self, Counter, Gpu, Owner};
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "pcie/gpu-replays",
    title: "GPUs see no damaged packets on their PCIe links",
    severity: Severities::up_to(Severity::Info, Severity::High),
    roles: Roles::ALL,
    effect: Effect::direction_only("each replay delays what follows; many mean bad signals"),
    sources: &[Source {
        title: "nvidia-smi, PCI: Replays Since Reset, Replay Number Rollovers",
        at: "https://docs.nvidia.com/deploy/nvidia-smi/index.html",
    }],
    reads: &["nvidia-smi -q", "NVML: fields of PCIe counters", "nvidia-smi pci -gErrCnt"],
    docs: "\
## What it checks
What each GPU counts of its own end of the PCIe link: `Replays Since Reset` (packets that it had to send again), and, from NVML, damaged packets that
arrived (bad TLP, NAKs sent) and damaged signals (receiver errors, lane errors). Totals are information: they count since the driver was loaded, training of
the link included. With an earlier reading (`audit --before`) what grew since is judged instead. A guest sees these counters, though not those of the
port above.

## Why it matters
A replay repairs a packet that arrived damaged. A few over weeks are nothing; a number that grows under load is a link that is going bad.

## See it yourself
`linerate watch counters` while traffic runs; or `nvidia-smi pci -gErrCnt` twice.

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
    let own = counters::of_gpus(cx.node, cx.snapshot);
    for g in &cx.node.nvidia.gpus {
        let owner = Owner::Gpu(Gpu::At(g.bdf));
        let bad = |c: &&Counter| c.owner == owner && is_of_link(&c.name) && c.value > 0;
        if grown::judge(cx, &owner, is_of_link, g.bdf, g.replays.place(), out) {
            continue;
        }
        let seen: Vec<&Counter> = own.iter().filter(bad).collect();
        let list: Vec<String> = seen.iter().map(|c| format!("{} {}", c.name, c.value)).collect();
        match (&g.replays, seen.first()) {
            (_, Some(first)) => {
                let text = format_args!("since the driver was loaded: {}; one reading cannot show growth", list.join(", "));
                out.fail(g.bdf, text).severity(Severity::Info).at(first.place)
            }
            (Reading::Known(_, p), None) => out.pass(g.bdf, "no replays, and no damaged packets counted").at(*p),
            (r, None) => out.unreadable(g.bdf, "replays", r),
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

/// Counters of a GPU's PCIe link of which growth is a loss or a fault.
fn is_of_link(name: &str) -> bool {
    name.starts_with("pcie_") && counters::known::known(name).is_some_and(|k| k.kind.is_bad())
}
