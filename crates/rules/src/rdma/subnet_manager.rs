//! `rdma/subnet-manager`.

use super::common::{self, Use};
use crate::{Cx, Effect, Finding, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source};
use linerate_node::rdma::{LinkLayer, PortState, RdmaDevice, RdmaPort};

pub(super) static RULE: Rule = Rule {
    id: "rdma/subnet-manager",
    title: "A subnet manager has configured every InfiniBand port that has a link",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::sourced("a port in INIT or ARMED carries no data: RDMA on it does not work at all"),
    sources: &[
        common::ABI,
        Source {
            title: "rdma-core, infiniband-diags: sminfo",
            at: "https://github.com/linux-rdma/rdma-core/blob/master/infiniband-diags/man/sminfo.8.in.rst",
        },
    ],
    reads: &["sys/class/infiniband/*/ports/*/{state,phys_state,sm_lid,link_layer}", "ibstat", "ibv_devinfo", "rdma link"],
    docs: "\
## What it checks
InfiniBand ports whose logical state is INIT or ARMED, with the subnet manager's LID. ACTIVE says that a subnet manager has
configured the port. RoCE has no subnet manager: LID 0 and SM LID 0 are normal there.

## Why it matters
The link is up, lamps are green, and no packet passes until a subnet manager assigns a LID and moves the port to ACTIVE.

## See it yourself
`ibstat` (State: Initializing, SM lid: 0), then `sminfo` on a port of the same fabric.

## Fix
Start or repair the subnet manager (on the switch, in UFM, or opensm on one host per fabric). With several ports on one host, each
fabric needs one.",
    myths: &[Myth {
        claim: "sm_lid 0 means that the subnet manager is missing.",
        truth: "On InfiniBand only. A RoCE port always shows 0.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if common::none(cx, out) {
        return;
    }
    for (d, p) in common::ports(cx) {
        let subject = common::subject(d, p);
        match p.link_layer.known() {
            Some(LinkLayer::InfiniBand) => judge(cx, d, p, out),
            Some(LinkLayer::Ethernet) => {
                out.not_applicable_to(subject, "RoCE has no subnet manager").at(p.link_layer.place())
            }
            Some(LinkLayer::Unspecified) => out.not_applicable_to(subject, "no InfiniBand").at(p.link_layer.place()),
            None => out.unreadable(subject, "link layer", &p.link_layer),
        };
    }
}

fn judge<'o>(cx: &Cx<'_>, d: &RdmaDevice, p: &RdmaPort, out: &'o mut Findings) -> &'o mut Finding {
    let subject = common::subject(d, p);
    let state = match p.state.known() {
        Some(PortState::Init) => "INIT",
        Some(PortState::Armed) => "ARMED",
        Some(PortState::Active | PortState::ActiveDefer) => {
            let lid = p.sm_lid.known().map_or_else(String::new, |l| format!(", subnet manager at LID {l}"));
            return out.pass(subject, format_args!("configured{lid}")).at(p.state.place());
        }
        Some(PortState::Nop | PortState::Down) => {
            return out.not_applicable_to(subject, "has no link: see rdma/port-state").at(p.state.place());
        }
        None => {
            return out.unreadable(subject, "port state", &p.state);
        }
    };
    let manager = match p.sm_lid.known() {
        Some(0) => "no subnet manager has answered (SM LID 0)".to_owned(),
        Some(l) => format!("the subnet manager at LID {l} has not activated it"),
        None => "the subnet manager's LID is not visible".to_owned(),
    };
    // A cable without a subnet manager is wrong wherever it is; only how much depends on it differs.
    let severity = match common::usage(cx, d) {
        Use::Rail | Use::RailByHost => Severity::High,
        Use::Unknown => Severity::Medium,
        Use::Other | Use::Host | Use::Software => Severity::Low,
    };
    let f = out.fail(subject, format_args!("{state}: {manager}")).severity(severity).at(p.state.place());
    if p.sm_lid.known().is_some() {
        f.at(p.sm_lid.place());
    }
    f.fix(|| {
        Remedy::investigate(
            "start or repair the subnet manager of the fabric that this port is on",
            "subnet manager of this fabric: sminfo, its log, its partition and port policy",
        )
        .prove(format!("sys/class/infiniband/{}/ports/{}/state", d.name, p.number))
    })
}
