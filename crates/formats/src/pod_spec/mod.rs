//! Pods of Kubernetes, and what makes them (Deployments, Jobs, MPIJobs, PyTorchJobs …), as YAML, as JSON, and as `kubectl describe` shows them: what their
//! containers ask for. What is in braces of a template is a value that is not known.

mod described;

pub use described::is_own as is_described;

use crate::bounds::{Kept, Limit, leave_out};
use crate::text::{At, decode};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use crate::yaml::{ITEM, Tree, documents};
use serde::Serialize;

/// A pod, or what makes pods.
pub const TOOL: Tool = Tool {
    name: "pod-spec",
    called: "pod (Kubernetes)",
    run: "kubectl get pod NAME -o yaml",
    gives: Gives::Facts,
    marks: &[
        Mark::line_with(is_kind, "containers:").holds(&["kind:"]),
        Mark::json(is_json),
        Mark::line_where(|l| l.starts_with("Name: "), described::is_own).begins(&["Name: "]),
    ],
    commands: &[
        Command::with("kubectl", &["get", "pod", "yaml"]),
        Command::with("kubectl", &["get", "pods", "yaml"]),
        Command::with("oc", &["get", "pod", "yaml"]),
        Command::with("oc", &["get", "pods", "yaml"]),
        Command::with("kubectl", &["get", "pod", "json"]),
        Command::with("kubectl", &["get", "pods", "json"]),
        Command::with("oc", &["get", "pod", "json"]),
        Command::with("oc", &["get", "pods", "json"]),
        Command::with("kubectl", &["describe", "pod"]),
        Command::with("kubectl", &["describe", "pods"]),
        Command::with("oc", &["describe", "pod"]),
    ],
    read: Some(|b| seen(read(b))),
    samples: &[
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: nccl\nspec:\n  containers:\n  - name: test\n    resources:\n      limits:\n        nvidia.com/gpu: 8\n        rdma/hca: 1\n",
    ],
    ..Tool::NONE
};

/// Kinds that hold a pod, beside those whose names end with `Job` (MPIJob, PyTorchJob, HyperPodPyTorchJob …).
const KINDS: [&str; 12] = [
    "Pod",
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "ReplicaSet",
    "JobSet",
    "LeaderWorkerSet",
    "RayCluster",
    "RayService",
    "PodTemplate",
    "TrainingRuntime",
    "ClusterTrainingRuntime",
];

fn is_kind(line: &str) -> bool {
    let kind = line.trim_start().trim_start_matches("- ").strip_prefix("kind:");
    let kind = kind.and_then(|k| k.split_whitespace().next()).map(|k| k.trim_matches(['"', '\'']));
    kind.is_some_and(|k| k.ends_with("Job") || KINDS.contains(&k))
}

/// The kinds of a document of JSON.
fn is_json(text: &str) -> bool {
    let mut kinds = text.split("\"kind\"").skip(1).filter_map(|t| t.split('"').nth(1));
    text.contains("\"containers\"") && kinds.any(|k| k.ends_with("Job") || KINDS.contains(&k))
}

/// What a pod asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Pod {
    /// 1-based line of its list of containers.
    pub line: u32,
    /// Name of the object that it is in.
    pub name: Option<String>,
    /// `kubectl describe` shows it: neither `hostNetwork`, `hostIPC` nor what containers may do is in the text.
    pub described: bool,
    /// `hostNetwork`.
    pub host_network: Option<At<bool>>,
    /// `hostIPC`.
    pub host_ipc: Option<At<bool>>,
    /// Networks that are attached beside the cluster's own (`k8s.v1.cni.cncf.io/networks`).
    pub networks: Vec<At<String>>,
    /// Networks of GKE that are attached (`networking.gke.io/interfaces`).
    pub gke_networks: Vec<At<String>>,
    /// Devices that are claimed (`resourceClaims`, Dynamic Resource Allocation), by the names of the claims.
    pub claims: Vec<At<String>>,
    /// Volumes that are memory, with their size limits as written.
    pub memory_volumes: Vec<(String, Option<At<String>>)>,
    /// Volumes that are the host's directories: name, path.
    pub host_volumes: Vec<(String, At<String>)>,
    /// Containers, without those that only prepare.
    pub containers: Vec<Container>,
    /// Containers that start before (`initContainers`), of which some go on beside the others.
    pub preparing: Vec<Container>,
}

/// A container.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Container {
    /// 1-based line.
    pub line: u32,
    /// Its name.
    pub name: Option<String>,
    /// Resources that it is limited to, else asks for: name, and how many; `None`: the value is no number.
    pub resources: Vec<(At<String>, Option<u64>)>,
    /// Capabilities that are added.
    pub capabilities: Vec<At<String>>,
    /// `privileged`.
    pub privileged: Option<At<bool>>,
    /// Volumes and where they are mounted.
    pub mounts: Vec<(String, At<String>)>,
}

impl Container {
    /// GPUs of NVIDIA that it asks for. `Some(None)`: it asks for a number that is not written.
    #[must_use]
    pub fn gpus(&self) -> Option<Option<u64>> {
        self.resources.iter().find(|(n, _)| n.value == "nvidia.com/gpu").map(|(_, count)| *count)
    }

    /// Resources that are RDMA devices, by how device plugins name them.
    pub fn rdma(&self) -> impl Iterator<Item = &(At<String>, Option<u64>)> {
        self.resources.iter().filter(|(n, _)| is_rdma(&n.value))
    }
}

