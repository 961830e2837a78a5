//! Readers: what each form of input holds, and that no input makes them panic.

#![allow(clippy::unwrap_used)]

use linerate_env::read::{Form, LogReader, Read, read, read_as, sniff};
use linerate_env::{OriginKind, Setting};
use proptest::prelude::*;

/// `line:NAME=value` of each setting.
fn shown(r: &Read) -> Vec<String> {
    let one = |s: &Setting| format!("{}:{}={}", s.origin.line.unwrap_or(0), s.name, s.value);
    r.settings.iter().map(one).collect()
}

struct Input {
    name: &'static str,
    text: &'static str,
    form: Form,
    want: &'static [&'static str],
}

const INPUTS: &[Input] = &[
    Input {
        name: "env.txt",
        text: "SHELL=/bin/bash\nNCCL_DEBUG=INFO\nPS1=it's\nAWS_SECRET_ACCESS_KEY=abc\nNCCL_IB_HCA=mlx5_0,mlx5_1\nUCX_TLS='rc,cuda'\n",
        form: Form::List,
        want: &["2:NCCL_DEBUG=INFO", "5:NCCL_IB_HCA=mlx5_0,mlx5_1", "6:UCX_TLS=rc,cuda"],
    },
    Input {
        name: "exports",
        text: "declare -x HOME=\"/x\"\ndeclare -x NCCL_IB_HCA=\"=mlx5_0:1\"\nexport NCCL_DEBUG=INFO NCCL_IB_TC='106'\n",
        form: Form::Script,
        want: &["2:NCCL_IB_HCA==mlx5_0:1", "3:NCCL_DEBUG=INFO", "3:NCCL_IB_TC=106"],
    },
    Input {
        name: "environ",
        text: "PATH=/bin\0NCCL_SOCKET_IFNAME=eth0\0WANDB_API_KEY=x\0NCCL_DEBUG=\0",
        form: Form::Environ,
        want: &["0:NCCL_SOCKET_IFNAME=eth0", "0:NCCL_DEBUG="],
    },
    Input {
        name: "/etc/nccl.conf",
        text: "# NCCL_DEBUG=INFO\n#NCCL_DEBUG=INFO\n\nNCCL_DEBUG=WARN\nexport NCCL_IB_HCA=mlx5\nNCCL_NET = IB\nNCCL_IB_TC=\"106\" # tc\nPATH=/x\n",
        form: Form::Conf,
        want: &["4:NCCL_DEBUG=WARN", "5:export NCCL_IB_HCA=mlx5", "6:NCCL_NET = IB", "7:NCCL_IB_TC=\"106\" # tc"],
    },
    Input {
        name: "job.sbatch",
        text: "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --export=ALL,NCCL_PROTO=Simple\nexport NCCL_DEBUG=${NCCL_DEBUG:-INFO}\nexport NCCL_IB_HCA=\\\n  \n\
               # export NCCL_OLD=1\necho \"NCCL_IB_DISABLE=1\"\nexport NCCL_HOSTID=$(hostname)\nNCCL_ALGO=Ring python x.py\n\
               mpirun -np 16 -x NCCL_CROSS_NIC=1 \\\n  -x NCCL_DEBUG -x PATH ./all_reduce_perf\nsrun --export=ALL,NCCL_NET=IB,FOO=1 --env UCX_TLS=rc ./x\n\
               mpiexec -genv NCCL_SHM_DISABLE 1 ./x\nunset NCCL_ALGO\n",
        form: Form::Script,
        want: &[
            "3:NCCL_PROTO=Simple",
            "4:NCCL_DEBUG=INFO",
            "5:NCCL_IB_HCA=",
            "9:NCCL_HOSTID=$(hostname)",
            "11:NCCL_CROSS_NIC=1",
            "13:NCCL_NET=IB",
            "13:UCX_TLS=rc",
            "14:NCCL_SHM_DISABLE=1",
        ],
    },
    Input {
        name: "pod.yaml",
        text: "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: nccl\n    image: x:1\n    env:\n    - name: NCCL_DEBUG\n      value: \"INFO\" # loud\n\
               \x20   - value: '1'\n      name: NCCL_IB_DISABLE\n    - name: DB_PASSWORD\n      value: hunter2\n    - name: NCCL_IB_HCA\n      valueFrom:\n\
               \x20       configMapKeyRef: {name: c, key: hca}\n    - {name: NCCL_NET, value: IB}\n    command: [\"mpirun\", \"-x\", \"NCCL_ALGO=Tree\", \"x\"]\n\
               \x20   args:\n    - -x\n    - NCCL_PROTO=LL\n    - |\n      export NCCL_CROSS_NIC=0\n      ./run\n",
        form: Form::Manifest,
        want: &[
            "8:NCCL_DEBUG=INFO",
            "11:NCCL_IB_DISABLE=1",
            "14:NCCL_IB_HCA=$(valueFrom)",
            "17:NCCL_NET=IB",
            "18:NCCL_ALGO=Tree",
            "21:NCCL_PROTO=LL",
            "23:NCCL_CROSS_NIC=0",
        ],
    },
    Input {
        name: "values.yaml",
        text: "---\nenv:\n  NCCL_DEBUG: {{ .Values.debug | quote }}\n  NCCL_IB_TIMEOUT: 22\n{{- range .Values.env }}\n  - name: {{ .name }}\n    value: {{ .value }}\n{{- end }}\n\
               services:\n  a:\n    environment:\n      - NCCL_NET=Socket\n",
        form: Form::Manifest,
        want: &["3:NCCL_DEBUG={{ .Values.debug | quote }}", "4:NCCL_IB_TIMEOUT=22", "12:NCCL_NET=Socket"],
    },
    Input {
        name: "pod.json",
        text: r#"{"apiVersion":"v1","spec":{"containers":[{"env":[{"name":"NCCL_DEBUG","value":"WARN"},{"name":"X","value":"NCCL_IB_DISABLE"},{"value":"0","name":"NCCL_IB_TC"}],"args":["NCCL_ALGO=Ring"]}]}}"#,
        form: Form::Manifest,
        want: &["1:NCCL_DEBUG=WARN", "1:NCCL_IB_TC=0", "1:NCCL_ALGO=Ring"],
    },
    Input {
        name: "pretty.json",
        text: "{\n \"kind\": \"Pod\",\n \"env\": [\n  {\n   \"name\": \"NCCL_NET\",\n   \"value\": \"IB\"\n  },\n  {\n   \"name\": \"A\",\n   \"value\": \"b\"\n  }\n ],\n \"command\": [\n  \"-x\",\n  \"NCCL_ALGO=Ring\"\n ]\n}\n",
        form: Form::Manifest,
        want: &["5:NCCL_NET=IB", "15:NCCL_ALGO=Ring"],
    },
    Input {
        name: "describe.txt",
        text: "Name:  nccl\nContainers:\n  a:\n    Environment:\n      NCCL_DEBUG:  WARN\n      DB_PASSWORD:  hunter2\n      NCCL_IB_HCA:  <set to the key 'hca' of config map 'c'>  Optional: false\n",
        form: Form::Manifest,
        want: &["5:NCCL_DEBUG=WARN", "7:NCCL_IB_HCA=$(valueFrom)"],
    },
    Input {
        name: "odd.yaml",
        text: "apiVersion: v1\nenv:\n- name: DB_PASSWORD\n  value: hunter2\nother:\n  name: NCCL_DEBUG\nmore:\n  value: hunter2\n  image: x\n  name: NCCL_NET\n",
        form: Form::Manifest,
        want: &[],
    },
    Input {
        name: "own.sh",
        text: "#!/bin/sh\nIB_HCA=mlx5_0\nnccl_debug=INFO\nexport NCCL_IB_HCA=$IB_HCA NCCL_DEBUG=$nccl_debug\n",
        form: Form::Script,
        want: &["4:NCCL_IB_HCA=$IB_HCA", "4:NCCL_DEBUG=$nccl_debug"],
    },
    Input {
        name: "Dockerfile",
        text: "FROM a:b AS x\nENV NCCL_DEBUG=INFO \\\n    NCCL_IB_HCA=\"mlx5\"\nENV NCCL_NET IB\nRUN export NCCL_ALGO=Ring\nARG NCCL_X=1\n",
        form: Form::Dockerfile,
        want: &["2:NCCL_DEBUG=INFO", "3:NCCL_IB_HCA=mlx5", "4:NCCL_NET=IB"],
    },
    Input {
        name: "job.log",
        text: "x:1:1 [0] NCCL INFO NCCL_IB_TIMEOUT set by environment to 22.\nx:1:1 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to eth0\n\
               [1,3]<stdout>:x:1:1 [1] NCCL INFO NCCL_IB_TIMEOUT set by environment to 22.\nNCCL version 2.21.5+cuda12.4\n\
               x:1:1 [0] NCCL INFO NCCL_IB_HCA set to mlx5\x1b[0m\r\nx NCCL INFO NET/Plugin: Plugin name set by env to libnccl-net-x.so\n\
               x:1:1 [0] NCCL INFO NCCL_NET_GDR_READ set by environment to 18446744073709551614.\nx NCCL INFO Comm config netName reset to NCCL_NET=IB\n\
               x:1:1 [0] NCCL INFO Using network IB\nP2P Chunksize set to 131072\nNCCL_TUNER_PLUGIN set to x\nNCCL_NET_GDR_LEVEL set from environment to PHB",
        form: Form::Log,
        want: &[
            "1:NCCL_IB_TIMEOUT=22",
            "2:NCCL_SOCKET_IFNAME=eth0",
            "5:NCCL_IB_HCA=mlx5",
            "6:NCCL_NET_PLUGIN=libnccl-net-x.so",
            "7:NCCL_NET_GDR_READ=-2",
            "8:NCCL_NET=IB",
            "11:NCCL_TUNER_PLUGIN=x",
            "12:NCCL_NET_GDR_LEVEL=PHB",
        ],
    },
    Input { name: "x", text: "Lorem ipsum dolor sit amet", form: Form::Unknown, want: &[] },
    Input { name: "x.bin", text: "\0\0\u{1}\u{2}", form: Form::Unknown, want: &[] },
];

