//! `rdma/netns-mode`.

use crate::{Action, Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::rdma::netns_shared;
use linerate_snapshot::Reading;

pub(super) static RULE: Rule = Rule {
    id: "rdma/netns-mode",
    title: "Network namespaces share RDMA devices, or exclusive mode is intended",
    severity: Severities::always(Severity::Info),
    roles: Roles::ALL,
    effect: Effect::sourced("in exclusive mode a container sees only RDMA devices that were moved into its namespace"),
    sources: &[Source {
        title: "iproute2, rdma-system(8): netns shared and exclusive",
        at: "https://man7.org/linux/man-pages/man8/rdma-system.8.html",
    }],
    reads: &["rdma system", "sys/module/ib_core/parameters/netns_mode"],
    docs: "\
## What it checks
Whether RDMA devices are shared between network namespaces (the default) or belong to one each. Exclusive is reported as information: it is
right for pods that get their own device by an RDMA CNI, and a trap for everybody else.

## Why it matters
In exclusive mode a pod without a device of its own finds no RDMA at all, and a host whose device was moved to a pod misses it.

## See it yourself
`rdma system`; `cat /sys/module/ib_core/parameters/netns_mode` (Y shared, N exclusive).

## Fix
If pods use host networking or a shared device plugin: `rdma system set netns shared`, persistently `options ib_core netns_mode=1`. It
can be changed only while no network namespace other than the first exists.",
    myths: &[Myth {
        claim: "The RDMA device vanished from the host: the NIC is broken.",
        truth: "In exclusive mode it may live in a pod's namespace. `rdma system` shows the mode.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    match netns_shared(cx.snapshot) {
        Reading::Known(true, p) => out.pass(Subject::Node, "shared").at(p),
        Reading::Known(false, p) => out
            .fail(Subject::Node, "exclusive: a container sees only devices that were moved into its namespace")
            .at(p)
            .fix(|| {
                Remedy::new(
                    "make namespaces share RDMA devices, unless an RDMA CNI moves them on purpose",
                    Action::ModuleOption {
                        module: "ib_core".into(),
                        option: "netns_mode".into(),
                        value: Some("1".into()),
                    },
                )
                .because("an RDMA CNI relies on exclusive mode")
                .prove("sys/module/ib_core/parameters/netns_mode")
            }),
        Reading::Absent(p) => out.not_applicable("ib_core is not loaded, or is older than the modes (Linux 5.2)").at(p),
        r @ Reading::Unreadable(..) => out.unreadable(Subject::Node, "RDMA namespace mode", &r).see("rdma system"),
    };
}
