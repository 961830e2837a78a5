//! `--on` of the verbs that read nodes: several hosts over real connections, one of them dead.
#![allow(clippy::unwrap_used, clippy::panic, clippy::disallowed_methods, missing_docs)]

use crate::lab;

use lab::Lab;
use lab::common::{all_gone, processes, quietly, wait_for};
use lab::schema::Schema;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;

/// Nobody listens there.
const DEAD: &str = "127.1.0.71:1";

/// Two healthy hosts, a sick one, and what collects there: a script that prints the snapshot of its host.
struct Hosts {
    lab: Lab,
    program: String,
}

impl Hosts {
    fn start() -> Option<Hosts> {
        let lab = Lab::start()?;
        let mut cases = String::new();
        for (last, name) in [(80, "healthy"), (81, "healthy"), (82, "sick")] {
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/{name}-8gpu.tar.zst"));
            let mut s = linerate_snapshot::load_bytes(&std::fs::read(file).unwrap(), name).unwrap();
            s.manifest.linerate = env!("CARGO_PKG_VERSION").to_owned();
            s.manifest.host = format!("127.1.0.{last}");
            let id = format!("{last:032x}\n");
            s.add_file("etc/machine-id", id.as_bytes());
            let to = lab.path(&format!("{last}.tar.zst"));
            s.save(&to).unwrap();
            cases += &format!("*127.1.0.{last}*) cat '{}' ;;\n", to.display());
        }
        let program = lab.program("print", &format!("case $SSH_CONNECTION in\n{cases}esac\n"));
        Some(Hosts { lab, program })
    }

    fn file(&self, last: u8) -> String {
        self.lab.path(&format!("{last}.tar.zst")).display().to_string()
    }

    /// Runs a verb, and looks that it leaves nothing behind.
    fn run(&self, verb: &[&str], on: &str, more: &[&str]) -> Output {
        let how = ["--on", on, "--collector", "push", "--program", &self.program];
        let out = self.lab.linerate(&[verb, &how, more].concat()).output().unwrap();
        assert_eq!(self.lab.left(), Vec::<PathBuf>::new(), "{verb:?}");
        assert!(!self.lab.path("fleet").exists());
        out
    }

    /// The same, with its answer as JSON of this schema, and its status.
    fn json(&self, schema: &str, verb: &[&str], on: &str) -> (Value, i32) {
        let out = self.run(verb, on, &["--format", "json"]);
        let json = serde_json::from_slice(&out.stdout)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out.stderr)));
        Schema::of(schema).check(&json).unwrap();
        (json, out.status.code().unwrap())
    }
}

fn all(hosts: &[&str]) -> String {
    hosts.join(",")
}

const TWO: &[&str] = &["127.1.0.80", "127.1.0.81"];
const SICK: &str = "127.1.0.82";

#[test]
fn an_audit_names_who_fails_and_who_is_dead() {
    let Some(hosts) = Hosts::start() else { return };
    let out = hosts.run(&["audit"], &all(&["127.1.0.80", SICK, DEAD]), &["--format", "json"]);
    let lines: Vec<Value> =
        String::from_utf8(out.stdout).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let (last, nodes) = lines.split_last().unwrap();
    Schema::of("fleet-1").check(last).unwrap();
    nodes.iter().for_each(|n| Schema::of("fleet-node-1").check(n).unwrap());
    let of = |name: &str| nodes.iter().find(|n| n["label"] == name).unwrap_or_else(|| panic!("{name} in {nodes:?}"));
    assert_eq!(of(SICK)["exit_code"], 1);
    assert!(of(DEAD)["error"].as_str().is_some_and(|e| !e.is_empty()), "{}", of(DEAD));
    assert_eq!((nodes.len(), out.status.code(), &last["unreadable"]), (3, Some(1), &Value::from(1)), "{last}");
    // Nobody who fails, and somebody who is not known: that is not right.
    let rule = ["--rule", "acs/redirect-on-p2p-path"];
    assert_eq!(hosts.run(&["audit"], &all(TWO), &rule).status.code(), Some(0));
    assert_eq!(hosts.run(&["audit"], &all(&["127.1.0.80", DEAD]), &rule).status.code(), Some(2));
    // One node is reported as a snapshot of it is.
    let (json, code) = hosts.json("audit-2", &["audit"], SICK);
    let verdicts = |v: &Value| v["verdicts"].clone();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_linerate"));
    let file = command.args(["audit", "--format", "json", &hosts.file(82)]).output().unwrap();
    let file: Value = serde_json::from_slice(&file.stdout).unwrap();
    assert_eq!(code, 1);
    assert!(verdicts(&json).is_array() && verdicts(&json) == verdicts(&file));
    assert_eq!(hosts.run(&["audit"], DEAD, &[]).status.code(), Some(3));
}

