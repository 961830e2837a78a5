//! Sets of nodes by rule and position.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use linerate_fleet::audit::{At, Places, Sets, Spot};
use linerate_formats::bounds;
use linerate_node::Node;
use linerate_rules::{Rule, Severity, Status, Subject};
use std::path::Path;

fn rule(id: &str) -> &'static Rule {
    linerate_rules::find(id).unwrap()
}

fn device(role: &str, part: &str) -> At {
    At::Device(role.parse().unwrap(), part.to_owned())
}

fn spot(id: &str, severity: Severity, at: At) -> Spot {
    Spot { rule: rule(id), status: Status::Fail, severity, at }
}

/// What was put in comes out as sets: positions with the same nodes are one, what nearly all have in common comes first.
#[test]
fn sets_are_of_rule_severity_and_positions() {
    let (speed, acs, kernel) = ("pcie/link-speed", "acs/redirect-on-p2p-path", "numa/balancing");
    let mut sets = Sets::default();
    for n in 0..30 {
        let mut spots = Vec::new();
        if n != 7 {
            spots.push(spot(kernel, Severity::Low, At::Node));
        }
        if n % 10 == 3 {
            for i in [0, 1, 2, 5] {
                spots.push(spot(speed, Severity::High, device(&format!("rail {i} NIC"), "")));
            }
            spots.push(spot(speed, Severity::Medium, device("GPU 1", "")));
        }
        if n == 4 {
            spots.push(spot(speed, Severity::High, device("rail 5 NIC", "")));
            spots.push(spot(acs, Severity::High, device("rail 0 NIC", "port 1")));
            spots.push(spot(acs, Severity::High, device("rail 0 NIC", "port 2")));
        }
        sets.node(&format!("n{n:02}"), spots);
    }
    let seen: Vec<_> = sets
        .failing(Status::Fail)
        .iter()
        .flat_map(|f| f.sets.iter().map(|s| (f.rule, f.severity, s.place(), sets.names(&s.nodes))).collect::<Vec<_>>())
        .collect();
    let all_but_seven = "n[00-06,08-29]".to_owned();
    let want = [
        (kernel, Severity::Low, "node", all_but_seven.as_str()),
        (speed, Severity::High, "rail 5 NIC", "n[03-04,13,23]"),
        (speed, Severity::High, "rail 0-2 NIC", "n[03,13,23]"),
        (acs, Severity::High, "rail 0 NIC, port 1, port 2", "n04"),
        (speed, Severity::Medium, "GPU 1", "n[03,13,23]"),
    ];
    let want: Vec<_> = want.map(|(r, s, at, n)| (r, s, at.to_owned(), n.to_owned())).into();
    assert_eq!(seen, want);
    let common = sets.failing(Status::Fail).remove(0).nodes;
    assert!(sets.is_common(&common));
    assert_eq!((sets.names(&sets.others(&common)), sets.count()), ("n07".to_owned(), 30));
    assert!(sets.failing(Status::Unknown).is_empty());
}

/// Names that nodes give do not make memory grow, and no node is lost.
#[test]
fn any_number_of_names_is_bounded() {
    let mut sets = Sets::default();
    let many = bounds::AUDIT_SETS + 100;
    let spots = (0..many).map(|i| spot("pcie/link-speed", Severity::High, At::Named(format!("name {i}"))));
    sets.node("hostile", spots);
    sets.node("other", [spot("pcie/link-speed", Severity::High, At::Node)]);
    let all = sets.failing(Status::Fail);
    assert_eq!((all.len(), all[0].nodes.len()), (1, 2));
    let positions: usize = all[0].sets.iter().map(|s| s.at.len()).sum();
    assert_eq!(positions, bounds::AUDIT_SETS + 1);
    assert!(all[0].sets.iter().any(|s| s.nodes.len() == 2 && s.at.contains(&At::More)));
}

/// On real nodes every subject of a device has its position, whatever it is called by.
#[test]
fn subjects_of_devices_have_positions() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sick-8gpu.tar.zst");
    let s = linerate_snapshot::load_bytes(&std::fs::read(path).unwrap(), "sick").unwrap();
    let node = Node::decode(&s);
    let survey = linerate_rules::survey(&node, &s, linerate_rules::rules(), linerate_rules::Terms::default());
    let audit = linerate_rules::audit(&node, &s, linerate_rules::rules());
    let findings = survey.findings(&node, &s);
    assert!(!findings.is_empty());
    let counted = |v: &&linerate_rules::Verdict| v.severity() > Severity::Info;
    let subjects = |v: &linerate_rules::Verdict| (v.rule.id, v.finding.subject.clone(), v.finding.message.to_string());
    let mut want: Vec<_> = audit.with(Status::Fail).filter(counted).map(subjects).collect();
    let mut got: Vec<_> = findings.iter().map(subjects).collect();
    want.sort();
    got.sort();
    assert_eq!(got, want, "the findings of a survey are those of an audit");
    let telling = survey.telling().filter(|(a, _)| a.status == Status::Fail).count();
    assert_eq!(telling, findings.len());
    let places = Places::of(&node);
    for (answer, subject) in survey.telling() {
        let at = places.at(subject);
        let is_device = matches!(subject, Subject::Pci(_) | Subject::RdmaPort(..) | Subject::NicFirmware(..));
        if is_device && answer.status == Status::Fail {
            assert!(matches!(at, At::Device(..)), "{}: {subject} is {at}", answer.rule.id);
        }
    }
}
