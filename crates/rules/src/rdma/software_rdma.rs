//! `rdma/software-rdma`.

use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "rdma/software-rdma",
    title: "RDMA devices are hardware",
    severity: Severities::always(Severity::Info),
    roles: Roles::ALL,
    effect: Effect::direction_only("Soft-RoCE and siw move the data with the CPU: never line rate, no GPUDirect"),
    sources: &[Source {
        title: "Linux drivers/infiniband/sw: rxe (Soft-RoCE) and siw",
        at: "https://github.com/torvalds/linux/tree/master/drivers/infiniband/sw",
    }],
    reads: &["sys/class/infiniband/*"],
    docs: "\
## What it checks
RDMA devices without hardware: below /sys/devices/virtual, or called rxe or siw and without a PCI function.

## Why it matters
They speak RDMA in software over any interface. Good for trying programs, useless for bandwidth; and a job that takes all RDMA
devices takes them too.

## See it yourself
`rdma link`, `readlink -f /sys/class/infiniband/*`.

## Fix
`rdma link delete NAME`, and remove what creates it at boot; or leave it out with NCCL_IB_HCA.",
    myths: &[Myth {
        claim: "Soft-RoCE gives RDMA speed to any NIC.",
        truth: "It gives the interface of RDMA. The CPU copies and builds every packet.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let (list, place) = match &cx.node.rdma {
        Reading::Known(list, place) => (list, *place),
        Reading::Absent(p) => {
            out.not_applicable("no RDMA device").at(*p);
            return;
        }
        r @ Reading::Unreadable(..) => {
            out.unreadable(Subject::Node, "list of RDMA devices", r);
            return;
        }
    };
    for d in list.iter().filter(|d| d.is_software()) {
        out.fail(Subject::Named(d.name.clone()), "is RDMA in software: the CPU moves the data")
            .at(super::common::place(d))
            .fix(|| {
                Remedy::investigate(
                    "remove the software RDMA device, or leave it out of jobs",
                    "what creates the rxe or siw device at boot",
                )
                .prove("sys/class/infiniband")
            });
    }
    if out.is_empty() {
        if list.is_empty() {
            out.not_applicable("no RDMA device").at(place);
        } else {
            out.pass(Subject::Node, format_args!("none of {} RDMA devices is software", list.len())).at(place);
        }
    }
}
