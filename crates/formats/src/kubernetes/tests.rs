use super::*;
use proptest::prelude::*;

/// A node as kubectl prints one: capacities in several units, MIG, shared RDMA devices, SR-IOV, taints of one key.
const NODE: &str = r#"{
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {
        "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": "{\"apiVersion\":\"v1\",\"kind\":\"Node\"}\n",
            "node.alpha.kubernetes.io/ttl": "0"
        },
        "labels": {
            "kubernetes.io/hostname": "gpu7",
            "example.com/iommu": "pt",
            "node-role.kubernetes.io/worker": "",
            "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"
        },
        "name": "gpu7.example.org",
        "uid": "8d1f6a3e-0000-4000-8000-1234567890ab"
    },
    "spec": {
        "podCIDR": "10.244.7.0/24",
        "taints": [
            {"effect": "NoSchedule", "key": "node.kubernetes.io/unschedulable", "timeAdded": "2026-11-20T10:00:00Z"},
            {"effect": "NoSchedule", "key": "nvidia.com/gpu", "value": "present"},
            {"effect": "NoExecute", "key": "nvidia.com/gpu", "value": "present"}
        ],
        "unschedulable": true
    },
    "status": {
        "allocatable": {
            "cpu": "223500m",
            "memory": "2113411308Ki",
            "nvidia.com/gpu": "7",
            "nvidia.com/mig-1g.10gb": "0",
            "openshift.io/mlnxnics": "8",
            "rdma/hca_shared_devices_a": "63"
        },
        "capacity": {
            "cpu": "224",
            "memory": "2113513708Ki",
            "nvidia.com/gpu": "8",
            "pods": "110"
        },
        "conditions": [
            {"lastHeartbeatTime": "2026-11-20T10:00:00Z", "message": "kubelet stopped", "reason": "NodeStatusUnknown", "status": "Unknown", "type": "Ready"},
            {"reason": "KubeletHasSufficientMemory", "status": "False", "type": "MemoryPressure"}
        ],
        "nodeInfo": {
            "machineID": "0123456789ABCDEF0123456789abcdef",
            "systemUUID": "27946B59-9E44-4FA7-8E91-F3527A1EF094"
        }
    }
}
"#;

fn one(text: &str) -> Node {
    read(text.as_bytes()).unwrap().items.remove(0)
}

#[test]
fn an_object_is_what_it_claims() {
    let n = one(NODE);
    assert_eq!((n.name.as_str(), n.line, n.unschedulable), ("gpu7.example.org", 15, true));
    assert_eq!(n.machine_id.as_deref(), Some("0123456789abcdef0123456789abcdef"));
    assert_eq!(n.system_uuid.as_deref(), Some("27946b59-9e44-4fa7-8e91-f3527a1ef094"));
    let labels: Vec<_> = n.labels.iter().map(|l| (l.name.as_str(), l.value.as_str(), l.line)).collect();
    assert_eq!(labels[0], ("example.com/iommu", "pt", 11));
    assert_eq!(labels[2], ("node-role.kubernetes.io/worker", "", 12));
    let annotations: Vec<_> = n.annotations.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(annotations, ["node.alpha.kubernetes.io/ttl"], "documents are left out");
    let taints: Vec<_> = n.taints.iter().map(|t| (t.name.as_str(), t.effect.as_str())).collect();
    assert_eq!(
        taints,
        [("node.kubernetes.io/unschedulable", "NoSchedule"), ("nvidia.com/gpu", "NoSchedule,NoExecute")]
    );
    let resources = n.resources.unwrap();
    let of = |name: &str| {
        let r = resources.iter().find(|r| r.name == name).unwrap();
        (r.capacity.clone(), r.allocatable.clone(), r.line)
    };
    assert_eq!(of("nvidia.com/gpu"), (Some("8".into()), Some("7".into()), 31));
    assert_eq!(of("nvidia.com/mig-1g.10gb"), (None, Some("0".into()), 32));
    assert_eq!(of("pods"), (Some("110".into()), None, 40));
    let conditions: Vec<_> = n.conditions.iter().map(|c| (c.name.as_str(), c.status.as_str())).collect();
    assert_eq!(conditions, [("MemoryPressure", "False"), ("Ready", "Unknown")]);
}

