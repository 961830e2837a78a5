//! `memory/shm-size`.

use linerate_snapshot::Place;

use crate::{Action, Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source, Subject};

pub(super) static RULE: Rule = Rule {
    id: "memory/shm-size",
    title: "/dev/shm is larger than a container's default of 64 MiB",
    severity: Severities::always(Severity::Medium),
    roles: Roles::BARE_METAL.or(Roles::VM_GUEST),
    effect: Effect::sourced("NCCL fails at start: `posix_fallocate failed : No space left on device`"),
    sources: &[
        Source {
            title: "NCCL user guide, troubleshooting: shared memory",
            at: "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
        },
        Source {
            title: "Docker: --shm-size, 64 MiB by default",
            at: "https://docs.docker.com/engine/containers/run/",
        },
    ],
    reads: &["proc/mounts", "proc/meminfo", "df -h /dev/shm"],
    docs: "\
## What it checks
The size of /dev/shm in the mount namespace of the capture: the container's, if it ran in one. 64 MiB or less, the default of container runtimes, is
information where nothing shows that jobs run in that container: a monitor's own /dev/shm says nothing about a job's. It is medium where the
captured process has NCCL's variables, as a job's has, or where the mounts, or an output of `df`, were pasted. On a host the default is half of the memory.

## Why it matters
Ranks of one node exchange data through /dev/shm, and data loaders of frameworks do as well.

## See it yourself
`df -h /dev/shm` in the job's container.

## Fix
Docker: --shm-size or --ipc=host. Kubernetes: an emptyDir with `medium: Memory` mounted at /dev/shm.",
    myths: &[Myth {
        claim: "No space left on device: the disk is full.",
        truth: "For NCCL it is /dev/shm.",
    }],
    check,
};

const CONTAINER_DEFAULT: u64 = 64 << 20;

fn check(cx: &Cx<'_>, out: &mut Findings) {
    let shm = &cx.node.memory.shm_bytes;
    // Who shows the size of /dev/shm alone asks because a job met it.
    let asked = cx.node.pci.seen.is_none() && cx.is_pasted(shm.place());
    let any = asked || cx.node.pci.nvidia_gpus().next().is_some() || !cx.node.nvidia.gpus.is_empty();
    if cx.no_subjects(any, "GPU", out) {
        return;
    }
    match shm.known() {
        Some(b) if *b <= CONTAINER_DEFAULT => {
            let Some(of_job) = job(cx) else {
                out.fail(
                    Subject::Node,
                    format_args!(
                        "/dev/shm has {} MiB in the container of this capture: too little for NCCL if jobs run in this container; a job in another container has its own /dev/shm",
                        b >> 20
                    ),
                )
                .severity(Severity::Info)
                .at(shm.place());
                return;
            };
            out.fail(Subject::Node, format_args!("/dev/shm has {} MiB", b >> 20)).at(shm.place()).at(of_job).fix(|| {
                Remedy::new(
                    "give the container a larger /dev/shm",
                    Action::Limit { limit: "/dev/shm".into(), value: "some GiB".into() },
                )
                .because("what is stored there counts as the container's memory")
                .prove("proc/mounts")
            })
        }
        Some(b) => out.pass(Subject::Node, format_args!("/dev/shm has {} MiB", b >> 20)).at(shm.place()),
        None => out.unreadable(Subject::Node, "size of /dev/shm", shm).see("df /dev/shm"),
    };
}

/// What shows that the mounts are those of a job: NCCL's variables in the environment of the capture, or that somebody pasted them.
fn job(cx: &Cx<'_>) -> Option<Place> {
    let mounts = cx.node.memory.shm_bytes.place();
    if cx.is_pasted(mounts) {
        return Some(mounts);
    }
    super::job_env(cx)
}
