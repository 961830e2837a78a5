//! `linerate policy test`, `diff` and `explain` as they are called; and what `plan --policy` makes of a wish of each kind.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // helpers of tests, outside of test functions

#[path = "../../rules/tests/common/mod.rs"]
mod common;
use crate::schema;

use linerate_compose::Description;
use linerate_remedy::{Plan, Proof};
use schema::Schema;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn linerate(arguments: &[&str]) -> Output {
    let mut c = Command::new(env!("CARGO_BIN_EXE_linerate"));
    c.args(arguments).env_clear().env("HOME", env!("CARGO_TARGET_TMPDIR")).env("PATH", "/usr/bin:/bin");
    c.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The example of docs/policy.md, which has two tests, and the snapshots that they name.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Desk {
        let dir = tempfile::tempdir().unwrap();
        for leaf in ["healthy-8gpu.tar.zst", "sick-8gpu.tar.zst"] {
            std::fs::copy(root().join("examples").join(leaf), dir.path().join(leaf)).unwrap();
        }
        Desk(dir)
    }

    fn example() -> String {
        let page = std::fs::read_to_string(root().join("docs/policy.md")).unwrap();
        page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap().to_owned()
    }

    fn write(&self, leaf: &str, text: &str) -> String {
        let path = self.0.path().join(leaf);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// The answer of `policy test`, held to its schema, and its status.
    fn test(policy: &str) -> (Value, Option<i32>) {
        let out = linerate(&["policy", "test", policy, "--format", "json"]);
        let json: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&out.stderr)));
        Schema::of("policy-test-1").check(&json).unwrap();
        (json, out.status.code())
    }
}

#[test]
fn tests_of_a_policy_are_run() {
    let (desk, example) = (Desk::new(), Desk::example());
    let policy = desk.write("h100.toml", &example);
    let (good, code) = Desk::test(&policy);
    let right = |json: &Value| json["tests"].as_array().unwrap().iter().map(|t| t["right"] == true).collect::<Vec<_>>();
    assert_eq!((code, right(&good)), (Some(0), vec![true, true]), "{good}");
    assert_eq!(good["tests"][0]["source"], "healthy-8gpu.tar.zst");
    let line = good["tests"][0]["line"].as_u64().unwrap() as usize;
    assert_eq!(example.lines().nth(line - 1), Some("[[test]]"), "{good}");
    Schema::of("policy-test-1").rejects(
        &good,
        &[("/exit_code", json!(3)), ("/tests/0/right", json!("yes")), ("/tests/0/missed", Value::Null)],
    );
    let out = linerate(&["policy", "test", &policy]);
    assert_eq!(text(&out.stdout), "ok     healthy-8gpu.tar.zst\nok     sick-8gpu.tar.zst\n2 of 2 tests hold\n");

    // What must fail and does not, what fails and must not, what is unknown, and what cannot be read.
    let ids: Vec<&str> = example.split("fails = [").nth(1).unwrap().split('"').skip(1).step_by(2).collect();
    assert!(ids.len() >= 2, "{ids:?}");
    let fewer = example.replace(&format!("\"{}\", ", ids[0]), "");
    let (json, code) = Desk::test(&desk.write("fewer.toml", &fewer));
    assert_eq!(
        (code, right(&json), &json["tests"][1]["surplus"]),
        (Some(1), vec![true, false], &json!([ids[0]])),
        "{json}"
    );
    let more = example.replace("fails = [", "fails = [\"policy/h100.each-gpu-has-a-nic\", ");
    let policy = desk.write("more.toml", &more);
    let (json, code) = Desk::test(&policy);
    assert_eq!((code, &json["tests"][1]["missed"]), (Some(1), &json!(["policy/h100.each-gpu-has-a-nic"])), "{json}");
    let said = text(&linerate(&["policy", "test", &policy]).stdout);
    assert!(
        said.contains("FAILED sick-8gpu.tar.zst\n  must fail, and does not: policy/h100.each-gpu-has-a-nic\n"),
        "{said}"
    );
    // What is unknown counts where the test says which may be.
    let hidden = example.replace("ATS_ENABLED\"", "NO_SUCH_SETTING\"");
    assert_eq!(Desk::test(&desk.write("hidden.toml", &hidden)).1, Some(0));
    let hidden = hidden.replace("8gpu.tar.zst\"\n[[test]]", "8gpu.tar.zst\"\nunknown = []\n[[test]]");
    let (json, code) = Desk::test(&desk.write("hidden.toml", &hidden));
    assert_eq!(code, Some(1), "{json}");
    assert!(json["tests"][0]["unknown"][0].as_str().unwrap().ends_with("NO_SUCH_SETTING"), "{json}");
    // A policy reads nothing above its directory, and a source that is missing is no test that passed.
    for (source, why) in [
        ("../sick.tar.zst", "below the policy's directory"),
        ("/etc/passwd", "below the policy's directory"),
        ("gone.tar.zst", "gone.tar.zst"),
    ] {
        let other = example.replace("source = \"healthy-8gpu.tar.zst\"", &format!("source = \"{source}\""));
        let (json, code) = Desk::test(&desk.write("other.toml", &other));
        assert_eq!((code, right(&json)), (Some(1), vec![false, true]), "{json}");
        assert!(json["tests"][0]["trouble"].as_str().unwrap().contains(why), "{json}");
    }
    // None at all; and no policy.
    let (none, code) = Desk::test(&desk.write("none.toml", example.split("[[test]]").next().unwrap()));
    assert_eq!((code, &none["exit_code"], &none["tests"]), (Some(2), &json!(2), &json!([])));
    let out = linerate(&[
        "policy",
        "test",
        &desk.write("bad.toml", "schema = \"linerate.policy/1\"\n[class.a.on.node]\n\"no.fact\" = 1\n"),
    ]);
    assert!(out.status.code() == Some(3) && text(&out.stderr).contains("no.fact"), "{}", text(&out.stderr));
    assert_eq!(linerate(&["policy", "test", "/nowhere.toml"]).status.code(), Some(3));
}

