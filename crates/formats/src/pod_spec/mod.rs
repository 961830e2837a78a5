//! Pods of Kubernetes, and what makes them (Deployments, Jobs, MPIJobs, PyTorchJobs …), as YAML, as JSON, and as `kubectl describe` shows them, and services
//! of compose files: what their containers ask for. What is in braces of a template, and a variable, is a value that is not known.

pub mod compose;
mod described;
mod model;
mod size;

pub use described::is_own as is_described;
pub use model::{Container, Count, Form, Pod, Size, Switch, is_rdma};

use crate::bounds::{Kept, Limit, leave_out};
use crate::text::{At, decode, flag};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use crate::yaml::{ITEM, Tree, documents};

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
        is_memory.then(|| Some((v.text("name")?.value, limit(dir, "sizeLimit", size::quantity))))?
    };
    let of_host = |v: &Tree| Some((v.text("name")?.value, v.child("hostPath")?.text("path")?));
    Pod {
        line: list.line,
        name,
        host_network: switch(spec, "hostNetwork"),
        host_ipc: switch(spec, "hostIPC"),
        networks: annotated("k8s.v1.cni.cncf.io/networks", "name"),
        gke_networks: annotated("networking.gke.io/interfaces", "network"),
        claims: spec.list("resourceClaims").filter_map(|c| c.text("name")).collect(),
        memory_volumes: spec.list("volumes").filter_map(memory).collect(),
        host_volumes: spec.list("volumes").filter_map(of_host).collect(),
        containers: list.children.iter().filter(|c| c.key == ITEM).map(container).collect(),
        preparing: spec.list("initContainers").map(container).collect(),
        ..Pod::default()
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
fn resources<'a>(of: impl Iterator<Item = &'a Tree>) -> Vec<(At<String>, Count)> {
    let mut out: Vec<(At<String>, Count)> = Vec::new();
    for (name, count) in of.flat_map(Tree::pairs) {
        if !out.iter().any(|(n, _)| n.value == name.value) {
            out.push((name, count.parse().map_or(Count::Unwritten, Count::Number)));
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
        capabilities: security.and_then(|s| s.at(&["capabilities", "add"])).map(words).unwrap_or_default(),
        privileged: security.and_then(|s| switch(s, "privileged")),
        mounts: c.list("volumeMounts").filter_map(|m| Some((m.text("name")?.value, m.text("mountPath")?))).collect(),
        ..Container::default()
    }
}

/// What a key says, where it says something.
fn written<'a>(of: &'a Tree, key: &str) -> Option<&'a Tree> {
    of.child(key).filter(|c| !(c.value.is_empty() && c.children.is_empty()))
}

/// A key that is true or false.
fn switch(of: &Tree, key: &str) -> Option<At<Switch>> {
    written(of, key).map(|c| At::new(flag(&c.value, "true", "false"), c.line))
}

/// A key that limits a size.
fn limit(of: &Tree, key: &str, parse: fn(&str) -> Option<u64>) -> Option<At<Size>> {
    written(of, key).map(|c| At::new(Size { text: c.value.clone(), bytes: parse(&c.value) }, c.line))
}

/// Words of a list; `None`: a variable, or what a template puts there.
fn words(list: &Tree) -> Vec<At<Option<String>>> {
    let word = |c: &Tree| {
        let plain = !c.value.is_empty() && !c.value.contains(['$', '{']);
        At::new(plain.then(|| c.value.clone()), c.line)
    };
    // What is no list is one value.
    let items = list.children.iter().filter(|c| c.key == ITEM);
    if list.value.is_empty() { items.map(word).collect() } else { vec![word(list)] }
}

#[cfg(test)]
mod tests;
