//! `rdma/link-layer`.

use super::common::{self, Use};
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Subject};
use linerate_node::rdma::{LinkLayer, RdmaDevice, RdmaPort};

pub(super) static RULE: Rule = Rule {
    id: "rdma/link-layer",
    title: "The NICs that GPUs depend on are all InfiniBand or all Ethernet",
    severity: Severities::always(Severity::Medium),
    roles: Roles::ALL,
    effect: Effect::direction_only("rails that cannot talk to each other's fabric: connections fail or NCCL leaves NICs out"),
    sources: &[common::ABI, common::NCCL_IB],
    reads: &["sys/class/infiniband/*/ports/*/link_layer"],
    docs: "\
## What it checks
The link layer of the ACTIVE ports nearest to GPUs. Other NICs (storage, front end, management) may differ: Ethernet beside
InfiniBand rails is the usual design, also where another product shares the switch of a rail.

## Why it matters
A card that can do both (VPI) comes up as whatever its firmware setting LINK_TYPE says. One card replaced and left at the factory
setting makes one rail Ethernet among seven InfiniBand ones.

## See it yourself
`grep . /sys/class/infiniband/*/ports/*/link_layer`.

## Fix
Set LINK_TYPE_Px of the odd card with mlxconfig (1 InfiniBand, 2 Ethernet), reset the firmware or reboot. Look twice which kind the
others are: the wrong value takes the port off its network.",
    myths: &[Myth {
        claim: "All RDMA devices of a node must have the same link layer.",
        truth: "Only those that carry the same job. A RoCE front end beside InfiniBand rails is normal; name the rails in NCCL_IB_HCA.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if common::none(cx, out) {
        return;
    }
    let active: Vec<_> = common::ports(cx).filter(|(_, p)| common::is_active(p)).collect();
    let (mut ib, mut eth) = (Vec::new(), Vec::new());
    for (d, p) in active.iter().copied() {
        match p.link_layer.known() {
            Some(LinkLayer::InfiniBand) => ib.push((d, p)),
            Some(LinkLayer::Ethernet) => eth.push((d, p)),
            Some(LinkLayer::Unspecified) => {}
            None => {
                out.unreadable(common::subject(d, p), "link layer", &p.link_layer);
                return;
            }
        }
    }
    let all = ib.first().or(eth.first()).copied();
    let Some((_, first)) = all else {
        let blind = common::ports(cx).find(|(_, p)| p.state.known().is_none());
        match blind {
            Some((_, p)) => out.unreadable(Subject::Node, "states of the ports", &p.state),
            None => out.not_applicable("no ACTIVE port").at(cx.node.rdma.place()),
        };
        return;
    };
    if ib.is_empty() || eth.is_empty() {
        let what = if eth.is_empty() { "InfiniBand" } else { "Ethernet" };
        out.pass(Subject::Node, format_args!("all {} ACTIVE ports are {what}", active.len()))
            .at(first.link_layer.place());
        return;
    }
    // Only what GPUs depend on is compared.
    let unknown = active.iter().any(|(d, _)| common::usage(cx, d) == Use::Unknown);
    if unknown {
        out.unknown(
            Subject::Node,
            format_args!(
                "{} InfiniBand and {} Ethernet ports; which of them GPUs depend on is not visible",
                ib.len(),
                eth.len()
            ),
        )
        .at(first.link_layer.place())
        .see("add the PCI devices: capture with `linerate collect`");
        return;
    }
    let rail = |(d, _): &(&RdmaDevice, &RdmaPort)| matches!(common::usage(cx, d), Use::Rail | Use::RailByHost);
    ib.retain(rail);
    eth.retain(rail);
    // Servers have front ends below the same switches as the rails: another product, beside a rail of the other layer.
    let front_end = |(d, p): &(&RdmaDevice, &RdmaPort)| {
        let Some(f) = d.pci.and_then(|b| cx.node.pci.find(b)).map(|id| cx.node.pci.get(id)) else { return false };
        let other = |o: &RdmaDevice| {
            o.ports.iter().any(|q| common::is_active(q) && q.link_layer.known() != p.link_layer.known())
        };
        cx.node.rail_of(f).is_some_and(|r| common::stand_in(cx, r, f, other))
    };
    if ib.len() < eth.len() {
        ib.retain(|p| !front_end(p));
    } else {
        eth.retain(|p| !front_end(p));
    }
    let (few, many, word) = if ib.len() < eth.len() { (&ib, &eth, "InfiniBand") } else { (&eth, &ib, "Ethernet") };
    let Some((_, sample)) = many.first() else {
        out.not_applicable("no NIC that a GPU depends on").at(first.link_layer.place());
        return;
    };
    if few.is_empty() {
        out.pass(Subject::Node, format_args!("the {} ports that GPUs depend on have one link layer", many.len()))
            .at(sample.link_layer.place());
        return;
    }
    for (d, p) in few {
        out.fail(
            common::subject(d, p),
            format_args!("is {word}; {} other ports that GPUs depend on are not", many.len()),
        )
        .at(p.link_layer.place())
        .at(sample.link_layer.place())
        .fix(|| {
            Remedy::investigate(
                "find out which link layer the port is meant to have; if this is wrong, set LINK_TYPE in its firmware",
                "LINK_TYPE_Px of the NIC (mlxconfig)",
            )
            .because("the wrong link type takes the port off its network")
            .prove(format!("sys/class/infiniband/{}/ports/{}/link_layer", d.name, p.number))
        });
    }
}
