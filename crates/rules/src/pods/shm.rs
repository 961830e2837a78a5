//! `pods/shm`.

use super::{COMPOSE, COMPOSE_GPUS, Job, READS};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Source};
use linerate_formats::pod_spec::Count;
use linerate_formats::text::At;

/// What a runtime gives a container without being asked.
const DEFAULT: u64 = 64 << 20;

pub(super) static RULE: Rule = Rule {
    id: "pods/shm",
    title: "A pod or compose service with several GPUs has more shared memory than 64 MiB",
    severity: Severities::always(Severity::Medium),
    roles: Roles::ALL,
    effect: Effect::sourced("NCCL fails at start: `posix_fallocate failed : No space left on device`"),
    sources: &[
        Source {
            title: "NCCL user guide, troubleshooting: shared memory",
            at: "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
        },
        Source {
            title: "Kubernetes, Volumes: emptyDir with medium Memory",
            at: "https://kubernetes.io/docs/concepts/storage/volumes/#emptydir",
        },
        COMPOSE,
        COMPOSE_GPUS,
        Source {
            title: "docker run: --shm-size, 64 MB by default",
            at: "https://docs.docker.com/reference/cli/docker/container/run/",
        },
    ],
    reads: READS,
    docs: "\
## What it checks
Of each container that asks for several GPUs: whether a volume of memory is mounted at /dev/shm with more than 64 MiB or without a limit, or the pod has the host's (hostIPC, or a hostPath of /dev/shm).
Of each service of a compose file with several GPUs: `shm_size`, `tmpfs` and `volumes` at /dev/shm, `ipc: host`. Where a service gets all GPUs of its host (`gpus: all`, no `count`), it is low: the host may have one.
Variables (`${X}`), `ipc: service:…` and what `extends` adds are not known.

## Why it matters
Runtimes give a container a /dev/shm of 64 MiB. Ranks of one node exchange data through it, and data loaders do as well. memory/shm-size judges the same on a running system.

## See it yourself
In the pod: `df -h /dev/shm`.

## Fix
A volume `emptyDir: {medium: Memory}` mounted at /dev/shm. What is stored there counts as the container's memory. In a compose file `shm_size: 16gb`, or `ipc: host`.",
    myths: &[
        Myth {
            claim: "sizeLimit of an emptyDir of memory reserves that memory.",
            truth: "It is a limit: what is written counts when it is written.",
        },
        Myth {
            claim: "shm_size below build: gives the service more shared memory.",
            truth: "It holds while the image is built. The running service has its own shm_size, beside build:.",
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
    if job.gpus == Count::Number(1) {
        out.not_applicable_to(job.subject(), "one GPU: no shared memory is needed").at(job.place());
        return;
    }
    let ipc = job.pod.pod.host_ipc;
    if let Some(ipc) = ipc.filter(|i| i.value == Some(true)) {
        let key = if job.is_service() { "ipc: host" } else { "hostIPC" };
        out.pass(job.subject(), format_args!("{key}: the host's /dev/shm")).at(job.pod.at(ipc.line));
        return;
    }
    let is_shm = |path: &At<String>| path.value.trim_end_matches('/') == "/dev/shm";
    let mount = job.container.mounts.iter().find(|(_, path)| is_shm(path));
    let volume = mount.and_then(|(name, _)| job.pod.pod.memory_volumes.iter().find(|(v, _)| v == name));
    match (mount, volume) {
        (Some((_, path)), Some((_, None))) => {
            out.pass(job.subject(), "/dev/shm is memory without a limit").at(job.pod.at(path.line));
        }
        (Some(_), Some((_, Some(limit)))) => match limit.value.bytes {
            Some(bytes) if bytes > DEFAULT => {
                out.pass(job.subject(), format_args!("/dev/shm has {}", limit.value.text)).at(job.pod.at(limit.line));
            }
            Some(_) => {
                let text = format!("/dev/shm has {}: no more than without asking", limit.value.text);
                too_small(job, out, text, limit.line);
            }
            None => _ = out.unknown(job.subject(), "the size of /dev/shm is not written").at(job.pod.at(limit.line)),
        },
        (Some((volume, path)), None) if job.host_path(volume).is_some_and(is_shm) => {
            out.pass(job.subject(), "the host's /dev/shm").at(job.pod.at(path.line));
        }
        (Some((_, path)), None) => {
            out.unknown(job.subject(), "something is mounted at /dev/shm, and whether it is memory is not shown")
                .at(job.pod.at(path.line));
        }
        (None, _) => {
            let nothing = if job.is_service() { "no shm_size, nothing at /dev/shm" } else { "no volume at /dev/shm" };
            too_small(job, out, format!("{nothing}: it has 64 MiB"), job.container.line);
        }
    }
}

/// It fails, unless what is not in the text may say otherwise.
fn too_small(job: &Job<'_>, out: &mut Findings, text: String, line: u32) {
    if let Some(ipc) = job.pod.pod.host_ipc.filter(|i| i.value.is_none()) {
        let text = format_args!(
            "{text}, unless it has the /dev/shm of its host or of another container, which is not written"
        );
        out.unknown(job.subject(), text).at(job.pod.at(ipc.line));
        return;
    }
    // A volume of a pod that is shown has its size whatever else there is; shm_size does not hold with the host's.
    let is_shown = line != job.container.line && !job.is_service();
    if let Some((at, why)) = job.unseen().filter(|_| !is_shown) {
        out.unknown(job.subject(), format_args!("{text}; {why}")).at(at);
        return;
    }
    if job.gpus == Count::Unwritten {
        let text = format_args!("{text}; whether it has several GPUs is not written");
        out.unknown(job.subject(), text).at(job.pod.at(line));
        return;
    }
    let (severity, text) = match job.gpus {
        Count::All => (Severity::Low, format!("{text}, with all GPUs of its host")),
        _ => (Severity::Medium, text),
    };
    out.fail(job.subject(), text).severity(severity).at(job.pod.at(line)).fix(|| {
        let pod = ["mount an emptyDir with medium Memory at /dev/shm", "volumes of the pod"];
        let service = ["set shm_size of the service to some GiB, or ipc: host", "shm_size of the service"];
        job.remedy(pod, service).because("what is stored there counts as the container's memory")
    });
}
