//! `rdma/bond`.

use super::common;
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source};
use linerate_node::net::NetDev;
use linerate_node::rdma::{RdmaDevice, RdmaPort};
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "rdma/bond",
    title: "Bonds of RoCE rails are of a kind that the NIC offers RDMA over",
    severity: Severities::up_to(Severity::Low, Severity::Medium),
    roles: Roles::ALL,
    effect: Effect::sourced("a connection (QP) uses one port of the bond: one flow never gets more than one port's rate"),
    sources: &[
        Source {
            title: "Linux drivers/net/ethernet/mellanox/mlx5/core/lag: QPs are spread over ports; modes 1, 2 and 4",
            at: "https://github.com/torvalds/linux/tree/master/drivers/net/ethernet/mellanox/mlx5/core/lag",
        },
        common::NCCL_ENV,
    ],
    reads: &["sys/class/net/*/{master,bonding/mode,bonding/slaves}", "sys/class/infiniband/*_bond_*"],
    docs: "\
## What it checks
RDMA devices whose interface is a bond. The two ports of one card in a bond of mode 1 (active-backup), 2 (balance-xor) or 4 (802.3ad) are RoCE LAG,
a design like any other: information. Another mode is medium on a rail, and ports of different cards are low: over such bonds the NIC offers no RDMA
on both ports.

## Why it matters
RoCE LAG makes one RDMA device of two ports of one card. Each QP is pinned to one port, by turns or by hash of the flow: two QPs may share
a port while the other idles. NCCL by itself uses several connections, so the sum may be fine, but rails of their own are simpler,
and NCCL can fuse ports without a bond.

## See it yourself
`rdma link` (mlx5_bond_0), `cat /proc/net/bonding/bond0`, then counters of both ports under load.

## Fix
None for RoCE LAG; NCCL_IB_QPS_PER_CONNECTION of 2 or more spreads one connection over both ports. Otherwise one of the three modes with the two ports of
one card, or two rails with addresses in different subnets.",
    myths: &[Myth {
        claim: "Bonding two ports doubles RDMA bandwidth.",
        truth: "For many connections at best. One connection stays on one port.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if common::none(cx, out) {
        return;
    }
    for (d, p) in common::ports(cx) {
        let subject = common::subject(d, p);
        if p.link_layer.known().is_none() {
            out.unreadable(subject, "link layer", &p.link_layer);
            continue;
        }
        if !p.is_roce() {
            continue;
        }
        match bond(cx, d, p) {
            Some(net) => judge(cx, d, p, net, out),
            None if d.name.contains("bond") => lag(d, p, "a bond", out),
            None => match super::gid_ndev::netdev(cx, d, p) {
                Some(net) => {
                    out.pass(subject, format_args!("its interface {} is in no bond", net.name))
                        .at_noting(common::place(d), format_args!("interface {}", net.name));
                }
                None => {
                    out.unreadable(subject, "interface of the port", &p.netdev);
                }
            },
        }
    }
    if out.is_empty() {
        out.not_applicable("no RoCE port").at(cx.node.rdma.place());
    }
}

/// The bond above the port's interface, or that interface itself where it is a bond.
fn bond<'a>(cx: &Cx<'a>, d: &RdmaDevice, p: &RdmaPort) -> Option<&'a NetDev<'a>> {
    let net = super::gid_ndev::netdev(cx, d, p)?;
    if net.bond_mode.known().is_some() {
        return Some(net);
    }
    let above = net.master?;
    cx.node.net.known()?.iter().find(|n| n.name == above && n.bond_mode.known().is_some())
}

fn judge(cx: &Cx<'_>, d: &RdmaDevice, p: &RdmaPort, net: &NetDev<'_>, out: &mut Findings) {
    let Reading::Known(mode, _) = net.bond_mode else { return };
    let number = mode.rsplit(' ').next().unwrap_or_default();
    if !matches!(number, "1" | "2" | "4") {
        let what = format!("bond {} in mode {mode}, in which the NIC offers no RDMA over both ports", net.name);
        return broken(cx, d, p, &what, Severity::Medium, out);
    }
    if one_card(cx, net) == Some(false) {
        let what = format!("bond {} of ports of different cards, over which a NIC offers no RDMA of both", net.name);
        return broken(cx, d, p, &what, Severity::Low, out);
    }
    lag(d, p, &format!("bond {} (mode {mode})", net.name), out);
}

/// Whether the parts of a bond are ports of one card; `None` where that is not seen.
fn one_card(cx: &Cx<'_>, bond: &NetDev<'_>) -> Option<bool> {
    let all = cx.node.net.known()?;
    let cards: Option<Vec<_>> = bond
        .bond_slaves
        .known()?
        .split_whitespace()
        .map(|name| all.iter().find(|n| n.name == name)?.pci.map(|b| (b.domain, b.bus, b.device)))
        .collect();
    let cards = cards?;
    let first = cards.first()?;
    Some(cards.iter().all(|c| c == first))
}

/// RoCE LAG: worth knowing, nothing to do.
fn lag(d: &RdmaDevice, p: &RdmaPort, what: &str, out: &mut Findings) {
    out.fail(common::subject(d, p), format_args!("RoCE LAG over {what}: one connection uses one port"))
        .severity(Severity::Info)
        .at(common::place(d));
}

fn broken(cx: &Cx<'_>, d: &RdmaDevice, p: &RdmaPort, what: &str, severity: Severity, out: &mut Findings) {
    let usage = common::usage(cx, d);
    out.fail(common::subject(d, p), format_args!("over {what}; {}", usage.words()))
        .severity(usage.weigh(severity))
        .at(common::place(d))
        .fix(|| {
            Remedy::investigate(
                "bond the two ports of one card in mode 1, 2 or 4, or use them as two rails",
                "mode and parts of the bond",
            )
            .because("the interface goes down while its bond changes")
        });
}
