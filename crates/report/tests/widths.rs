//! Every line of a report fits the terminal, at any width that is honoured. Only addresses of the web are longer: they are opened from it.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use crate::composed as common;

use linerate_node::Node;
use linerate_report::{Report, Style, explain, terminal};
use linerate_rules::{audit, rules};

/// Lines that do not fit.
fn long(text: &str, width: usize) -> Vec<&str> {
    text.lines().filter(|l| l.chars().count() > width && !l.contains("://")).collect()
}

#[test]
fn audits_of_all_nodes_of_the_lab() {
    let mut seen = 0;
    for path in &common::all_descriptions() {
        let (_, snapshot) = common::load(path);
        let node = Node::decode(&snapshot);
        let audit = audit(&node, &snapshot, rules());
        let report = Report { audit: &audit, node: &node, snapshot: &snapshot };
        for width in [40, 60, 80, 120, 200] {
            let text = terminal::to_string(&report, Style { colour: false, width, verbose: width == 60 });
            assert_eq!(long(&text, width), Vec::<&str>::new(), "{} at {width}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 500, "{seen}");
}

#[test]
fn explanations() {
    for rule in rules() {
        for width in [40, 60, 80, 120, 200] {
            let text = explain::explain(rule, Style { colour: false, width, verbose: true });
            // Commands to copy stay whole, too.
            let prose: String = text.lines().filter(|l| !l.starts_with("  ")).map(|l| format!("{l}\n")).collect();
            assert_eq!(long(&prose, width), Vec::<&str>::new(), "{} at {width}", rule.id);
        }
    }
}
