use super::*;

fn gib32() -> Size {
    Size { text: "32Gi".to_owned(), bytes: Some(32 << 30) }
}

#[test]
fn what_a_job_asks_for() {
    let text = "apiVersion: kubeflow.org/v2beta1\nkind: MPIJob\nmetadata:\n  name: nccl-test\nspec:\n  mpiReplicaSpecs:\n    Worker:\n      replicas: 2\n      template:\n        metadata:\n          annotations:\n            k8s.v1.cni.cncf.io/networks: rail-0,rail-1\n        spec:\n          hostNetwork: false\n          containers:\n          - name: worker\n            image: x\n            command:\n            - sh\n            - -c\n            - |\n              containers: no\n              sleep inf\n            securityContext:\n              capabilities:\n                add: [\"IPC_LOCK\", 'NET_RAW']\n            resources:\n              limits: {nvidia.com/gpu: 8, \"openshift.io/rail0_sriov_rdma\": \"1\"}\n              requests:\n                cpu: {{ .Values.cpu }}\n            volumeMounts:\n            - mountPath: /dev/shm\n              name: dshm\n          volumes:\n          - name: dshm\n            emptyDir:\n              medium: Memory\n              sizeLimit: 32Gi\n";
    let all = read(text.as_bytes());
    let [pod] = all.items.as_slice() else { panic!("{all:?}") };
    assert_eq!(
        (pod.line, pod.name.as_deref(), pod.host_network),
        (15, Some("nccl-test"), Some(At::new(Some(false), 14)))
    );
    assert_eq!(pod.networks.iter().map(|n| n.value.as_str()).collect::<Vec<_>>(), ["rail-0", "rail-1"]);
    assert_eq!(pod.memory_volumes, [("dshm".to_owned(), Some(At::new(gib32(), 38)))]);
    let [c] = pod.containers.as_slice() else { panic!("{pod:?}") };
    assert_eq!((c.gpus(), c.rdma().count(), c.name.as_deref()), (Some(Count::Number(8)), 1, Some("worker")));
    assert_eq!(c.capabilities.iter().filter_map(|n| n.value.as_deref()).collect::<Vec<_>>(), ["IPC_LOCK", "NET_RAW"]);
    assert_eq!(c.mounts, [("dshm".to_owned(), At::new("/dev/shm".to_owned(), 32))]);
    assert!(c.resources.iter().any(|(n, v)| n.value == "cpu" && *v == Count::Unwritten));
}

#[test]
fn several_documents_and_odd_ones() {
    let two = "kind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n    - name: x\n---\nkind: Pod\nspec:\n  containers:\n    - resources:\n        limits:\n          nvidia.com/gpu: \"{{ .Values.gpus }}\"\n          rdma/hca_shared_devices_a: 1 # shared\n";
    let all = read(two.as_bytes()).items;
    let gpus: Vec<_> =
        all.iter().map(|p| (p.name.as_deref(), p.containers[0].gpus(), p.containers[0].rdma().count())).collect();
    assert_eq!(gpus, [(Some("a"), None, 0), (None, Some(Count::Unwritten), 1)]);
    for odd in
        ["", "- - - - -", "containers:", "containers:\n- \n- x", "a: |\n  b", "kind: Pod\ncontainers:\n  - name: 'x"]
    {
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
    assert_eq!(pod.memory_volumes, [("shm".to_owned(), Some(At::new(gib32(), 18)))]);
    assert_eq!(pod.host_volumes, [("devinf".to_owned(), At::new("/dev/infiniband".to_owned(), 17))]);
    let c = &pod.containers[0];
    assert_eq!((c.gpus(), c.mounts.len()), (Some(Count::Number(1)), 2));
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

/// `kubectl get pods -o json`, shortened.
#[test]
fn pods_in_json() {
    let text = r#"{
    "apiVersion": "v1",
    "items": [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "annotations": {"k8s.v1.cni.cncf.io/networks": "rail-0"},
                "name": "nccl"
            },
            "spec": {
                "hostNetwork": true,
                "containers": [
                    {
                        "name": "worker",
                        "resources": {
                            "limits": {
                                "nvidia.com/gpu": "8",
                                "rdma/hca": "1"
                            }
                        },
                        "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}}
                    }
                ]
            }
        }
    ],
    "kind": "List"
}
"#;
    assert!(is_json(text));
    let all = read(text.as_bytes()).items;
    let [pod] = all.as_slice() else { panic!("{all:?}") };
    let c = &pod.containers[0];
    assert_eq!(
        (pod.name.as_deref(), pod.form, pod.host_network),
        (Some("nccl"), Form::Manifest, Some(At::new(Some(true), 12)))
    );
    assert_eq!(
        (c.gpus(), c.rdma().next().map(|(n, _)| n.line), c.capabilities.len()),
        (Some(Count::Number(8)), Some(19), 1)
    );
}

/// A variable is no missing key: the rule that needs it does not know.
#[test]
fn what_a_template_puts_there_is_not_absent() {
    let text = "kind: Pod\nspec:\n  hostIPC: {{ .Values.ipc }}\n  hostNetwork: [redacted]\n  containers:\n  - name: a\n    securityContext:\n      privileged: $P\n      capabilities:\n        add: [\"${CAP}\", [redacted]]\n  volumes:\n  - name: s\n    emptyDir:\n      medium: Memory\n      sizeLimit: [redacted]\n";
    let all = read(text.as_bytes()).items;
    let [pod] = all.as_slice() else { panic!("{all:?}") };
    let c = &pod.containers[0];
    let unknown = |line| Some(At::new(None, line));
    assert_eq!((pod.host_ipc, pod.host_network, c.privileged), (unknown(3), unknown(4), unknown(8)));
    assert_eq!(c.capabilities.first(), Some(&At::new(None, 10)));
    assert!(pod.memory_volumes.iter().all(|(_, limit)| limit.as_ref().is_some_and(|l| l.value.bytes.is_none())));
}