#[test]
fn each_form_is_recognised_and_read() {
    for i in INPUTS {
        assert_eq!(sniff(Some(i.name), i.text.as_bytes()), i.form, "{}", i.name);
        let r = read(Some(i.name), i.text.as_bytes());
        assert_eq!(shown(&r), i.want, "{}", i.name);
        // By content alone, too; but nccl.conf looks like any list.
        if i.form != Form::Conf {
            assert_eq!(sniff(None, i.text.as_bytes()), i.form, "{} without its name", i.name);
        }
        let text = format!("{r:?}");
        for secret in ["hunter2", "AWS_SECRET", "WANDB", "abc"] {
            assert!(!text.contains(secret), "{} keeps {secret}", i.name);
        }
    }
}

#[test]
fn a_log_tells_release_and_network_and_is_the_same_in_pieces() {
    let i = INPUTS.iter().find(|i| i.form == Form::Log).unwrap();
    let whole = read(Some(i.name), i.text.as_bytes());
    assert_eq!(whole.nccl.as_ref().unwrap().0.to_string(), "2.21.5");
    assert_eq!(whole.network.as_ref().unwrap().0, "IB");
    assert!(whole.settings.iter().all(|s| s.origin.kind == OriginKind::Log));
    for size in [1, 7, 64] {
        let mut log = LogReader::new(Some(i.name));
        i.text.as_bytes().chunks(size).for_each(|c| log.feed(c));
        assert_eq!(shown(&log.finish()), i.want, "pieces of {size}");
    }
}