#[test]
fn two_policies_are_compared() {
    let (desk, example) = (Desk::new(), Desk::example());
    let one = desk.write("h100.toml", &example);
    let changed = example
        .replace("\"memory.numa_balancing\" = 0\n", "\"memory.huge_pages\" = 0\n")
        .replace("at_least = 16, severity = \"high\"", "at_least = 8, severity = \"high\"");
    let other = desk.write("new.toml", &changed);
    let diff = |a: &str, b: &str| {
        let out = linerate(&["policy", "diff", a, b, "--format", "json"]);
        let json: Value = serde_json::from_slice(&out.stdout).unwrap();
        Schema::of("policy-diff-1").check(&json).unwrap();
        (json, out.status.code())
    };
    let (same, code) = diff(&one, &one);
    assert_eq!((code, same["changes"].as_array().map(Vec::len)), (Some(0), Some(0)), "{same}");
    let (json, code) = diff(&one, &other);
    assert_eq!((code, json["changes"].as_array().map(Vec::len)), (Some(1), Some(3)), "{json}");
    let said = text(&linerate(&["policy", "diff", &one, &other]).stdout);
    for words in ["memory.numa_balancing", "memory.huge_pages", "rail * NIC: pci.link.width", "h100.toml", "new.toml"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    // Order, blanks and comments are no difference.
    let moved = example
        .replace("\"memory.numa_balancing\" = 0\n", "")
        .replace("[class.h100.on.node]\n", "[class.h100.on.node]\n\"memory.numa_balancing\"   =   0 # off\n");
    assert_eq!(linerate(&["policy", "diff", &one, &desk.write("moved.toml", &moved)]).status.code(), Some(0));
    assert_eq!(linerate(&["policy", "diff", &one, "/nowhere.toml"]).status.code(), Some(3));
    assert_eq!(linerate(&["policy", "diff", &one]).status.code(), Some(3));
}

#[test]
fn an_expectation_is_explained() {
    let (desk, example) = (Desk::new(), Desk::example());
    let policy = desk.write("h100.toml", &example);
    let explain = |id: &str| {
        let out = linerate(&["policy", "explain", &policy, id]);
        (out.status.code(), text(&out.stdout), text(&out.stderr))
    };
    let (code, all, _) = explain("");
    assert_eq!(code, Some(0));
    for id in ["policy/h100.full-width", "policy/h100.node.kernel.cmdline.iommu", "policy/h100.each-gpu-has-a-nic"] {
        assert!(all.contains(id), "{id}: {all}");
    }
    let (code, one, _) = explain("policy/h100.node.kernel.cmdline.iommu");
    assert_eq!((code, one.matches("policy/h100.").count()), (Some(0), 1), "{one}");
    for words in ["iommu=pt", "traffic between devices is not translated", "cluster team", "high"] {
        assert!(one.contains(words), "{words}: {one}");
    }
    let (code, part, _) = explain("width");
    assert!(code == Some(0) && part.contains("policy/h100.full-width"), "{part}");
    let (code, none, why) = explain("bananas");
    assert_eq!((code, none.as_str()), (Some(2), ""));
    assert!(why.contains("no expectation has this id"), "{why}");
    // Who taught what was learnt.
    let learnt = desk.0.path().join("learnt.toml").display().to_string();
    let from = desk.0.path().join("healthy-8gpu.tar.zst").display().to_string();
    assert_eq!(linerate(&["policy", "learn", &from, "-o", &learnt]).status.code(), Some(0));
    let said = text(&linerate(&["policy", "explain", &learnt, "kernel.modules.mlx5_ib"]).stdout);
    assert!(said.contains("healthy-8gpu"), "{said}");
    assert_eq!(linerate(&["policy", "explain", "/nowhere.toml"]).status.code(), Some(3));
}

/// RoCE on Ubuntu with what only root sees (boot loader, netplan), and of each kind something to mend.
const NODE: &str = r#"title = "a node of which something is wished"
[node]
cpu = "intel-sapphire-rapids"
cores_per_socket = 52
memory_gib = 2048
iommu = "identity"
dmi = ["Wiwynn", "Grand Teton"]
os = "ubuntu-24.04"
cmdline = "BOOT_IMAGE=/boot/vmlinuz root=/dev/sda1 ro iommu=pt nosmt audit=0"
memlock = "65536"
seed = 7
[layout]
gpu = "h100-sxm"
nic = "connectx-7-roce"
nvswitches = 4
nvme = 4
[pci.nic0]
mrrs = 512
relaxed_ordering = false
ten_bit_tag = false
[mlxconfig.nic0]
ATS_ENABLED = { current = "True(1)" }
[files]
"proc/sys/vm/nr_hugepages" = "0\n"
"proc/sys/vm/zone_reclaim_mode" = "0\n"
"proc/sys/vm/swappiness" = "60\n"
"sys/kernel/mm/transparent_hugepage/enabled" = "[always] madvise never\n"
"usr/lib/systemd/system/nvidia-dcgm.service" = "[Service]\nExecStart=/usr/bin/nv-hostengine -n\n[Install]\nWantedBy=multi-user.target\n"
[zoo]
gpus = 8
nets = 8
gdr = "yes"
port_gbps = 400
"#;

/// What becomes of a wish.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Becomes {
    /// A step of which the simulation shows that the fact is then as wanted.
    Shown,
    /// A step whose effect on the fact the simulation cannot show.
    Unsimulated,
    /// What people do.
    ByHand,
}

