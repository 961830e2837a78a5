//! Rules in words.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use crate::common;

use common::{CATALOGUE, REDIRECT, bytes};
use linerate_report::{Style, explain};
use serde_json::Value;

#[test]
fn explain_a_rule() {
    insta::assert_snapshot!(explain::explain(&REDIRECT, Style::default()));
}

#[test]
fn explain_fits_and_colours_only_when_told() {
    for rule in linerate_rules::rules() {
        let text = explain::explain(rule, Style { width: 72, ..Style::default() });
        assert!(!text.contains('\x1b'), "{}", rule.id);
        assert!(explain::explain(rule, Style { colour: true, ..Style::default() }).contains('\x1b'));
        for line in text.lines() {
            assert!(line.chars().count() <= 72 || one_word(line) || line.starts_with("    "), "{line}");
        }
        for heading in ["What it checks", "Why it matters", "See it yourself", "Fix", "Sources"] {
            assert!(text.lines().any(|l| l == heading), "{}: no {heading}", rule.id);
        }
    }
}

/// Nothing but one long word, perhaps after a label.
fn one_word(line: &str) -> bool {
    let text = line.strip_prefix("reads ").unwrap_or(line);
    text.split_whitespace().count() == 1
}

#[test]
fn table_of_rules() {
    insta::assert_snapshot!(explain::rules_table(CATALOGUE, Style::default()));
    let json: Value = serde_json::from_str(&bytes(|out| explain::rules_json(CATALOGUE, out))).unwrap();
    assert_eq!(json["rules"].as_array().unwrap().len(), 8);
    assert_eq!(json["rules"][0]["area"], "demo");
}

#[test]
fn pages_of_the_documentation() {
    let pages = explain::pages(CATALOGUE);
    assert_eq!(pages.len(), 9);
    for (path, text) in &pages {
        assert!(text.starts_with("<!-- Generated"), "{path}");
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{path}");
    }
    let (_, index) = &pages[0];
    for (path, _) in &pages[1..] {
        assert!(index.contains(&format!("({path})")), "{path} is not in the index");
    }
    insta::assert_snapshot!(explain::rule_markdown(&REDIRECT));
}
