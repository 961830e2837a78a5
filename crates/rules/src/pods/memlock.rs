//! `pods/memlock`.

use super::{Job, READS};
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source};

pub(super) static RULE: Rule = Rule {
    id: "pods/memlock",
    title: "A pod that uses RDMA may lock memory",
    severity: Severities::always(Severity::Info),
    roles: Roles::ALL,
    effect: Effect::sourced("registration of memory fails (ibv_reg_mr: Cannot allocate memory), and the job with it"),
    sources: &[
        Source {
            title: "Linux capabilities(7): CAP_IPC_LOCK locks memory beyond RLIMIT_MEMLOCK",
            at: "https://man7.org/linux/man-pages/man7/capabilities.7.html",
        },
        Source {
            title: "Kubernetes RDMA shared device plugin, example pod: capabilities add IPC_LOCK",
            at: "https://github.com/Mellanox/k8s-rdma-shared-dev-plugin",
        },
    ],
    reads: READS,
    docs: "\
## What it checks
Of each container that asks for GPUs and RDMA devices: whether it adds the capability IPC_LOCK, or is privileged. Without it is information: the jobs for nccl-tests that AWS
(EFA) and CoreWeave publish add none, and rely on the limit of the node's runtime.

## Why it matters
A container runs with the memlock limit of its runtime, which is 64 KiB or 8 MiB unless somebody raised it on the node. RDMA registers gigabytes. With IPC_LOCK the limit does not
hold.

## See it yourself
In the pod: `ulimit -l; grep CapEff /proc/1/status`.

## Fix
`securityContext: {capabilities: {add: [IPC_LOCK]}}`; or raise LimitMEMLOCK of the container runtime on every node (memory/memlock).",
    myths: &[Myth {
        claim: "ulimit -l in the image's profile raises the limit.",
        truth: "A process cannot go beyond the hard limit that the runtime gave it.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    for job in super::jobs(cx, out) {
        judge(&job, out);
    }
}

fn judge(job: &Job<'_>, out: &mut Findings) {
    let Some((first, _)) = job.container.rdma().next() else {
        out.not_applicable_to(job.subject(), "asks for no RDMA device").at(job.place());
        return;
    };
    let at = job.pod.at(first.line);
    let names = |c: &str| matches!(c, "IPC_LOCK" | "CAP_IPC_LOCK" | "ALL");
    if let Some(capability) = job.container.capabilities.iter().find(|c| names(&c.value)) {
        out.pass(job.subject(), format_args!("adds {}", capability.value)).at(job.pod.at(capability.line));
    } else if job.is_privileged() {
        out.pass(job.subject(), "privileged: it has IPC_LOCK").at(at);
    } else if job.container.capabilities.iter().any(|c| c.value.contains(['{', '$'])) {
        out.unknown(job.subject(), "its capabilities are those of a template").at(at);
    } else if job.pod.pod.described {
        out.unknown(job.subject(), super::DESCRIBED).at(at);
    } else {
        let text =
            "uses RDMA without IPC_LOCK: it has the memlock limit of the node's runtime, which is not in this text";
        out.fail(job.subject(), text).at(at).fix(|| {
            Remedy::investigate(
                "add the capability IPC_LOCK to the container, unless the runtime's limit is raised on every node",
                "capabilities of the container",
            )
            .prove("kubectl get pod NAME -o yaml")
        });
    }
}
