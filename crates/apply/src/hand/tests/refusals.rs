//! What is refused, before anything is changed.

use super::{Node, begin, codes, run, step, value};
use crate::protocol::{Phase, Request};
use linerate_remedy::{Act, BiosAct, Condition, Content, FileAct, FileState, Step, ValueAct};

fn file(path: &str) -> Act {
    let after = Some(Content("x\n".to_owned()));
    Act::File(FileAct { path: path.to_owned(), before: FileState::Absent, after, mode: 0o644 })
}

/// Begins a plan of these acts and says why not; nothing may have changed.
fn refused(node: &Node, acts: Vec<Act>) -> Vec<(String, String)> {
    let was = node.tree();
    let answer = node.ask(begin(&node.plan_of(vec![step("a", acts)])));
    assert_eq!(node.tree(), was);
    answer.refused.into_iter().map(|t| (t.code, t.what)).collect()
}

#[test]
fn all_troubles_at_once() {
    let node = Node::new();
    let stale =
        Act::File(FileAct { path: "/etc/limits.conf".to_owned(), before: FileState::Absent, after: None, mode: 0 });
    let value = Act::Value(ValueAct {
        path: "/sys/class/net/eth1/mtu".to_owned(),
        before: "4000".to_owned(),
        after: "1".to_owned(),
    });
    let found = refused(&node, vec![stale, value, run(&["nowhere"], &[], &[])]);
    let codes: Vec<&str> = found.iter().map(|(code, _)| code.as_str()).collect();
    assert_eq!(codes, ["stale", "stale", "missing-program"]);
    assert!(found[1].1.contains("expects \"4000\", but it is \"1500\""), "{}", found[1].1);
}

#[test]
fn a_plan_of_a_redacted_snapshot_says_how_to_make_one_that_is_not() {
    let node = Node::new();
    let mut plan = node.plan_of(vec![step("a", vec![file("/etc/x")])]);
    (plan.node.machine, plan.node.redacted) = (None, true);
    let answer = node.ask(begin(&plan.sealed()));
    assert_eq!(codes(&answer), ["redacted"]);
    assert!(answer.refused.iter().all(|t| t.what.contains("--no-redact")), "{:?}", answer.refused);
}

#[test]
fn hostile_paths() {
    let node = Node::new();
    node.write("etc/target", "t\n");
    std::os::unix::fs::symlink("target", node.at("etc/link")).unwrap();
    std::os::unix::fs::symlink("/nowhere", node.at("etc/dangling")).unwrap();
    std::os::unix::fs::symlink("loop", node.at("etc/loop")).unwrap();
    std::fs::create_dir(node.at("etc/dir")).unwrap();
    for (path, why) in [
        ("/etc/link", "is a link to \"target\""),
        ("/etc/dangling/x", "etc/dangling"),
        ("/etc/loop/x", "lead nowhere"),
        ("/etc/dir", "not a regular file"),
        ("/etc/../x", "empty part, . or .."),
        ("etc/x", "does not begin with /"),
        ("/etc/a\nb", "control characters"),
        ("/etc/target/x", "not a directory"),
        ("/etc//x", "empty part"),
    ] {
        let was = node.tree();
        let plan = node.plan_of(vec![step("a", vec![file(path)])]);
        let mut answer = node.ask(begin(&plan));
        if answer.refused.is_empty() {
            answer = node.ask(Request::Perform { plan: plan.hash.clone(), phase: Phase::First });
            assert!(node.rollback(&plan).refused.is_empty(), "{path}");
        }
        let told: Vec<&str> = answer.refused.iter().map(|t| t.what.as_str()).collect();
        assert!(told.iter().any(|t| t.contains(why)), "{path}: {told:?}");
        assert_eq!(node.tree(), was, "{path}");
    }
}