#[test]
fn lists_of_every_form() {
    for (text, names) in [
        (
            r#"{"apiVersion":"v1","items":[{"kind":"Node","metadata":{"name":"a"}},{"kind":"Node","metadata":{"name":"b"}}],"kind":"List"}"#,
            &["a", "b"][..],
        ),
        (r#"{"kind":"NodeList","items":[{"metadata":{"name":"a","labels":null}}]}"#, &["a"]),
        (
            r#"{"kind":"List","items":[{"kind":"Pod","metadata":{"name":"p"}},{"kind":"Node","metadata":{"name":"a"}}]}"#,
            &["a"],
        ),
        (r#"{"kind":"Node","metadata":{"name":"a"},"status":{"capacity":{"pods":110}}}"#, &["a"]),
    ] {
        let found = read(text.as_bytes()).unwrap();
        assert_eq!(found.items.iter().map(|n| n.name.as_str()).collect::<Vec<_>>(), names, "{text}");
    }
    for bad in ["", "{}", "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"}}", "[1]", "{\"kind\":\"Node\",", "null"] {
        assert!(read(bad.as_bytes()).is_err(), "{bad}");
    }
}

#[test]
fn what_names_nodes_and_is_none_is_not_recognised() {
    for text in [
        r#"{"apiVersion":"v1","kind":"Pod","metadata":{"ownerReferences":[{"kind":"Node","name":"a"}]}}"#,
        r#"{"apiVersion":"v1","items":[{"kind":"Event","metadata":{},"involvedObject":{"kind":"Node"}}],"kind":"List"}"#,
    ] {
        assert_ne!(crate::sniff::sniff("x.json", text.as_bytes()), crate::Kind::KubernetesNodes, "{text}");
    }
    assert_eq!(crate::sniff::sniff("x", NODE.as_bytes()), crate::Kind::KubernetesNodes);
}

/// A node without what depends on its text.
fn bare(mut n: Node) -> Node {
    n.line = 0;
    (n.machine_id, n.system_uuid) = (None, None);
    n.labels.iter_mut().chain(&mut n.annotations).for_each(|p| p.line = 0);
    n.taints.iter_mut().for_each(|t| t.line = 0);
    n.resources.iter_mut().flatten().for_each(|r| r.line = 0);
    n.conditions.iter_mut().for_each(|c| c.line = 0);
    n
}

#[test]
fn what_is_written_is_read_again() {
    let node = one(NODE);
    let written = node.write();
    assert_eq!(bare(one(&written)), bare(node));
    assert!(!written.contains("27946") && !written.contains("last-applied"));
    assert_eq!(crate::sniff::sniff("stdout", written.as_bytes()), crate::Kind::KubernetesNodes);
}

proptest! {
    #[test]
    fn any_object_is_read_as_it_is_written(
        labels in prop::collection::btree_map("[a-z./\"é]{1,12}", "\\PC{0,12}", 0..6),
        counts in prop::collection::btree_map("[a-z./]{1,12}", 0_u32..100, 0..4),
        cordoned: bool,
    ) {
        let node = Node {
            name: "n".to_owned(),
            labels: labels.into_iter().map(|(name, value)| Pair { line: 0, name, value }).collect(),
            resources: Some(counts.into_iter().map(|(name, n)| Resource {
                line: 0, name, capacity: Some(n.to_string()), allocatable: Some(n.to_string()),
            }).collect()),
            unschedulable: cordoned,
            ..Node::default()
        };
        prop_assert_eq!(bare(one(&node.write())), node);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[{}\\[\\]\":,a-z0-9 ]{0,200}") {
        let _ = read(text.as_bytes());
    }
}
