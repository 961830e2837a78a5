//! `rdma/bond`.

use super::common;
use crate::{Action, Cx, Effect, Findings, Myth, Persistence, Quality, Remedy, Risk, Roles, Rule, Severity, Source};
use linerate_node::net::NetDev;
use linerate_node::rdma::{RdmaDevice, RdmaPort};
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "rdma/bond",
    title: "RoCE ports of rails are not bonded",
    severity: Severity::Low,
    roles: Roles::ALL,
    effect: Effect {
        text: "a connection (QP) uses one port of the bond: one flow never gets more than one port's rate",
        quality: Quality::Sourced,
    },
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
RDMA devices whose interface is a bond. On a rail it is low; elsewhere information. A bond in another mode than 1
(active-backup), 2 (balance-xor) or 4 (802.3ad) is medium on a rail: the NIC offers RDMA over a bond in those three modes only.

## Why it matters
RoCE LAG makes one RDMA device of two ports of one card. Each QP is pinned to one port, by turns or by hash of the flow: two QPs may share
a port while the other idles. NCCL by itself uses several connections, so the sum may be fine, but rails of their own are simpler,
and NCCL can fuse ports without a bond.

## See it yourself
`rdma link` (mlx5_bond_0), `cat /proc/net/bonding/bond0`, then counters of both ports under load.

## Fix
Prefer two rails with addresses in different subnets. If the bond has to stay, set NCCL_IB_QPS_PER_CONNECTION to 2 or more.",
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
            None if d.name.contains("bond") => bonded(cx, d, p, "a bond", Severity::Low, out),
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
    let offloaded = matches!(number, "1" | "2" | "4");
    let what = if offloaded {
        format!("bond {} (mode {mode})", net.name)
    } else {
        format!("bond {} in mode {mode}, in which the NIC offers no RDMA over both ports", net.name)
    };
    bonded(cx, d, p, &what, if offloaded { Severity::Low } else { Severity::Medium }, out);
}

fn bonded(cx: &Cx<'_>, d: &RdmaDevice, p: &RdmaPort, what: &str, severity: Severity, out: &mut Findings) {
    let usage = common::usage(cx, d);
    let severity = if usage == common::Use::Unknown { Severity::Info } else { usage.weigh(severity) };
    out.fail(common::subject(d, p), format_args!("over {what}: one connection uses one port; {}", usage.words()))
        .severity(severity)
        .at(common::place(d))
        .fix(|| {
            Remedy::new(
                "use the ports as two rails, or several QPs per connection",
                Action::Environment { set: vec!["NCCL_IB_QPS_PER_CONNECTION=2".into()], unset: vec![] },
                Persistence::Runtime,
                Risk::Low,
            )
        });
}
