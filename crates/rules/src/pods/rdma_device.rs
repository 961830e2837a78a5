//! `pods/rdma-device`.

use super::{COMPOSE, COMPOSE_GPUS, Job, PLUGIN, READS};
use crate::{Cx, Effect, Findings, Myth, Roles, Rule, Severities, Severity, Source};
use linerate_formats::pod_spec::{Container, Count};
use linerate_formats::text::At;

/// GPUs from which on a container usually has a node to itself, and talks to others.
const WHOLE_NODE: u64 = 8;

pub(super) static RULE: Rule = Rule {
    id: "pods/rdma-device",
    title: "A pod or compose service with the GPUs of a whole node asks for RDMA devices, too",
    severity: Severities::up_to(Severity::Low, Severity::Medium),
    roles: Roles::ALL,
    effect: Effect::direction_only("without one NCCL goes to the network through sockets, at a tenth and less of RDMA"),
    sources: &[
        PLUGIN,
        Source {
            title: "Kubernetes, Device Plugins: a container sees the devices that it asks for",
            at: "https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/",
        },
        COMPOSE,
        COMPOSE_GPUS,
    ],
    reads: READS,
    docs: "\
## What it checks
Of each container that asks for `nvidia.com/gpu`: whether it asks for a resource that is an RDMA device (`rdma/…`, SR-IOV's, `vpc.amazonaws.com/efa`). With
8 GPUs and none it is medium, with fewer information. Where it asks for fewer devices of SR-IOV than it attaches networks (`k8s.v1.cni.cncf.io/networks`), it is low: each network needs a
device of its own. A privileged container sees the host's devices, and is right as it is where it is on the host's network. So are networks of GKE with `rdma` in their names. Claims
of Dynamic Resource Allocation, other networks of GKE, and a mount of the host's /dev/infiniband are answered with unknown: what they give is not in the pod. A pod with the daemon of GPUDirect-TCPX (`tcpx…`) needs none.
Of each service of a compose file that asks for GPUs: whether it gets /dev/infiniband, or one of its `uverbs` devices (`devices`), or is privileged. With 8 GPUs or all of its host, on the host's network
(`network_mode: host`), none is medium; on a network of Docker it is information: NCCL of other nodes does not reach it there. Variables (`${X}`) and what `extends` adds are not known.

## Why it matters
A pod gets no /dev/infiniband unless it asks for it. NCCL then finds no device, says `Using network Socket` in its log, and works, slowly.

## See it yourself
`kubectl get pod NAME -o yaml | grep -A8 limits`, `docker compose config`; in the container: `ls /dev/infiniband; ibv_devices`.

## Fix
Ask for the resource that the cluster's device plugin offers (`kubectl describe node` lists them under Capacity): as many as networks with SR-IOV, one with the
shared plugin. In a compose file: `devices: [/dev/infiniband]`.",
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
    let Some((first, _)) = rdma.first() else {
        if !by_another_way(job, out) {
            none(job, out);
        }
        return;
    };
    let at = job.pod.at(first.line);
    // The shared plugin gives all devices for one; SR-IOV's one each.
    let shared = rdma.iter().any(|(n, _)| n.value.starts_with("rdma/"));
    let networks = job.pod.pod.networks.len() as u64;
    let asked: Option<u64> = rdma.iter().map(|(_, n)| n.number()).sum();
    match asked {
        None => _ = out.unknown(job.subject(), "asks for RDMA devices; how many is not written").at(at),
        Some(n) if !shared && n < networks => {
            let devices = linerate_formats::counted(n, "RDMA device", "RDMA devices");
            let text = format!("attaches {networks} networks and asks for {devices}: each needs its own");
            out.fail(job.subject(), text).severity(Severity::Low).at(at).at(job.place()).fix(|| {
                let pod = ["ask for as many devices as networks are attached", "resources of the container"];
                job.remedy(pod, pod)
            });
        }
        Some(n) => _ = out.pass(job.subject(), format_args!("asks for {n} of {}", first.value)).at(at),
    }
}

/// It asks for none.
fn none(job: &Job<'_>, out: &mut Findings) {
    let (whole, gpus) = match job.gpus {
        Count::Number(n) => (n >= WHOLE_NODE, linerate_formats::counted(n, "GPU", "GPUs")),
        Count::All => (true, "all GPUs of its host".to_owned()),
        Count::Unwritten => {
            out.unknown(job.subject(), "asks for GPUs and no RDMA device; how many GPUs is not written")
                .at(job.place());
            return;
        }
    };
    // On a network of Docker no other node reaches it: it has nobody to talk to by RDMA.
    let alone = job.is_service() && job.pod.pod.host_network.is_none_or(|h| h.value == Some(false));
    let text = format_args!("asks for {gpus} and no RDMA device: between nodes NCCL uses sockets");
    let severity = if whole && !alone { Severity::Medium } else { Severity::Info };
    out.fail(job.subject(), text).severity(severity).at(job.place()).fix(|| {
        let pod = ["ask for the RDMA resource that the cluster's device plugin offers", "resources of the container"];
        let service = ["give the service the devices of /dev/infiniband", "devices of the service"];
        job.remedy(pod, service)
    });
}

/// Answers where a pod reaches the network by something that is no resource of the container. Whether it answered.
fn by_another_way(job: &Job<'_>, out: &mut Findings) -> bool {
    let pod = &job.pod.pod;
    let at = |line| job.pod.at(line);
    let names = |all: &[At<String>]| all.iter().map(|n| n.value.as_str()).collect::<Vec<_>>().join(", ");
    // Google's own ways to the network without RDMA: their daemon runs beside the job.
    let is_tcpx = |c: &&Container| c.name.as_deref().is_some_and(|n| n.starts_with("tcpx"));
    let daemon = pod.containers.iter().chain(&pod.preparing).find(is_tcpx);
    if let Some(device) = job.container.rdma_device() {
        out.pass(job.subject(), format_args!("has {}", device.value)).at(at(device.line));
    } else if job.is_privileged() == Some(true) {
        let on_host = pod.host_network.is_some_and(|h| h.value == Some(true));
        let network = if on_host { ", on the host's network" } else { "" };
        out.pass(job.subject(), format_args!("privileged{network}: it sees the host's devices")).at(job.place());
    } else if let Some(daemon) = daemon {
        let name = daemon.name.as_deref().unwrap_or_default();
        let text = format_args!("GPUDirect-TCPX, not RDMA: {name} is in the pod");
        out.not_applicable_to(job.subject(), text).at(at(daemon.line));
    } else if let Some(claim) = pod.claims.first() {
        let claims = names(&pod.claims);
        let text = format_args!("claims devices ({claims}): whether they are RDMA devices is in the claims");
        out.unknown(job.subject(), text).at(at(claim.line));
    } else if let Some(network) = pod.gke_networks.first() {
        let rdma: Vec<_> = pod.gke_networks.iter().filter(|n| n.value.contains("rdma")).cloned().collect();
        let finding = if rdma.is_empty() {
            let all = names(&pod.gke_networks);
            out.unknown(job.subject(), format_args!("attaches networks of GKE ({all}): what they carry is not shown"))
        } else {
            out.pass(job.subject(), format_args!("attaches networks of GKE: {}", names(&rdma)))
        };
        finding.at(at(network.line));
    } else if let Some(mount) = job.host_mount(|path| path.starts_with("/dev/infiniband")) {
        let text =
            "mounts the host's /dev/infiniband and is not privileged: whether it may open the devices is not shown";
        out.unknown(job.subject(), text).at(at(mount.line));
    } else if let Some(open) = job.container.devices.iter().find(|d| d.value.is_none()) {
        out.unknown(job.subject(), "which devices of its host it gets is not written").at(at(open.line));
    } else if let Some(open) = job.container.privileged.filter(|p| p.value.is_none()) {
        out.unknown(job.subject(), "no RDMA device; whether it is privileged is not written").at(at(open.line));
    } else if let Some((place, why)) = job.unseen() {
        out.unknown(job.subject(), format_args!("asks for GPUs and no RDMA device; {why}")).at(place);
    } else {
        return false;
    }
    true
}
