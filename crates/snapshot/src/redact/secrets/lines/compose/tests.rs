/// What a text becomes; the same when it is cleaned again.
fn cleaned(text: &str) -> String {
    let mut data = text.as_bytes().to_vec();
    super::compose(&mut data);
    let got = String::from_utf8_lossy(&data).into_owned();
    super::compose(&mut data);
    assert_eq!(String::from_utf8_lossy(&data), got, "{text}");
    assert_eq!(got.matches('\n').count(), text.matches('\n').count(), "{text}");
    got
}

const FILE: &str = "\
name: hunter2
x-common: &common
  shm_size: 16gb
  environment: &env
    driver: hunter2
    count: 4711
x-ids: &ids ['0', '1']
x-secret: &secret [hunter2]
x-flow: {environment: {count: 4711}}
services:
  train:
    <<: *common
    image: registry.example.org/hunter2:1
    build:
      context: /hunter2
      shm_size: 4711
      args:
        - 47
    container_name: hunter2
    command: [\"--password\", \"hunter2\"]
    entrypoint:
    - sh
    - 42
    - |
      login hunter2
      # pass hunter2
      gpus: 4711

      ipc: host
    environment:
      TOKEN: hunter2
      count: 4711
    env_file: hunter2
    labels:
      - a=hunter2
      - gpu
    network_mode: host
    ipc: host
    privileged: true
    cap_add:
    - IPC_LOCK
    - SYS_NICE
    ulimits:
      memlock: {soft: -1, hard: -1}
    devices:
      - /dev/infiniband:/dev/infiniband
      - source: /dev/infiniband/uverbs0
    volumes:
      - /data/hunter2:/data
      - \"/dev/shm:/dev/shm\"
      - ${HUNTER:-hunter2}:/dev/shm
      - type: bind
        source: /hunter2
        target: /hunter2
    tmpfs: /dev/shm:size=1g
    secrets:
      - hunter2
    deploy:
      labels: {x: hunter2}
      resources:
        reservations:
          devices:
            - driver: nvidia
              count: 8 # hunter2
              capabilities: [gpu]
            - {driver: nvidia, device_ids: *ids, capabilities: [\"gpu\"]}
            - {driver: nvidia, options: {x: hunter2}}
  other: {image: hunter2, environment: {X: hunter2}}
  third:
    shm_size: ${HUNTER2}
    gpus: ${N:-hunter2}
secrets:
  hunter2:
    file: ./hunter2
";

#[test]
fn what_a_service_asks_for_stays_and_the_rest_goes() {
    let got = cleaned(FILE);
    // Names of services and keys stay, as those of pods do.
    let planted = |w: &str| got.lines().any(|l| l.contains(w) && l.trim() != "hunter2:");
    assert!(!["hunter2", "registry", "login", "4711", "HUNTER"].iter().any(|w| planted(w)), "{got}");
    assert!(!got.contains("- 42") && !got.contains("- 47"), "{got}");
    for kept in [
        "x-common: &common\n  shm_size: 16gb\n",
        "    <<: *common\n",
        "    network_mode: host\n    ipc: host\n    privileged: true\n",
        "    - IPC_LOCK\n    - SYS_NICE\n",
        "      memlock: {soft: -1, hard: -1}\n",
        "      - /dev/infiniband:/dev/infiniband\n      - source: /dev/infiniband/uverbs0\n",
        "      - \"/dev/shm:/dev/shm\"\n      - redacted:/dev/shm\n",
        "    tmpfs: /dev/shm:size=1g\n",
        "            - driver: nvidia\n              count: 8\n              capabilities: [gpu]\n",
        "x-ids: &ids ['0', '1']\n",
        "            - {driver: nvidia, device_ids: *ids, capabilities: [\"gpu\"]}\n",
    ] {
        assert!(got.contains(kept), "{kept}\n{got}");
    }
}

#[test]
fn a_reader_sees_the_same_and_where_it_was() {
    use linerate_formats::pod_spec::{Count, compose::read};
    let got = read(cleaned(FILE).as_bytes()).items;
    let whole = read(FILE.as_bytes()).items;
    let names = |all: &[linerate_formats::pod_spec::Pod]| {
        all.iter().map(|p| (p.line, p.containers[0].name.clone())).collect::<Vec<_>>()
    };
    assert_eq!(names(&got), names(&whole));
    let (c, w) = (&got[0].containers[0], &whole[0].containers[0]);
    assert_eq!(
        (&c.memlock, &c.capabilities, &c.devices, c.privileged),
        (&w.memlock, &w.capabilities, &w.devices, w.privileged)
    );
    assert_eq!(got[0].memory_volumes, whole[0].memory_volumes);
    // What cannot be read of one request may be a number.
    assert_eq!((w.gpus(), c.gpus()), (Some(Count::Number(10)), Some(Count::Unwritten)));
    // A variable is unknown, not absent.
    let third = &got[2];
    assert_eq!(third.containers[0].gpus(), Some(Count::Unwritten));
    assert!(third.memory_volumes.iter().all(|(_, size)| size.as_ref().is_some_and(|s| s.value.bytes.is_none())));
}

/// Lists and mappings in brackets over several lines stay what they are.
#[test]
fn brackets_over_several_lines() {
    use linerate_formats::pod_spec::{Count, compose::read};
    let text = "services:\n  train:\n    command: [\n      \"run\",\n      hunter2\n    ]\n    cap_add: [\n      NET_RAW,\n      IPC_LOCK\n    ]\n    gpus: [\n      {driver: nvidia,\n       count: 8,\n       x: hunter2}\n    ]\n    ipc: host\n";
    let got = cleaned(text);
    assert!(!got.contains("hunter2") && !got.contains("run"), "{got}");
    let all = read(got.as_bytes()).items;
    let [pod] = all.as_slice() else { panic!("{all:?}\n{got}") };
    let c = &pod.containers[0];
    let names: Vec<_> = c.capabilities.iter().filter_map(|c| c.value.as_deref()).collect();
    assert_eq!((names, pod.host_ipc.map(|i| i.line)), (vec!["NET_RAW", "IPC_LOCK"], Some(16)), "{got}");
    assert!(matches!(c.gpus(), Some(Count::Number(8) | Count::Unwritten)), "{got}");
}

#[test]
fn a_cut_file_shows_no_more() {
    for at in (0..FILE.len()).filter(|at| FILE.is_char_boundary(*at)) {
        let got = cleaned(&FILE[at..]);
        // A remark may stay, as far as it is words of letters.
        let shown =
            got.lines().filter(|l| l.contains("hunter2") && !l.trim().starts_with("hunter2") && !l.contains('#'));
        assert_eq!(shown.count(), 0, "{got}");
    }
}

#[test]
fn odd_texts() {
    for odd in [
        "",
        "-",
        "- - -",
        ": :",
        "{",
        "- {",
        "a: [",
        "a: &",
        "volumes:\n- :\n- ::",
        "- ${",
        "\u{fffd}: \u{fffd}",
        "- 'x",
        "\t- a",
    ] {
        cleaned(odd);
    }
}