#[test]
fn a_log_without_line_ends_keeps_memory_bounded_and_counts_on() {
    let mut log = LogReader::new(None);
    let junk = vec![b'x'; 1 << 20];
    (0..20).for_each(|_| log.feed(&junk));
    log.feed(b"\nNCCL_DEBUG set by environment to INFO\n");
    assert_eq!(shown(&log.finish()), ["2:NCCL_DEBUG=INFO"]);
}

#[test]
fn containers_have_environments_of_their_own() {
    let pod = "apiVersion: v1\nspec:\n containers:\n - name: a\n   env:\n   - name: NCCL_NET\n     value: IB\n - name: b\n   env:\n   - name: NCCL_NET\n     value: Socket\n";
    let r = read(Some("p.yaml"), pod.as_bytes());
    let scopes: Vec<u32> = r.settings.iter().map(|s| s.origin.scope).collect();
    assert!(scopes.len() == 2 && scopes.first() != scopes.last(), "{scopes:?}");
}

#[test]
fn what_other_objects_set_is_not_nothing() {
    for (name, text, want) in [
        (
            "p.yaml",
            "apiVersion: v1\nspec:\n containers:\n - name: a\n   envFrom:\n   - configMapRef:\n       name: nccl-env\n   - secretRef: {name: s}\n",
            "6:envFrom=ConfigMap nccl-env 8:envFrom=Secret s",
        ),
        (
            "p.json",
            "{\"kind\":\"Pod\",\"spec\":{\"containers\":[{\"envFrom\":[{\"configMapRef\":{\"name\":\"c\"}}]}]}}",
            "1:envFrom=ConfigMap c",
        ),
        (
            "pretty.json",
            "{\n \"containers\": [\n {\n \"envFrom\": [\n {\n \"configMapRef\": {\n \"name\": \"c\"\n }\n }\n ]\n }\n ]\n}\n",
            "6:envFrom=ConfigMap c",
        ),
        (
            "d.txt",
            "Containers:\n  a:\n    Environment Variables from:\n      c  ConfigMap  Optional: false\n    Environment:  <none>\n",
            "3:envFrom=",
        ),
        ("compose.yaml", "services:\n  a:\n    env_file: nccl.env\n", "3:env_file=nccl.env"),
    ] {
        let r = read(Some(name), text.as_bytes());
        let said: Vec<String> =
            r.elsewhere.iter().map(|e| format!("{}:{}={}", e.at.line.unwrap_or(0), e.by, e.holder)).collect();
        assert_eq!(said.join(" "), want, "{name}");
    }
    for inline in [
        "apiVersion: v1\nenv:\n- name: NCCL_IB_HCA\n  valueFrom: {configMapKeyRef: {name: c, key: hca}}\n",
        "apiVersion: v1\nenv: [{name: NCCL_IB_HCA, valueFrom: {secretKeyRef: {name: c, key: hca}}}]\n",
    ] {
        let r = read(Some("p.yaml"), inline.as_bytes());
        assert!(shown(&r).iter().any(|s| s.ends_with("NCCL_IB_HCA=$(valueFrom)")), "{:?}", shown(&r));
    }
}

