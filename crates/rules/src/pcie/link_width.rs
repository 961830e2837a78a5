//! `pcie/link-width`.

use super::{LINK_ABI, PHYSICAL, PRINT_LINK_STATUS, links};
use crate::{Cx, Effect, Finding, Findings, Myth, Remedy, Rule, Severities, Severity};
use linerate_node::pci::{FnId, PciFunction};

pub(super) static RULE: Rule = Rule {
    id: "pcie/link-width",
    title: "Links of GPUs and RDMA NICs use every lane that both ends have",
    severity: Severities::always(Severity::High),
    roles: PHYSICAL,
    effect: Effect::derived("bandwidth is proportional to the lanes: half the lanes, half the rate"),
    sources: &[LINK_ABI, PRINT_LINK_STATUS],
    reads: &["sys/bus/pci/devices/*/{current,max}_link_width", "lspci -vv"],
    docs: "\
## What it checks
Lanes in use on the link of each GPU and RDMA NIC, against the fewer of what the card and the port above it can. A slot with fewer
lanes than the card is reported as information: nothing is broken, but the card cannot give what its label says.
Virtual functions have no link; the second port of a card shares the first one's.

## Why it matters
A link that trains with fewer lanes works without any error and carries proportionally less, in both directions, for everything
that passes it. NCCL plans with the maximum and does not notice (see pcie/nccl-blind-to-degraded-link).

## See it yourself
`cat /sys/bus/pci/devices/BDF/{current,max}_link_width`, without root. `lspci -vv` prints `Width x8 (downgraded)`.
The width is valid at idle; only the speed of GPUs drops when they are idle.

## Fix
Hands: reseat the card, then the riser or cable, then try another slot. Look for bifurcation settings in the firmware set-up.
Software cannot widen a link. Retraining is possible but risky under load.",
    myths: &[Myth {
        claim: "The link is narrow because the GPU is idle.",
        truth: "Idle GPUs lower the speed of their link (GT/s), not its width. A narrow link is a hardware fact.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    links::judge_ends(cx, out, judge);
}

fn judge<'o>(cx: &Cx<'_>, id: FnId, f: &PciFunction<'_>, out: &'o mut Findings) -> &'o mut Finding {
    let tree = &cx.node.pci;
    let Some(width) = f.link.width.known().copied() else {
        return out.unreadable(f.bdf, "lanes in use", &f.link.width);
    };
    let (Some(can), Some(own)) = (tree.possible_width(id), f.link.max_width.known().copied()) else {
        return out.unreadable(f.bdf, "lanes that the device has", &f.link.max_width);
    };
    let (at, max_at) = (f.link.width.place(), f.link.max_width.place());
    let carries = |w| match tree.possible_speed(id) {
        Some(s) => format!(" ({} at {s})", s.bandwidth(w)),
        None => String::new(),
    };
    if width < can {
        out.fail(f.bdf, format_args!("{width}{} of {can}{}", carries(width), carries(can))).at(at).at(max_at).fix(
            || {
                Remedy::physical(
                    "reseat the card and its riser; check the slot's bifurcation; try another slot",
                    format!("reseat {} {}", cx.node.name_of(f), f.bdf),
                )
                .because("the node must be powered off")
                .prove(format!("sys/bus/pci/devices/{}/current_link_width", f.bdf))
            },
        )
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