use Becomes::{ByHand, Shown, Unsimulated};

/// Role, fact, what is wanted of it, the fact that proves it, and what becomes of it.
const WISHES: &[(&str, &str, &str, &str, Becomes)] = &[
    // What linerate knows by itself how to bring about.
    ("node", "kernel.cmdline nokaslr", "\"nokaslr\"", "kernel.cmdline", Shown),
    ("node", "kernel.cmdline audit", "\"audit=1\"", "kernel.cmdline", Shown),
    ("node", "kernel.cmdline nosmt", "{ absent = true }", "kernel.cmdline", Shown),
    ("node", "kernel.modules nvme_rdma", "{ present = true }", "kernel.modules", Shown),
    ("node", "memory.numa_balancing", "1", "memory.numa_balancing", Shown),
    ("node", "memory.huge_pages", "512", "memory.huge_pages", Shown),
    ("node", "memory.transparent_hugepages", "\"madvise\"", "memory.transparent_hugepages", Shown),
    ("node", "sysctl.value vm.zone_reclaim_mode", "\"1\"", "sysctl[", Shown),
    ("node", "cpu.governors", "\"powersave\"", "cpu.governors", Shown),
    ("node", "cpu.energy_preferences", "\"power\"", "cpu.energy_preferences", Shown),
    ("node", "memory.memlock.soft_bytes", "\"unlimited\"", "memory.memlock.soft_bytes", Shown),
    ("node", "memory.memlock.hard_bytes", "\"unlimited\"", "memory.memlock.hard_bytes", Shown),
    ("rail 0 NIC", "nic_firmware.settings.current ATS_ENABLED", "\"False\"", "nic_firmware[", Shown),
    ("rail 0 NIC", "nic_firmware.settings.next ATS_ENABLED", "\"False\"", "nic_firmware[", Shown),
    ("rail 0 NIC", "net.mtu", "4200", "net[", Shown),
    ("rail 0 NIC", "pci.express.max_read_request", "4096", "pci[", Shown),
    ("rail 0 NIC", "pci.express.relaxed_ordering", "true", "pci[", Shown),
    ("rail 0 NIC", "pci.express.ten_bit_tag_enabled", "true", "pci[", Shown),
    // What a policy says how to bring about: the same proof, by the fact and not by what was written.
    (
        "node",
        "memory.numa_balancing",
        "{ equals = 1, fix = { sysctl = \"kernel.numa_balancing\", value = \"1\" } }",
        "memory.numa_balancing",
        Shown,
    ),
    (
        "node",
        "memory.transparent_hugepages",
        "{ equals = \"never\", fix = { sysfs = \"/sys/kernel/mm/transparent_hugepage/enabled\", value = \"never\" } }",
        "memory.transparent_hugepages",
        Shown,
    ),
    (
        "node",
        "kernel.modules nvme_rdma",
        "{ present = true, fix = { load_module = \"nvme_rdma\" } }",
        "kernel.modules",
        Shown,
    ),
    ("node", "cpu.sockets", "{ equals = 4, fix = { load_module = \"nvme_rdma\" } }", "cpu.sockets", Unsimulated),
    ("node", "cpu.sockets", "{ equals = 4, fix = { service = \"nvidia-dcgm\" } }", "cpu.sockets", Unsimulated),
    // What is left to people: no BMC is named, the service is not installed, nobody knows how.
    ("node", "cpu.sockets", "{ equals = 4, fix = { service = \"nvidia-fabricmanager\" } }", "", ByHand),
    ("node", "cpu.sockets", "{ equals = 4, fix = { bios = \"IOMMU\", value = \"Enabled\" } }", "", ByHand),
    ("node", "cpu.sockets", "{ equals = 4, fix = { by_hand = \"ask for the other board\" } }", "", ByHand),
    ("node", "firmware.sys_vendor", "\"Dell Inc.\"", "", ByHand),
];

