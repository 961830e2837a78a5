//! Healthy machines of `lab/nodes/healthy`, composed from public descriptions: on none of them anything may be found, planned or
//! concluded that is not so. And their broken siblings: the cause comes first.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

#[path = "../../../rules/tests/common/mod.rs"]
mod common;
mod page;
mod truth;

use linerate_compose::{Description, Zoo};
use linerate_node::Node;
use linerate_remedy::plan::{Options, plan};
use linerate_remedy::{Plan, simulate};
use linerate_rules::{Audit, Severity, Status, Verdict, audit, rules};
use linerate_snapshot::Snapshot;
use std::path::PathBuf;
use std::sync::LazyLock;

/// A machine and what is said of it.
pub(crate) struct Machine {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) description: Description,
    pub(crate) zoo: Zoo,
    pub(crate) snapshot: Snapshot,
    pub(crate) said: Said,
}

fn load(path: PathBuf) -> Option<Machine> {
    let (description, snapshot) = common::load(&path);
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let Some(zoo) = description.zoo.clone() else {
        println!("{name} has no [zoo] yet: not judged");
        return None;
    };
    Some(Machine {
        text: std::fs::read_to_string(&path).unwrap(),
        name,
        description,
        zoo,
        said: judge(&snapshot),
        snapshot,
    })
}

fn all(folder: &str) -> Vec<Machine> {
    let mut paths = common::descriptions(&common::nodes().join(folder));
    if let Ok(only) = std::env::var("ZOO") {
        paths.retain(|p| p.to_string_lossy().contains(&only));
    }
    paths.into_iter().filter_map(load).collect()
}

/// Composing takes longest: once for all tests.
static HEALTHY: LazyLock<Vec<Machine>> = LazyLock::new(|| all("healthy"));
static BROKEN: LazyLock<Vec<Machine>> = LazyLock::new(|| all("healthy/broken"));

/// What a snapshot is told.
pub(crate) struct Said {
    pub(crate) audit: Audit,
    pub(crate) plan: Plan,
}

pub(crate) fn judge(s: &Snapshot) -> Said {
    let node = Node::decode(s);
    let audit = audit(&node, s, rules());
    let plan = plan(s, &node, &audit, &Options::default());
    Said { audit, plan }
}

/// Findings that are not true of a healthy machine: above low, or low without being there by design.
fn false_findings(m: &Machine, said: &Said) -> Vec<String> {
    let by_design = |id: &str| m.zoo.by_design.iter().any(|d| d == id);
    let wrong = said
        .audit
        .with(Status::Fail)
        .filter(|v| v.severity() > Severity::Low || v.severity() > Severity::Info && !by_design(v.rule.id));
    wrong.map(|v| format!("{}: {}", m.name, common::words(v))).collect()
}

