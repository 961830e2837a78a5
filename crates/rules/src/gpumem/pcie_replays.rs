//! `gpumem/pcie-replays`.

use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "gpumem/pcie-replays",
    title: "No GPU's PCIe link had to be retrained because replays did not help",
    severity: Severities::always(Severity::Medium),
    roles: Roles::ALL,
    effect: Effect::direction_only("the link stops while it retrains, and may come back slower"),
    sources: &[
        Source {
            title: "nvidia-smi: Replays Since Reset, Replay Number Rollovers",
            at: "https://docs.nvidia.com/deploy/nvidia-smi/index.html",
        },
        Source {
            title: "PCI Express Base Specification, REPLAY_NUM: a rollover of the 2-bit counter retrains the link",
            at: "https://pcisig.com/specifications",
        },
    ],
    reads: &["nvidia-smi -q -x"],
    docs: "\
## What it checks
`Replay Number Rollovers` of each GPU. The count of single replays is the subject of pcie/gpu-replays.

## Why it matters
A damaged packet is sent again. After four attempts in a row without success the counter (2 bits) rolls over and the link is trained
anew: nothing moves meanwhile. Single replays over months are harmless; a rollover is not.

## See it yourself
`nvidia-smi -q | grep -i -A1 replay`; `lspci -vv -s BDF | grep -E 'LnkSta|Rollover'`.

## Fix
Reseat the GPU or its riser, look at connectors and retimers, compare with the AER counters of the port above.",
    myths: &[Myth {
        claim: "PCIe corrects its errors, so they cost nothing.",
        truth: "Each correction is a repetition, and four failed ones stop the link until it is trained again.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let nvidia = &cx.node.nvidia;
    if nvidia.gpus.is_empty() {
        if nvidia.asked.known().is_none() && !super::no_own_gpu(cx, out) {
            out.unreadable(Subject::Node, "answer of nvidia-smi", &nvidia.asked)
                .see("add the output of `nvidia-smi -q -x`");
        } else if out.is_empty() {
            out.not_applicable("nvidia-smi reports no GPU").at(nvidia.asked.place());
        }
        return;
    }
    let (mut clean, mut unseen, mut total) = (Vec::new(), Vec::new(), 0u64);
    for g in &nvidia.gpus {
        match &g.replay_rollovers {
            Reading::Known(0, p) => {
                clean.push(*p);
                total = total.saturating_add(g.replays.known().copied().unwrap_or(0));
            }
            Reading::Known(n, p) => {
                out.fail(g.bdf, format_args!("{n} replay rollover(s): the link was retrained"))
                    .at(*p)
                    .at(g.replays.place())
                    .fix(|| {
                        Remedy::physical(
                            "reseat the GPU or its riser; check connectors and retimers",
                            "PCIe connection of the GPU",
                        )
                        .because("the node is opened: drain it")
                        .prove("nvidia-smi -q -x")
                    });
            }
            r => unseen.push((g.bdf, r)),
        }
    }
    if let Some(first) = clean.first() {
        out.pass(Subject::Node, format_args!("no rollover on {} GPU(s), {total} replays", clean.len())).at(*first);
    }
    if let Some((bdf, r)) = unseen.first() {
        let what = format!("replay rollovers of {bdf}{}", if unseen.len() > 1 { " and others" } else { "" });
        out.unreadable(Subject::Node, &what, r);
    }
}
