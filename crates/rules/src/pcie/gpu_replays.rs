//! `pcie/gpu-replays`.

use crate::grown;
use crate::{Cx, Effect, Findings, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::counters::{self, Counter, Gpu, Owner};

pub(super) static RULE: Rule = Rule {
    id: "pcie/gpu-replays",
    title: "GPUs see no damaged packets on their PCIe links",
    severity: Severities::up_to(Severity::Info, Severity::High),
    roles: Roles::ALL,
    effect: Effect::direction_only("each replay delays what follows; many mean bad signals"),
    sources: &[
        Source {
            title: "nvidia-smi, PCI: Replays Since Reset, Replay Number Rollovers",
            at: "https://docs.nvidia.com/deploy/nvidia-smi/index.html",
        },
        Source {
            title: "AMD SMI, amdsmi_pcie_info_t: pcie_replay_count, pcie_nak_received_count, pcie_nak_sent_count",
            at: "https://rocm.docs.amd.com/projects/amdsmi/en/latest/doxygen/docBin/html/group__tagBandwidthMon.html",
        },
    ],
    reads: &["nvidia-smi -q", "NVML: fields of PCIe counters", "nvidia-smi pci -gErrCnt", "amd-smi metric", "rocm-smi --showreplaycount"],
    docs: "\
## What it checks
What each GPU counts of its own end of the PCIe link: `Replays Since Reset` (packets that it had to send again), and, from NVML, damaged packets that
arrived (bad TLP, NAKs sent) and damaged signals (receiver errors, lane errors). Totals are information: they count since the driver was loaded, training of
the link included. Of AMD's GPUs `REPLAY_COUNT` and the NAK counters of `amd-smi metric`, or `rocm-smi`'s replay count. With an earlier reading (`audit --before`) what grew since is judged instead. A guest sees these counters, though not those of the
port above.

## Why it matters
A replay repairs a packet that arrived damaged. A few over weeks are nothing; a number that grows under load is a link that is going bad.

## See it yourself
`linerate watch counters` while traffic runs; or `nvidia-smi pci -gErrCnt`, `amd-smi metric` twice.

## Fix
If it grows: reseat GPU board or riser, update retimer firmware, compare with pcie/aer-errors on the port above.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let own = counters::of_gpus(cx.node, cx.snapshot);
    let any = cx.node.pci.gpus().next().is_some() || !cx.node.nvidia.gpus.is_empty() || !own.is_empty();
    if cx.no_subjects(any, "GPU", out) {
        return;
    }
    for g in &cx.node.nvidia.gpus {
        let owner = Owner::Gpu(Gpu::At(g.bdf));
        if grown::judge(cx, &owner, is_of_link, g.bdf, g.replays.place(), out) {
            continue;
        }
        let seen: Vec<&Counter> = own.iter().filter(|c| c.owner == owner && is_of_link(&c.name)).collect();
        if seen.is_empty() {
            out.unreadable(g.bdf, "replays", &g.replays);
        } else {
            totals(g.bdf, &seen, out);
        }
    }
    for g in cx.node.amd.gpus.iter().filter(|g| g.bdf.is_some()) {
        let (owner, subject) = (counters::of_amd(g), crate::pcie::links::subject(g));
        if grown::judge(cx, &owner, is_of_link, subject.clone(), g.replays.place(), out) {
            continue;
        }
        let seen: Vec<&Counter> = own.iter().filter(|c| c.owner == owner && is_of_link(&c.name)).collect();
        if seen.is_empty() {
            out.unreadable(subject, "replays", &g.replays).see("add the output of `amd-smi metric`");
        } else {
            totals(subject, &seen, out);
        }
    }
    // A text that numbers GPUs says nothing of their addresses.
    let numbered: Vec<&Counter> =
        own.iter().filter(|c| matches!(c.owner, Owner::Gpu(Gpu::Number(_))) && is_of_link(&c.name)).collect();
    for of in numbered.chunk_by(|a, b| a.owner == b.owner) {
        let Some(first) = of.first() else { continue };
        let subject = || Subject::Named(first.owner.to_string());
        if !grown::judge(cx, &first.owner, is_of_link, subject(), first.place, out) {
            totals(subject(), of, out);
        }
    }
    if out.is_empty() && crate::gpumem::no_own_gpu(cx, out) {
        return;
    }
    if out.is_empty() {
        out.unreadable(crate::Subject::Node, "replay counters of GPUs", &cx.node.nvidia.asked)
            .see("add the output of `nvidia-smi -q`");
    }
}

/// What one reading of a GPU's counters allows to say.
fn totals(subject: impl Into<Subject>, seen: &[&Counter], out: &mut Findings) {
    let bad: Vec<&&Counter> = seen.iter().filter(|c| c.value > 0).collect();
    let list: Vec<String> = bad.iter().map(|c| format!("{} {}", c.name, c.value)).collect();
    match (bad.first(), seen.first()) {
        (Some(worst), _) => {
            let text = format_args!("until now: {}; one reading cannot show growth", list.join(", "));
            out.fail(subject, text).severity(Severity::Info).at(worst.place);
        }
        (None, Some(first)) => {
            out.pass(subject, format_args!("{} counters of its PCIe link are zero", seen.len())).at(first.place);
        }
        (None, None) => {}
    }
}

/// Counters of a GPU's PCIe link of which growth is a loss or a fault.
fn is_of_link(name: &str) -> bool {
    name.starts_with("pcie_") && counters::known::known(name).is_some_and(|k| k.kind.is_bad())
}
