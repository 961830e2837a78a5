//! Pods of Kubernetes, and what makes them (Deployments, Jobs, MPIJobs, PyTorchJobs …), as YAML: what their containers ask for. What is in braces of a
//! template is a value that is not known.

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
    marks: &[Mark::LineWith(is_kind, "containers:")],
    commands: &[
        Command::with("kubectl", &["get", "pod", "yaml"]),
        Command::with("kubectl", &["get", "pods", "yaml"]),
        Command::with("oc", &["get", "pod", "yaml"]),
        Command::with("oc", &["get", "pods", "yaml"]),
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

/// What a pod asks for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Pod {
    /// 1-based line of its list of containers.
    pub line: u32,
    /// Name of the object that it is in.
    pub name: Option<String>,
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
    let mut kept = Kept::default();
    for document in documents(&decode(bytes), &mut kept.left_out) {
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
            if kept.items.len() >= crate::bounds::GPUS {
                leave_out(&mut kept.left_out, Limit::GPUS, list.line);
            } else {
                kept.items.push(pod(node, list, above, name.map(|n| n.value.clone())));
            }
        }
        todo.extend(node.children.iter().rev().map(|c| (c, node, name)));
    }
    kept.items.sort_by_key(|p| p.line);
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

fn container(c: &Tree) -> Container {
    let mut resources: Vec<(At<String>, Option<u64>)> = Vec::new();
    for of in ["limits", "requests"] {
        for (name, count) in c.at(&["resources", of]).map(Tree::pairs).unwrap_or_default() {
            if !resources.iter().any(|(n, _)| n.value == name.value) {
                resources.push((name, count.parse().ok()));
            }
        }
    }
    let security = c.child("securityContext");
    Container {
        line: c.line,
        name: c.text("name").map(|n| n.value),
        resources,
        capabilities: security.and_then(|s| s.at(&["capabilities", "add"])).map(Tree::items).unwrap_or_default(),
        privileged: security.and_then(|s| s.flag("privileged")),
        mounts: c.list("volumeMounts").filter_map(|m| Some((m.text("name")?.value, m.text("mountPath")?))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_job_asks_for() {
        let text = "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata:\n  name: nccl-test\nspec:\n  mpiReplicaSpecs:\n    Worker:\n      replicas: 2\n      template:\n        metadata:\n          annotations:\n            k8s.v1.cni.cncf.io/networks: rail-0,rail-1\n        spec:\n          hostNetwork: false\n          containers:\n          - name: worker\n            image: x\n            command:\n            - sh\n            - -c\n            - |\n              containers: no\n              sleep inf\n            securityContext:\n              capabilities:\n                add: [\"IPC_LOCK\", 'NET_RAW']\n            resources:\n              limits: {nvidia.com/gpu: 8, \"openshift.io/rail0_sriov_rdma\": \"1\"}\n              requests:\n                cpu: {{ .Values.cpu }}\n            volumeMounts:\n            - mountPath: /dev/shm\n              name: dshm\n          volumes:\n          - name: dshm\n            emptyDir:\n              medium: Memory\n              sizeLimit: 32Gi\n";
        let all = read(text.as_bytes());
        let [pod] = all.items.as_slice() else { panic!("{all:?}") };
        assert_eq!(
            (pod.line, pod.name.as_deref(), pod.host_network),
            (15, Some("nccl-test"), Some(At::new(false, 14)))
        );
        assert_eq!(pod.networks.iter().map(|n| n.value.as_str()).collect::<Vec<_>>(), ["rail-0", "rail-1"]);
        assert_eq!(pod.memory_volumes, [("dshm".to_owned(), Some(At::new("32Gi".to_owned(), 38)))]);
        let [c] = pod.containers.as_slice() else { panic!("{pod:?}") };
        assert_eq!((c.gpus(), c.rdma().count(), c.name.as_deref()), (Some(Some(8)), 1, Some("worker")));
        assert_eq!(c.capabilities.iter().map(|n| n.value.as_str()).collect::<Vec<_>>(), ["IPC_LOCK", "NET_RAW"]);
        assert_eq!(c.mounts, [("dshm".to_owned(), At::new("/dev/shm".to_owned(), 32))]);
        assert!(c.resources.iter().any(|(n, v)| n.value == "cpu" && v.is_none()));
    }

    #[test]
    fn several_documents_and_odd_ones() {
        let two = "kind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n    - name: x\n---\nkind: Pod\nspec:\n  containers:\n    - resources:\n        limits:\n          nvidia.com/gpu: \"{{ .Values.gpus }}\"\n          rdma/hca_shared_devices_a: 1 # shared\n";
        let all = read(two.as_bytes()).items;
        let gpus: Vec<_> =
            all.iter().map(|p| (p.name.as_deref(), p.containers[0].gpus(), p.containers[0].rdma().count())).collect();
        assert_eq!(gpus, [(Some("a"), None, 0), (None, Some(None), 1)]);
        for odd in [
            "",
            "- - - - -",
            "containers:",
            "containers:\n- \n- x",
            "a: |\n  b",
            "kind: Pod\ncontainers:\n  - name: 'x",
        ] {
            let _ = read(odd.as_bytes());
        }
        let deep = (0..500).map(|n| format!("{}k:\n", " ".repeat(n))).collect::<String>();
        assert!(read(deep.as_bytes()).items.is_empty());
    }

    #[test]
    fn flows_claims_networks_of_gke_and_lists() {
        let text = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n    annotations:\n      networking.gke.io/interfaces: |\n        [ {\"interfaceName\":\"eth0\",\"network\":\"default\"},\n          {\"interfaceName\":\"eth2\",\"network\":\"rdma-0\"} ]\n  spec:\n    resourceClaims:\n    - name: nic\n      resourceClaimTemplateName: t\n    volumes:\n    - { name: devinf, hostPath: { path: /dev/infiniband }}\n    - { name: shm, emptyDir: { medium: Memory, sizeLimit: 32Gi }}\n    containers:\n    - name: x\n      volumeMounts:\n      - { mountPath: /dev/infiniband, name: devinf }\n      - { mountPath: /dev/shm, name: shm }\n      resources:\n        limits:\n          nvidia.com/gpu: 1 # one each\n";
        assert!(text.lines().any(is_kind));
        let all = read(text.as_bytes()).items;
        let [pod] = all.as_slice() else { panic!("{all:?}") };
        let words = |w: &[At<String>]| w.iter().map(|w| w.value.clone()).collect::<Vec<_>>();
        assert_eq!(
            (pod.name.as_deref(), words(&pod.gke_networks), words(&pod.claims)),
            (Some("a"), vec!["default".to_owned(), "rdma-0".to_owned()], vec!["nic".to_owned()])
        );
        assert_eq!(pod.memory_volumes, [("shm".to_owned(), Some(At::new("32Gi".to_owned(), 18)))]);
        assert_eq!(pod.host_volumes, [("devinf".to_owned(), At::new("/dev/infiniband".to_owned(), 17))]);
        let c = &pod.containers[0];
        assert_eq!((c.gpus(), c.mounts.len()), (Some(Some(1)), 2));
    }

    #[test]
    fn names_of_rdma_resources() {
        for yes in [
            "rdma/hca",
            "nvidia.com/rdma_shared",
            "nvidia.com/hostdev",
            "openshift.io/mlnxnics",
            "vpc.amazonaws.com/efa",
            "nvidia.com/resibp3s0_sriov",
        ] {
            assert!(is_rdma(yes), "{yes}");
        }
        for no in ["nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "cpu", "memory", "hugepages-2Mi", "amd.com/gpu"] {
            assert!(!is_rdma(no), "{no}");
        }
    }
}