#[test]
fn links_of_directories_stay_below_the_root() {
    let (node, outside) = (Node::new(), tempfile::tempdir().unwrap());
    std::os::unix::fs::symlink(outside.path(), node.at("etc/away")).unwrap();
    let plan = node.plan_of(vec![step("a", vec![file("/etc/away/x")])]);
    node.ask(begin(&plan));
    node.ask(Request::Perform { plan: plan.hash.clone(), phase: Phase::First });
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn programs_elsewhere_are_not_run() {
    let node = Node::new();
    node.write("tmp/x", "#!/bin/sh\n");
    node.chmod("tmp/x", 0o755);
    for name in ["/tmp/x", "../../tmp/x", "./x", "/usr/bin/../../tmp/x", ""] {
        let found = refused(&node, vec![run(&[name], &[], &[])]);
        assert_eq!(found[0].0, "missing-program", "{name}: {found:?}");
    }
}

#[test]
fn another_node_an_edited_plan_another_plan() {
    let node = Node::new();
    let plan = node.plan();
    let mut other = plan.clone();
    other.node.machine = Some("0".repeat(16));
    assert_eq!(codes(&node.ask(begin(&other.sealed()))), ["other-node"]);
    let mut edited = plan.clone();
    edited.steps[0].summary = "edited".to_owned();
    assert_eq!(codes(&node.ask(begin(&edited))), ["hash"]);
    assert_eq!(codes(&node.ask(begin(&plan))), Vec::<&str>::new());
    let second = node.plan_of(vec![step("a", vec![value("9000")])]);
    let answer = node.ask(begin(&second));
    assert_eq!(codes(&answer), ["taken"]);
    assert!(answer.refused[0].what.contains("me@there took this node"), "{}", answer.refused[0].what);
    assert_eq!(codes(&node.ask(Request::Perform { plan: second.hash.clone(), phase: Phase::First })), ["unknown-plan"]);
    assert_eq!(codes(&node.rollback(&plan)), Vec::<&str>::new(), "nothing was made: nothing is to be undone");
    assert_eq!(codes(&node.ask(begin(&second))), Vec::<&str>::new());
}

#[test]
fn preconditions() {
    let node = Node::new();
    let path = || "/proc/cmdline".to_owned();
    for (condition, code) in [
        (Condition::Program { name: "setpci".to_owned(), package: "pciutils".to_owned() }, "missing-program"),
        (Condition::Exists { path: "/etc/nothing".to_owned() }, "stale"),
        (Condition::Value { path: path(), value: "quiet".to_owned() }, "stale"),
        (Condition::Cmdline { has: vec!["quiet".to_owned()], lacks: Vec::new() }, "stale"),
        (Condition::Cmdline { has: Vec::new(), lacks: vec!["ro".to_owned()] }, "stale"),
    ] {
        let step = Step { precondition: vec![condition.clone()], ..step("a", vec![value("9000")]) };
        assert_eq!(codes(&node.ask(begin(&node.plan_of(vec![step])))), [code], "{condition:?}");
    }
    node.write("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    let locked = Step { precondition: vec![Condition::NoLockdown], ..step("a", vec![value("9000")]) };
    assert_eq!(codes(&node.ask(begin(&node.plan_of(vec![locked])))), ["lockdown"]);
}

#[test]
fn a_torn_line_is_told_and_a_damaged_journal_is_not_used() {
    let node = Node::new();
    let plan = node.plan();
    node.ask(begin(&plan));
    node.ask(Request::Perform { plan: plan.hash.clone(), phase: Phase::First });
    let path = format!("var/lib/linerate/apply/{}/journal.jsonl", plan.hash.get(..16).unwrap());
    let whole = node.read(&path).unwrap();
    node.write(&path, whole.get(..whole.len() - 5).unwrap());
    let answer = node.ask(Request::Perform { plan: plan.hash.clone(), phase: Phase::First });
    assert!(answer.refused.is_empty() && answer.told.iter().any(|t| t.contains("cut off")), "{answer:?}");
    node.write(&path, &whole.replacen("announced", "anno_nced", 1));
    assert_eq!(codes(&node.ask(Request::Rollback { plan: plan.hash.clone() })), ["journal"]);
}

#[test]
fn what_the_driver_makes_is_noted_in_order() {
    use crate::protocol::Stands;
    let node = Node::new();
    let bios = Act::Bios(BiosAct { attribute: "Iommu".into(), before: "Off".into(), after: "On".into() });
    let plan = node.plan_of(vec![step("bios", vec![bios])]);
    node.ask(begin(&plan));
    let tell = |stands, note: &str| {
        let (plan, step, note) = (plan.hash.clone(), "bios".to_owned(), note.to_owned());
        node.ask(Request::Elsewhere { plan, step, number: 0, stands, note })
    };
    let perform = || node.ask(Request::Perform { plan: plan.hash.clone(), phase: Phase::First });
    assert_eq!(codes(&perform()), ["not-here"], "a hand does not make it");
    assert_eq!(codes(&tell(Stands::Made, "x")), ["order"], "first announced");
    assert_eq!(codes(&tell(Stands::Undone, "x")), ["order"], "nothing is undone yet");
    assert_eq!(codes(&tell(Stands::Announced, "was Off")), Vec::<&str>::new());
    // Again, after an interruption: what was there at first is kept.
    let again = tell(Stands::Announced, "is On");
    assert_eq!(again.state.unwrap().acts[0].before.as_deref(), Some("was Off"));
    assert_eq!(codes(&tell(Stands::Made, "waits")), Vec::<&str>::new());
    assert_eq!(codes(&perform()), Vec::<&str>::new());
    let undone = node.ask(Request::Rollback { plan: plan.hash.clone() });
    assert_eq!(codes(&undone), Vec::<&str>::new());
    assert_eq!(undone.state.unwrap().acts[0].stands, Stands::Made, "left to the driver");
    assert_eq!(codes(&node.ask(Request::Finish { plan: plan.hash.clone() })), ["order"], "and not forgotten");
    assert_eq!(codes(&tell(Stands::Announced, "x")), ["order"]);
    assert_eq!(codes(&tell(Stands::Undone, "Off again")), Vec::<&str>::new());
    assert_eq!(codes(&node.ask(Request::Finish { plan: plan.hash.clone() })), Vec::<&str>::new());
}