/// What became of the only wish of a plan.
fn became(plan: &Plan, proves: &str) -> Result<Becomes, String> {
    let policy = |rules: &[String]| matches!(rules, [rule] if rule.starts_with("policy/any."));
    let step = match plan.steps.as_slice() {
        [step] if policy(&step.rules) => step,
        [] if plan.by_hand.iter().any(|b| policy(&b.rules)) => return Ok(ByHand),
        steps => {
            let steps: Vec<&str> = steps.iter().map(|s| s.summary.as_str()).collect();
            return Err(format!("steps {steps:?}; by hand {:?}; refused {:?}", plan.by_hand, plan.refused));
        }
    };
    if !step.proof.iter().any(|p| matches!(p, Proof::Fact { fact, .. } if fact.starts_with(proves))) {
        return Err(format!("no proof by its fact: {:?}", step.proof));
    }
    let changed = plan.simulation.iter().flat_map(|s| &s.changed).filter(|c| c.rule == step.rules[0]);
    let states: Vec<_> = changed.map(|c| (c.before.status.as_str(), c.after.status.as_str())).collect();
    match states.as_slice() {
        [("fail", "pass")] => Ok(Shown),
        [] => Ok(Unsimulated),
        other => Err(format!("simulated {other:?}, not simulated {:?}", step.unsimulated)),
    }
}

