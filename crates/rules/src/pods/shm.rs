//! `pods/shm`.

use super::{Job, READS};
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source};
use linerate_formats::size;
use linerate_formats::text::At;

/// What a runtime gives a container without being asked.
const DEFAULT: u64 = 64 << 20;

pub(super) static RULE: Rule = Rule {
    id: "pods/shm",
    title: "A pod with several GPUs has more shared memory than 64 MiB",
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
    ],
    reads: READS,
    docs: "\
## What it checks
Of each container that asks for several GPUs: whether a volume of memory is mounted at /dev/shm with more than 64 MiB or without a limit, or the pod has the host's (hostIPC, or a hostPath of /dev/shm).

## Why it matters
Runtimes give a container a /dev/shm of 64 MiB. Ranks of one node exchange data through it, and data loaders do as well. memory/shm-size judges the same on a running system.

## See it yourself
In the pod: `df -h /dev/shm`.

## Fix
A volume `emptyDir: {medium: Memory}` mounted at /dev/shm. What is stored there counts as the container's memory.",
    myths: &[Myth {
        claim: "sizeLimit of an emptyDir of memory reserves that memory.",
        truth: "It is a limit: what is written counts when it is written.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    for job in super::jobs(cx, out) {
        judge(&job, out);
    }
}

fn judge(job: &Job<'_>, out: &mut Findings) {
    if job.gpus == Some(1) {
        out.not_applicable_to(job.subject(), "one GPU: there is nobody to share memory with").at(job.place());
        return;
    }
    if let Some(ipc) = job.pod.pod.host_ipc.as_ref().filter(|h| h.value) {
        out.pass(job.subject(), "hostIPC: the host's /dev/shm").at(job.pod.at(ipc.line));
        return;
    }
    let is_shm = |path: &At<String>| path.value.trim_end_matches('/') == "/dev/shm";
    let mount = job.container.mounts.iter().find(|(_, path)| is_shm(path));
    let volume = mount.and_then(|(name, _)| job.pod.pod.memory_volumes.iter().find(|(v, _)| v == name));
    match (mount, volume) {
        (Some((_, path)), Some((_, None))) => {
            out.pass(job.subject(), "/dev/shm is memory without a limit").at(job.pod.at(path.line));
        }
        (Some(_), Some((_, Some(limit)))) => match quantity(&limit.value) {
            Some(bytes) if bytes > DEFAULT => {
                out.pass(job.subject(), format_args!("/dev/shm has {}", limit.value)).at(job.pod.at(limit.line));
            }
            Some(_) => {
                let text = format_args!("/dev/shm has {}: no more than without a volume", limit.value);
                fail(job, out, text.to_string(), limit.line);
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
        (None, _) if job.pod.pod.described => {
            let text = format_args!("no volume at /dev/shm; {}", super::DESCRIBED);
            out.unknown(job.subject(), text).at(job.pod.at(job.container.line));
        }
        (None, _) if job.gpus.is_none() => {
            let text = "no volume at /dev/shm: it has 64 MiB; whether it has several GPUs is not written";
            out.unknown(job.subject(), text).at(job.pod.at(job.container.line));
        }
        (None, _) => {
            fail(job, out, "no volume at /dev/shm: it has 64 MiB".to_owned(), job.container.line);
        }
    }
}

fn fail(job: &Job<'_>, out: &mut Findings, text: String, line: u32) {
    out.fail(job.subject(), text).at(job.pod.at(line)).fix(|| {
        Remedy::investigate("mount an emptyDir with medium Memory at /dev/shm", "volumes of the pod")
            .because("what is stored there counts as the container's memory")
            .prove("kubectl get pod NAME -o yaml")
    });
}

/// `32Gi`, `64Mi`, `1G`: Kubernetes' quantities.
fn quantity(text: &str) -> Option<u64> {
    let decimal = [("k", 1_000_u64), ("M", 1_000_000), ("G", 1_000_000_000), ("T", 1_000_000_000_000)];
    if let Some((n, unit)) = decimal.iter().find_map(|(suffix, unit)| Some((text.strip_suffix(suffix)?, unit))) {
        return n.parse::<u64>().ok()?.checked_mul(*unit);
    }
    match text.strip_suffix('i') {
        Some(binary) => size::parse(binary),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities() {
        for (text, bytes) in [
            ("64Mi", Some(64 << 20)),
            ("32Gi", Some(32 << 30)),
            ("1G", Some(1_000_000_000)),
            ("512", Some(512)),
            ("{{ x }}", None),
        ] {
            assert_eq!(quantity(text), bytes, "{text}");
        }
    }
}
