//! Policies: what is learnt holds on its teachers, each change is found where it was made, and what is not seen never passes.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // helpers of tests, outside of test functions

use crate::common;

use linerate_compose::Description;
use linerate_fleet::nodeset::{Groups, Why as NoSet, parse_within};
use linerate_fleet::policy::{self, Class, Learnt, Lessons, Policy, Unresolved, Why, Wrong};
use linerate_fleet::{Profile, Traits};
use linerate_node::Node;
use linerate_rules::Status;
use linerate_snapshot::Snapshot;
use std::collections::BTreeSet;

/// The healthy node with a patch, and serial numbers of its own.
fn node(seed: u32, patch: &str) -> Snapshot {
    let text = std::fs::read_to_string(common::nodes().join("healthy-8gpu.toml")).unwrap();
    let text = text.replace("[node]\n", &format!("[node]\nseed = {seed}\nhost = \"n{seed}\"\n"));
    let d = Description::parse(&format!("{text}\n{patch}")).unwrap_or_else(|e| panic!("{patch}: {e}"));
    common::snapshot(&d.compose().unwrap(), &format!("n{seed}"))
}

fn learn(nodes: &[Snapshot], accept: &[&str]) -> Learnt {
    let mut lessons = Lessons::accepting(accept.iter().map(|r| (*r).to_owned()));
    for s in nodes {
        let node = Node::decode(s);
        let profile = Profile::of(&s.label, &node, s, linerate_rules::rules());
        lessons.add(&s.label, &profile, &Traits::of(&node));
    }
    lessons.learn("test")
}

/// Ids by status; and how many answers there are of each.
fn held(policy: &Policy, s: &Snapshot, status: Status) -> BTreeSet<String> {
    let node = Node::decode(s);
    let profile = Profile::of(&s.label, &node, s, &[]);
    let checked = policy::check(policy, &profile, &Traits::of(&node), None);
    assert!(!checked.classes.is_empty(), "{}: no class", s.label);
    checked.answers.iter().filter(|a| a.status == status).map(|a| a.kind.about().id.clone()).collect()
}