#[test]
fn drift_and_diff_compare_live_nodes() {
    let Some(hosts) = Hosts::start() else { return };
    let (json, code) = hosts.json("drift-1", &["drift"], &all(TWO));
    assert_eq!((code, &json["count"]), (0, &Value::from(2)), "{json}");
    // Two that are equal and one that is not known are not three that are equal.
    let (json, code) = hosts.json("drift-1", &["drift"], &all(&[TWO[0], TWO[1], DEAD]));
    assert_eq!((code, &json["unreadable"][0]["source"]), (2, &Value::from(DEAD)), "{json}");
    let (json, code) = hosts.json("drift-1", &["drift"], &all(&[TWO[0], TWO[1], SICK, DEAD]));
    assert_eq!((code, json["unreadable"].as_array().map(Vec::len)), (1, Some(1)), "{json}");
    let (json, code) = hosts.json("diff-1", &["diff"], &all(&[TWO[0], SICK]));
    assert_eq!(code, 1, "{json}");
    let (_, code) = hosts.json("diff-1", &["diff"], &all(TWO));
    assert_eq!(code, 0);
    assert_eq!(hosts.run(&["diff"], &all(&[TWO[0], DEAD]), &[]).status.code(), Some(3));
    // The one that is right by definition.
    for (reference, norm) in [(TWO[0], "healthy"), (SICK, "sick")] {
        let (json, code) = hosts.json("drift-1", &["drift", "--reference", reference], &all(&[TWO[0], TWO[1], SICK]));
        let facts = json["classes"][0]["facts"].as_array().unwrap();
        let of_norm = |f: &&Value| f["has_norm"] == true && f["values"][0]["nodes"] == SICK;
        let sick = facts.iter().filter(of_norm).count();
        assert_eq!((code, sick == facts.len()), (1, norm == "sick"), "{json}");
    }
    assert_eq!(hosts.run(&["drift", "--reference", "127.1.0.99"], &all(TWO), &[]).status.code(), Some(3));
    // Before anybody is asked.
    let before = hosts.lab.connections();
    assert_eq!(hosts.run(&["diff"], &all(&[TWO[0], TWO[1], SICK]), &[]).status.code(), Some(3));
    assert_eq!(hosts.run(&["topo"], &all(TWO), &[]).status.code(), Some(3));
    assert_eq!(hosts.run(&["audit", "/"], &all(TWO), &[]).status.code(), Some(3));
    assert_eq!(hosts.run(&["drift", "--since", "2026-01-01"], &all(TWO), &[]).status.code(), Some(3));
    assert_eq!(hosts.lab.connections(), before);
    let out = hosts.lab.linerate(&["audit", "--inventory", "x"]).output().unwrap();
    assert_eq!(out.status.code(), Some(3));
}

#[test]
fn a_policy_is_learnt_from_live_nodes_and_held_against_them() {
    let Some(hosts) = Hosts::start() else { return };
    let policy = hosts.lab.path("h.toml").display().to_string();
    let learn = ["policy", "learn", "-o", &policy];
    assert_eq!(hosts.run(&learn, DEAD, &[]).status.code(), Some(3));
    assert!(!Path::new(&policy).exists());
    let whole = hosts.run(&learn, &all(TWO), &[]).status.code();
    let (json, part) = hosts.json("policy-learn-1", &learn, &all(&[TWO[0], TWO[1], DEAD]));
    assert_eq!((whole, part), (Some(0), 2), "{json}");
    let check = ["policy", "check", &policy];
    let (json, code) = hosts.json("policy-check-1", &check, &all(&[TWO[0], TWO[1], DEAD]));
    assert_eq!((code, &json["unreadable"][0]["node"]), (2, &Value::from(DEAD)), "{json}");
    let (json, code) = hosts.json("policy-check-1", &check, &all(&[TWO[0], SICK]));
    assert_eq!((code, json["failing"].as_array().map(Vec::is_empty)), (1, Some(false)), "{json}");
    assert_eq!(hosts.run(&check, DEAD, &[]).status.code(), Some(3));
}

