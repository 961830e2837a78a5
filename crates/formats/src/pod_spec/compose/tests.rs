use super::*;

/// The only service of a file whose lines, below its name, are these.
fn one(body: &str) -> Pod {
    let body: String = body.lines().map(|l| format!("    {l}\n")).collect();
    let text = format!("services:\n  train:\n    image: x\n{body}");
    let mut all = read(text.as_bytes()).items;
    assert_eq!(all.len(), 1, "{text}");
    all.remove(0)
}

fn devices(body: &str) -> String {
    let body: String = body.lines().map(|l| format!("      {l}\n")).collect();
    format!("deploy:\n  resources:\n    reservations:\n      devices:\n{body}")
}

#[test]
fn a_file_with_lines_of_each_value() {
    let text = "\
name: site
x-limits: &limits
  ulimits:
    memlock: -1
services:
  train:
    <<: *limits
    image: x
    network_mode: host
    ipc: host
    privileged: true
    cap_add: [IPC_LOCK]
    shm_size: 16gb
    devices:
      - /dev/infiniband:/dev/infiniband
    volumes:
      - /dev/shm:/dev/shm
    deploy:
      resources:
        reservations:
          devices:
            - driver: nvidia
              count: 8
              capabilities: [gpu]
  web:
    image: y
";
    let all = read(text.as_bytes()).items;
    let [train, web] = all.as_slice() else { panic!("{all:?}") };
    let c = &train.containers[0];
    assert_eq!((train.line, train.name.as_deref(), c.name.as_deref()), (6, None, Some("train")));
    assert_eq!((train.host_network, train.host_ipc), (Some(At::new(Some(true), 9)), Some(At::new(Some(true), 10))));
    assert_eq!((c.privileged, c.memlock), (Some(At::new(Some(true), 11)), Some(At::new(Some(Limit::Unlimited), 4))));
    assert_eq!(c.capabilities, [At::new(Some("IPC_LOCK".to_owned()), 12)]);
    assert_eq!(c.rdma_device(), Some(At::new("/dev/infiniband", 15)));
    assert_eq!(c.gpu_request(), Some(&(At::new(GPU.to_owned(), 22), Count::Number(8))));
    assert_eq!(train.host_volumes, [(SHM.to_owned(), At::new(SHM.to_owned(), 17))]);
    let shm: Vec<_> = c.mounts.iter().map(|(_, at)| at.line).collect();
    assert_eq!(shm, [17, 13], "what is mounted comes before shm_size");
    assert_eq!((web.line, web.form, web.containers[0].gpus()), (25, Form::Compose, None));
}

#[test]
fn how_many_gpus() {
    use Count::{All, Number, Unwritten};
    let cases = [
        ("", None),
        ("gpus: all", Some(All)),
        ("gpus: 2", Some(Number(2))),
        ("gpus: ${N}", Some(Unwritten)),
        ("gpus:\n- driver: nvidia\n  count: 4", Some(Number(4))),
        ("gpus:\n- driver: other\n  count: 4", None),
        ("gpus:\n- [redacted]", Some(Unwritten)),
        ("runtime: nvidia", Some(Unwritten)),
        ("runtime: runc", None),
        ("runtime: $R", Some(Unwritten)),
        ("runtime: nvidia\ngpus: 2", Some(Number(2))),
        ("devices:\n- nvidia.com/gpu=all", Some(All)),
        ("devices:\n- nvidia.com/gpu=0\n- nvidia.com/gpu=1", Some(Number(2))),
        ("deploy:\n  replicas: 2", None),
        ("deploy: [redacted]", Some(Unwritten)),
    ];
    for (body, count) in cases {
        assert_eq!(one(body).containers[0].gpus(), count, "{body}");
    }
    let reserved = [
        ("- capabilities: [gpu]", Some(All)),
        ("- {driver: nvidia, count: all, capabilities: [gpu, utility]}", Some(All)),
        ("- driver: nvidia\n  count: \"8\"\n  capabilities: [\"gpu\"]", Some(Number(8))),
        ("- driver: nvidia\n  device_ids: ['0', '3']\n  capabilities: [gpu]", Some(Number(2))),
        ("- driver: nvidia\n  device_ids: ['${IDS}']\n  capabilities: [gpu]", Some(Unwritten)),
        ("- driver: nvidia\n  device_ids: ['0,1']\n  capabilities: [gpu]", Some(Unwritten)),
        ("- driver: cdi\n  device_ids: [nvidia.com/gpu=all]", Some(All)),
        ("- driver: nvidia\n  count: ${GPUS:-8}\n  capabilities: [gpu]", Some(Unwritten)),
        ("- driver: x\n  count: 1\n  capabilities: [tpu]", None),
        ("- driver: nvidia\n  count: 1\n  capabilities: [redacted]", Some(Number(1))),
        ("- [redacted]", Some(Unwritten)),
    ];
    for (body, count) in reserved {
        assert_eq!(one(&devices(body)).containers[0].gpus(), count, "{body}");
    }
}

