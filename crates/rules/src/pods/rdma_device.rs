//! `pods/rdma-device`.

use super::{Job, PLUGIN, READS};
use crate::{Cx, Effect, Findings, Myth, Remedy, Roles, Rule, Severities, Severity, Source};

/// GPUs from which on a container usually has a node to itself, and talks to others.
const WHOLE_NODE: u64 = 8;

pub(super) static RULE: Rule = Rule {
    id: "pods/rdma-device",
    title: "A pod with the GPUs of a whole node asks for RDMA devices, too",
    severity: Severities::up_to(Severity::Low, Severity::Medium),
    roles: Roles::ALL,
    effect: Effect::direction_only("without one NCCL goes to the network through sockets, at a tenth and less of RDMA"),
    sources: &[
        PLUGIN,
        Source {
            title: "Kubernetes, Device Plugins: a container sees the devices that it asks for",
            at: "https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/",
        },
    ],
    reads: READS,
    docs: "\
## What it checks
Of each container that asks for `nvidia.com/gpu`: whether it asks for a resource that is an RDMA device (`rdma/…`, SR-IOV's, `vpc.amazonaws.com/efa`). With
8 GPUs and none it is medium, with fewer information. Where it asks for fewer devices of SR-IOV than it attaches networks (`k8s.v1.cni.cncf.io/networks`), it is low: each network needs a
device of its own. A privileged container sees the host's devices, and is right as it is where it is on the host's network.

## Why it matters
A pod gets no /dev/infiniband unless it asks for it. NCCL then finds no device, says `Using network Socket` in its log, and works, slowly.

## See it yourself
`kubectl get pod NAME -o yaml | grep -A8 limits`; in the pod: `ls /dev/infiniband; ibv_devices`.

## Fix
Ask for the resource that the cluster's device plugin offers (`kubectl describe node` lists them under Capacity): as many as networks with SR-IOV, one with the
shared plugin.",
    myths: &[Myth {
        claim: "hostNetwork gives a pod the RDMA devices of its host.",
        truth: "It gives it the interfaces. The character devices of /dev/infiniband come from a device plugin, or from privileged.",
    }],
    check,
};

fn check(cx: &Cx<'_>, out: &mut Findings) {
    for job in super::jobs(cx, out) {
        judge(&job, out);
    }
}

fn judge(job: &Job<'_>, out: &mut Findings) {
    let rdma: Vec<_> = job.container.rdma().collect();
    let host = job.pod.pod.host_network.as_ref().is_some_and(|h| h.value);
    let Some((first, _)) = rdma.first() else {
        if job.is_privileged() {
            let text = if host {
                "privileged, on the host's network: it sees the host's devices"
            } else {
                "privileged: it sees the host's devices"
            };
            out.pass(job.subject(), text).at(job.place());
            return;
        }
        let Some(gpus) = job.gpus else {
            out.unknown(job.subject(), "asks for GPUs and no RDMA device; how many GPUs is not written")
                .at(job.place());
            return;
        };
        let whole = gpus >= WHOLE_NODE;
        let text = format_args!("asks for {gpus} GPU(s) and no RDMA device: NCCL reaches other nodes through sockets");
        let finding = out.fail(job.subject(), text).severity(if whole { Severity::Medium } else { Severity::Info });
        finding.at(job.place()).fix(|| {
            Remedy::investigate(
                "ask for the RDMA resource that the cluster's device plugin offers",
                "resources of the container",
            )
            .prove("kubectl get pod NAME -o yaml")
        });
        return;
    };
    let at = job.pod.at(first.line);
    // The shared plugin gives all devices for one; SR-IOV's one each.
    let shared = rdma.iter().any(|(n, _)| n.value.starts_with("rdma/"));
    let networks = job.pod.pod.networks.len() as u64;
    let asked: Option<u64> = rdma.iter().map(|(_, n)| *n).sum();
    match asked {
        None => _ = out.unknown(job.subject(), "asks for RDMA devices; how many is not written").at(at),
        Some(n) if !shared && n < networks => {
            let text = format_args!("attaches {networks} networks and asks for {n} RDMA device(s): each needs its own");
            out.fail(job.subject(), text).severity(Severity::Low).at(at).at(job.place()).fix(|| {
                Remedy::investigate("ask for as many devices as networks are attached", "resources of the container")
                    .prove("kubectl get pod NAME -o yaml")
            });
        }
        Some(n) => _ = out.pass(job.subject(), format_args!("asks for {n} of {}", first.value)).at(at),
    }
}
