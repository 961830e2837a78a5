//! `kubectl describe pod`, and what makes pods, described: an outline by indentation. It shows no `hostNetwork`, no `hostIPC` and no `securityContext`.

use super::{Container, Form, Pod, add, limit, networks, resources, size};
use crate::bounds::{Kept, LeftOut, Limit, TEXT_ITEMS, leave_out};
use crate::text::{At, lines};
use crate::yaml::Tree;

/// Whether a text shows an object with containers so.
#[must_use]
pub fn is_own(text: &str) -> bool {
    let has = |wanted: fn(&str) -> bool| text.lines().any(wanted);
    has(|l| l.starts_with("Name: ")) && has(|l| l.trim() == "Containers:") && !has(|l| l.starts_with("kind:"))
}

/// The pods of a text.
pub(super) fn read(text: &str) -> Kept<Pod> {
    let mut kept = Kept::default();
    let objects = outline(text, &mut kept.left_out);
    // A Deployment has its template one level below.
    let parts = objects.iter().flat_map(|o| std::iter::once((true, o)).chain(o.children.iter().map(|c| (false, c))));
    // What stands above the first name is nobody's.
    let mut pod: Option<Pod> = None;
    let mut annotations = None;
    for (is_top, part) in parts {
        if is_top && part.key == "Name" {
            pod.replace(named(part)).into_iter().for_each(|p| end(p, &mut kept));
            annotations = None;
        }
        let Some(pod) = &mut pod else { continue };
        match part.key.as_str() {
            "Annotations" => annotations = Some(part),
            "Containers" => {
                let networks = |key, field| annotations.map(|a| annotated(a, key, field)).unwrap_or_default();
                pod.line = part.line;
                pod.containers = part.children.iter().map(container).collect();
                pod.networks = networks("k8s.v1.cni.cncf.io/networks", "name");
                pod.gke_networks = networks("networking.gke.io/interfaces", "network");
            }
            "Init Containers" => pod.preparing = part.children.iter().map(container).collect(),
            "Volumes" => volumes(part, pod),
            _ => {}
        }
    }
    pod.into_iter().for_each(|p| end(p, &mut kept));
    kept
}

fn named(name: &Tree) -> Pod {
    Pod { line: name.line, name: Some(name.value.clone()), form: Form::Described, ..Pod::default() }
}

/// An object without containers is no pod.
fn end(pod: Pod, kept: &mut Kept<Pod>) {
    if !pod.containers.is_empty() {
        add(kept, pod);
    }
}

/// Lines with what is indented below them.
fn outline(text: &str, left_out: &mut Vec<LeftOut>) -> Vec<Tree> {
    let mut out: Vec<Tree> = Vec::new();
    // Those that are open, with their indentation.
    let mut open: Vec<(usize, Tree)> = Vec::new();
    let close = |open: &mut Vec<(usize, Tree)>, out: &mut Vec<Tree>| {
        let Some((_, done)) = open.pop() else { return };
        match open.last_mut() {
            Some((_, above)) => above.children.push(done),
            None => out.push(done),
        }
    };
    let mut taken = 0;
    for (line, raw) in lines(text).filter(|(_, l)| !l.trim().is_empty()) {
        let body = raw.trim();
        taken += 1;
        if taken > TEXT_ITEMS {
            leave_out(left_out, Limit::TEXT_ITEMS, line);
            continue;
        }
        let indent = raw.len() - raw.trim_start().len();
        while open.last().is_some_and(|(above, _)| *above >= indent) || open.len() >= DEPTH {
            close(&mut open, &mut out);
        }
        let ends =
            |at: &usize| body.get(*at + 1..).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']));
        let colon = memchr::memchr_iter(b':', body.as_bytes()).find(ends);
        let (key, value) = colon.and_then(|at| body.split_at_checked(at)).unwrap_or((body, ""));
        let value = value.strip_prefix(':').unwrap_or(value).trim();
        open.push((indent, Tree { key: key.to_owned(), value: value.to_owned(), line, children: Vec::new() }));
    }
    while !open.is_empty() {
        close(&mut open, &mut out);
    }
    out
}

/// Deeper than `kubectl describe` indents.
const DEPTH: usize = 12;

/// The networks of an annotation: the first stands behind the word, the others below it.
fn annotated(annotations: &Tree, key: &str, field: &str) -> Vec<At<String>> {
    let first = annotations.value.split_once(": ").filter(|(k, _)| *k == key);
    let first = first.map(|(_, v)| Tree { value: v.trim().to_owned(), line: annotations.line, ..Tree::default() });
    let below = annotations.child(key).cloned();
    first.or(below).map(|n| networks(&n, field)).unwrap_or_default()
}

fn container(c: &Tree) -> Container {
    // `/dev/shm from dshm (rw)`.
    let mount = |m: &Tree| {
        let (path, rest) = m.key.split_once(" from ")?;
        Some((rest.split_whitespace().next()?.to_owned(), At::new(path.to_owned(), m.line)))
    };
    Container {
        line: c.line,
        name: Some(c.key.clone()),
        resources: resources(["Limits", "Requests"].into_iter().filter_map(|of| c.child(of))),
        mounts: c.child("Mounts").map(|m| m.children.iter().filter_map(mount).collect()).unwrap_or_default(),
        ..Container::default()
    }
}

