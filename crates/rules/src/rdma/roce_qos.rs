//! `rdma/roce-qos`.

use super::common;
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::net::{FlowControl, ecn_reaction, flow_control};
use linerate_snapshot::Place;

pub(super) static RULE: Rule = Rule {
    id: "rdma/roce-qos",
    title: "RoCE rails trust DSCP and use priority flow control or ECN, all in the same way",
    severity: Severities::always(Severity::Low),
    roles: Roles::BARE_METAL.or(Roles::VM_HOST),
    effect: Effect::direction_only("without loss protection congestion drops packets and RoCE resends; how much depends on the fabric"),
    sources: &[
        Source {
            title: "NVIDIA NIC configuration operator: roceOptimized sets trust dscp and PFC on priority 3",
            at: "https://github.com/Mellanox/nic-configuration-operator",
        },
        Source {
            title: "mlnx-tools: mlnx_qos",
            at: "https://github.com/Mellanox/mlnx-tools",
        },
    ],
    reads: &["mlnx_qos -i IF", "sys/class/net/*/ecn/roce_rp/enable/*"],
    docs: "\
## What it checks
For the interface of each RoCE rail: the trust state and the priorities with PFC, as mlnx_qos prints them, and whether they are the same on
all rails. No PFC is low only where ECN reaction is visibly off as well; otherwise information, because lossy RoCE designs exist.
One node cannot tell whether the switches are configured to match.

## Why it matters
RoCE was made for a network that does not drop. PFC pauses one priority, ECN slows the senders. With trust `pcp` the NIC sorts by
VLAN priority, and traffic without a VLAN tag lands in priority 0, whatever its DSCP.

## See it yourself
`mlnx_qos -i IF`; `cat /sys/class/net/IF/ecn/roce_rp/enable/3` (OFED only).

## Fix
Decide on one scheme for NICs and switches (customary: trust dscp, PFC on priority 3, ECN on) and set it on both ends, persistently:
mlnx_qos is lost at reboot. PFC on one side only can stall the network.",
    myths: &[Myth {
        claim: "RoCE v2 does not need PFC any more.",
        truth: "Some fabrics are built lossy, with ECN or adaptive routing. It is a decision of the fabric, not of a node.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if common::none(cx, out) {
        return;
    }
    let mut seen: Vec<(&str, FlowControl)> = Vec::new();
    let mut blind: Option<Place> = None;
    let mut others: Vec<Place> = Vec::new();
    let (mut rails, mut visible) = (0, 0);
    for (d, p) in common::ports(cx).filter(|(_, p)| p.is_roce() && common::is_active(p)) {
        if common::has_no_flow_control(cx, d, p, out) {
            continue;
        }
        rails += 1;
        let Some(net) = super::gid_ndev::netdev(cx, d, p) else {
            blind = Some(common::place(d));
            continue;
        };
        let flows: Vec<_> =
            common::wires(cx, net).into_iter().map(|n| (n, flow_control(cx.snapshot, n.name))).collect();
        if flows.iter().any(|(_, f)| f.pfc.known().is_none()) && common::is_of_another_vendor(cx, d) {
            others.push(common::place(d));
            continue;
        }
        if let Some((_, flow)) = flows.iter().find(|(_, f)| f.pfc.known().is_none()) {
            blind = Some(flow.pfc.place());
            continue;
        }
        visible += 1;
        for (net, flow) in flows {
            judge(cx, net, &flow, out);
            seen.push((net.name, flow));
        }
    }
    if rails == 0 && out.is_empty() {
        out.not_applicable("no ACTIVE RoCE port that a GPU depends on").at(cx.node.rdma.place());
        return;
    }
    if let Some(place) = others.first().copied() {
        out.not_applicable(
            "not judged here: mlnx_qos knows NVIDIA's NICs only; `dcb pfc show dev IF` shows PFC of other NICs",
        )
        .at(place);
    }
    if let Some(place) = blind {
        out.unknown(
            Subject::Node,
            format_args!("flow control of {} of {rails} RoCE rails is not visible", rails - visible - others.len()),
        )
        .at(place)
        .see("mlnx_qos -i IF for each RoCE interface, as root");
    }
    if let Some((a, fa)) = seen.first() {
        let differs = seen.iter().find(|(_, f)| f.pfc.known() != fa.pfc.known() || f.trust.known() != fa.trust.known());
        if let Some((b, fb)) = differs {
            out.fail(Subject::Node, format_args!("rails differ in trust state or PFC: {a} and {b}"))
                .at(fa.pfc.place())
                .at(fb.pfc.place())
                .fix(|| scheme(b));
        }
    }
}

fn judge(cx: &Cx<'_>, net: &linerate_node::net::NetDev<'_>, flow: &FlowControl, out: &mut Findings) {
    let subject = Subject::Net(net.name.to_owned());
    let (Some(pfc), trust) = (flow.pfc.known(), flow.trust.known().map_or("not shown", String::as_str)) else { return };
    let remedy = || scheme(net.name);
    if pfc.is_empty() {
        let off = (0..8).all(|n| ecn_reaction(cx.snapshot, net, n).known() == Some(&false));
        let ecn = if off { "and ECN reaction is off" } else { "ECN is not judged" };
        out.fail(subject, format_args!("PFC is off on all priorities, trust {trust}; {ecn}"))
            .severity(if off { Severity::Low } else { Severity::Info })
            .at(flow.pfc.place())
            .fix(remedy);
    } else if trust == "pcp" {
        out.fail(
            subject,
            format_args!("PFC on priority {pfc:?}, but trust pcp: untagged traffic does not reach that priority"),
        )
        .at(flow.trust.place())
        .at(flow.pfc.place())
        .fix(remedy);
    } else {
        out.pass(
            subject,
            format_args!("trust {trust}, PFC on priority {pfc:?}; the switch side is not visible from here"),
        )
        .at(flow.pfc.place());
    }
}

fn scheme(interface: &str) -> Remedy {
    Remedy::investigate(
        "agree on one scheme for NICs and switches and set it on both ends, persistently",
        "trust dscp, PFC priority and ECN of the interface, to match the switches",
    )
    .because("PFC on one side only can stall the network")
    .prove(format!("mlnx_qos -i {interface}"))
}
