//! `rdma/roce-mtu`.

use super::common;
use crate::sources::linux;
use crate::{Action, Cx, Effect, Finding, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source};
use linerate_node::rdma::{RdmaDevice, RdmaPort};
use linerate_node::roce;
use linerate_snapshot::Place;

pub(super) static RULE: Rule = Rule {
    id: "rdma/roce-mtu",
    title: "RoCE ports that GPUs depend on use the RDMA MTU 4096",
    severity: Severities::always(Severity::Medium),
    roles: Roles::ALL,
    effect: Effect::derived("payload share of the wire (RoCE v2, 82 bytes per packet): 92.6 % at 1024, 96.2 % at 2048, 98.0 % at 4096; and 4 times the packets at 1024"),
    sources: &[
        linux!("include/rdma/ib_addr.h", "iboe_get_mtu takes 96 bytes of headers from the interface's MTU"),
        Source {
            title: "InfiniBand Architecture Specification, annexes A16 and A17 (RoCE): packet headers",
            at: "https://www.infinibandta.org/ibta-specification/",
        },
    ],
    reads: &["sys/class/net/*/mtu", "ibv_devinfo"],
    docs: "\
## What it checks
The active RDMA MTU of each ACTIVE RoCE port: as ibv_devinfo prints it, else derived from the MTU of the port's interface as the kernel
does: the largest of 256, 512, 1024, 2048, 4096 that fits into the interface's MTU less 96 bytes. 4192 gives 4096; 1500 gives 1024.
An interface MTU of 9000 changes nothing over 4200 for RDMA. Soft-RoCE follows the same arithmetic; what it lacks is reported as information.

## Why it matters
Each packet carries 82 bytes of headers and gaps on the wire. At 1024 bytes 7.4 % of the wire goes to them, at 4096 2.0 %; and
the NIC and every switch handle four times as many packets.

## See it yourself
`ibv_devinfo | grep -E 'hca_id|mtu'` and `cat /sys/class/net/IF/mtu`.

## Fix
Set the interface's MTU to 4200 or more (9000 is customary), on both ends and on every switch in between, persistently. A switch
that is left at 1500 then drops large packets: change it first.",
    myths: &[
        Myth {
            claim: "MTU 9000 gives RDMA the full 9000.",
            truth: "RDMA MTU is at most 4096. 9000 helps TCP.",
        },
        Myth {
            claim: "Perftest at 392 Gb/s on a 400 Gb/s port is losing 2 %.",
            truth: "392 is what is left for payload at MTU 4096: the headers take the rest.",
        },
    ],
    check,
};

/// Preamble and gap 20, Ethernet 14, checksum 4, IPv4 20, UDP 8, BTH 12, ICRC 4.
const OVERHEAD: f64 = 82.0;
const MOST: u32 = 4096;

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if common::none_with_software(cx, out) {
        return;
    }
    for (d, p) in common::ports_with_software(cx) {
        if p.link_layer.known().is_none() {
            out.unreadable(common::subject(d, p), "link layer", &p.link_layer);
        } else if p.is_roce() {
            judge(cx, d, p, out);
        }
    }
    if out.is_empty() {
        out.not_applicable("no RoCE port").at(cx.node.rdma.place());
    }
}

fn judge<'o>(cx: &Cx<'_>, d: &RdmaDevice, p: &RdmaPort, out: &'o mut Findings) -> &'o mut Finding {
    let subject = common::subject(d, p);
    if p.state.known().is_some() && !common::is_active(p) {
        return out.not_applicable_to(subject, format_args!("not ACTIVE{}", common::remark(d))).at(p.state.place());
    }
    let Some(Mtu { rdma, interface, place }) = mtu(cx, d, p) else {
        return out
            .unreadable(subject, "RDMA MTU and the MTU of the port's interface", &p.active_mtu)
            .see("ibv_devinfo, and cat /sys/class/net/*/mtu");
    };
    let share = |m: u32| 100.0 * f64::from(m) / (f64::from(m) + OVERHEAD);
    let from = interface.as_ref().map_or_else(String::new, |(name, mtu)| format!(" ({name} has MTU {mtu})"));
    if rdma >= MOST {
        return out.pass(subject, format_args!("RDMA MTU {rdma}{from}{}", common::remark(d))).at(place);
    }
    // A device that stays below what its interface allows has a limit of its own.
    if interface.as_ref().and_then(|(_, mtu)| roce::mtu(*mtu)).is_some_and(|m| m > rdma) {
        return out
            .not_applicable_to(
                subject,
                format_args!("RDMA MTU {rdma}{from}: the device or its setting limits it, not the interface"),
            )
            .at(place);
    }
    let usage = common::usage(cx, d);
    let f = out
        .fail(
            subject,
            format_args!(
                "RDMA MTU {rdma}{from}: {:.1} % of the wire is payload, {:.1} % at {MOST}; {}",
                share(rdma),
                share(MOST),
                usage.words()
            ),
        )
        .severity(usage.weigh(Severity::Medium))
        .at(place);
    let name = interface.map(|(n, _)| n).or_else(|| p.netdev.known().cloned());
    let reread = format!("ibv_devinfo -d {} active_mtu", d.name);
    let (action, reread) = match name {
        Some(i) => (Action::Mtu { interface: i.clone().into(), mtu: 9000 }, format!("sys/class/net/{i}/mtu")),
        None => (Action::Investigate { what: "interface of the RoCE port and its MTU".into() }, reread),
    };
    f.fix(|| {
        Remedy::new("raise the MTU of the interface, switches first", action)
            .because("a switch on the way with a smaller MTU drops the large packets")
            .prove(reread)
    })
}

/// What is known of a port's MTU.
struct Mtu {
    rdma: u32,
    /// The interface with its MTU, where known.
    interface: Option<(String, u32)>,
    place: Place,
}

fn mtu(cx: &Cx<'_>, d: &RdmaDevice, p: &RdmaPort) -> Option<Mtu> {
    let net = super::gid_ndev::netdev(cx, d, p);
    let listed = net.and_then(|n| Some((n.name.to_owned(), *n.mtu.known()?, n.mtu.place())));
    let shown = || {
        let name = p.netdev.known()?;
        let n = cx.node.net_shown.iter().find(|n| n.name == *name)?;
        Some((n.name.clone(), *n.mtu.known()?, n.mtu.place()))
    };
    let own = listed.or_else(shown);
    let interface = own.as_ref().map(|(name, mtu, _)| (name.clone(), *mtu));
    if let Some(rdma) = p.active_mtu.known().copied() {
        return Some(Mtu { rdma, interface, place: p.active_mtu.place() });
    }
    let (_, own, place) = own?;
    Some(Mtu { rdma: roce::mtu(own).unwrap_or(0), interface, place })
}