fn volumes(all: &Tree, pod: &mut Pod) {
    for v in &all.children {
        let kind = v.child("Type").map(|t| t.value.as_str()).unwrap_or_default();
        if kind.starts_with("EmptyDir") && v.child("Medium").is_some_and(|m| m.value == "Memory") {
            let limit = limit(v, "SizeLimit", size::quantity).filter(|l| l.value.text != "<unset>");
            pod.memory_volumes.push((v.key.clone(), limit));
        } else if kind.starts_with("HostPath")
            && let Some(path) = v.text("Path")
        {
            pod.host_volumes.push((v.key.clone(), path));
        } else if kind.starts_with("ResourceClaim") {
            pod.claims.push(At::new(v.key.clone(), v.line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Count, Size};
    use super::*;

    /// Of `kubectl describe pod` 1.30, shortened.
    const POD: &str = "\
Name:             nccl-test
Namespace:        default
Node:             gpu7/10.0.0.7
Labels:           app=nccl
Annotations:      a.example/b: c
                  k8s.v1.cni.cncf.io/networks: rail-0,rail-1
Status:           Running
Init Containers:
  setup:
    Image:         x
Containers:
  worker:
    Container ID:  containerd://0123
    Image:         x:1
    Port:          <none>
    Command:
      sh
      -c
    State:          Running
      Started:      Mon, 01 Jan 2026 00:00:00 +0000
    Limits:
      nvidia.com/gpu:  8
      rdma/hca:        1
    Requests:
      cpu:             4
      nvidia.com/gpu:  8
      rdma/hca:        1
    Environment:
      NCCL_DEBUG:  INFO
    Mounts:
      /dev/shm from dshm (rw)
      /var/run/secrets/kubernetes.io/serviceaccount from kube-api-access-abcde (ro)
Conditions:
  Type              Status
  Ready             True
Volumes:
  dshm:
    Type:       EmptyDir (a temporary directory that shares a pod's lifetime)
    Medium:     Memory
    SizeLimit:  32Gi
  devinf:
    Type:          HostPath (bare host directory volume)
    Path:          /dev/infiniband
    HostPathType:
QoS Class:       Burstable
Events:          <none>
";

    #[test]
    fn a_pod() {
        assert!(is_own(POD));
        let all = read(POD).items;
        let [pod] = all.as_slice() else { panic!("{all:?}") };
        let [c] = pod.containers.as_slice() else { panic!("{pod:?}") };
        assert_eq!((pod.name.as_deref(), pod.form, pod.line, c.line), (Some("nccl-test"), Form::Described, 11, 12));
        assert_eq!(
            (c.name.as_deref(), c.gpus(), c.rdma().map(|(n, _)| n.line).next()),
            (Some("worker"), Some(Count::Number(8)), Some(23))
        );
        assert_eq!(c.mounts.first(), Some(&("dshm".to_owned(), At::new("/dev/shm".to_owned(), 31))));
        assert_eq!(
            pod.memory_volumes,
            [("dshm".to_owned(), Some(At::new(Size { text: "32Gi".to_owned(), bytes: Some(32 << 30) }, 40)))]
        );
        assert_eq!(pod.host_volumes, [("devinf".to_owned(), At::new("/dev/infiniband".to_owned(), 43))]);
        assert_eq!(
            pod.networks.iter().map(|n| (n.value.as_str(), n.line)).collect::<Vec<_>>(),
            [("rail-0", 6), ("rail-1", 6)]
        );
        assert_eq!(pod.preparing.len(), 1);
        assert_eq!(read(&format!("{POD}\n\n{POD}")).items.len(), 2);
    }

    #[test]
    fn a_deployment_has_its_pod_one_level_below() {
        let text = "Name:                   d\nReplicas:               1 desired\nPod Template:\n  Labels:  app=d\n  Containers:\n   c:\n    Image:      x\n    Limits:\n      nvidia.com/gpu:  1\n  Volumes:\n   s:\n    Type:       EmptyDir (a temporary directory)\n    Medium:     Memory\n    SizeLimit:  <unset>\n";
        let all = read(text).items;
        let [pod] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((pod.name.as_deref(), pod.containers[0].gpus()), (Some("d"), Some(Count::Number(1))));
        assert_eq!(pod.memory_volumes, [("s".to_owned(), None)]);
    }

    #[test]
    fn odd_texts() {
        for odd in
            ["Name: \nContainers:", "Containers:\n a:\n", "Name: x\n  Containers:\n Containers:\n\tb", ":\n :\n  :"]
        {
            assert!(read(odd).items.iter().all(|p| p.form == Form::Described), "{odd}");
        }
        let deep: String = (0..500).map(|n| format!("{}k:\n", " ".repeat(n))).collect();
        assert!(read(&format!("Name: x\n{deep}")).items.is_empty());
    }
}
