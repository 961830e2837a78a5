//! `nicfw/roce-control`.

use super::{Missing, Setting, judge_each, not_for};
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity};
use linerate_node::rdma::LinkLayer;

pub(super) static RULE: Rule = Rule {
    id: "nicfw/roce-control",
    title: "RoCE is not disabled in the firmware of NICs on Ethernet",
    severity: Severities::always(Severity::High),
    roles: Roles::ALL,
    effect: Effect::sourced("no RDMA on that NIC: NCCL falls back to TCP sockets"),
    sources: &[super::DATABASE],
    reads: &["mlxconfig -d BDF -e q", "sys/class/infiniband/*/ports/*/link_layer"],
    docs: "\
## What it checks
The running value of ROCE_CONTROL (DEVICE_DEFAULT(0), ROCE_DISABLE(1), ROCE_ENABLE(2)) of NICs whose ports are Ethernet.

## Why it matters
With RoCE disabled the NIC is a plain Ethernet card. Frameworks do not fail, they use sockets, several times slower.

## See it yourself
`mlxconfig -d BDF -e query | grep ROCE_CONTROL`; `ls /sys/class/infiniband`.

## Fix
Set ROCE_CONTROL to ROCE_ENABLE (2), or DEVICE_DEFAULT (0), and reset the NIC.",
    myths: &[Myth {
        claim: "RoCE only needs the right GID index.",
        truth: "A GID index chooses an address. If the firmware has RoCE off there is no RDMA device to have one.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let missing = Missing::NotApplicable("their queries show no RoCE switch");
    let mut infiniband = Vec::new();
    judge_each(cx, out, "ROCE_CONTROL", missing, |s, out| match is_ethernet(cx, s.nic) {
        Some(false) => infiniband.push(s.nic),
        ethernet => judge(cx, s, ethernet, out),
    });
    not_for(&infiniband, "InfiniBand", out);
}

/// `Some(true)`: Ethernet. From the running port, else from the link type that the firmware runs.
pub(super) fn is_ethernet(cx: &Cx<'_>, card: &linerate_node::nicfw::NicFirmware) -> Option<bool> {
    let device = cx.node.rdma.known().and_then(|all| all.iter().find(|d| d.pci.is_some() && d.pci == card.bdf));
    let layer = device.and_then(|d| d.ports.iter().find_map(|p| p.link_layer.known()));
    if let Some(layer) = layer {
        return Some(*layer == LinkLayer::Ethernet);
    }
    match card.config.param("LINK_TYPE_P1")?.current.as_ref()?.number? {
        1 => Some(false),
        2 => Some(true),
        _ => None,
    }
}

fn judge(cx: &Cx<'_>, s: &Setting<'_>, ethernet: Option<bool>, out: &mut Findings) {
    match (s.now.number, ethernet) {
        (Some(1), Some(_)) => {
            // A front end may be a plain Ethernet card on purpose.
            let front_end = super::function(cx, s.nic).is_some_and(|f| cx.serves_no_gpu(f));
            out.fail(s.subject(), format_args!("{}: no RDMA on this NIC", s.now.raw))
                .severity(front_end.then_some(Severity::Info))
                .at(s.place)
                .fix(|| {
                    Remedy::nic_firmware(
                        "set ROCE_CONTROL to ROCE_ENABLE (2) and reset, if this NIC is meant for RDMA",
                        s.nic.name.clone(),
                        "ROCE_CONTROL",
                        "2",
                    )
                    .prove(format!("mlxconfig -d {} -e q", s.nic.name))
                })
        }
        (Some(1), None) => out
            .unknown(s.subject(), format_args!("{}, and whether the port is Ethernet is not known", s.now.raw))
            .at(s.place),
        (Some(_), _) => out.pass(s.subject(), s.now.raw.to_string()).at(s.place),
        (None, _) => out.unknown(s.subject(), format_args!("a value of unknown meaning: {}", s.now.raw)).at(s.place),
    };
}
