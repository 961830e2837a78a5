//! `rdma/global-pause`.

use super::common;
use crate::{Action, Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::net::flow_control;

pub(super) static RULE: Rule = Rule {
    id: "rdma/global-pause",
    title: "Global pause is off where priority flow control is on",
    severity: Severities::always(Severity::Medium),
    roles: Roles::BARE_METAL.or(Roles::VM_HOST),
    effect: Effect::direction_only("global pause stops all priorities at once, so PFC protects nothing"),
    sources: &[Source {
        title: "NVIDIA NIC configuration operator: global pause must be off when PFC is used",
        at: "https://github.com/Mellanox/nic-configuration-operator",
    }],
    reads: &["ethtool -a IF", "mlnx_qos -i IF"],
    docs: "\
## What it checks
For the interface of each ACTIVE RoCE port that a GPU depends on: whether `ethtool -a` shows global pause (RX or TX) while mlnx_qos shows PFC on any priority.
Without PFC global pause is not judged: it may be what keeps the link lossless.

## Why it matters
The two exclude each other. With both configured the NIC and the switch may disagree about which one is in force.

## See it yourself
`ethtool -a IF`, `mlnx_qos -i IF`.

## Fix
`ethtool -A IF rx off tx off`, and persistently in the network configuration.",
    myths: &[Myth {
        claim: "Pause on is a misconfiguration.",
        truth: "mlx5 has it on by default. It is wrong beside PFC, and right on a small lossless network without it.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if common::none(cx, out) {
        return;
    }
    let mut any = false;
    let mut blind = Vec::new();
    for (d, p) in common::ports(cx).filter(|(_, p)| p.is_roce() && common::is_active(p)) {
        if common::has_no_flow_control(cx, d, p, out) {
            continue;
        }
        any = true;
        let Some(net) = super::gid_ndev::netdev(cx, d, p) else {
            out.unknown(common::subject(d, p), "the port's interface is not visible").at(common::place(d));
            continue;
        };
        for net in common::wires(cx, net) {
            let flow = flow_control(cx.snapshot, net.name);
            let subject = Subject::Net(net.name.to_owned());
            match (flow.pfc.known(), flow.pause.known()) {
                (Some(pfc), _) if pfc.is_empty() => {
                    out.not_applicable_to(subject, "PFC is off: global pause may be what protects RoCE")
                        .at(flow.pfc.place());
                }
                (Some(_), Some((false, false))) => {
                    out.pass(subject, "PFC is on, global pause off").at(flow.pause.place());
                }
                (Some(pfc), Some(_)) => {
                    out.fail(subject, format_args!("global pause is on beside PFC on priority {pfc:?}"))
                        .at(flow.pause.place())
                        .at(flow.pfc.place())
                        .fix(|| {
                            Remedy::new(
                                "switch global pause off",
                                Action::PauseOff { interface: net.name.to_owned().into() },
                            )
                            .because("the link may bounce")
                            .prove(format!("ethtool -a {}", net.name))
                        });
                }
                (None, Some((false, false))) => {
                    out.pass(subject, "global pause is off, whatever PFC is").at(flow.pause.place());
                }
                (None, _) => blind.push(flow.pfc),
                (_, None) => {
                    out.unreadable(subject, "global pause", &flow.pause).see("ethtool -a IF");
                }
            }
        }
    }
    if let Some(first) = blind.first() {
        out.unreadable(Subject::Node, format_args!("PFC of {} RoCE interfaces", blind.len()), first)
            .see("mlnx_qos -i IF, as root");
    }
    if !any && out.is_empty() {
        out.not_applicable("no ACTIVE RoCE port that a GPU depends on").at(cx.node.rdma.place());
    }
}
