//! `rdma/gid-ndev`.

use super::common;
use crate::{Cx, Effect, Finding, Findings, Remedy, Roles, Rule, Severities, Severity};
use linerate_node::net::NetDev;
use linerate_node::rdma::{RdmaDevice, RdmaPort};

pub(super) static RULE: Rule = Rule {
    id: "rdma/gid-ndev",
    title: "The GIDs of a RoCE port belong to an interface of the same NIC",
    severity: Severities::always(Severity::Low),
    roles: Roles::ALL,
    effect: Effect::direction_only("traffic leaves by another port than the address suggests; affinity by interface name goes wrong"),
    sources: &[common::ABI, common::NCCL_IB],
    reads: &["sys/class/infiniband/*/ports/*/gid_attrs/ndevs/*", "sys/class/net/*/device"],
    docs: "\
## What it checks
The interface that each GID of a RoCE port names, against the PCI card of the RDMA device. Interfaces without a PCI device (bonds, VLANs, macvlan)
are not judged, nor are functions of the same card.

## Why it matters
Tools and people map RDMA devices to interfaces by this table. An interface that was renamed, bridged or moved leaves entries that
point elsewhere; a job pinned to the interface then uses another NIC.

## See it yourself
`grep . /sys/class/infiniband/*/ports/*/gid_attrs/ndevs/* 2>/dev/null`, `readlink /sys/class/net/IF/device`.

## Fix
Find what moved the interface (bond, switchdev, renaming rules); reload the driver if the entries are stale.",
    myths: &[],
    check,
};

/// The interface of a port: the one that its GIDs name, else the only one of its PCI function.
pub(super) fn netdev<'a>(cx: &Cx<'a>, d: &RdmaDevice, p: &RdmaPort) -> Option<&'a NetDev<'a>> {
    let all = cx.node.net.known()?;
    if let Some(name) = p.netdev.known() {
        return all.iter().find(|n| n.name == name);
    }
    let mut own = all.iter().filter(|n| d.pci.is_some() && n.pci == d.pci);
    let first = own.next()?;
    own.next().is_none().then_some(first)
}

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if common::none(cx, out) {
        return;
    }
    let Some(nets) = cx.node.net.known() else {
        out.unreadable(crate::Subject::Node, "list of network interfaces", &cx.node.net);
        return;
    };
    for (d, p) in common::ports(cx).filter(|(_, p)| p.is_roce()) {
        judge(nets, d, p, out);
    }
    if out.is_empty() {
        out.not_applicable("no RoCE port").at(cx.node.rdma.place());
    }
}

fn judge<'o>(nets: &[NetDev<'_>], d: &RdmaDevice, p: &RdmaPort, out: &'o mut Findings) -> &'o mut Finding {
    let subject = common::subject(d, p);
    let (Some(own), Some(gids)) = (d.pci, p.gids.known()) else {
        return out.unreadable(subject, "PCI function or GID table", &p.gids);
    };
    let mut first = None;
    for g in gids {
        let Some(name) = g.netdev.known() else { continue };
        let Some(net) = nets.iter().find(|n| n.name == name) else { continue };
        let Some(pci) = net.pci else { continue };
        first.get_or_insert((name, g.netdev.place()));
        // Functions of one card may share ports (RoCE LAG, dual-port devices).
        if (pci.domain, pci.bus, pci.device) != (own.domain, own.bus, own.device) {
            return out
                .fail(subject, format_args!("GID {} belongs to {name} at {pci}, the RDMA device is at {own}", g.index))
                .at(g.netdev.place())
                .fix(|| {
                    Remedy::investigate(
                        "find out why the GID names an interface of another card",
                        "bond, switchdev or renaming of the interface",
                    )
                });
        }
    }
    match first {
        Some((name, place)) => out.pass(subject, format_args!("its GIDs belong to {name} of the same card")).at(place),
        None => {
            out.not_applicable_to(subject, "its GIDs name no interface that has a PCI device here").at(p.gids.place())
        }
    }
}
