//! `gpumem/nvlink-errors`.

use crate::grown;
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::counters::known::Kind;
use linerate_node::counters::{self, Counter, Gpu, Owner};
use linerate_snapshot::{OutputKind, Place};

pub(super) static RULE: Rule = Rule {
    id: "gpumem/nvlink-errors",
    title: "GPUs see no damaged packets on NVLink, and no link that had to train again",
    severity: Severities::up_to(Severity::Info, Severity::High),
    roles: Roles::ALL,
    effect: Effect::direction_only("each packet that is sent again delays what follows; a link that trains again stops the programs that use it for that time"),
    sources: &[
        Source {
            title: "NVML: NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT, _CRC_DATA_, _REPLAY_, _RECOVERY_ERROR_COUNT",
            at: "https://docs.nvidia.com/deploy/nvml-api/group__nvmlFieldValueEnums.html",
        },
        Source { title: "nvidia-smi: nvlink, error counters", at: "https://docs.nvidia.com/deploy/nvidia-smi/index.html" },
    ],
    reads: &["nvidia-smi nvlink -e", "NVML: fields of NVLink counters"],
    docs: "\
## What it checks
What GPUs count of their NVLinks: packets with a wrong checksum (CRC), packets that were sent again (replay), links that trained again (recovery). Totals count since the
driver was loaded or the GPU was reset, so that one reading is information; a recovery, and a counter at 65535, the largest number of 16 bits, at which it may have stopped, count low.
With an earlier reading (`audit --before`) what grew since is judged instead.

## Why it matters
A replay repairs what arrived damaged. Some are left from training of the links. A number that grows under load is a link that is going bad: a seat of the board, a bridge, a cable.

## See it yourself
`linerate watch counters` while NCCL runs, or `nvidia-smi nvlink -e` before and after it. `nvidia-smi nvlink -re` sets the counters to zero (as root, where the GPU allows it): after that
one reading is enough.

## Fix
If it grows: compare with the GPU's other links and with the GPU at the other end. Reset the GPU; reseat the board or the bridge; have it replaced if one link stays far above the others.",
    myths: &[Myth {
        claim: "65535 CRC errors are worse than 8000.",
        truth: "It is where a counter of 16 bits ends. How many there were, and when, it does not say: set it to zero and read it again.",
    }],
    check,
};

/// Where a counter of 16 bits ends.
const FULL: u64 = 65_535;

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let all = counters::of_gpus(cx.node, cx.snapshot);
    let own: Vec<(Gpu, &Counter)> = all.iter().filter_map(|c| Some((of_link(c)?, c))).collect();
    if own.is_empty() {
        let text = cx.output(OutputKind::NvidiaSmiCounters).filter(|_| all.is_empty());
        match text {
            Some(text) => {
                _ = out.unknown(Subject::Node, "no counter of an NVLink that is known is in this text").at(text)
            }
            None => _ = out.not_applicable("no counters of NVLinks in this source"),
        }
        return;
    }
    // With an earlier reading each link answers for itself; those without one are summed up with their GPU.
    let mut judged: Vec<&Owner> = Vec::new();
    for (_, c) in &own {
        let again = judged.last() == Some(&&c.owner);
        let subject = || Subject::Named(c.owner.to_string());
        if !again && grown::judge(cx, &c.owner, is_of_nvlink, subject(), c.place, out) {
            judged.push(&c.owner);
        }
    }
    let mut left: Vec<(Gpu, &Counter)> = own.into_iter().filter(|(_, c)| !judged.contains(&&c.owner)).collect();
    left.sort_by_key(|(gpu, _)| *gpu);
    left.chunk_by(|a, b| a.0 == b.0).for_each(|of| totals(of, out));
}

/// What one reading of a GPU's links allows to say.
fn totals(of: &[(Gpu, &Counter)], out: &mut Findings) {
    let Some((gpu, first)) = of.first() else { return };
    let subject = match gpu {
        Gpu::At(bdf) => Subject::Pci(*bdf),
        Gpu::Number(_) => Subject::Named(gpu.to_string()),
    };
    let bad: Vec<&Counter> = of.iter().map(|(_, c)| *c).filter(|c| c.value > 0).collect();
    if bad.is_empty() {
        out.pass(subject, format_args!("{} counters of its NVLinks are zero", of.len())).at(first.place);
        return;
    }
    let list: Vec<String> = bad.iter().take(MOST).map(|c| said(c)).collect();
    let more = if bad.len() > MOST { format!(" and {} more", bad.len() - MOST) } else { String::new() };
    let full = bad.iter().any(|c| c.value == FULL);
    let low = full || bad.iter().any(|c| c.name == "nvlink_recovery");
    let end = if full { "; 65535 is the end of a counter of 16 bits" } else { "" };
    let text = format_args!("until now: {}{more}{end}; one reading cannot show growth", list.join(", "));
    let places: Vec<Place> = bad.iter().take(MOST).map(|c| c.place).collect();
    let f = out.fail(subject, text).severity(if low { Severity::Low } else { Severity::Info }).at_all(places);
    if low {
        f.fix(|| {
            Remedy::investigate(
                "read the counters again under load: a link whose counters grow is going bad",
                "growth of the NVLink error counters while NCCL runs",
            )
            .prove(grown::HOW)
        });
    }
}

/// Counters that are named.
const MOST: usize = 6;

/// `link 3: nvlink_crc 8814`
fn said(c: &Counter) -> String {
    match c.owner {
        Owner::GpuLink(_, link) => format!("link {link} {} {}", c.name, c.value),
        _ => format!("{} {}", c.name, c.value),
    }
}

/// The GPU of a counter of its NVLinks.
fn of_link(c: &Counter) -> Option<Gpu> {
    let gpu = match c.owner {
        Owner::GpuLink(gpu, _) | Owner::Gpu(gpu) => gpu,
        _ => return None,
    };
    is_of_nvlink(&c.name).then_some(gpu)
}

/// Counters of NVLink that count no traffic.
fn is_of_nvlink(name: &str) -> bool {
    name.starts_with("nvlink_") && counters::known::known(name).is_some_and(|k| k.kind != Kind::Traffic)
}
