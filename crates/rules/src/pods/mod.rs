//! Pods and services of compose files before they run: what they ask for, held to what RDMA and NCCL need.

mod memlock;
mod rdma_device;
mod shm;

use crate::rule::{Rule, Source};
use crate::{Cx, Findings, Remedy, Subject};
use linerate_formats::pod_spec::{Container, Count, Form, Switch};
use linerate_formats::text::At;
use linerate_node::pods::PodAt;
use linerate_snapshot::Place;

pub(crate) static RULES: &[&Rule] = &[&rdma_device::RULE, &memlock::RULE, &shm::RULE];

const PLUGIN: Source = Source {
    title: "Kubernetes RDMA shared device plugin, SR-IOV network device plugin: names of resources",
    at: "https://github.com/Mellanox/k8s-rdma-shared-dev-plugin",
};

/// Why what a text does not show is not absent.
const DESCRIBED: &str = "`kubectl describe` does not show what a container may do, nor what it has of its host (`kubectl get -o yaml` does)";

/// Why what a service of compose does not say is not absent.
const EXTENDS: &str = "it extends another service, which is not read (`docker compose config` shows both together)";

const COMPOSE: Source = Source {
    title: "Compose file reference, services: devices, cap_add, ulimits, shm_size, ipc, network_mode, privileged, gpus",
    at: "https://docs.docker.com/reference/compose-file/services/",
};

const COMPOSE_GPUS: Source = Source {
    title: "Docker Compose, GPU access: without count and device_ids a service gets all GPUs",
    at: "https://docs.docker.com/compose/how-tos/gpu-support/",
};

const READS: &[&str] = &["kubectl get pod -o yaml", "docker compose config"];

/// A container that asks for GPUs.
struct Job<'a> {
    pod: &'a PodAt,
    container: &'a Container,
    gpus: Count,
}

impl Job<'_> {
    fn subject(&self) -> Subject {
        Subject::Named(self.pod.name_of(self.container))
    }

    /// Where it asks for GPUs.
    fn place(&self) -> Place {
        self.pod.at(self.container.gpu_request().map_or(self.container.line, |(n, _)| n.line))
    }

    /// Whether it is a service of a compose file.
    fn is_service(&self) -> bool {
        self.pod.pod.form == Form::Compose
    }

    /// Why what the text does not say is not absent; `None`: it is.
    fn unseen(&self) -> Option<(Place, &'static str)> {
        match (self.pod.pod.form, self.pod.pod.extends) {
            (Form::Described, _) => Some((self.place(), DESCRIBED)),
            (_, Some(line)) => Some((self.pod.at(line), EXTENDS)),
            _ => None,
        }
    }

    /// What to change in a pod, else in a service, and in which part of each.
    fn remedy(&self, pod: [&'static str; 2], service: [&'static str; 2]) -> Remedy {
        let ([what, part], proof) =
            if self.is_service() { (service, "docker compose config") } else { (pod, "kubectl get pod NAME -o yaml") };
        Remedy::investigate(what, part).prove(proof)
    }

    /// The host's directory that a volume is.
    fn host_path(&self, volume: &str) -> Option<&At<String>> {
        self.pod.pod.host_volumes.iter().find(|(name, _)| name == volume).map(|(_, path)| path)
    }

    /// A directory of the host that is mounted, by the host's path.
    fn host_mount(&self, is_it: impl Fn(&str) -> bool) -> Option<&At<String>> {
        let is_mounted = |name: &str| self.container.mounts.iter().any(|(volume, _)| volume == name);
        let mut those = self.pod.pod.host_volumes.iter().filter(|(_, path)| is_it(&path.value));
        those.find(|(name, _)| is_mounted(name)).map(|(_, path)| path)
    }

    /// Whether it may use whatever the host has; `None`: a variable or a template decides.
    fn is_privileged(&self) -> Switch {
        self.container.privileged.map_or(Some(false), |p| p.value)
    }
}

/// Containers that ask for GPUs; an answer where there is none.
fn jobs<'a>(cx: &Cx<'a>, out: &mut Findings) -> Vec<Job<'a>> {
    let pods = &cx.node.pods;
    let each = |pod: &'a PodAt| {
        let with_gpus = pod.pod.containers.iter().filter_map(move |c| Some((c, c.gpus()?)));
        with_gpus.map(move |(container, gpus)| Job { pod, container, gpus })
    };
    let jobs: Vec<Job<'a>> = pods.iter().flat_map(each).filter(|j| j.gpus != Count::Number(0)).collect();
    match (pods.first(), jobs.is_empty()) {
        (None, _) => _ = out.not_applicable("no pod and no compose file in this source"),
        (Some(pod), true) => {
            out.not_applicable("no container of a pod or compose file in this source asks for GPUs of NVIDIA")
                .at(pod.at(pod.pod.line));
        }
        _ => {}
    }
    jobs
}
