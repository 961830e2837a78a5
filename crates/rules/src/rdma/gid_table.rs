//! `rdma/gid-table`.

use super::common::{self, Use};
use crate::{Action, Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::rdma::{Gid, RdmaDevice, RdmaPort};
use linerate_snapshot::{Place, Reading};

pub(super) static RULE: Rule = Rule {
    id: "rdma/gid-table",
    title: "Every RoCE port that GPUs depend on has a RoCE v2 GID of the address family that NCCL looks for",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::sourced("NCCL stays at GID index 0, a link-local one: connections fail, or work only inside one layer-2 network"),
    sources: &[
        common::NCCL_IB,
        common::NCCL_ENV,
        Source {
            title: "Linux ABI: gids, gid_attrs/types, gid_attrs/ndevs",
            at: "https://github.com/torvalds/linux/blob/master/Documentation/ABI/stable/sysfs-class-infiniband",
        },
    ],
    reads: &["sys/class/infiniband/*/ports/*/{gids,gid_attrs/types,gid_attrs/ndevs}/*", "ibv_devinfo -v", "show_gids"],
    docs: "\
## What it checks
The GID table of each ACTIVE RoCE port for an entry of type RoCE v2 of the wanted family, and which index NCCL 2.21 and later choose: start at 0; take
a later entry of the wanted family when the present one is of another; within the family move on to one of the wanted version (RoCE v2). The index
differs between hosts, and that is fine. The family is IPv4, or IPv6 where NCCL_IB_ADDR_FAMILY=AF_INET6 is in /etc/nccl.conf or in the environment of the
capture. A port with routable IPv6 addresses only is right with that setting in the jobs' environment, which a node does not show: unknown. So is a
port without any address on a node with interfaces of pods or containers, whose addresses (macvlan, ipvlan, a moved device) are in their namespaces.
ConnectX-3 knows RoCE v1 only: its IPv4 GID serves one layer-2 network, and that is information.

## Why it matters
The GID is the port's address. RoCE v1 does not pass a router; a link-local GID does not either. Without a GID of the wanted family NCCL keeps index 0.

## See it yourself
`grep . /sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/* 2>/dev/null` with `…/gids/N`; or `show_gids`; or
`ibv_devinfo -v | grep GID`. Unused indices answer with an error: that is normal. In a container only the entries of its own
network namespace count.

## Fix
Give the port's interface an IPv4 address (`linerate plan --address IF=ADDR/PREFIX` plans it for whoever configures the network), each RoCE port in a
subnet of its own, or set NCCL_IB_ADDR_FAMILY=AF_INET6 where the network is IPv6. Do not set NCCL_IB_GID_INDEX.",
    myths: &[
        Myth {
            claim: "Set NCCL_IB_GID_INDEX=3.",
            truth: "3 is right on a host with one IPv4 address and no VLAN, by accident. NCCL 2.21 and later find the entry themselves; the setting breaks hosts whose table differs, and is ignored on InfiniBand.",
        },
        Myth {
            claim: "GID index 2 is the RoCE v2 one.",
            truth: "It is whatever that host's table has at 2. Read gid_attrs/types.",
        },
    ],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if let Some(place) = cx.node.rdma_unshown.no_gid.filter(|_| cx.node.rdma.known().is_none()) {
        out.fail(Subject::Node, "show_gids finds no GID of any port: RDMA cannot work in this network namespace")
            .severity(Severity::Medium)
            .at(place)
            .fix(|| {
                let what = "RDMA devices here (rdma link), the network namespace of the port's interface, its address";
                Remedy::investigate(
                    "find out whether a device is here, and whether its interface is up with an address",
                    what,
                )
                .because("a container may need the device and its interface moved into its network namespace")
                .prove("show_gids")
            });
        return;
    }
    if common::none_with_software(cx, out) {
        return;
    }
    let before = common::ports_with_software(cx).filter(|(_, p)| p.is_roce() || p.link_layer.known().is_none()).count();
    if before == 0 {
        out.not_applicable("no RoCE port: InfiniBand needs no choice of a GID").at(cx.node.rdma.place());
        return;
    }
    for (d, p) in common::ports_with_software(cx) {
        let subject = common::subject(d, p);
        if p.link_layer.known().is_none() {
            out.unreadable(subject, "link layer", &p.link_layer);
        } else if p.is_roce() {
            judge(cx, d, p, out);
        }
    }
}

fn judge(cx: &Cx<'_>, d: &RdmaDevice, p: &RdmaPort, out: &mut Findings) {
    let subject = common::subject(d, p);
    if p.state.known().is_some() && !common::is_active(p) {
        out.not_applicable_to(subject, format_args!("not ACTIVE{}", common::remark(d))).at(p.state.place());
        return;
    }
    let Some(gids) = p.gids.known() else {
        out.unreadable(subject, "GID table", &p.gids);
        return;
    };
    let family = family(cx);
    let fitting = || gids.iter().filter(|g| family.fits(g));
    if let Some(blind) = fitting().find(|g| g.kind.known().is_none()).filter(|_| !fitting().any(Gid::is_roce_v2)) {
        out.unreadable(subject, "type of a GID of the wanted family", &blind.kind);
        return;
    }
    let chosen = nccl_choice(gids, family);
    if let Some(g) = chosen.filter(|g| family.fits(g) && g.is_roce_v2() && !g.is_link_local()) {
        let ndev = g.netdev.known().map_or_else(String::new, |n| format!(" of {n}"));
        let f = out.pass(
            subject,
            format_args!(
                "index {} is RoCE v2 over {}{ndev}: NCCL 2.21 and later choose it{}",
                g.index,
                family.name(),
                common::remark(d)
            ),
        );
        f.at(g.place);
        if let Family::V6(place) = family {
            f.at_noting(place, "NCCL_IB_ADDR_FAMILY=AF_INET6");
        }
        return;
    }
    // With virtual functions in use, or the interface in a pod's namespace, the addresses are where the jobs are.
    let function = d.pci.and_then(|b| cx.node.pci.find(b)).map(|id| cx.node.pci.get(id));
    if let Some(sriov) = function.map(|f| &f.sriov).filter(|s| s.known().and_then(|s| s.num_vfs).is_some_and(|n| n > 0))
    {
        out.not_applicable_to(subject, "its virtual functions are in use: they have the addresses").at(sriov.place());
        return;
    }
    // What a user without privileges sees of them: their links to the physical function.
    if let Some(vf) = d.pci.and_then(|b| cx.node.pci.functions.iter().find(|f| f.physfn == Some(b))) {
        out.not_applicable_to(subject, "its virtual functions are in use: they have the addresses")
            .at(vf.vendor.place());
        return;
    }
    // An interface that is nowhere in the list lives in another namespace, and so may the addresses.
    if cx.node.net.known().is_some() && super::gid_ndev::netdev(cx, d, p).is_none() {
        out.unknown(
            subject,
            "no RoCE v2 GID for an IPv4 address here, but the port's interface is in another network namespace",
        )
        .at(p.gids.place())
        .see("run linerate in the job's network namespace");
        return;
    }
    if elsewhere(cx, d, p, gids, family, out) {
        return;
    }
    let held = match chosen {
        Some(g) => {
            let kind = g.kind.known().map_or("of unknown type", String::as_str);
            let what = if g.is_ipv4() {
                "IPv4"
            } else if g.is_link_local() {
                "link-local"
            } else {
                "IPv6"
            };
            format!("no RoCE v2 GID for an {} address; NCCL would use index {}, {what}, {kind}", family.name(), g.index)
        }
        None => "the GID table is empty".to_owned(),
    };
    let usage = common::usage(cx, d);
    let severity = match usage {
        Use::Rail => Severity::High,
        u => u.weigh(Severity::Medium),
    };
    let interface = p.netdev.known().cloned().unwrap_or_else(|| "the port's interface".to_owned());
    // Where the table holds link-local GIDs and none of IPv4, nothing but the address is missing. A part of a bond has none of its own, and
    // where an IPv4 GID is there it is of the wrong type.
    let device = super::gid_ndev::netdev(cx, d, p).filter(|n| n.master.is_none() && n.name == interface);
    let action = match device.filter(|_| chosen.is_some() && !gids.iter().any(Gid::is_ipv4)) {
        Some(n) => Action::Address { interface: n.name.to_owned().into() },
        None => Action::Investigate {
            what: "address of the RoCE interface (in containers: of the namespace of the job)".into(),
        },
    };
    out.fail(subject, format_args!("{held}; {}", usage.words())).severity(severity).at(p.gids.place()).fix(|| {
        Remedy::new(format!("give {interface} an IPv4 address"), action)
            .prove(format!("sys/class/infiniband/{}/ports/{}/gids", d.name, p.number))
    });
}

/// The family of addresses that NCCL looks for (`envIbAddrFamily`), with the place of a setting.
#[derive(Debug, Clone, Copy)]
enum Family {
    V4,
    V6(Place),
}

impl Family {
    /// `getGidAddrFamily`: what is not IPv4-mapped is IPv6, link-local addresses too.
    fn fits(self, g: &Gid) -> bool {
        g.is_ipv4() == matches!(self, Family::V4)
    }

    fn name(self) -> &'static str {
        match self {
            Family::V4 => "IPv4",
            Family::V6(_) => "IPv6",
        }
    }
}