#[test]
fn one_live_node_is_as_its_snapshot() {
    let Some(hosts) = Hosts::start() else { return };
    let of_file = |words: &[&str]| -> (Value, Option<i32>) {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_linerate"));
        let out = command.args(words).args(["--format", "json"]).output().unwrap();
        (serde_json::from_slice(&out.stdout).unwrap(), out.status.code())
    };
    let file = hosts.file(82);
    let (live, code) = hosts.json("plan-1", &["plan"], SICK);
    let (stored, code_of_file) = of_file(&["plan", &file]);
    assert_eq!((Some(code), &live["steps"]), (code_of_file, &stored["steps"]));
    assert!(live["steps"].as_array().is_some_and(|s| !s.is_empty()));
    assert_eq!(live["node"]["machine"], stored["node"]["machine"]);
    let (live, code) = hosts.json("topo-1", &["topo"], SICK);
    let (stored, code_of_file) = of_file(&["topo", &file]);
    assert_eq!((Some(code), &live["paths"]), (code_of_file, &stored["paths"]));
    let plan = hosts.lab.path("82.plan").display().to_string();
    assert_eq!(hosts.run(&["plan", "-o", &plan], SICK, &["--format", "json"]).status.code(), Some(1));
    assert_eq!(
        hosts.run(&["verify", &plan], SICK, &["--format", "json"]).status.code(),
        of_file(&["verify", &plan, &file]).1
    );
    assert_eq!(hosts.run(&["plan", "--host", "x"], SICK, &[]).status.code(), Some(3));
    let settings = hosts.lab.path("settings").display().to_string();
    std::fs::write(&settings, "NCCL_DEBUG=INFO\nNCCL_IB_DISABLE=1\n").unwrap();
    let (live, code) = hosts.json("env-1", &["env", "check", &settings], SICK);
    let (stored, code_of_file) = of_file(&["env", "check", &settings, "--node", &file]);
    assert_eq!((Some(code), &live["judgements"]), (code_of_file, &stored["judgements"]));
    // A node of the job that is dead takes nothing from what the others show.
    let (json, code) = hosts.json("doctor-1", &["doctor"], &all(&[TWO[0], DEAD]));
    assert!(json.to_string().contains(DEAD) && code == 2, "{code} {json}");
}

/// Ctrl-C while hosts are asked: nothing is left there, and no snapshot here.
/// Each reading of a node is a connection of its own; a node that is dead is named, and what the others show is shown.
#[test]
fn counters_are_watched_on_live_nodes() {
    let Some(hosts) = Hosts::start() else { return };
    let watch = ["watch", "counters", "--interval", "1s", "--count", "1"];
    let (json, code) = hosts.json("watch-1", &watch, &all(&[TWO[0], DEAD]));
    let nodes = json["nodes"].as_array().unwrap();
    let of = |name: &str| nodes.iter().find(|n| n["name"] == name).unwrap_or_else(|| panic!("{name} in {nodes:?}"));
    assert_eq!((nodes.len(), code), (2, 2), "{json}");
    assert!(of(DEAD)["error"].is_string() && of(DEAD)["verdict"].is_null(), "{json}");
    // The program prints the same snapshot each time: nothing grew, and nothing passed.
    let live = of(TWO[0]);
    assert_eq!((live["intervals"].as_u64(), live["verdict"].as_str()), (Some(1), Some("unknown")), "{json}");
    assert!(live["judged"].as_u64().is_some_and(|n| n > 50), "{json}");
}

#[test]
fn an_interrupted_verb_leaves_nothing() {
    let Some(hosts) = Hosts::start() else { return };
    let text = std::fs::read_to_string(&hosts.program).unwrap();
    let slow = hosts.lab.program("slow", &text.replace("*127.1.0.82*)", "*127.1.0.82*) sleep 1000 ;;\n*never*)"));
    let on = all(&[TWO[0], SICK]);
    let word = hosts.lab.path("hosts").display().to_string();
    let words = ["drift", "--on", &on, "--collector", "push", "--program", &slow];
    let mut child = hosts.lab.linerate(&words).spawn().unwrap();
    let snapshots = || hosts.lab.left().iter().any(|d| d.join(TWO[0]).is_dir());
    wait_for("one to be read", snapshots);
    wait_for("the other one to hang", || !processes(&word).is_empty());
    let private = hosts.lab.left();
    let mode = std::os::unix::fs::PermissionsExt::mode(&private[0].metadata().unwrap().permissions());
    assert_eq!((private.len(), mode & 0o777), (1, 0o700));
    assert!(quietly("kill", &["-INT", &child.id().to_string()]));
    wait_for("the end", || child.try_wait().unwrap().is_some());
    let out = child.wait_with_output().unwrap();
    assert_eq!((out.status.code(), out.stdout.len()), (Some(130), 0));
    assert_eq!(hosts.lab.left(), Vec::<PathBuf>::new());
    all_gone(&word);
}