fn parsed(text: &str) -> Policy {
    policy::read(text)
        .unwrap_or_else(|m| panic!("{}", m.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")))
}

/// Learnt from three nodes, written, read back: the same, and it holds on each of them, with nothing unknown.
#[test]
fn what_is_learnt_is_read_back_and_holds_on_its_teachers() {
    let nodes = [node(1, ""), node(2, ""), node(3, "")];
    let learnt = learn(&nodes, &[]);
    let wrong: Vec<_> = learnt.left.iter().filter(|l| matches!(l.why, Why::Wrong { .. })).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let text = policy::write(&learnt.policy);
    let back = parsed(&text);
    assert_eq!(policy::write(&back), text, "written twice");
    assert_eq!(policy::diff(&learnt.policy, &back), vec![]);
    let ids = |p: &Policy| p.all().map(|(_, k)| k.about().id.clone()).collect::<BTreeSet<_>>();
    assert_eq!(ids(&learnt.policy), ids(&back));
    assert!(ids(&back).len() > 300, "{}", ids(&back).len());
    for s in &nodes {
        assert_eq!(held(&back, s, Status::Fail), BTreeSet::new(), "{}", s.label);
        assert_eq!(held(&back, s, Status::Unknown), BTreeSet::new(), "{}", s.label);
    }
    // Nothing of a name or a serial number of one node is in it.
    assert!(text.contains("learnt_from = \"n[1-3]\"") && !text.contains("n2"), "{text}");
    assert!(back.classes.iter().all(|c| c.learnt_from == ["n1", "n2", "n3"]), "{text}");
    // A name that the syntax of sets has no place for: a list, as before.
    let odd = Policy {
        classes: learnt
            .policy
            .classes
            .iter()
            .cloned()
            .map(|c| Class { learnt_from: vec!["a,b".into(), "c".into()], ..c })
            .collect(),
        ..learnt.policy.clone()
    };
    let text = policy::write(&odd);
    assert!(text.contains("learnt_from = [\"a,b\", \"c\"]"), "{text}");
    assert_eq!(parsed(&text).classes[0].learnt_from, ["a,b", "c"]);
}

/// One change of a node is found exactly where it was made.
#[test]
fn one_change_fails_exactly_there() {
    let policy = learn(&[node(1, ""), node(2, "")], &[]).policy;
    let mut found: Vec<(&str, Vec<String>)> = Vec::new();
    for patch in [
        "[pci.nic3]\nmrrs = 512",
        "[rdma.mlx5_4]\nfw_ver = \"28.36.1010\"",
        "[pci.gpu5]\nrelaxed_ordering = false",
        "[net.ib2]\nmtu = 2044",
        "[pci.nic1]\nnuma_node = 1",
        "[pci.\"gpu2.port\"]\nacs_ctl = 29",
        "[pci.gpu4]\naspm = \"l1\"",
        "[modules]\ndrop = [\"nvidia_uvm\"]",
    ] {
        let fails = held(&policy, &node(7, patch), Status::Fail);
        let short = |id: &String| id.split_once('.').map_or(id.clone(), |(_, rest)| rest.to_owned());
        found.push((patch, fails.iter().map(short).collect()));
    }
    let wanted: Vec<(&str, Vec<String>)> = [
        ("[pci.nic3]\nmrrs = 512", &["rail-nic.pci.express.max_read_request"][..]),
        ("[rdma.mlx5_4]\nfw_ver = \"28.36.1010\"", &["rail-nic.rdma.firmware"]),
        ("[pci.gpu5]\nrelaxed_ordering = false", &["gpu.pci.express.relaxed_ordering"]),
        ("[net.ib2]\nmtu = 2044", &["rail-nic.net.mtu"]),
        ("[pci.nic1]\nnuma_node = 1", &["rail-0-3-nic.pci.numa_node"]),
        ("[pci.\"gpu2.port\"]\nacs_ctl = 29", &["bridge-1-above-gpu.pci.acs.control"]),
        ("[pci.gpu4]\naspm = \"l1\"", &["gpu.pci.express.aspm_enabled"]),
        ("[modules]\ndrop = [\"nvidia_uvm\"]", &["node.kernel.modules.nvidia_uvm"]),
    ]
    .map(|(p, ids)| (p, ids.iter().map(|i| (*i).to_owned()).collect()))
    .into();
    for (f, w) in found.iter().zip(&wanted) {
        assert_eq!(f, w);
    }
}

/// What a rule calls wrong is left out, with the rule's name, unless it is accepted.
#[test]
fn what_rules_call_wrong_is_not_learnt() {
    let sick = || common::base("sick-8gpu");
    let learnt = learn(&[sick()], &[]);
    let rules: BTreeSet<&str> = learnt
        .left
        .iter()
        .filter_map(|l| if let Why::Wrong { rule, .. } = l.why { Some(rule) } else { None })
        .collect();
    assert!(rules.contains("pcie/relaxed-ordering") && rules.contains("cmdline/acs-override"), "{rules:?}");
    let has = |l: &Learnt| l.policy.all().any(|(_, k)| k.about().id.contains("kernel.cmdline"));
    assert!(!has(&learnt));
    // Of the card with one wrong register the others are learnt: another card of that kind shows the same, and the rule passes there.
    let of = |l: &Learnt, fact: &str| l.left.iter().any(|x| x.fact == fact && x.at == "rail 6 NIC");
    assert!(of(&learnt, "pci.express.relaxed_ordering") && !of(&learnt, "pci.express.max_payload"));
    let accepted = learn(&[sick()], &["cmdline/acs-override"]);
    assert!(has(&accepted));
    let left = |l: &Learnt| l.left.iter().filter(|x| matches!(x.why, Why::Wrong { .. })).count();
    assert!(left(&accepted) < left(&learnt));
}

/// On every kind of machine: what is learnt of a node holds there, whatever its rules say.
#[test]
fn what_is_learnt_of_any_machine_holds_there() {
    let all = common::descriptions(&common::nodes().join("healthy"));
    let broken = common::descriptions(&common::nodes().join("broken"));
    let some = common::descriptions(&common::nodes()).into_iter().chain(all).chain(broken.into_iter().step_by(16));
    for path in some {
        let (_, s) = common::load(&path);
        for accept in [Vec::new(), linerate_rules::rules().iter().map(|r| r.id).collect()] {
            let policy = parsed(&policy::write(&learn(std::slice::from_ref(&s), &accept).policy));
            assert_eq!(held(&policy, &s, Status::Fail), BTreeSet::new(), "{}", path.display());
            assert_eq!(held(&policy, &s, Status::Unknown), BTreeSet::new(), "{}", path.display());
        }
    }
}

/// Invariant 2: a source that shows nothing passes nothing.
#[test]
fn what_is_not_seen_never_passes() {
    let policy = learn(&[node(1, "")], &[]).policy;
    let empty = Snapshot::new("empty");
    assert_eq!(held(&policy, &empty, Status::Pass), BTreeSet::new());
    assert_eq!(held(&policy, &empty, Status::Fail), BTreeSet::new());
    assert!(held(&policy, &empty, Status::Unknown).len() > 300);
    // A text of one tool: what others show is unknown.
    let text = "01:00.0 Ethernet controller: Mellanox Technologies MT2910 Family [ConnectX-7]\n";
    let lspci = linerate_snapshot::load_bytes(text.as_bytes(), "lspci.txt").unwrap();
    let class = "schema = \"linerate.policy/1\"\n[class.a]\ndevices = { GPU = 8 }\n[class.a.on.node]\n\"memory.numa_balancing\" = 0\n\
                 \"kernel.modules nvidia\" = { absent = true }\n[class.a.on.\"rail 7 NIC\"]\n\"net.mtu\" = 9000\n\
                 [class.a.on.\"GPU *\"]\n\"pci.acs\" = { absent = true }\n";
    let policy = parsed(class);
    assert_eq!(held(&policy, &lspci, Status::Pass), BTreeSet::new());
    assert_eq!(held(&policy, &lspci, Status::Unknown).len(), 5);
}

/// Mistakes are found where they are: the variant, and what it holds (what was meant, what is wanted).
#[test]
fn mistakes_are_said_with_their_lines() {
    let head = "schema = \"linerate.policy/1\"\n";
    let mut missed = Vec::new();
    for (text, line, kind, part) in [
        ("x = [", 1, "Toml", ""),
        ("schema = \"linerate.policy/2\"", 1, "Schema", "linerate.policy/2"),
        ("sevrity = \"low\"", 2, "Key", "Some(\"severity\")"),
        ("severity = \"bad\"", 2, "Severity", "bad"),
        ("[class.a]\nmatch = { gpu = \"x\" }", 3, "Key", "Some(\"gpus\")"),
        ("[class.a.on.\"rails * NIC\"]\n\"net.mtu\" = 1", 2, "Role", "Some(\"rail * NIC\")"),
        ("[class.a.on.\"NIC *\"]\n\"net.mtuu\" = 1", 3, "Fact", "Some(\"net.mtu\")"),
        ("[class.a.on.\"NIC *\"]\n\"net.mtu\" = \"big\"", 3, "Value", "unit: \"bytes\""),
        ("[class.a.on.\"NIC *\"]\n\"net.mtu\" = -1", 3, "Value", "value: \"-1\""),
        ("[class.a.on.\"NIC *\"]\n\"net.mtu\" = { at_least = \"9 XB\" }", 3, "Operator", "at_least"),
        ("[class.a.on.\"NIC *\"]\n\"net.mtu\" = { equals = 9000, tolerance = 3 }", 3, "Tolerance", ""),
        ("[class.a.on.\"NIC *\"]\n\"net.mtu\" = { severity = \"low\" }", 3, "Nothing", "net.mtu"),
        ("[class.a.on.\"NIC *\"]\n\"net.mtu\" = { at_leest = 1 }", 3, "Key", "Some(\"at_least\")"),
        ("[class.a.on.\"NIC *\"]\n\"rdma.ports.lid port 1\" = 3", 3, "NotCompared", "rdma.ports.lid"),
        ("[class.a.on.\"NIC *\"]\n\"rdma.ports.rate_gbps\" = 400", 3, "Which", "port 1"),
        ("[class.a.on.\"NIC *\"]\n\"memory.total_kib\" = 4", 3, "Whose", "of: \"the node\""),
        ("[class.a.on.node]\n\"net.mtu\" = 4", 3, "Whose", "of: \"a device\""),
        ("[class.a.on.node]\n\"memory.numa_balancing\" = true", 3, "Value", "Number"),
        ("[class.a.on.node]\n\"cpu.hypervisor\" = 1", 3, "Value", "Flag"),
        ("[class.a.on.\"NIC *\"]\n\"pci.acs\" = true", 3, "Value", "There"),
        ("[class.a.on.\"NIC *\"]\n\"pci.link.speed\" = \"33 GT/s\"", 3, "Value", "Speed"),
        ("[class.a.on.node]\n\"cpu.model_name\" = { at_least = \"x\" }", 3, "Operator", "at_least"),
        ("[class.a.on.node]\n\"cpu.sockets\" = { equals = 2, fix = { sysctl = \"x\" } }", 3, "Fix", "value"),
        ("[[class.a.condition]]\nname = \"x y\"\nholds = \"true\"", 3, "Name", "x y"),
        (
            "[[class.a.condition]]\nname = \"x\"\nholds = \"node.memory.total_kb.known > 1\"",
            4,
            "Condition",
            "memory.total_kib",
        ),
        ("[[class.a.condition]]\nname = \"x\"\nholds = \"nodes.x\"", 4, "Condition", "nodes"),
        ("[[class.a.condition]]\nname = \"x\"\nholds = \"1 +\"", 4, "Condition", ""),
        (
            "[[class.a.condition]]\nname = \"x\"\nholds = \"sizes(node.pci.known) > 1\"",
            4,
            "Condition",
            "Some(\"size\")",
        ),
        (
            "[class.a.on.node]\n\"cpu.sockets\" = { equals = 2, name = \"x\" }\n\"cpu.processors\" = { equals = 2, name = \"x\" }",
            4,
            "Twice",
            "x",
        ),
        (
            "[class.a.on.node]\n\"cpu.sockets\" = 2\n[[test]]\nsource = \"a\"\nfails = [\"policy/a.node.cpu.socket\"]",
            4,
            "Unknown",
            "policy/a.node.cpu.sockets",
        ),
    ] {
        let whole = if text.starts_with("schema") || text.starts_with("x =") {
            text.to_owned()
        } else {
            format!("{head}{text}")
        };
        let Err(all) = policy::read(&whole) else { panic!("{text} is read") };
        let found = all.iter().any(|m| {
            let wrong = format!("{:?}", m.wrong);
            m.line == line && wrong.starts_with(kind) && wrong.contains(part)
        });
        if !found {
            missed.push(format!("{text}: {all:?}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// A hostile policy costs little, and is refused with a reason.
#[test]
fn hostile_policies_are_bounded() {
    let start = std::time::Instant::now();
    let head = "schema = \"linerate.policy/1\"\n";
    let condition = |cel: &str| format!("{head}[[class.a.condition]]\nname = \"x\"\nholds = '{cel}'\n");
    let lists = "node.pci.known";
    for text in [
        "[".repeat(100_000),
        format!("{head}x = {}1{}", "[".repeat(50_000), "]".repeat(50_000)),
        format!("{head}x{} = 1", ".a".repeat(50_000)),
        format!("{head}name = \"{}\"", "x".repeat(16 << 20)),
        condition(&"(".repeat(2_000)),
        condition(&"!".repeat(2_040)),
        condition(&format!("true{}", " && true".repeat(1_000))),
        condition(&"x".repeat(10_000)),
        condition(&format!("{lists}.all(a, {lists}.all(b, {lists}.all(c, a == b)))")),
        condition(&format!(
            "{0}.all(a, true) && {0}.all(a, true) && {0}.all(a, true) && {0}.all(a, true) && {0}.all(a, true)",
            lists
        )),
        condition("[1, 2, 3].all(a, true)"),
        condition("node.pci.known.map(a, node.pci.known).all(b, true)"),
        condition(r#""a".matches("(a*)*b")"#),
    ] {
        assert!(policy::read(&text).is_err(), "{}", text.chars().take(120).collect::<String>());
    }
    // Patterns do not run away.
    let slow = format!("{head}[class.a.on.node]\n\"cpu.model_name\" = {{ matches = \"{}b\" }}", "*a".repeat(20_000));
    held(&parsed(&slow), &node(1, ""), Status::Fail);
    // A range of many numbers is no list of as many devices.
    let wide = format!("{head}[class.a.on.\"GPU 0-4294967295\"]\n\"pci.driver\" = \"nvidia\"");
    held(&parsed(&wide), &node(1, ""), Status::Fail);
    println!("{:?}", start.elapsed());
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

/// A setting of sysctl is the node's, is learnt, and is told apart.
#[test]
fn a_setting_of_sysctl_is_expected_and_learnt() {
    let with = |value: u32| node(1, &format!("[files]\n\"proc/sys/vm/zone_reclaim_mode\" = \"{value}\\n\"\n"));
    let text = "schema = \"linerate.policy/1\"\n[class.a.on.node]\n\"sysctl.value vm.zone_reclaim_mode\" = \"0\"\n";
    let id = "policy/a.node.sysctl.value.vm.zone_reclaim_mode";
    for (value, status) in [(0, Status::Pass), (1, Status::Fail)] {
        assert_eq!(held(&parsed(text), &with(value), status), BTreeSet::from([id.to_owned()]), "{value}");
    }
    let learnt = parsed(&policy::write(&learn(&[with(0)], &[]).policy));
    assert_eq!(held(&learnt, &with(0), Status::Unknown), BTreeSet::new());
    let fails = held(&learnt, &with(1), Status::Fail);
    assert!(fails.len() == 1 && fails.iter().all(|f| f.ends_with("sysctl.value.vm.zone_reclaim_mode")), "{fails:?}");
}

/// The example of the page is read, is right where it says, and shows no unknown key.
#[test]
fn the_example_of_the_page_is_a_policy() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/policy.md")).unwrap();
    let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let policy = parsed(example);
    assert_eq!(policy.tests.len(), 2);
    for test in &policy.tests {
        let bytes = std::fs::read(root.join("examples").join(&test.source)).unwrap();
        let s = linerate_snapshot::load_bytes(&bytes, &test.source).unwrap();
        let fails: Vec<String> = held(&policy, &s, Status::Fail).into_iter().collect();
        let mut wanted = test.fails.clone();
        wanted.sort();
        assert_eq!(fails, wanted, "{}", test.source);
    }
    let fixes: Vec<&str> = page.lines().filter(|l| l.starts_with("fix = ")).collect();
    assert_eq!(fixes.len(), 7);
    for fix in fixes {
        let value = fix.strip_prefix("fix = ").unwrap();
        parsed(&format!(
            "schema = \"linerate.policy/1\"\n[class.a.on.node]\n\"cpu.sockets\" = {{ equals = 2, fix = {value} }}\n"
        ));
    }
}

/// A class can be of one kind of node; a source that does not tell the kind may be of it.
#[test]
fn a_class_is_of_a_kind_of_node() {
    let policy = parsed(
        "schema = \"linerate.policy/1\"\n[class.host]\nmatch = { role = \"vm-host\" }\n[class.guest]\nmatch = { role = \"vm-guest\" }\n\
         [class.metal]\nmatch = { role = \"bare-metal\" }\n",
    );
    assert_eq!(policy::write(&parsed(&policy::write(&policy))), policy::write(&policy));
    let classes = |s: &Snapshot| {
        let node = Node::decode(s);
        let profile = Profile::of(&s.label, &node, s, &[]);
        let checked = policy::check(&policy, &profile, &Traits::of(&node), None);
        let names = |all: &[(&policy::Class, Vec<&str>)]| all.iter().map(|(c, _)| c.name.clone()).collect::<Vec<_>>();
        (names(&checked.classes), names(&checked.undecided))
    };
    for (name, class) in [("healthy-8gpu", "metal"), ("healthy-vm-host", "host"), ("healthy-vm-guest", "guest")] {
        assert_eq!(classes(&common::base(name)), (vec![class.to_owned()], Vec::new()), "{name}");
    }
    assert_eq!(classes(&Snapshot::new("empty")).1, ["host", "guest", "metal"]);
    let wrong = "schema = \"linerate.policy/1\"\n[class.a]\nmatch = { role = \"hypervisor\" }";
    assert!(policy::read(wrong).is_err_and(|all| all.iter().any(|m| m.line == 3 && m.to_string().contains("vm-host"))));
}

struct Racks;

impl Groups for Racks {
    fn group(&self, _: Option<&str>, name: &str) -> Option<Vec<String>> {
        match name {
            "rack7" => Some(vec!["n[1-2]".to_owned()]),
            "none" => Some(Vec::new()),
            _ => None,
        }
    }

    fn all(&self, _: Option<&str>) -> Option<Vec<String>> {
        Some(vec!["n[1-9]".to_owned()])
    }
}

/// A class is of nodes by their names and by groups, which somebody must know.
#[test]
fn a_class_is_of_nodes_and_groups() {
    let class = |nodes: &str| format!("[class.c{}]\nmatch = {{ nodes = \"{nodes}\" }}\n", nodes.len());
    let text = |nodes: &[&str]| {
        let classes: String = nodes.iter().map(|n| class(n)).collect();
        format!("schema = \"linerate.policy/1\"\n{classes}")
    };
    let resolve = |policy: &mut Policy| policy.resolve(|set, budget| parse_within(set, &Racks, budget));
    let (one, two, ten) = (node(1, ""), node(2, ""), node(10, ""));
    let of = |policy: &Policy| -> Vec<usize> {
        let classes = |s: &Snapshot| {
            let node = Node::decode(s);
            let profile = Profile::of(&s.label, &node, s, &[]);
            policy::check(policy, &profile, &Traits::of(&node), None).classes.len()
        };
        [&one, &two, &ten].map(classes).to_vec()
    };
    for (nodes, needs, found) in
        [("n[1-10]!n2", false, [1, 0, 1]), ("@rack7", true, [1, 1, 0]), ("n*!@rack7,n10", true, [0, 0, 1])]
    {
        let mut policy = parsed(&text(&[nodes]));
        assert_eq!(policy.needs_groups(), needs, "{nodes}");
        if needs {
            assert_eq!(of(&policy), [0, 0, 0], "{nodes}");
            resolve(&mut policy).unwrap();
        }
        assert_eq!(of(&policy), found, "{nodes}");
        assert_eq!(parsed(&policy::write(&policy)).classes[0].matches.nodes, nodes);
    }
    let refused = |nodes: &str| resolve(&mut parsed(&text(&[nodes]))).unwrap_err();
    assert!(matches!(refused("@rack8"), Unresolved::Set { why, .. } if why.why == NoSet::Group));
    assert!(matches!(refused("@none"), Unresolved::Empty { .. }));
    let wrong = |nodes: &[&str]| policy::read(&text(nodes)).unwrap_err().remove(0).wrong;
    assert!(matches!(wrong(&["n[1-"]), Wrong::Nodes(e) if e.why == NoSet::Bracket));
    assert!(matches!(wrong(&[""]), Wrong::Type { .. }));
    assert!(matches!(wrong(&["n1!n1"]), Wrong::Type { .. }));
    // All classes together have the budget of one set.
    assert!(matches!(wrong(&["n[1-200000]", "nn[1-200000]"]), Wrong::Nodes(e) if e.why == NoSet::Many));
}