#[test]
fn a_wish_of_each_kind_is_a_step_that_its_fact_proves() {
    let dir = tempfile::tempdir().unwrap();
    let tree = Description::parse(NODE).unwrap().compose().unwrap();
    let node = dir.path().join("n1.tar.zst");
    common::snapshot(&tree, "n1").save(&node).unwrap();
    let node = node.display().to_string();
    let policy = dir.path().join("wish.toml");
    let mut wrong = Vec::new();
    for (role, fact, wanted, proves, becomes) in WISHES {
        let text_of = format!("schema = \"linerate.policy/1\"\n[class.any.on.\"{role}\"]\n\"{fact}\" = {wanted}\n");
        std::fs::write(&policy, text_of).unwrap();
        let out = linerate(&["plan", &node, "--policy", policy.to_str().unwrap(), "--format", "json"]);
        let is = match Plan::read(&out.stdout) {
            Ok(plan) => became(&plan, proves),
            Err(_) => Err("no plan".to_owned()),
        };
        if is != Ok(*becomes) {
            wrong.push(format!("{role} {fact} {wanted}: {is:?} {}", text(&out.stderr)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A class of a group of nodes is of those that the inventory has in it; without one that has it nothing is judged.
#[test]
fn a_class_is_of_a_group_of_the_inventory() {
    let desk = Desk::new();
    let policy = desk.write(
        "p.toml",
        "schema = \"linerate.policy/1\"\n[class.rack]\nmatch = { nodes = \"@rack7\" }\n[class.rack.on.node]\n\
         \"kernel.cmdline iommu\" = \"iommu=pt\"\n[[test]]\nsource = \"healthy-8gpu.tar.zst\"\n",
    );
    let at = |leaf: &str| desk.0.path().join(leaf).display().to_string();
    let (healthy, sick) = (at("healthy-8gpu.tar.zst"), at("sick-8gpu.tar.zst"));
    let inventory = |leaf: &str, rack: &str| {
        desk.write(leaf, &format!("nodes = \"healthy-8gpu,sick-8gpu\"\n[groups]\nrack7 = \"{rack}\"\n"))
    };
    let (one, both) = (inventory("one.toml", "healthy-8gpu"), inventory("both.toml", "healthy-8gpu,sick-8gpu"));
    let none = desk.write("none.toml", "nodes = \"healthy-8gpu\"\n");
    let check = |more: &[&str]| {
        let out = linerate(&[&["policy", "check", &policy, &healthy, &sick], more].concat());
        (out.status.code(), text(&out.stderr))
    };
    for more in [&[][..], &["--inventory", &none]] {
        let (code, said) = check(more);
        assert!(code == Some(3) && said.contains("@rack7") && said.contains("--inventory"), "{more:?} {said}");
    }
    // The other node is of no class.
    assert_eq!(check(&["--inventory", &one]).0, Some(2));
    assert_eq!(check(&["--inventory", &both]).0, Some(1));
    let code = |arguments: &[&str]| linerate(arguments).status.code();
    assert_eq!(code(&["policy", "test", &policy]), Some(3));
    assert_eq!(code(&["policy", "test", &policy, "--inventory", &one]), Some(0));
    assert_eq!(code(&["policy", "explain", &policy]), Some(0));
    assert_eq!(code(&["policy", "diff", &policy, &policy]), Some(0));
    assert_eq!(code(&["plan", &sick, "--policy", &policy, "--inventory", &one]), Some(3));
    assert_eq!(code(&["plan", &sick, "--policy", &policy, "--inventory", &both]), Some(1));
}
