//! `topo/xgmi`.

use super::amd_pairs::{RCCL_TIPS, SMI_SOURCE, is_mi300x, no_table, pair, pairs};
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::amd::{Device, What};
use linerate_node::context::Role;
use linerate_snapshot::Place;

pub(super) static RULE: Rule = Rule {
    id: "topo/xgmi",
    title: "XGMI joins every two AMD GPUs of a hive",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::direction_only("traffic between the two GPUs goes over PCIe, and rings of RCCL that need the link are left out"),
    sources: &[
        RCCL_TIPS,
        SMI_SOURCE,
        Source {
            title: "AMD Instinct MI100 microarchitecture: up to eight GPUs, each hive of four fully connected, PCIe between hives",
            at: "https://rocm.docs.amd.com/en/latest/reference/gpu-arch/mi100.html",
        },
    ],
    reads: &["amd-smi topology", "rocm-smi --showtopo"],
    docs: "\
## What it checks
The table of link types. GPUs that XGMI joins, over others too, are a hive: a pair within one that is shown as PCIE fails. Hives of equal size with PCIe between them are right on boards with bridges
(MI100, MI210: four GPUs each). MI300X is one hive whatever the number of GPUs: with all GPUs of this product, not partitioned, on bare metal, several hives or no hive at all fail. For other products
hives of unequal size and GPUs without any XGMI are unknown, as the text does not say what the board has. Hops and weights are not judged: the tools show 1 hop for each XGMI pair, direct or not.

## Why it matters
XGMI is AMD's link between GPUs. RCCL chooses its rings by it. A GPU that did not join its hive when the driver started works, over PCIe.

## See it yourself
`amd-smi topology -t`, `rocm-smi --showtopotype`; `dmesg | grep -i xgmi`.

## Fix
Read the kernel log about XGMI from the start of amdgpu. Reset all GPUs of the hive or restart the node. A pair that stays away is hardware: the baseboard, or the bridge between cards.",
    myths: &[Myth {
        claim: "PCIE between some GPUs means that a link is broken.",
        truth: "Cards with bridges form hives of two or four. Between hives there is PCIe only.",
    }],
    check,
};

/// Pairs that are shown one by one.
const SHOWN: usize = 32;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    Xgmi,
    Pcie,
}

/// Type of the link of two GPUs, as both directions say it.
fn link(cx: &Cx<'_>, a: Device, b: Device) -> Option<(Link, Place)> {
    let (word, place) = pair(cx, What::LinkType, a, b)?;
    match word {
        "XGMI" => Some((Link::Xgmi, place)),
        "PCIE" => Some((Link::Pcie, place)),
        _ => None,
    }
}

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let gpus = cx.node.amd.in_table(What::LinkType);
    if no_table(cx, &gpus, "the types of links", out) {
        return;
    }
    let hives = hives(cx, &gpus);
    let (mut failed, mut place) = (0_usize, None);
    for hive in &hives {
        for (a, b) in pairs(hive) {
            match link(cx, a, b) {
                Some((Link::Xgmi, p)) => place = place.or(Some(p)),
                Some((Link::Pcie, p)) => {
                    failed += 1;
                    if failed <= SHOWN {
                        missing(a, b, hive.len(), p, out);
                    }
                }
                None => {}
            }
        }
    }
    // Between hives, too: a pair that is not shown may join them.
    let between = || pairs(&gpus).find_map(|(a, b)| link(cx, a, b)).map(|(_, p)| p);
    let (all, unseen) = (pairs(&gpus).count(), pairs(&gpus).filter(|(a, b)| link(cx, *a, *b).is_none()).count());
    if unseen > 0 {
        let text = format_args!("the type of the link is not shown for {unseen} of {all} pairs of GPUs");
        out.unknown(Subject::Node, text).at(cx.node.amd.broken_row.or_else(between)).see("amd-smi topology");
        return;
    }
    if failed > 0 {
        if failed > SHOWN {
            out.unknown(Subject::Node, format_args!("{} more pairs without XGMI are not listed", failed - SHOWN));
        }
        return;
    }
    whole(cx, &gpus, &hives, place.or_else(between), out);
}

