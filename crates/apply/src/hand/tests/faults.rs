//! The process is killed at every boundary; afterwards the plan is gone on with, or undone, and nothing is half made.

use super::Node;
use crate::protocol::{Request, Stage};
use linerate_remedy::Plan;
use std::process::Command;

/// Runs this test's other half, [`half`], in a process that is killed; whether it was, and what it wrote.
fn killed(node: &Node, flow: &str, fault: &str) -> (bool, String) {
    let out = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "hand::tests::faults::half", "--nocapture", "--test-threads=1"])
        .env("LINERATE_FAULT", fault)
        .env("LINERATE_TEST_NODE", node.at(""))
        .env("LINERATE_TEST_FLOW", flow)
        .output()
        .unwrap();
    (!out.status.success(), String::from_utf8_lossy(&out.stderr).into_owned())
}

/// The other half: a hand that works on the directory that it is given. Without one it has nothing to do.
#[test]
fn half() {
    let Some(dir) = std::env::var_os("LINERATE_TEST_NODE") else { return };
    let node = Node::of(dir.as_ref());
    let plan: Plan = Plan::read(node.read("var/plan").unwrap().as_bytes()).unwrap();
    let end = match std::env::var("LINERATE_TEST_FLOW").unwrap().as_str() {
        "apply" => node.apply(&plan),
        _ => node.rollback(&plan),
    };
    assert!(end.refused.is_empty(), "{:?}", end.refused);
}

/// How many boundaries a flow passes.
fn count(node: &Node, flow: &str) -> usize {
    let (failed, told) = killed(&node.copy(), flow, "count");
    assert!(!failed, "{told}");
    told.lines().filter(|l| l.starts_with("boundary ")).count()
}

#[test]
fn killed_at_every_boundary() {
    let start = Node::new();
    let plan = start.plan();
    start.write("var/plan", &serde_json::to_string(&plan).unwrap());
    let made = start.copy();
    let end = made.apply(&plan);
    assert_eq!((super::codes(&end), super::stage(&end)), (vec![], Some(Stage::Finished)));
    let (wanted, was) = (made.contents(), start.tree());
    let (applying, undoing) = (count(&start, "apply"), count(&made, "rollback"));
    // All of them take minutes: a bounded sample is taken unless LINERATE_FAULTS=all, another one for each boundary's place in the round.
    let every = if std::env::var("LINERATE_FAULTS").is_ok_and(|v| v == "all") { 1 } else { 11 };
    let mut tested = 0;
    for n in (1..=applying).filter(|n| n % every == 1 % every) {
        let node = start.copy();
        let (died, told) = killed(&node, "apply", &n.to_string());
        assert!(died && told.contains("killed at boundary"), "{n}: {told}");
        let other = node.copy();
        let end = node.apply(&plan);
        assert!(end.refused.is_empty(), "{n}: {told}: {:?}", end.refused);
        assert_eq!(node.contents(), wanted, "going on after {told}");
        let end = node.rollback(&plan);
        assert!(
            end.refused.is_empty() && node.tree() == was,
            "{n}: undone after going on after {told}: {:?}",
            end.refused
        );
        let end = other.ask(Request::Rollback { plan: plan.hash.clone() });
        let begun = !super::codes(&end).contains(&"unknown-plan");
        assert!(!begun || end.refused.is_empty(), "{n}: {told}: {:?}", end.refused);
        assert_eq!(other.tree(), was, "undone after {told}");
        tested += 1;
    }
    for n in (1..=undoing).filter(|n| n % every == 1 % every) {
        let node = made.copy();
        let (died, told) = killed(&node, "rollback", &n.to_string());
        assert!(died && told.contains("killed at boundary"), "{n}: {told}");
        let end = node.rollback(&plan);
        assert!(end.refused.is_empty(), "{n}: {told}: {:?}", end.refused);
        assert_eq!(node.tree(), was, "undone again after {told}");
        tested += 1;
    }
    println!("faults injected: {tested} of {} boundaries ({applying} applying, {undoing} undoing)", applying + undoing);
    assert!(tested > 10);
}
