//! `gpumem/pcie-replays`.

use crate::pcie::links::subject;
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
            title: "AMD SMI, amdsmi_pcie_info_t: pcie_replay_roll_over_count",
            at: "https://rocm.docs.amd.com/projects/amdsmi/en/latest/doxygen/docBin/html/group__tagBandwidthMon.html",
        },
        Source {
            title: "PCI Express Base Specification, REPLAY_NUM: a rollover of the 2-bit counter retrains the link",
            at: "https://pcisig.com/specifications",
        },
    ],
    reads: &["nvidia-smi -q -x", "amd-smi metric"],
    docs: "\
## What it checks
`Replay Number Rollovers` of each GPU, of AMD's `REPLAY_ROLL_OVER_COUNT`. The count of single replays is the subject of pcie/gpu-replays.

## Why it matters
A damaged packet is sent again. After four attempts in a row without success the counter (2 bits) rolls over and the link retrains: nothing moves meanwhile. Single replays over months are harmless; a rollover is not.

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
    // amd-smi may show GPUs of which it counts nothing (`list`, `topology`): those are pcie/gpu-replays's business.
    let amd = cx.node.amd.gpus.iter().filter(|g| g.replay_rollovers.known().is_some());
    let amd: Vec<Counted<'_>> = amd
        .map(|g| Counted {
            subject: subject(g),
            rollovers: &g.replay_rollovers,
            replays: &g.replays,
            prove: "amd-smi metric",
        })
        .collect();
    if nvidia.gpus.is_empty() && amd.is_empty() {
        if nvidia.asked.known().is_none() && !super::no_own_gpu(cx, out) {
            out.unreadable(Subject::Node, "answer of nvidia-smi", &nvidia.asked)
                .see("add the output of `nvidia-smi -q -x`");
        } else if out.is_empty() {
            out.not_applicable("nvidia-smi reports no GPU").at(nvidia.asked.place());
        }
        return;
    }
    let of_nvidia = nvidia.gpus.iter().map(|g| Counted {
        subject: Subject::Pci(g.bdf),
        rollovers: &g.replay_rollovers,
        replays: &g.replays,
        prove: "nvidia-smi -q -x",
    });
    judge(of_nvidia.chain(amd), out);
}

/// What one GPU counts.
struct Counted<'a> {
    subject: Subject,
    rollovers: &'a Reading<u64>,
    replays: &'a Reading<u64>,
    prove: &'static str,
}

fn judge<'a>(gpus: impl Iterator<Item = Counted<'a>>, out: &mut Findings) {
    let (mut clean, mut unseen, mut total) = (Vec::new(), Vec::new(), 0u64);
    for g in gpus {
        match g.rollovers {
            Reading::Known(0, p) => {
                clean.push(*p);
                total = total.saturating_add(g.replays.known().copied().unwrap_or(0));
            }
            Reading::Known(n, p) => {
                out.fail(
                    g.subject,
                    format_args!(
                        "{}: the link was retrained",
                        linerate_formats::counted(*n, "replay rollover", "replay rollovers")
                    ),
                )
                .at(*p)
                .at(g.replays.place())
                .fix(|| {
                    Remedy::physical(
                        "reseat the GPU or its riser; check connectors and retimers",
                        "PCIe connection of the GPU",
                    )
                    .because("the node is opened: drain it")
                    .prove(g.prove)
                });
            }
            r => unseen.push((g.subject, r)),
        }
    }
    if let Some(first) = clean.first() {
        out.pass(
            Subject::Node,
            format_args!(
                "no rollover on {}, {}",
                linerate_formats::counted(clean.len(), "GPU", "GPUs"),
                linerate_formats::counted(total, "replay", "replays")
            ),
        )
        .at(*first);
    }
    if let Some((subject, r)) = unseen.first() {
        let what = format!("replay rollovers of {subject}{}", if unseen.len() > 1 { " and others" } else { "" });
        out.unreadable(Subject::Node, &what, r);
    }
}
