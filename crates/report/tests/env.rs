//! Judgements of an environment: the page of field note N2's recipe, JSON against its schema, and what is pasted.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::schema;

use linerate_env::read::read;
use linerate_env::{Context, Distance, Link, Nic, NodeFacts, Port, judge, recommend};
use linerate_report::Style;
use linerate_report::env::paste::{self, Form};
use linerate_report::env::{Env, json, text};

/// The recipe of field note N2.
const RECIPE: &str = "\
apiVersion: v1
kind: Pod
metadata:
  name: nccl-test
spec:
  containers:
  - name: bench
    image: registry.example/nccl:latest
    env:
    - name: NCCL_DEBUG
      value: INFO
    - name: NCCL_IB_CUDA_SUPPORT
      value: \"1\"
    - name: NCCL_NET_GDR_LEVEL
      value: \"5\"        # full GDR path
    - name: NCCL_IB_GID_INDEX
      value: \"3\"
    - name: NCCL_IB_HCA
      value: mlx5
    - name: NCCL_CROSS_NIC
      value: \"1\"
    - name: NCCL_IB_QPS_PER_CONNECTION
      value: \"4\"
    - name: NCCL_IB_TIMEOUT
      value: \"22\"
    - name: NCCL_P2P_LEVEL
      value: NVL
    - name: NCCL_SHM_DISABLE
      value: \"0\"        # Disable SHM
    - name: REGISTRY_PASSWORD
      value: hunter2
";

fn nic(name: &str, link: Link, gbps: f64, compute: bool) -> Nic {
    let port = Port {
        number: 1,
        active: Some(true),
        link: Some(link),
        gbps: Some(gbps),
        netdev: None,
        roce_v2_ipv4: None,
        roce_v2_ipv6: None,
    };
    Nic { name: name.to_owned(), ports: vec![port], distance: Distance::Pxb, compute: Some(compute) }
}

/// Four GPUs and NICs on InfiniBand, and a NIC for storage.
fn node() -> NodeFacts {
    let mut nics: Vec<Nic> = (0..4).map(|n| nic(&format!("mlx5_{n}"), Link::InfiniBand, 400.0, true)).collect();
    nics.push(nic("mlx5_4", Link::Ethernet, 100.0, false));
    NodeFacts {
        nics: Some(nics),
        gpus: Some(4),
        nvlink: Some(true),
        nearest: vec![Distance::Pxb; 4],
        ..NodeFacts::default()
    }
}

