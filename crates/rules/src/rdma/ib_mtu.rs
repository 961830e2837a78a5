//! `rdma/ib-mtu`.

use super::common;
use crate::{Cx, Effect, Findings, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::rdma::LinkLayer;

pub(super) static RULE: Rule = Rule {
    id: "rdma/ib-mtu",
    title: "InfiniBand ports use the MTU 4096",
    severity: Severities::always(Severity::Low),
    roles: Roles::ALL,
    effect: Effect::derived("payload share (26 bytes per packet): 98.7 % at 2048, 99.4 % at 4096; and twice the packets"),
    sources: &[
        Source {
            title: "rdma-core: ibv_query_port, active_mtu",
            at: "https://github.com/linux-rdma/rdma-core/blob/master/libibverbs/man/ibv_query_port.3",
        },
        Source {
            title: "InfiniBand Architecture Specification vol. 1: LRH 8, BTH 12, ICRC 4, VCRC 2 bytes",
            at: "https://www.infinibandta.org/ibta-specification/",
        },
    ],
    reads: &["ibv_devinfo"],
    docs: "\
## What it checks
The active MTU of ACTIVE InfiniBand ports. Sysfs does not show it: the output of ibv_devinfo is needed.

## Why it matters
Small, but free: at 2048 each packet's 26 bytes of headers weigh twice as much, and NIC and switches handle twice the packets.

## See it yourself
`ibv_devinfo | grep -E 'hca_id|active_mtu'`. The IPoIB interface's own MTU (2044, 4092) is another thing.

## Fix
The subnet manager sets it, from the partition's MTU and what each link allows: set mtu=5 (4096) for the partition.",
    myths: &[],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if common::none(cx, out) {
        return;
    }
    let ports = || {
        common::ports(cx).filter(|(_, p)| p.link_layer.known() == Some(&LinkLayer::InfiniBand) && common::is_active(p))
    };
    let Some((_, first)) = ports().next() else {
        if common::ports(cx).any(|(_, p)| p.link_layer.known().is_none() || p.state.known().is_none()) {
            out.unknown(Subject::Node, "link layer or state of ports is not in this source").at(cx.node.rdma.place());
        } else {
            out.not_applicable("no ACTIVE InfiniBand port").at(cx.node.rdma.place());
        }
        return;
    };
    if ports().all(|(_, p)| p.active_mtu.known().is_none()) {
        out.unreadable(Subject::Node, "active MTU of the InfiniBand ports", &first.active_mtu)
            .see("add the output of `ibv_devinfo`: sysfs does not show the MTU");
        return;
    }
    for (d, p) in ports() {
        let subject = common::subject(d, p);
        match p.active_mtu.known() {
            Some(m) if *m >= 4096 => out.pass(subject, format_args!("MTU {m}")).at(p.active_mtu.place()),
            Some(m) => {
                let share = |m: u32| 100.0 * f64::from(m) / f64::from(m + 26);
                out.fail(
                    subject,
                    format_args!("MTU {m}: {:.1} % of the wire is payload, {:.1} % at 4096", share(*m), share(4096)),
                )
                .severity(common::usage(cx, d).weigh(Severity::Low))
                .at(p.active_mtu.place())
                .fix(|| {
                    Remedy::investigate(
                        "let the subnet manager use MTU 4096 for the partition",
                        "partition MTU in the subnet manager",
                    )
                    .because("members with a smaller MTU leave the partition")
                    .prove(format!("ibv_devinfo -d {} active_mtu", d.name))
                })
            }
            None => out.unreadable(subject, "active MTU", &p.active_mtu),
        };
    }
}
