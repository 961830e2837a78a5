//! `rdma/traffic-class`.

use super::common::{self, Use};
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::rdma::{RdmaDevice, traffic_class};
use linerate_snapshot::{Place, Reading};

pub(super) static RULE: Rule = Rule {
    id: "rdma/traffic-class",
    title: "The global traffic class is the same on all RoCE rails",
    severity: Severities::always(Severity::Low),
    roles: Roles::ALL,
    effect: Effect::direction_only("rails in different switch queues: one is protected from loss, another is not"),
    sources: &[
        Source {
            title: "NVIDIA: RoCE configuration, traffic_class in sysfs (OFED)",
            at: "https://enterprise-support.nvidia.com/s/article/lossless-roce-configuration-for-linux-drivers-in-dscp-based-qos-mode",
        },
        common::NCCL_ENV,
    ],
    reads: &["sys/class/infiniband/*/tc/1/traffic_class"],
    docs: "\
## What it checks
The global traffic class that OFED's drivers can force on RoCE packets, on all devices that GPUs depend on: set alike, or set nowhere.
The file exists with OFED only; without it each job sets its own (NCCL_IB_TC).

## Why it matters
The traffic class carries the DSCP (its upper six bits) by which NICs and switches choose the queue, and so PFC and ECN.

## See it yourself
`cat /sys/class/infiniband/*/tc/1/traffic_class`. 106 is DSCP 26, customary for RoCE.

## Fix
Set it alike at each boot, or nowhere and NCCL_IB_TC in the jobs.",
    myths: &[Myth {
        claim: "cma_roce_tos sets the traffic class of NCCL.",
        truth: "Only of programs that connect through rdma_cm. NCCL makes its own QPs and takes NCCL_IB_TC.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    if common::none(cx, out) {
        return;
    }
    let mut set: Vec<(&RdmaDevice, u32, Place)> = Vec::new();
    let mut unset: Vec<(&RdmaDevice, Place)> = Vec::new();
    for d in common::devices(cx).filter(|d| d.ports.iter().any(linerate_node::rdma::RdmaPort::is_roce)) {
        if matches!(common::usage(cx, d), Use::Other | Use::Host) {
            continue;
        }
        match traffic_class(cx.snapshot, d) {
            Reading::Known(v, p) => set.push((d, v, p)),
            Reading::Absent(p) => unset.push((d, p)),
            r @ Reading::Unreadable(..) => {
                out.unreadable(Subject::Node, "global traffic class", &r);
                return;
            }
        }
    }
    let Some((first, value, place)) = set.first() else {
        let place = unset.first().map_or(cx.node.rdma.place(), |(_, p)| *p);
        out.not_applicable("no RoCE rail with a global traffic class (OFED only): jobs set NCCL_IB_TC").at(place);
        return;
    };
    let odd = set.iter().find(|(_, v, _)| v != value);
    match odd {
        Some((d, v, p)) => out
            .fail(Subject::Node, format_args!("traffic class {value} on {}, {v} on {}", first.name, d.name))
            .at(*place)
            .at(*p)
            .fix(|| {
                Remedy::sysfs(
                    "set one traffic class on all rails, at each boot",
                    "/sys/class/infiniband/*/tc/1/traffic_class",
                    value.to_string(),
                )
                .prove("sys/class/infiniband/*/tc/1/traffic_class")
            }),
        None => out
            .pass(Subject::Node, format_args!("traffic class {value} (DSCP {}) on {} devices", value >> 2, set.len()))
            .at(*place),
    };
}
