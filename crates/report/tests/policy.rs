//! Reports of policies: what a person reads at 80 columns, what a program reads by its schema.

#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use crate::common::schema;

use linerate_fleet::policy::{self, Lessons, Policy};
use linerate_fleet::{Profile, Traits};
use linerate_node::Node;
use linerate_report::policy::{Checks, Format, Lesson, Report, changes, changes_json, explain};
use linerate_report::{Style, json::node_facts};
use linerate_snapshot::Snapshot;
use serde_json::Value;
use std::path::Path;

const POLICY: &str = r#"
schema = "linerate.policy/1"
owner = "hpc"
[class.h100]
match = { gpus = "10de:2330" }
devices = { GPU = 8, NVMe = { at_least = 9, severity = "low" } }
[class.h100.on.node]
"kernel.cmdline iommu" = { equals = "iommu=pt", reason = "peer-to-peer traffic is not translated" }
"firmware.bios_version" = "x"
[class.h100.on."rail * NIC"]
"pci.link.width" = { at_least = 16, severity = "high", name = "full-width" }
[[class.h100.condition]]
name = "gpus-have-nics"
holds = 'node.gpus.known.all(g, size(g.nearest_nics.known) > 0)'
[[class.h100.condition]]
name = "no-balancing"
holds = 'node.memory.numa_balancing.known == 1'
severity = "info"
"#;

fn example(name: &str) -> Snapshot {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    linerate_snapshot::load_bytes(&std::fs::read(path).unwrap(), name).unwrap()
}

fn add(checks: &mut Checks, policy: &Policy, label: &str, s: &Snapshot) {
    let node = Node::decode(s);
    let facts = policy::condition::Facts::new(node_facts(&node, s));
    let profile = Profile::of(label, &node, s, &[]);
    checks.add(label, &policy::check(policy, &profile, &Traits::of(&node), Some(&facts)), s);
}

fn report() -> Report {
    let policy = policy::read(POLICY).unwrap();
    let mut checks = Checks::new(&policy);
    for (label, file) in [("n1", "healthy-8gpu.tar.zst"), ("n2", "sick-8gpu.tar.zst"), ("n3", "sick-8gpu.tar.zst")] {
        add(&mut checks, &policy, label, &example(file));
    }
    checks.unreadable("n\u{1b}[31m4", "it is no \u{202e}archive");
    checks.finish()
}

fn written(report: &Report, format: Format) -> String {
    let mut out = Vec::new();
    report.write(format, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn alike_answers_are_one_group_and_the_worst_comes_first() {
    let r = report();
    let found: Vec<(&str, &str, Vec<&str>)> = r
        .failing
        .iter()
        .map(|g| (g.id.as_str(), g.at.as_str(), g.nodes.iter().map(String::as_str).collect()))
        .collect();
    assert_eq!(
        found,
        [
            ("policy/h100.full-width", "rail 3 NIC", vec!["n2", "n3"]),
            ("policy/h100.node.firmware.bios_version", "", vec!["n1", "n2", "n3"]),
            ("policy/h100.node.kernel.cmdline.iommu", "", vec!["n2", "n3"]),
            ("policy/h100.nvme.number", "", vec!["n1", "n2", "n3"]),
            ("policy/h100.no-balancing", "", vec!["n1", "n2", "n3"]),
        ]
    );
    assert_eq!((r.exit_code, r.unknown.len()), (1, 0));
    assert_eq!(r.failing[0].owner, "hpc");
}

#[test]
fn text_fits_the_terminal_and_nothing_of_a_node_is_raw() {
    let text = written(&report(), Format::Text(Style::default()));
    let fits =
        |l: &&str| l.chars().count() <= 80 || !l.trim().contains(' ') || l.contains("/sys/") || l.contains("policy/");
    assert!(text.lines().all(|l| fits(&l)), "{text}");
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text:?}");
    let markdown = written(&report(), Format::Markdown);
    assert!(markdown.contains("| high |") && !markdown.contains('\u{1b}'), "{markdown}");
}

#[test]
fn documents_are_as_their_schemas_say() {
    let check = schema::Schema::of("policy-check-1");
    let good = check.valid(&written(&report(), Format::Json));
    check.rejects(
        &good,
        &[
            ("/schema", Value::from("x")),
            ("/failing/0/severity", Value::from("bad")),
            ("/nodes/0/pass", Value::from("1")),
        ],
    );

    let mut lessons = Lessons::default();
    for (label, file) in [("n1", "healthy-8gpu.tar.zst"), ("n2", "sick-8gpu.tar.zst")] {
        let s = example(file);
        let node = Node::decode(&s);
        lessons.add(label, &Profile::of(label, &node, &s, linerate_rules::rules()), &Traits::of(&node));
    }
    let learnt = lessons.learn("test");
    let lesson = Lesson::of(&learnt);
    let mut out = Vec::new();
    lesson.json(&mut out).unwrap();
    let document = schema::Schema::of("policy-learn-1").valid(&String::from_utf8(out).unwrap());
    assert!(document["wrong"].as_array().is_some_and(|w| !w.is_empty()));
    assert!(document["differ"].as_array().is_some_and(|w| !w.is_empty()));
    let mut out = Vec::new();
    lesson.text("x.toml", Style::default(), &mut out).unwrap();
    assert!(String::from_utf8(out).unwrap().contains("--accept"));

    let policy = policy::read(POLICY).unwrap();
    let other = policy::read(&POLICY.replace("NVMe", "NVSwitch").replace("0)'", "1)'")).unwrap();
    let all = policy::diff(&policy, &other);
    assert_eq!(all.len(), 3, "{all:?}");
    let mut out = Vec::new();
    changes_json(["a", "b"], &all, &mut out).unwrap();
    schema::Schema::of("policy-diff-1").valid(&String::from_utf8(out).unwrap());
    let mut out = Vec::new();
    changes(["a", "b"], &all, Style::default(), &mut out).unwrap();
    let mut out = Vec::new();
    assert_eq!(explain(&policy, "full-width", Style::default(), &mut out).unwrap(), 1);
    assert!(String::from_utf8(out).unwrap().contains("written by people"));
}