/// What the hives say, where each is complete.
fn whole(cx: &Cx<'_>, gpus: &[Device], hives: &[Vec<Device>], place: Option<Place>, out: &mut Findings) {
    let first = hives.first().map_or(0, Vec::len);
    let (board, role) = (one_board(cx, gpus), cx.node.context.role.value);
    let sizes = || hives.iter().map(|h| h.len().to_string()).collect::<Vec<_>>().join(", ");
    if hives.len() == 1 {
        let text = format_args!("XGMI joins each two of {} GPUs", gpus.len());
        out.pass(Subject::Node, text).at(place);
    } else if board && role.is_none() {
        let text =
            || format!("MI300X GPUs in hives of {}: a fault on bare metal; the role of this node is unknown", sizes());
        out.unknown(Subject::Node, text).at(place).see("linerate audit --role bare-metal");
    } else if board && role == Some(Role::BareMetal) {
        let text = || format!("MI300X GPUs in {} hives of {} instead of one: PCIe between them", hives.len(), sizes());
        out.fail(Subject::Node, text).at(place).fix(fix);
    } else if first == 1 && hives.iter().all(|h| h.len() == 1) {
        let text = format_args!("no two of {} GPUs are joined by XGMI; whether they have it is not shown", gpus.len());
        out.unknown(Subject::Node, text).at(place).see("the product's documentation; dmesg | grep -i xgmi");
    } else if hives.iter().all(|h| h.len() == first) {
        let text = format_args!("{} hives of {first} GPUs, each complete; PCIe between hives", hives.len());
        out.pass(Subject::Node, text).at(place);
    } else {
        let text = || format!("hives of {} GPUs: whether the board has XGMI between them is not shown", sizes());
        out.unknown(Subject::Node, text).at(place).see("the product's documentation; dmesg | grep -i xgmi");
    }
}

/// Whether these GPUs are of a board that joins all of them; partitions of a GPU are another matter. A guest may be given GPUs without their links.
fn one_board(cx: &Cx<'_>, gpus: &[Device]) -> bool {
    let is_whole = |d: &Device| !matches!(d, Device::At(bdf) if bdf.function != 0);
    gpus.iter().all(|d| is_whole(d) && is_mi300x(cx, *d))
}

/// GPUs that XGMI joins, over others too.
fn hives(cx: &Cx<'_>, gpus: &[Device]) -> Vec<Vec<Device>> {
    let mut left: Vec<Device> = gpus.to_vec();
    let mut hives = Vec::new();
    while let Some(first) = left.first().copied() {
        left.retain(|d| *d != first);
        let (mut hive, mut next) = (vec![first], 0);
        while let Some(a) = hive.get(next).copied() {
            next += 1;
            left.retain(|b| {
                let joined = link(cx, a, *b).is_some_and(|(l, _)| l == Link::Xgmi);
                if joined {
                    hive.push(*b);
                }
                !joined
            });
        }
        hive.sort_unstable();
        hives.push(hive);
    }
    hives
}

fn missing(a: Device, b: Device, of: usize, place: Place, out: &mut Findings) {
    let text =
        format_args!("PCIe, though XGMI joins both with others: a hive of {of} GPUs in which this link is missing");
    out.fail(Subject::Named(format!("{a} and {b}")), text).at(place).fix(fix);
}

fn fix() -> Remedy {
    Remedy::investigate(
        "read the kernel log about XGMI; reset all GPUs of the hive, or restart the node; then suspect the board or bridge",
        "why XGMI does not join these GPUs",
    )
    .because("jobs on all GPUs of the hive end")
    .prove("amd-smi topology")
}