fn with<T>(input: &str, node: Option<NodeFacts>, release: Option<&str>, f: impl FnOnce(&Env<'_>) -> T) -> T {
    let read = read(Some("pod.yaml"), input.as_bytes());
    let label = node.is_some().then_some("u25");
    let context = Context {
        nccl: release.map(|r| r.parse().unwrap()),
        node,
        elsewhere: read.elsewhere.clone(),
        ..Context::default()
    };
    let judgements = judge(&read.settings, &context);
    let recommendation = recommend(&context);
    f(&Env {
        sources: &["pod.yaml (manifest)".to_owned()],
        context: &context,
        release_from: release.map(|_| "--nccl"),
        node: label,
        judgements: &judgements,
        recommendation: &recommendation,
        dropped: read.dropped,
        notes: &read.notes,
        incomplete: read.incomplete,
    })
}

fn page(env: &Env<'_>) -> String {
    let mut out = Vec::new();
    text::render(env, Style { width: 100, ..Style::default() }, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn pasted(form: Form) -> impl Fn(&Env<'_>) -> String {
    move |env| {
        let mut out = Vec::new();
        paste::render(env, form, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }
}

#[test]
fn the_recipe_of_field_note_n2() {
    insta::assert_snapshot!(with(RECIPE, None, Some("2.21"), page));
}

#[test]
fn the_recipe_on_a_node() {
    insta::assert_snapshot!(with(RECIPE, Some(node()), Some("2.21"), page));
}

#[test]
fn what_is_pasted() {
    let all =
        [Form::Shell, Form::K8s, Form::Sbatch].map(|f| with(RECIPE, Some(node()), Some("2.21"), pasted(f))).join("\n");
    insta::assert_snapshot!(all);
}

/// Lines to be run, not comments.
fn acts(form: Form, input: &str, node: Option<NodeFacts>) -> Vec<String> {
    let text = with(input, node, Some("2.21"), pasted(form));
    text.lines().filter(|l| !l.starts_with('#')).map(str::to_owned).collect()
}

#[test]
fn a_list_of_devices_is_never_unset_and_keeps_its_ports() {
    for (list, want) in [
        ("mlx4_0:1,mlx4_0:2", vec![]),
        ("^mlx5_0:1", vec![]),
        ("=mlx5_0:1,mlx5_1:1,mlx5_2,mlx5_3", vec![]),
        ("mlx5", vec![]),
        ("=mlx5_0:1, mlx5_1:1", vec!["export NCCL_IB_HCA='=mlx5_0:1,mlx5_1:1'"]),
    ] {
        assert_eq!(acts(Form::Shell, &format!("NCCL_IB_HCA: '{list}'\n"), None), want, "{list}");
    }
    let on_node = acts(Form::Shell, "NCCL_IB_HCA==mlx5_0:1,mlx5_1:1,mlx5_2,mlx5_3,mlx5_4\n", Some(node()));
    assert_eq!(on_node, ["export NCCL_IB_HCA='=mlx5_0:1,mlx5_1:1,mlx5_2,mlx5_3'"]);
    let right = acts(Form::Shell, "NCCL_IB_HCA==mlx5_0:1,mlx5_1:1,mlx5_2,mlx5_3\n", Some(node()));
    assert!(right.is_empty(), "{right:?}");
}

#[test]
fn json_keeps_to_its_schema() {
    let schema = schema::Schema::of("env-1");
    for (input, node, release) in
        [(RECIPE, None, None), (RECIPE, Some(node()), Some("2.21")), ("NCCL_IB_DISABLE=0\n", None, Some("2.30.7"))]
    {
        let value: serde_json::Value = with(input, node, release, |env| {
            let mut out = Vec::new();
            json::render(env, &mut out).unwrap();
            serde_json::from_slice(&out).unwrap()
        });
        schema.check(&value).unwrap();
        assert!(!value.to_string().contains("hunter2"));
    }
}

#[test]
fn exit_codes() {
    for (input, want) in [
        ("NCCL_NET=IB\n", 0),
        ("NCCL_IB_DISABLE=1\n", 1),
        ("NCCL_IB_HCA==mlx5_0\n", 2),
        ("NCCL_IB_DISABLE=0\n", 0),
        ("apiVersion: v1\nspec:\n containers:\n - envFrom:\n   - configMapRef:\n      name: nccl-env\n", 2),
        (
            "apiVersion: v1\nspec:\n containers:\n - env:\n   - name: NCCL_IB_HCA\n     valueFrom: {configMapKeyRef: {name: c, key: k}}\n",
            2,
        ),
        ("HOME=/x\n", 0),
    ] {
        assert_eq!(with(input, None, Some("2.21"), |e| e.exit_code()), want, "{input}");
    }
}

#[test]
fn hostile_values_stay_harmless() {
    let input = "export NCCL_IB_HCA=$'x'\u{1b}[2J\u{202e} NCCL_\u{7}=1\nexport NCCL_HOSTID='a\n$(reboot)\n'\nexport NCCL_NET='`reboot`\u{1b}]0;x\u{7}'\n";
    let said = with(input, None, Some("2.21"), page);
    assert!(!said.chars().any(|c| c.is_control() && c != '\n'), "{said:?}");
    for form in [Form::Shell, Form::K8s, Form::Sbatch] {
        let said = with(input, None, Some("2.21"), pasted(form));
        assert!(
            said.lines().all(|l| l.starts_with('#') || l.starts_with("unset NCCL_") || l.starts_with("export NCCL_")),
            "{said}"
        );
    }
}
