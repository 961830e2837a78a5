//! Plans for every composed node of `lab/nodes`: what must hold of all plans.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

use crate::composed as common;

use linerate_node::Node;
use linerate_remedy::plan::{Options, plan};
use linerate_remedy::{Disruption, Plan, Proof};
use linerate_rules::{Severity, Status, audit, rules};
use linerate_snapshot::Snapshot;
use std::collections::BTreeSet;
use std::path::Path;

fn load(path: &Path) -> Snapshot {
    common::load(path).1
}

#[test]
fn every_finding_is_planned_left_to_people_or_refused() {
    let mut wishes = 0;
    for path in common::all_descriptions() {
        let s = load(&path);
        let node = Node::decode(&s);
        let audit = audit(&node, &s, rules());
        let plan = plan(&s, &node, &audit, &Options::default());
        let name = path.display();
        let told: BTreeSet<&str> = plan
            .steps
            .iter()
            .flat_map(|s| &s.rules)
            .chain(plan.by_hand.iter().flat_map(|b| &b.rules))
            .chain(plan.refused.iter().flat_map(|r| &r.rules))
            .map(String::as_str)
            .collect();
        for v in audit.with(Status::Fail).filter(|v| v.severity() > Severity::Info && v.finding.remedy.is_some()) {
            wishes += 1;
            assert!(told.contains(v.rule.id), "{name}: {} is nowhere in the plan", v.rule.id);
        }
        holds(&plan, &name.to_string());
    }
    eprintln!("{wishes} remedies of findings");
    assert!(wishes > 50, "only {wishes} remedies: the test tests nothing");
}

fn holds(plan: &Plan, name: &str) {
    let again = Plan::read(&serde_json::to_vec(plan).unwrap()).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(&again, plan, "{name}");
    let ids: BTreeSet<&str> = plan.steps.iter().map(|s| s.id.as_str()).collect();
    assert_eq!(ids.len(), plan.steps.len(), "{name}: step names");
    let reboots: Vec<bool> = plan.steps.iter().map(|s| s.disruption >= Disruption::DrainReboot).collect();
    assert!(reboots.is_sorted(), "{name}: steps without a reboot come first");
    for s in &plan.steps {
        assert!(s.proof.iter().any(|p| matches!(p, Proof::Rule { .. })), "{name}: {} proves no rule", s.id);
        assert!(!s.summary.is_empty() && !s.why.is_empty() && !s.rules.is_empty(), "{name}: {}", s.id);
        for p in &s.proof {
            if let Proof::Cmdline { has, lacks } = p {
                assert!(has.iter().all(|w| !lacks.contains(w)), "{name}: {has:?} {lacks:?}");
            }
        }
    }
}

#[test]
fn the_same_input_gives_the_same_plan() {
    for path in common::all_descriptions().into_iter().take(3) {
        let s = load(&path);
        let node = Node::decode(&s);
        let audit = audit(&node, &s, rules());
        let of = || plan(&s, &node, &audit, &Options::default());
        assert_eq!(of().hash, of().hash);
    }
}
