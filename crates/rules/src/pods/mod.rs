//! Pods before they run: what they ask for, held to what RDMA and NCCL need.

mod memlock;
mod rdma_device;
mod shm;

use crate::rule::{Rule, Source};
use crate::{Cx, Findings, Subject};
use linerate_formats::pod_spec::Container;
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

const READS: &[&str] = &["kubectl get pod -o yaml"];

/// A container that asks for GPUs.
struct Job<'a> {
    pod: &'a PodAt,
    container: &'a Container,
    /// GPUs; `None`: the number is not written.
    gpus: Option<u64>,
}

impl Job<'_> {
    fn subject(&self) -> Subject {
        Subject::Named(self.pod.name_of(self.container))
    }

    /// Where it asks for GPUs.
    fn place(&self) -> Place {
        let line = self.container.resources.iter().find(|(n, _)| n.value == "nvidia.com/gpu").map(|(n, _)| n.line);
        self.pod.at(line.unwrap_or(self.container.line))
    }

    /// The host's directory that a volume is.
    fn host_path(&self, volume: &str) -> Option<&At<String>> {
        self.pod.pod.host_volumes.iter().find(|(name, _)| name == volume).map(|(_, path)| path)
    }

    /// A directory of the host that is mounted, by the host's path.
    fn host_mount(&self, is_it: impl Fn(&str) -> bool) -> Option<&At<String>> {
        self.container.mounts.iter().filter_map(|(volume, _)| self.host_path(volume)).find(|path| is_it(&path.value))
    }

    /// Whether it may use whatever the host has.
    fn is_privileged(&self) -> bool {
        self.container.privileged.as_ref().is_some_and(|p| p.value)
    }
}

/// Containers that ask for GPUs; an answer where there is none.
fn jobs<'a>(cx: &Cx<'a>, out: &mut Findings) -> Vec<Job<'a>> {
    let pods = &cx.node.pods;
    let each = |pod: &'a PodAt| {
        let with_gpus = pod.pod.containers.iter().filter_map(move |c| Some((c, c.gpus()?)));
        with_gpus.map(move |(container, gpus)| Job { pod, container, gpus })
    };
    let jobs: Vec<Job<'a>> = pods.iter().flat_map(each).filter(|j| j.gpus != Some(0)).collect();
    match (pods.first(), jobs.is_empty()) {
        (None, _) => _ = out.not_applicable("no pod in this source"),
        (Some(pod), true) => {
            out.not_applicable("no container of a pod in this source asks for GPUs of NVIDIA").at(pod.at(pod.pod.line));
        }
        _ => {}
    }
    jobs
}
