//! Findings that are one fault are shown as one: nothing is lost by it, and a cause is a finding that there is.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use crate::composed as common;

use linerate_node::Node;
use linerate_report::json::{self, Version};
use linerate_report::{Report, Style, terminal};
use linerate_rules::{Severity, Status, audit, rules};
use std::collections::BTreeMap;

#[test]
fn in_all_nodes_of_the_lab() {
    let mut pairs: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for path in &common::all_descriptions() {
        let (_, snapshot) = common::load(path);
        let node = Node::decode(&snapshot);
        let audit = audit(&node, &snapshot, rules());
        let report = Report { audit: &audit, node: &node, snapshot: &snapshot };
        let text = terminal::to_string(&report, Style { colour: false, width: 80, verbose: true });
        let causes = audit.causes();
        for v in audit.with(Status::Fail) {
            let cause = causes.of(v);
            if let Some(cause) = cause {
                *pairs.entry((cause.rule.id, v.rule.id)).or_default() += 1;
                assert_ne!(cause.rule.id, v.rule.id);
            }
            if v.severity() == Severity::Info && cause.is_none_or(|c| c.severity() == Severity::Info) {
                continue;
            }
            // The page has a line for each finding.
            let (id, severity) = (format!(" {}", v.rule.id), v.severity().name().to_uppercase());
            assert!(
                text.lines().any(|l| l.contains(&id) && l.contains(&severity)),
                "{}: {} is missing\n{text}",
                path.display(),
                v.rule.id
            );
        }
        let mut bytes = Vec::new();
        json::render(&report, Version::Two, &mut bytes).unwrap();
        let document: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let verdicts = document["verdicts"].as_array().unwrap();
        for v in verdicts.iter().filter(|v| v["follows_from"].is_object()) {
            let is_it = |c: &&serde_json::Value| {
                c["rule"] == v["follows_from"]["rule"]
                    && c["subject"] == v["follows_from"]["subject"]
                    && c["status"] == "fail"
            };
            assert!(verdicts.iter().any(|c| is_it(&c)), "{v}");
        }
    }
    println!("{pairs:#?}");
    for pair in [
        ("iommu/translated-domain", "iommu/faults"),
        ("pcie/link-width", "pcie/nic-fits-port"),
        ("pcie/link-speed", "pcie/nic-fits-port"),
        ("pcie/link-width", "pcie/nccl-blind-to-degraded-link"),
    ] {
        assert!(pairs.contains_key(&pair), "{pair:?} in {pairs:#?}");
    }
}
