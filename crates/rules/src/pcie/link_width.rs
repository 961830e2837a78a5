//! `pcie/link-width`.

use super::links::Unnamed;
use super::{AMD_SMI_LINK, LINK_ABI, PHYSICAL, PRINT_LINK_STATUS, links};
use crate::{Cx, Effect, Finding, Findings, Myth, Remedy, Rule, Severities, Severity};
use linerate_formats::pci::LinkWidth;
use linerate_node::amd::AmdGpu;
use linerate_node::pci::{FnId, PciFunction};

pub(super) static RULE: Rule = Rule {
    id: "pcie/link-width",
    title: "Links of GPUs and RDMA NICs use every lane that both ends have",
    severity: Severities::always(Severity::High),
    roles: PHYSICAL,
    effect: Effect::derived("bandwidth is proportional to the lanes: half the lanes, half the rate"),
    sources: &[LINK_ABI, PRINT_LINK_STATUS, AMD_SMI_LINK],
    reads: &["sys/bus/pci/devices/*/{current,max}_link_width", "lspci -vv", "amd-smi metric; amd-smi static"],
    docs: "\
## What it checks
Lanes in use on the link of each GPU and RDMA NIC, against the fewer of what the card and the port above it can. A slot with fewer
lanes than the card is reported as information: nothing is broken, but the card cannot give what its label says.
Virtual functions have no link; the second port of a card shares the first one's. Of AMD's GPUs without these files `amd-smi metric` and `static` count: a module (OAM) with fewer lanes than
it has fails, a card is unknown, as its slot is not shown there.

## Why it matters
A link that trains with fewer lanes works without any error and carries proportionally less, in both directions, for everything
that passes it. NCCL plans with the maximum and does not notice (see pcie/nccl-blind-to-degraded-link).

## See it yourself
`cat /sys/bus/pci/devices/BDF/{current,max}_link_width`, without root. `lspci -vv` prints `Width x8 (downgraded)`.
The width is valid at idle; only the speed of GPUs drops when they are idle.

## Fix
Hands: reseat the card, then the riser or cable, then try another slot. Look for bifurcation settings in the firmware setup.
Software cannot widen a link. Retraining is possible but risky under load.",
    myths: &[Myth {
        claim: "The link is narrow because the GPU is idle.",
        truth: "Idle GPUs lower the speed of their link (GT/s), not its width. A narrow link is a hardware fact.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    // GPUs of AMD that only their own tool shows.
    for g in &cx.node.amd.gpus {
        let is_listed = g.bdf.is_some_and(|bdf| cx.node.pci.find(bdf).is_some());
        if !is_listed && (g.width.known().is_some() || g.max_width.known().is_some()) {
            of_tool(g, out);
        }
    }
    UNNAMED.judge(cx, out);
    links::judge_other_ends(cx, out, judge);
}

/// A device that only its address names: it may be a port, whose card may have fewer lanes.
static UNNAMED: Unnamed<LinkWidth> = Unnamed {
    now: |l| &l.width,
    max: |l| &l.max_width,
    is: |e| e.link_width_is,
    what: "lanes that the device has",
    open: "in a port, the card may have no more lanes",
};

/// By amd-smi alone: lanes in use of those that the GPU has. What the slot has is not shown; a module (OAM) has no slot of fewer lanes.
fn of_tool<'o>(g: &AmdGpu, out: &'o mut Findings) -> &'o mut Finding {
    let subject = links::subject(g);
    let (Some(width), Some(max)) = (g.width.known(), g.max_width.known()) else {
        let unseen = if g.width.known().is_none() { &g.width } else { &g.max_width };
        return out
            .unreadable(subject, "lanes in use, or lanes of the GPU", unseen)
            .see("amd-smi metric; amd-smi static");
    };
    let (at, max_at) = (g.width.place(), g.max_width.place());
    if width >= max {
        return out.pass(subject, format_args!("{width} of {max}")).at(at).at(max_at);
    }
    if g.slot.known().is_none_or(|s| s != "OAM") {
        let text = format_args!("{width} of {max} that the GPU has; what the slot has is not shown");
        return out.unknown(subject, text).at(at).at(max_at).see("lspci -vv of the port above");
    }
    out.fail(subject, format_args!("{width} of {max}")).at(at).at(max_at).at(g.slot.place()).fix(|| {
        Remedy::physical("reseat the module; check its retimer and the cables of the baseboard", "PCIe link of the GPU")
            .because("the node must be powered off")
            .prove("amd-smi metric")
    })
}

fn judge<'o>(cx: &Cx<'_>, id: FnId, f: &PciFunction<'_>, out: &'o mut Findings) -> &'o mut Finding {
    let tree = &cx.node.pci;
    let Some(width) = f.link.width.known().copied() else {
        if let Some(g) = cx.node.amd.gpu_at(f.bdf).filter(|g| g.width.known().is_some()) {
            return of_tool(g, out);
        }
        return out.unreadable(f.bdf, "lanes in use", &f.link.width);
    };
    let (Some(can), Some(own)) = (tree.possible_width(id), f.link.max_width.known().copied()) else {
        if links::is_less(f, UNNAMED.is) {
            let text = format_args!("{width}, downgraded as lspci says: the device has more lanes");
            return out.fail(f.bdf, text).at(f.link.width.place()).fix(|| reseat(cx, f));
        }
        return out.unreadable(f.bdf, "lanes that the device has", &f.link.max_width);
    };
    let (at, max_at) = (f.link.width.place(), f.link.max_width.place());
    let carries = |w| match tree.possible_speed(id) {
        Some(s) => format!(" ({} at {s})", s.bandwidth(w)),
        None => String::new(),
    };
    if width < can {
        let text = format_args!("{width}{} of {can}{}", carries(width), carries(can));
        out.fail(f.bdf, text).at(at).at(max_at).fix(|| reseat(cx, f))
    } else if can < own {
        let above = tree.bridge_above(id).map(|p| tree.get(p));
        out.fail(f.bdf, format_args!("the slot has {can}{}, the card {own}{}", carries(can), carries(own)))
            .severity(Severity::Info)
            .at(max_at)
            .at(above.map(|a| a.link.max_width.place()))
    } else {
        out.pass(f.bdf, format_args!("{width} of {can}")).at(at).at(max_at)
    }
}

fn reseat(cx: &Cx<'_>, f: &PciFunction<'_>) -> Remedy {
    Remedy::physical(
        "reseat the card and its riser; check the slot's bifurcation; try another slot",
        format!("reseat {} {}", cx.node.name_of(f), f.bdf),
    )
    .because("the node must be powered off")
    .prove(format!("sys/bus/pci/devices/{}/current_link_width", f.bdf))
}
