//! `memory/memlock`.

use crate::sources::linux;
use crate::{Action, Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};
use linerate_node::memory::Limit;

pub(super) static RULE: Rule = Rule {
    id: "memory/memlock",
    title: "Locked memory is unlimited where RDMA jobs start",
    severity: Severities::always(Severity::Low),
    roles: Roles::ALL,
    effect: Effect::sourced("memory registration beyond the limit fails: `ibv_reg_mr failed … Cannot allocate memory`"),
    sources: &[
        Source {
            title: "NCCL user guide, troubleshooting: set memlock unlimited in limits.conf",
            at: "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
        },
        linux!("drivers/infiniband/core/umem.c", "ib_umem_get checks RLIMIT_MEMLOCK unless CAP_IPC_LOCK"),
        Source {
            title: "Moby oci/caps/defaults.go: the capabilities of a container by default, without CAP_IPC_LOCK",
            at: "https://github.com/moby/moby/blob/master/oci/caps/defaults.go",
        },
    ],
    reads: &["proc/self/limits"],
    docs: "\
## What it checks
The limit of locked memory of the process that collected. That is the limit of this shell or service, not of the jobs: a job
inherits from its launcher (systemd unit, container runtime, Slurm), which may differ both ways. Collected as root it is
information only: root has CAP_IPC_LOCK, to which the limit does not apply. In a container of a job (NCCL's variables are in its environment) this is different: there root has the capability only if it was given; runtimes do not give it by default.

## Why it matters
RDMA pins every buffer it registers. The default limit is 8 MiB, or an eighth of memory on newer systemd.

## See it yourself
`ulimit -l` in the job itself, or `grep locked /proc/PID/limits` of a running one.

## Fix
`* soft memlock unlimited` and `* hard memlock unlimited` in /etc/security/limits.d for logins; LimitMEMLOCK=infinity in the units of the launchers and the
container runtime; in Kubernetes the runtime's default or the capability IPC_LOCK.",
    myths: &[Myth {
        claim: "ulimit -l unlimited on the host is enough.",
        truth: "A service or container gets its limit from its unit or runtime. Look at the job's own /proc/PID/limits.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let limits = &cx.node.memory.memlock;
    let Some((soft, hard)) = limits.known() else {
        out.unreadable(Subject::Node, "limit of locked memory", limits).see("ulimit -l in the job's environment");
        return;
    };
    let pasted = cx.is_pasted(limits.place());
    let process = if pasted { "the shell that printed it" } else { "the process that collected" };
    if *soft == Limit::Unlimited {
        out.pass(Subject::Node, format_args!("unlimited for {process}; jobs may have another limit"))
            .at(limits.place());
        return;
    }
    let hard = hard.map_or_else(String::new, |hard| format!(" (hard limit {hard})"));
    let root = cx.snapshot.manifest.uid == Some(0);
    if let Some(of_job) = super::job_env(cx).filter(|_| root && cx.node.firmware.in_container()) {
        let held =
            "for this container, in which a job runs; root in a container has CAP_IPC_LOCK only where it was given";
        out.fail(Subject::Node, format_args!("{soft}{hard} {held}")).at(limits.place()).at(of_job).fix(container);
        return;
    }
    let whom = if root { "root, who is exempt; jobs that inherit it are limited" } else { process };
    // Where the list of devices shows no NIC, no job registers memory with one.
    let no_nic = cx.node.pci.seen.is_some() && cx.node.pci.rdma_nics().next().is_none();
    out.fail(Subject::Node, format_args!("{soft}{hard} for {whom}"))
        .severity(if root || no_nic { Severity::Info } else { Severity::Low })
        .at(limits.place())
        .fix(|| {
            Remedy::new(
                "make locked memory unlimited for whatever starts RDMA jobs",
                Action::Limit { limit: "memlock".into(), value: "unlimited".into() },
            )
            .because("a job can then pin all memory")
            .prove("proc/self/limits")
        });
}

/// A container's limit is its runtime's: limits.conf does not reach it.
fn container() -> Remedy {
    Remedy::investigate(
        "give the container the capability IPC_LOCK, or unlimited locked memory, unless it has the capability (`capsh --print`)",
        "capabilities and limit of locked memory in the container's specification",
    )
    .because("the container restarts")
    .prove("proc/self/limits")
}