#[test]
fn healthy_machines_have_no_finding() {
    let wrong: Vec<String> = HEALTHY.iter().flat_map(|m| false_findings(m, &m.said)).collect();
    assert!(wrong.is_empty(), "{} false findings:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_can_be_shown_is_decided() {
    let mut wrong = Vec::new();
    for m in HEALTHY.iter() {
        let said = &m.said;
        let open = said.audit.with(Status::Unknown).filter(|v| !m.zoo.unknowable.iter().any(|(id, _)| id == v.rule.id));
        wrong.extend(open.map(|v| format!("{}: {}", m.name, common::words(v))));
        for (id, _) in &m.zoo.unknowable {
            if !said.audit.with(Status::Unknown).any(|v| v.rule.id == id) {
                wrong.push(format!("{}: {id} is called unknowable, and is not unknown", m.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} open questions:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn healthy_machines_are_left_alone() {
    let mut wrong = Vec::new();
    for m in HEALTHY.iter() {
        let plan = &m.said.plan;
        wrong.extend(plan.steps.iter().map(|s| format!("{}: step {}: {}", m.name, s.id, s.summary)));
        wrong.extend(plan.by_hand.iter().map(|s| format!("{}: by hand: {s:?}", m.name)));
        wrong.extend(plan.refused.iter().map(|s| format!("{}: refused: {s:?}", m.name)));
    }
    assert!(wrong.is_empty(), "{} things planned:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_is_known_of_a_machine_is_what_is_concluded() {
    let wrong: Vec<String> = HEALTHY.iter().flat_map(truth::wrong).collect();
    assert!(wrong.is_empty(), "{} untrue conclusions:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_machine_names_its_sources() {
    for m in HEALTHY.iter() {
        // Or it says that it has none.
        let link = ["https://", ".com/", ".org/", "No public source"].iter().any(|w| m.text.contains(w));
        assert!(m.text.contains("# Sources") && link, "{} has no sources", m.name);
        assert!(!m.description.title.is_empty(), "{} has no title", m.name);
    }
}

/// Findings above information, worst first.
fn found(said: &Said) -> impl Iterator<Item = &Verdict> {
    said.audit.with(Status::Fail).filter(|v| v.severity() > Severity::Info)
}

#[test]
fn broken_siblings_show_their_cause_first() {
    let mut wrong = Vec::new();
    for m in BROKEN.iter() {
        if found(&m.said).next().is_none_or(|v| v.rule.id != m.zoo.first) {
            let said: Vec<String> = found(&m.said).take(4).map(common::words).collect();
            wrong.push(format!("{}: {} is not first:\n    {}", m.name, m.zoo.first, said.join("\n    ")));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), BROKEN.len(), wrong.join("\n"));
}

/// What becomes of a broken sibling by its plan, in simulation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// As healthy as its machine, and nothing more is planned.
    Healed,
    /// A step is planned whose effect cannot be simulated, and the plan says so.
    Unsimulated,
    /// No step: left to people or refused, in words.
    ByHand(String),
    /// A step is planned, and this is left after it.
    Left(String),
}

/// Of each broken sibling.
static OUTCOMES: LazyLock<Vec<Outcome>> = LazyLock::new(|| BROKEN.iter().map(outcome).collect());

fn outcome(m: &Machine) -> Outcome {
    let plan = &m.said.plan;
    let own: Vec<&str> = plan.steps.iter().filter(|s| s.rules.contains(&m.zoo.first)).map(|s| s.id.as_str()).collect();
    if own.is_empty() {
        let by_hand = plan.by_hand.iter().map(|b| format!("by hand: {}", b.summary));
        let refused = plan.refused.iter().map(|r| format!("refused: {}", r.reason));
        return Outcome::ByHand(by_hand.chain(refused).collect::<Vec<_>>().join("; "));
    }
    let after = simulate(&m.snapshot, plan);
    let said = judge(&after.snapshot);
    let mut left = false_findings(m, &said);
    left.extend(said.plan.steps.iter().map(|s| format!("{}: and then {}", m.name, s.summary)));
    match after.unsimulated.iter().any(|u| own.contains(&u.step.as_str())) {
        true => Outcome::Unsimulated,
        false if left.is_empty() => Outcome::Healed,
        false => Outcome::Left(left.join("; ")),
    }
}

#[test]
fn plans_of_broken_siblings_lead_back_to_health() {
    let mut wrong = Vec::new();
    for (m, outcome) in BROKEN.iter().zip(OUTCOMES.iter()) {
        match (m.zoo.heals, outcome) {
            (true, Outcome::Healed | Outcome::Unsimulated) => {}
            (true, Outcome::ByHand(what)) => wrong.push(format!("{}: no step for {}: {what}", m.name, m.zoo.first)),
            (true, Outcome::Left(what)) => wrong.push(format!("{}: {what}", m.name)),
            // Whoever reads the plan must be told.
            (false, Outcome::ByHand(what)) if !what.is_empty() => {}
            (false, other) => wrong.push(format!("{}: {other:?}, though {}", m.name, m.zoo.why_not)),
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), BROKEN.len(), wrong.join("\n"));
}

/// `ZOO=azure cargo test -p linerate-remedy --test zoo -- --ignored --nocapture`: all that is said of some machines.
#[test]
#[ignore = "prints, and judges nothing"]
fn say() {
    for m in HEALTHY.iter().chain(BROKEN.iter()) {
        println!("{}", m.name);
        m.said.audit.verdicts.iter().for_each(|v| println!("  {}", common::words(v)));
    }
}