const FORMS: [Form; 8] =
    [Form::Environ, Form::List, Form::Conf, Form::Script, Form::Manifest, Form::Dockerfile, Form::Log, Form::Unknown];

/// Pieces of which hostile inputs are made.
const PIECES: &[&str] = &[
    "NCCL_DEBUG",
    "=",
    ": ",
    "- ",
    "name",
    "value",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "\\",
    "\n",
    " ",
    "$",
    "${",
    "{{",
    "#",
    "-x ",
    "export ",
    "ENV ",
    "FROM ",
    " set by environment to ",
    " set to ",
    "valueFrom:",
    "---",
    "--export=",
    ",",
    "\r",
    "\0",
    "é",
    "\u{1b}[",
    "env:",
    "unset ",
    "apiVersion: v1\n",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let _ = read(None, &bytes);
        for form in FORMS {
            let _ = read_as(form, Some("x"), &bytes);
        }
    }

    #[test]
    fn nothing_that_looks_like_an_input_does(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..60)) {
        let text = pieces.concat();
        let _ = read(None, text.as_bytes());
        for form in FORMS {
            for s in read_as(form, None, text.as_bytes()).settings {
                prop_assert!(linerate_env::read::relevant(&s.name), "{:?}", s.name);
            }
        }
    }

    #[test]
    fn what_a_shell_quotes_comes_back(value in "[ -~]{0,40}") {
        let quoted = format!("export NCCL_HOSTID='{}'\n", value.replace('\'', "'\\''"));
        prop_assume!(!value.starts_with("${"));
        let r = read_as(Form::Script, None, quoted.as_bytes());
        // What may be a secret is not kept.
        prop_assert_eq!(r.settings.first().unwrap().value.as_str(), linerate_snapshot::setting("NCCL_HOSTID", &value));
    }
}

/// Real logs and cases, where they are.
#[test]
#[allow(clippy::print_stdout)]
fn real_files_are_read() {
    let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !data.is_dir() {
        println!("SKIPPED: ../shared/data is not here");
        return;
    }
    let (mut stack, mut logs, mut settings) =
        (vec![data.join("nccl-log"), data.join("cases"), data.join("nccl-tests")], 0, 0);
    while let Some(at) = stack.pop() {
        if let Ok(dir) = std::fs::read_dir(&at) {
            stack.extend(dir.flatten().map(|e| e.path()));
        } else if let Ok(bytes) = std::fs::read(&at) {
            let r = read(Some(&at.to_string_lossy()), &bytes);
            logs += usize::from(r.form == Form::Log);
            settings += r.settings.len();
            assert!(r.settings.iter().all(|s| linerate_env::read::relevant(&s.name)), "{}", at.display());
            if at.ends_with("PerfKitBenchmarker__tests_data_horovod_output_bert.txt") {
                assert_eq!(r.nccl.map(|v| v.0.to_string()), Some("2.4.8".to_owned()));
                assert!(
                    r.settings.len() >= 10
                        && r.settings.iter().any(|s| s.name == "NCCL_BUFFSIZE" && s.value == "8388608")
                );
            }
        }
    }
    println!("{logs} logs, {settings} settings");
    assert!(logs > 15 && settings > 15, "{logs} logs, {settings} settings");
}