/// Whether a resource is an RDMA device: the shared device plugin's (`rdma/…`), SR-IOV's (`openshift.io/…`, `nvidia.com/…`, `mellanox.com/…`,
/// `intel.com/…`), AWS' (`vpc.amazonaws.com/efa`).
#[must_use]
pub fn is_rdma(resource: &str) -> bool {
    let Some((domain, name)) = resource.split_once('/') else { return false };
    let name = name.to_ascii_lowercase();
    let says =
        ["rdma", "roce", "hca", "mlnx", "mlx", "sriov", "infiniband", "ibp", "hostdev", "nic", "efa", "resource_"];
    match domain {
        "rdma" => true,
        "vpc.amazonaws.com" => name == "efa",
        "nvidia.com" => says.iter().any(|w| name.contains(w)) && !name.starts_with("gpu") && !name.starts_with("mig"),
        "openshift.io" | "mellanox.com" | "intel.com" | "networking.gke.io" => says.iter().any(|w| name.contains(w)),
        _ => says.iter().take(4).any(|w| name.contains(w)),
    }
}

/// Reads the pods of one or several documents.
#[must_use]
pub fn read(bytes: &[u8]) -> Kept<Pod> {
    let (text, mut kept) = (decode(bytes), Kept::default());
    if described::is_own(&text) {
        return described::read(&text);
    }
    for document in documents(&text, &mut kept.left_out) {
        pods(&document, &mut kept);
    }
    kept
}

/// All pods of a document. A pod has the name of the nearest object that it is in.
fn pods(root: &Tree, kept: &mut Kept<Pod>) {
    let mut todo: Vec<(&Tree, &Tree, Option<&Tree>)> = vec![(root, root, None)];
    while let Some((node, above, name)) = todo.pop() {
        let name = node.at(&["metadata", "name"]).or(name);
        if let Some(list) = node.child("containers") {
            add(kept, pod(node, list, above, name.map(|n| n.value.clone())));
        }
        todo.extend(node.children.iter().rev().map(|c| (c, node, name)));
    }
    kept.items.sort_by_key(|p| p.line);
}

fn add(kept: &mut Kept<Pod>, pod: Pod) {
    if kept.items.len() >= crate::bounds::GPUS {
        leave_out(&mut kept.left_out, Limit::GPUS, pod.line);
    } else {
        kept.items.push(pod);
    }
}

/// `of`: what holds the specification, with its annotations.
fn pod(spec: &Tree, list: &Tree, of: &Tree, name: Option<String>) -> Pod {
    let annotated = |key: &str, field: &str| {
        let of = of.at(&["metadata", "annotations", key]);
        of.map(|n| networks(n, field)).unwrap_or_default()
    };
    let memory = |v: &Tree| {
        let dir = v.child("emptyDir")?;
        let is_memory = dir.child("medium").is_some_and(|m| m.value == "Memory");
        is_memory.then(|| Some((v.text("name")?.value, dir.text("sizeLimit"))))?
    };
    let of_host = |v: &Tree| Some((v.text("name")?.value, v.child("hostPath")?.text("path")?));
    Pod {
        line: list.line,
        name,
        described: false,
        host_network: spec.flag("hostNetwork"),
        host_ipc: spec.flag("hostIPC"),
        networks: annotated("k8s.v1.cni.cncf.io/networks", "name"),
        gke_networks: annotated("networking.gke.io/interfaces", "network"),
        claims: spec.list("resourceClaims").filter_map(|c| c.text("name")).collect(),
        memory_volumes: spec.list("volumes").filter_map(memory).collect(),
        host_volumes: spec.list("volumes").filter_map(of_host).collect(),
        containers: list.children.iter().filter(|c| c.key == ITEM).map(container).collect(),
        preparing: spec.list("initContainers").map(container).collect(),
    }
}

/// Names of networks, with commas between them, or as `field` of objects in JSON.
fn networks(n: &Tree, field: &str) -> Vec<At<String>> {
    let quoted = format!("\"{field}\"");
    let names: Vec<&str> = if n.value.trim_start().starts_with('[') {
        n.value.split(&quoted).skip(1).filter_map(|p| p.split('"').nth(1)).collect()
    } else {
        n.value.split(',').map(str::trim).collect()
    };
    names.into_iter().filter(|n| !n.is_empty()).map(|w| At::new(w.to_owned(), n.line)).collect()
}

/// Of limits and requests, the first of each name.
fn resources<'a>(of: impl Iterator<Item = &'a Tree>) -> Vec<(At<String>, Option<u64>)> {
    let mut out: Vec<(At<String>, Option<u64>)> = Vec::new();
    for (name, count) in of.flat_map(Tree::pairs) {
        if !out.iter().any(|(n, _)| n.value == name.value) {
            out.push((name, count.parse().ok()));
        }
    }
    out
}

fn container(c: &Tree) -> Container {
    let security = c.child("securityContext");
    Container {
        line: c.line,
        name: c.text("name").map(|n| n.value),
        resources: resources(["limits", "requests"].into_iter().filter_map(|of| c.at(&["resources", of]))),
        capabilities: security.and_then(|s| s.at(&["capabilities", "add"])).map(Tree::items).unwrap_or_default(),
        privileged: security.and_then(|s| s.flag("privileged")),
        mounts: c.list("volumeMounts").filter_map(|m| Some((m.text("name")?.value, m.text("mountPath")?))).collect(),
    }
}

#[cfg(test)]
mod tests;