#[test]
fn locked_memory_and_namespaces() {
    let limits = [
        ("ulimits: {memlock: -1}", Some(Some(Limit::Unlimited))),
        ("ulimits:\n  memlock: 67108864", Some(Some(Limit::Value(64 << 20)))),
        ("ulimits:\n  memlock:\n    soft: -1\n    hard: -1", Some(Some(Limit::Unlimited))),
        ("ulimits:\n  memlock: {soft: 65536, hard: -1}", Some(Some(Limit::Value(65536)))),
        ("ulimits:\n  memlock: ${LOCK}", Some(None)),
        ("ulimits:\n  nofile: 1", None),
    ];
    for (body, limit) in limits {
        assert_eq!(one(body).containers[0].memlock.map(|m| m.value), limit, "{body}");
    }
    for (mode, is) in
        [("host", Some(true)), ("private", Some(false)), ("service:x", None), ("${M}", None), ("[redacted]", None)]
    {
        let pod = one(&format!("ipc: {mode}\nnetwork_mode: {mode}"));
        assert_eq!((pod.host_ipc, pod.host_network), (Some(At::new(is, 4)), Some(At::new(is, 5))), "{mode}");
    }
}

#[test]
fn what_is_at_dev_shm() {
    // Whether the first mount at /dev/shm is memory, with which limit in bytes, and whether it is the host's.
    type Found = Option<(Option<Option<Option<u64>>>, bool)>;
    let cases: [(&str, Found); 10] = [
        ("shm_size: 64m", Some((Some(Some(Some(64 << 20))), false))),
        ("shm_size: ${SHM:-1g}", Some((Some(Some(None)), false))),
        ("shm_size: [redacted]", Some((Some(Some(None)), false))),
        ("tmpfs: /dev/shm", Some((Some(None), false))),
        ("tmpfs:\n- /run\n- /dev/shm:size=1g,mode=1777", Some((Some(Some(Some(1 << 30))), false))),
        (
            "volumes:\n- type: tmpfs\n  target: /dev/shm\n  tmpfs: {size: 1073741824}",
            Some((Some(Some(Some(1 << 30))), false)),
        ),
        ("volumes:\n- type: bind\n  source: /dev/shm\n  target: /dev/shm", Some((None, true))),
        ("volumes:\n- ${DIR:-/dev/shm}:/dev/shm:rw\nshm_size: 1g", Some((None, false))),
        ("volumes:\n- data:/data", None),
        ("shm_size:", None),
    ];
    for (body, want) in cases {
        let pod = one(body);
        let mount = pod.containers[0].mounts.iter().find(|(_, at)| at.value == SHM);
        let got = mount.map(|(name, _)| {
            let memory = pod.memory_volumes.iter().find(|(n, _)| n == name);
            let limit = memory.map(|(_, l)| l.as_ref().map(|l| l.value.bytes));
            (limit, pod.host_volumes.iter().any(|(n, path)| n == name && path.value == SHM))
        });
        assert_eq!(got, want, "{body}");
    }
}

#[test]
fn devices_of_the_host() {
    let rdma = [
        ("devices:\n- /dev/infiniband/uverbs0", true),
        ("devices:\n- /dev/infiniband/rdma_cm", false),
        ("devices:\n- source: /dev/infiniband\n  target: /dev/infiniband\n  permissions: rwm", true),
        ("devices:\n- ${IB:-/dev/infiniband}:/dev/infiniband", false),
        ("devices:\n- [redacted]", false),
        ("devices: ${ALL}", false),
    ];
    for (body, is) in rdma {
        assert_eq!(one(body).containers[0].rdma_device().is_some(), is, "{body}");
    }
    assert_eq!(one("devices:\n- $IB").containers[0].devices, [At::new(None, 5)]);
    assert_eq!(one("extends: base").extends, Some(4));
}

#[test]
fn odd_files() {
    for odd in [
        "",
        "services:",
        "services: x",
        "services:\n- a\n- b",
        "services:\n  a:",
        "services:\n  a: b\n",
        "services:\n  a:\n    gpus: {}\n    devices: {a: b}\n    volumes: [[]]\n    tmpfs: [{}]\n    ulimits: []\n    deploy: x\n",
    ] {
        let _ = read(odd.as_bytes());
    }
    let many: String = (0..20_000).map(|n| format!("  s{n}: {{image: x}}\n")).collect();
    let kept = read(format!("services:\n{many}").as_bytes());
    assert!(kept.items.len() <= crate::bounds::GPUS && !kept.left_out.is_empty());
}
