//! JUnit, SARIF, Markdown: well-formed whatever the data holds, and the right verdicts in the right places.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use crate::common;

use common::{HOSTILE, LSPCI, REDIRECT, bytes, lspci, usual, with};
use linerate_report::{Report, junit, markdown, sarif};
use linerate_rules::Rule;
use serde_json::Value;
use std::collections::BTreeSet;

fn everything() -> Vec<&'static Rule> {
    let mut rules = usual();
    rules.push(&HOSTILE);
    rules
}

fn render(write: impl Fn(&Report<'_>, &mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    with(&lspci(LSPCI), &everything(), |r| bytes(|out| write(r, out)))
}

#[test]
fn junit_is_xml_and_unknown_is_never_green() {
    let text = render(junit::render);
    let doc = roxmltree::Document::parse(&text).unwrap();
    let root = doc.root_element();
    assert_eq!(root.tag_name().name(), "testsuites");
    let count = |tag: &str| root.descendants().filter(|n| n.has_tag_name(tag)).count().to_string();
    assert_eq!(root.attribute("failures"), Some(count("failure").as_str()));
    assert_eq!(root.attribute("errors"), Some(count("error").as_str()));
    assert_eq!(root.attribute("skipped"), Some(count("skipped").as_str()));
    assert_eq!(root.attribute("tests"), Some(count("testcase").as_str()));
    assert_eq!((count("failure"), count("error"), count("skipped")), ("6".into(), "41".into(), "1".into()));
    let suites: Vec<_> = root.children().filter(|n| n.is_element()).filter_map(|s| s.attribute("name")).collect();
    assert_eq!(suites, ["demo", "host", "module"]);
    assert!(root.descendants().filter(|n| n.has_tag_name("error")).all(|n| n.attribute("type") == Some("unknown")));
    let hostile = root.descendants().find(|n| n.attribute("classname") == Some("demo/hostile")).unwrap();
    assert_eq!(hostile.attribute("name"), Some("\\u{1b}]0;owned\\u{7}<b>&\"'"));
    assert!(!text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')));
}

#[test]
fn sarif_has_what_viewers_need() {
    let log: Value = serde_json::from_str(&render(sarif::render)).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 6 + 1 + 41, "failures, the note, unknown");
    let mut prints = BTreeSet::new();
    for r in results {
        let rule = &rules[r["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], r["ruleId"]);
        let (kind, level) = (r["kind"].as_str().unwrap(), r["level"].as_str().unwrap());
        assert_eq!(kind == "fail", level != "none", "the standard: only a failure has a level");
        assert!(prints.insert(r["partialFingerprints"]["linerate/v1"].as_str().unwrap().to_owned()), "twice: {r}");
        assert!(!r["locations"][0]["logicalLocations"][0]["name"].as_str().unwrap().is_empty());
        assert!(!r["message"]["text"].as_str().unwrap().is_empty());
    }
    let redirect = results.iter().find(|r| r["ruleId"] == REDIRECT.id).unwrap();
    let place = &redirect["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "node-17.lspci");
    assert_eq!(place["region"]["startLine"], 14);
    assert!(place["region"]["snippet"]["text"].as_str().unwrap().starts_with("ACSCtl:"));
}

#[test]
fn fingerprints_do_not_depend_on_numbers_in_messages_or_lines() {
    let prints = |text: &str| -> BTreeSet<String> {
        let log: Value =
            serde_json::from_str(&with(&lspci(text), &usual(), |r| bytes(|out| sarif::render(r, out)))).unwrap();
        let results = log["runs"][0]["results"].as_array().unwrap();
        results.iter().map(|r| r["partialFingerprints"]["linerate/v1"].as_str().unwrap().to_owned()).collect()
    };
    let moved = format!("\n\n{}", LSPCI.replace("IOMMU group: 45", "IOMMU group: 99"));
    assert_eq!(prints(LSPCI), prints(&moved));
    // Fixed for all time: a changed hash would show every known result as new.
    assert!(prints(LSPCI).contains("e3f09dabf5da8d95"), "{:?}", prints(LSPCI));
}

#[test]
fn markdown_for_a_ticket() {
    insta::assert_snapshot!(render(markdown::render));
}