/// By the environment of the capture, else `/etc/nccl.conf`, as NCCL reads them; IPv4 by default.
fn family(cx: &Cx<'_>) -> Family {
    const NAME: &str = "NCCL_IB_ADDR_FAMILY";
    let env = cx.snapshot.text(cx.snapshot.root(), "linerate/env");
    let own = match env {
        Reading::Known(text, place) => text.lines().zip(1..).find_map(|(l, n)| {
            let value = l.strip_prefix(NAME)?.strip_prefix('=')?;
            Some((value.to_owned(), place.line(n)))
        }),
        _ => None,
    };
    match own.or_else(|| cx.node.nccl.variable(NAME)) {
        Some((value, place)) if value == "AF_INET6" => Family::V6(place),
        _ => Family::V4,
    }
}

/// Answers where the table lacks what NCCL looks for by default and that need not be wrong: `true` if it answered.
fn elsewhere(cx: &Cx<'_>, d: &RdmaDevice, p: &RdmaPort, gids: &[Gid], family: Family, out: &mut Findings) -> bool {
    let subject = || common::subject(d, p);
    let function = d.pci.and_then(|b| cx.node.pci.find(b)).map(|id| cx.node.pci.get(id));
    let any_v2 = gids.iter().any(Gid::is_roce_v2);
    let unknown_kind = gids.iter().any(|g| g.kind.known().is_none());
    let mlx4 = d.name.starts_with("mlx4") || function.is_some_and(|f| f.driven_by("mlx4_core"));
    if let Some(v1) =
        gids.iter().find(|g| family.fits(g) && !g.is_link_local()).filter(|_| mlx4 && !any_v2 && !unknown_kind)
    {
        out.fail(
            subject(),
            format_args!(
                "index {} is {} by RoCE v1, the only version that this NIC has: it reaches one layer-2 network",
                v1.index,
                family.name()
            ),
        )
        .severity(Severity::Info)
        .at(v1.place);
        return true;
    }
    let routable = |g: &&Gid| !g.is_ipv4() && !g.is_link_local() && g.is_roce_v2();
    let addressless = gids.iter().all(|g| g.is_link_local());
    if let (Family::V4, Some(v6)) = (family, gids.iter().find(routable).filter(|_| !gids.iter().any(Gid::is_ipv4))) {
        out.unknown(
            subject(),
            format_args!(
                "index {} is RoCE v2 over IPv6, and there is no IPv4: right where jobs have NCCL_IB_ADDR_FAMILY=AF_INET6, which a node does not show",
                v6.index
            ),
        )
        .at(v6.place)
        .see("linerate env check with the job's environment; in /etc/nccl.conf it holds for all jobs");
        return true;
    }
    if let Some(pods) = pods(cx).filter(|_| addressless) {
        out.unknown(
            subject(),
            format_args!(
                "has no address in this network namespace, and {pods} shows that pods or containers have their own"
            ),
        )
        .at(p.gids.place())
        .see("run linerate in the job's pod: its addresses (macvlan, ipvlan, a moved device) are there");
        return true;
    }
    false
}

/// An interface that a container network makes on its host.
fn pods<'a>(cx: &Cx<'a>) -> Option<&'a str> {
    const MADE: [&str; 9] = ["cali", "cilium_", "cni", "flannel", "kube-ipvs", "lxc", "ovn-k8s", "tunl", "veth"];
    let made = |n: &&linerate_node::net::NetDev<'_>| n.pci.is_none() && MADE.iter().any(|m| n.name.starts_with(m));
    cx.node.net.known()?.iter().find(made).map(|n| n.name)
}

/// NCCL 2.21 and later, version 2, no subnet (net_ib: ncclUpdateGidIndex over the table). Empty entries are of no family that can win; index 0
/// may be empty, then the first used entry stands for it.
fn nccl_choice(gids: &[Gid], family: Family) -> Option<&Gid> {
    let valid = |g: &Gid| !g.is_link_local();
    let mut at = gids.first()?;
    for g in gids.iter().skip(1) {
        let better_family = family.fits(g) && !family.fits(at);
        let better_version = family.fits(g) && valid(g) && g.is_roce_v2() && (!at.is_roce_v2() || !valid(at));
        if better_family || better_version {
            at = g;
        }
    }
    Some(at)
}
