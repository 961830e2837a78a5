//! `pods/memlock`.

use super::{COMPOSE, Job, READS};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Source};
use linerate_formats::limits::Limit;
use linerate_formats::text::At;

pub(super) static RULE: Rule = Rule {
    id: "pods/memlock",
    title: "A pod or compose service that uses RDMA may lock memory",
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
        COMPOSE,
        Source {
            title: "dockerd: without default-ulimits a container inherits the limits of the daemon",
            at: "https://docs.docker.com/reference/cli/dockerd/#default-ulimit-settings",
        },
    ],
    reads: READS,
    docs: "\
## What it checks
Of each container that asks for GPUs and RDMA devices: whether it adds the capability IPC_LOCK, or is privileged. Without it is information: the jobs for nccl-tests that AWS
(EFA) and CoreWeave publish add none, and rely on the limit of the node's runtime.
Of each service of a compose file that asks for GPUs and gets /dev/infiniband (`devices`): the same, or whether `ulimits.memlock` is -1, which means no limit. Variables (`${X}`) are not known.

## Why it matters
A container runs with the memlock limit of its runtime, which is 64 KiB or 8 MiB unless somebody raised it on the node. RDMA registers gigabytes. With IPC_LOCK the limit does not
hold.

## See it yourself
In the pod: `ulimit -l; grep CapEff /proc/1/status`.

## Fix
`securityContext: {capabilities: {add: [IPC_LOCK]}}`, in a compose file `cap_add: [IPC_LOCK]` or `ulimits: {memlock: -1}`; or raise LimitMEMLOCK of the container runtime on every node (memory/memlock, memory/memlock-of-runtime).",
    myths: &[
        Myth {
            claim: "ulimit -l in the image's profile raises the limit.",
            truth: "A process cannot go beyond the hard limit that the runtime gave it.",
        },
        Myth {
            claim: "cap_add: IPC_LOCK is enough for any user of the container.",
            truth: "The capability is effective for root. A process of another user has it only by its file or as an ambient one; ulimits.memlock holds for each user.",
        },
    ],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    for job in super::jobs(cx, out) {
        judge(&job, out);
    }
}

fn judge(job: &Job<'_>, out: &mut Findings) {
    let c = job.container;
    let device = c.rdma().next().map(|(n, _)| n.line).or_else(|| c.rdma_device().map(|d| d.line));
    let Some(line) = device else {
        match c.devices.iter().find(|d| d.value.is_none()) {
            Some(d) => _ = out.unknown(job.subject(), "which devices it gets is not written").at(job.pod.at(d.line)),
            None => _ = out.not_applicable_to(job.subject(), "asks for no RDMA device").at(job.place()),
        }
        return;
    };
    let at = job.pod.at(line);
    let names = |name: &str| matches!(name, "IPC_LOCK" | "CAP_IPC_LOCK" | "ALL");
    let added = c.capabilities.iter().find_map(|c| Some((c.value.as_deref().filter(|n| names(n))?, c.line)));
    if let Some((name, line)) = added {
        out.pass(job.subject(), format_args!("adds {name}")).at(job.pod.at(line));
    } else if job.is_privileged() == Some(true) {
        out.pass(job.subject(), "privileged: it has IPC_LOCK").at(at);
    } else if let Some(limit) = c.memlock.filter(|l| l.value == Some(Limit::Unlimited)) {
        out.pass(job.subject(), "ulimits: memlock is unlimited").at(job.pod.at(limit.line));
    } else if let Some(open) = c.capabilities.iter().find(|c| c.value.is_none()) {
        out.unknown(job.subject(), "its capabilities are those of a template or variable").at(job.pod.at(open.line));
    } else if let Some(open) = c.privileged.filter(|p| p.value.is_none()) {
        out.unknown(job.subject(), "whether it is privileged is not written").at(job.pod.at(open.line));
    } else if let Some(open) = c.memlock.filter(|l| l.value.is_none()) {
        out.unknown(job.subject(), "its limit of locked memory is not written").at(job.pod.at(open.line));
    } else if let Some((_, why)) = job.unseen() {
        out.unknown(job.subject(), why).at(at);
    } else {
        let (text, at) = match c.memlock {
            Some(At { value: Some(Limit::Value(bytes)), line }) => {
                let limit = linerate_node::memory::Limit::Bytes(bytes);
                (format!("uses RDMA, without IPC_LOCK, and may lock {limit}"), job.pod.at(line))
            }
            _ => (OF_RUNTIME.to_owned(), at),
        };
        out.fail(job.subject(), text).at(at).fix(|| {
            let pod = [
                "add the capability IPC_LOCK to the container, unless the runtime's limit is raised on every node",
                "capabilities of the container",
            ];
            let service = [
                "add the capability IPC_LOCK to the service, or set ulimits memlock to -1, unless the daemon's limit is raised",
                "cap_add and ulimits of the service",
            ];
            job.remedy(pod, service)
        });
    }
}

const OF_RUNTIME: &str =
    "uses RDMA without IPC_LOCK: it has the memlock limit of the node's runtime, which is not in this text";
