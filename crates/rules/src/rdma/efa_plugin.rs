//! `rdma/efa-plugin`.

use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::rdma::Purpose;
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "rdma/efa-plugin",
    title: "On EFA, libfabric and NCCL's plugin for it are installed",
    severity: Severities::always(Severity::Low),
    roles: Roles::ALL,
    effect: Effect::sourced("without the plugin NCCL uses TCP sockets: its own InfiniBand transport does not list EFA devices"),
    sources: &[
        super::common::NCCL_IB,
        Source { title: "aws-ofi-nccl: NCCL's network plugin over libfabric", at: "https://github.com/aws/aws-ofi-nccl" },
        Source {
            title: "Amazon EC2 user guide, Elastic Fabric Adapter: NCCL",
            at: "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start-nccl.html",
        },
    ],
    reads: &["opt/amazon/efa/lib*", "opt/amazon/ofi-nccl/lib*", "opt/aws-ofi-nccl/lib"],
    docs: "\
## What it checks
On a node with EFA devices: `libnccl-net*.so` of aws-ofi-nccl and `libfabric.so`, where AWS' installer and images put them.

## Why it matters
EFA's link layer is neither InfiniBand nor Ethernet (`Unknown` in sysfs, `Unspecified` in ibv_devinfo), and NCCL's built-in transport takes
only these two. The job then runs over TCP, without an error. NCCL_IB_* variables mean nothing on EFA; FI_* and OFI_NCCL_* do. Containers
bring a plugin of their own or lack it, whatever the host has: the job's log is the proof.

## See it yourself
`/opt/amazon/efa/bin/fi_info -p efa`, and in the log `NET/OFI Selected Provider is efa`.

## Fix
Install with AWS' EFA installer on the host, or take an image that has the plugin; it must be on LD_LIBRARY_PATH.",
    myths: &[Myth {
        claim: "\"No plugin found\" in NCCL's log is harmless.",
        truth: "On InfiniBand and RoCE it is. On EFA it is the reason why the job is slow.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let devices = cx.node.rdma.known().is_some_and(|all| all.iter().any(|d| d.purpose == Purpose::Efa));
    let functions = cx.node.pci.rdma_nics().any(|(_, f)| f.is_efa());
    if cx.no_subjects(devices || functions, "EFA device", out) {
        return;
    }
    let efa = &cx.node.efa;
    for (what, reading) in [("the plugin (libnccl-net*.so)", &efa.plugin), ("libfabric", &efa.libfabric)] {
        let subject = || Subject::Named(if what == "libfabric" { "libfabric" } else { "aws-ofi-nccl" }.into());
        match reading {
            Reading::Known(path, at) => out.pass(subject(), format_args!("{path}")).at(*at),
            Reading::Absent(at) => out
                .fail(
                    subject(),
                    format_args!(
                        "{what} is not where AWS installs it: a job that does not bring its own runs over TCP sockets"
                    ),
                )
                .at(*at)
                .fix(|| {
                    Remedy::software(
                        "install it with AWS' EFA installer, or run jobs from images that have it",
                        "EFA software (libfabric, aws-ofi-nccl)",
                    )
                    .prove("NCCL log: NET/OFI Selected Provider is efa")
                }),
            r @ Reading::Unreadable(..) => out.unreadable(subject(), what, r),
        };
    }
}