#[test]
fn what_is_for_rccl_is_known() {
    for (name, text, rccl) in [
        ("pod.yaml", "env:\n- name: NCCL_NET_PLUGIN\n  value: librccl-anp.so\n", true),
        ("pod.yaml", "resources:\n  limits:\n    amd.com/gpu: 8\nenv:\n- name: NCCL_DEBUG\n  value: INFO\n", true),
        ("job.sh", "export NCCL_DEBUG=INFO\n/opt/rccl-tests/build/all_reduce_perf -g 8\n", true),
        (
            "rank.log",
            "h:1:2 [0] NCCL INFO NCCL_DEBUG set by environment to INFO.\nRCCL version : 2.21.5-HEAD:9a0e6a1\n",
            true,
        ),
        ("pod.yaml", "resources:\n  limits:\n    nvidia.com/gpu: 8\nenv:\n- name: NCCL_DEBUG\n  value: INFO\n", false),
        ("job.sh", "# not for rccl-tests\nunset ROCR_VISIBLE_DEVICES\nexport NCCL_DEBUG=INFO\n", false),
        (
            "rank.log",
            "h:1:2 [0] NCCL INFO NCCL_DEBUG set by environment to INFO.\nNCCL version 2.21.5+cuda12.4\n",
            false,
        ),
    ] {
        assert_eq!(read(Some(name), text.as_bytes()).rccl, rccl, "{text}");
    }
    assert!(linerate_env::read::environment([("HSA_FORCE_FINE_GRAIN_PCIE", "1")]).rccl);
}

/// `null` is no value; in quotes it is a word.
#[test]
fn a_null_sets_nothing() {
    for (text, want) in [
        (
            "env_vars:\n  NCCL_IB_TIMEOUT: null\n  NCCL_PROTO: ~ # later\n  NCCL_ALGO: 'null'\n",
            vec!["4:NCCL_ALGO=null"],
        ),
        ("{\n  \"NCCL_DEBUG\": null,\n  \"NCCL_IB_TC\": \"106\"\n}\n", vec!["3:NCCL_IB_TC=106"]),
        ("env: {NCCL_DEBUG: null, NCCL_IB_SL: 1}\n", vec!["1:NCCL_IB_SL=1"]),
        ("env:\n- name: NCCL_DEBUG\n  value: null\n", vec!["2:NCCL_DEBUG="]),
    ] {
        assert_eq!(shown(&read_as(Form::Manifest, Some("x.yaml"), text.as_bytes())), want, "{text}");
    }
}

/// What a script sets for itself, shows, or makes of a command's output.
#[test]
fn what_is_a_scripts_own_is_no_setting() {
    for (name, text, want) in [
        (
            "a.sh",
            "#!/bin/sh\nNCCL_CONTAINER=x.sqsh\nexport NCCL_DEBUG=INFO\nsrun --image $NCCL_CONTAINER ./x\n",
            vec!["3:NCCL_DEBUG=INFO"],
        ),
        ("a.sh", "#!/bin/sh\nNCCL_EXIT=$?\nif [ \"${NCCL_EXIT}\" != 0 ]; then exit; fi\n", vec![]),
        // Handed on by its own name, or only shown: it may be a slip.
        (
            "a.sh",
            "#!/bin/sh\nNCCL_IB_HCAS=mlx5_0\nmpirun -x NCCL_IB_HCAS=$NCCL_IB_HCAS ./x\necho $NCCL_IB_HCAS\n",
            vec!["2:NCCL_IB_HCAS=mlx5_0", "3:NCCL_IB_HCAS=$NCCL_IB_HCAS"],
        ),
        (
            "a.sh",
            "#!/bin/sh\nif true; then echo \"NCCL_IB_DISABLE=1\"; fi\nfor a in b; do printf NCCL_NET=IB; done\n",
            vec![],
        ),
        (
            "a.sh",
            "#!/bin/sh\nNCCL_VERSION=$(grep -i \"nccl\" Dockerfile | head -1)\nout=$(NCCL_DEBUG=WARN ./x)\n",
            vec!["2:NCCL_VERSION=$(grep -i \"nccl\" Dockerfile | head -1)", "3:NCCL_DEBUG=WARN"],
        ),
        (
            "w.yml",
            "on: push\njobs:\n  a:\n    run: |\n      cat > x.json << EOF\n      {\n        \"nccl_minimum\": \"$MIN_NCCL\",\n      }\n      EOF\n      echo \"nccl_minimum=$MIN_NCCL\" >> $GITHUB_OUTPUT\n",
            vec![],
        ),
        ("values.yaml", "nccl_debug: INFO\nenv:\n- name: nccl_debug\n  value: WARN\n", vec!["3:nccl_debug=WARN"]),
    ] {
        assert_eq!(shown(&read(Some(name), text.as_bytes())), want, "{text}");
    }
}
