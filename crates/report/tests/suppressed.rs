//! Suppressed answers, and a threshold, in each form: shown with their reason, never counted, never a pass.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use crate::common;

use common::schema::Schema;
use common::{LSPCI, bytes, lspci, usual};
use linerate_node::Node;
use linerate_report::fleet::{Fleet, Format};
use linerate_report::json::Version;
use linerate_report::{Report, Style, json, junit, markdown, sarif, terminal};
use linerate_rules::{Severity, Suppression, Terms};
use serde_json::Value;
use std::io::{self, Write};
use std::sync::Arc;

fn suppression(rule: &str, subject: Option<&str>) -> Suppression {
    Suppression {
        rule: rule.to_owned(),
        subject: subject.map(str::to_owned),
        nodes: None,
        reason: Some("a known fault, <b>OPS-7</b>".to_owned()),
        by: Some("ops".to_owned()),
        until: None,
        expired: false,
        place: "site.toml:3".to_owned(),
    }
}

fn terms(fail_on: Option<Severity>, all: Vec<Suppression>) -> Terms {
    Terms { fail_on, suppressions: all.into_iter().map(Arc::new).collect(), only: Vec::new() }
}

/// The report on these terms, and its exit code.
fn written(terms: &Terms, write: impl Fn(&Report<'_>, &mut dyn Write) -> io::Result<()>) -> (String, u8) {
    let snapshot = lspci(LSPCI);
    let node = Node::decode(&snapshot);
    let audit = linerate_rules::audit(&node, &snapshot, &usual()).on(terms.on(&["gpu-1"]));
    let report = Report { audit: &audit, node: &node, snapshot: &snapshot };
    (bytes(|out| write(&report, out)), audit.exit_code())
}

fn document(terms: &Terms) -> Value {
    let (text, code) = written(terms, |r, out| json::render(r, Version::Two, out));
    let value = Schema::of("audit-2").valid(&text);
    assert_eq!(value["summary"]["exit_code"], code);
    value
}

/// Rules and subjects of a list of verdicts.
fn of(list: &Value) -> Vec<(String, String)> {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    let verdict = |v: &'_ Value| v.get("verdict").unwrap_or(v).clone();
    let all = list.as_array().into_iter().flatten().map(verdict);
    all.map(|v| (text(&v["rule"]), text(&v["subject"]))).collect()
}

#[test]
fn an_answer_is_in_one_of_both_lists() {
    let all = document(&Terms::default());
    assert!(all.get("suppressed").is_none(), "only where there is one");
    for (rule, subject) in
        [("demo/redirect", None), ("demo/*", None), ("demo", None), ("demo/redirect", Some("0000:17:00.*"))]
    {
        let some = document(&terms(Some(Severity::Low), vec![suppression(rule, subject)]));
        let (kept, gone) = (of(&some["verdicts"]), of(&some["suppressed"]));
        assert!(!gone.is_empty(), "{rule}");
        let mut both: Vec<_> = kept.iter().chain(&gone).cloned().collect();
        let mut before = of(&all["verdicts"]);
        both.sort();
        before.sort();
        assert_eq!(both, before, "{rule}");
        for (of_rule, of_subject) in &gone {
            assert!(of_rule.starts_with("demo/"), "{of_rule}");
            assert!(subject.is_none() || of_subject == "0000:17:00.0", "{of_subject}");
        }
        let statuses = some["suppressed"].as_array().unwrap().iter().map(|v| v["verdict"]["status"].as_str().unwrap());
        assert!(statuses.into_iter().all(|s| s == "fail" || s == "unknown"), "a pass stays a pass");
        assert_eq!(some["suppressed"][0]["suppression"]["by"], "ops");
    }
}

#[test]
fn what_fails_is_what_the_terms_say() {
    let code = |fail_on, all| written(&terms(fail_on, all), |r, out| json::render(r, Version::Two, out)).1;
    let unseen = || suppression("demo/unseen", None);
    let critical = || suppression("demo/translated", None);
    assert_eq!(code(Some(Severity::Low), vec![]), 1);
    assert_eq!(code(Some(Severity::Critical), vec![]), 1, "demo/translated is critical");
    assert_eq!(code(Some(Severity::Critical), vec![critical()]), 0, "what is unknown is of high severity at most");
    assert_eq!(code(Some(Severity::High), vec![suppression("*", None)]), 0);
    let high = || vec![critical(), suppression("demo/redirect", None)];
    assert_eq!(code(Some(Severity::High), high()), 2, "demo/unseen might be a finding of high severity");
    assert_eq!(code(Some(Severity::High), high().into_iter().chain([unseen()]).collect()), 0);
    assert_eq!(code(None, vec![]), 0);
}

#[test]
fn what_is_over_counts_again_and_what_matches_nothing_is_said() {
    let over = Suppression { expired: true, until: Some("2020-01-01".into()), ..suppression("demo/redirect", None) };
    let document = document(&terms(
        Some(Severity::Low),
        vec![over, suppression("demo/fine", None), suppression("demo/unseen", Some("nobody"))],
    ));
    assert!(document.get("suppressed").is_none());
    let review: Vec<&str> =
        document["suppressions_to_review"].as_array().unwrap().iter().map(|r| r.as_str().unwrap()).collect();
    assert_eq!(review.len(), 2, "demo/unseen cannot see, so that the third may be needed: {review:?}");
    assert!(review[0].contains("demo/redirect") && review[0].contains("2020-01-01"), "{review:?}");
    assert!(review[1].contains("demo/fine"), "{review:?}");
}

#[test]
fn each_form_has_the_reason() {
    let terms = terms(Some(Severity::High), vec![suppression("demo/translated", None)]);
    let (text, _) = written(&terms, |r, out| terminal::render(r, Style::default(), out));
    assert!(text.contains("SUPPRESSED") && text.contains("OPS-7"), "{text}");
    let (text, _) = written(&terms, |r, out| markdown::render(r, out));
    assert!(text.contains("OPS-7") && !text.contains("<b>"), "{text}");

    let (text, _) = written(&terms, |r, out| sarif::render(r, out));
    let log: Value = serde_json::from_str(&text).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let suppressed: Vec<_> = results.iter().filter(|r| r.get("suppressions").is_some()).collect();
    assert!(!suppressed.is_empty() && suppressed.iter().all(|r| r["ruleId"] == "demo/translated"));
    assert_eq!(suppressed[0]["suppressions"][0]["kind"], "external");

    let (text, _) = written(&terms, |r, out| junit::render(r, out));
    let doc = roxmltree::Document::parse(&text).unwrap();
    let count = |tag: &str| doc.descendants().filter(|n| n.has_tag_name(tag)).count().to_string();
    for (attribute, tag) in
        [("failures", "failure"), ("errors", "error"), ("skipped", "skipped"), ("tests", "testcase")]
    {
        assert_eq!(doc.root_element().attribute(attribute), Some(count(tag).as_str()), "{tag}");
    }
    let failing = doc.descendants().filter(|n| n.has_tag_name("failure")).map(|n| n.attribute("type").unwrap());
    assert!(failing.into_iter().all(|severity| severity == "high" || severity == "critical"));
}

#[test]
fn a_fleet_counts_as_its_nodes_do() {
    let only_one = Suppression { nodes: Some(Box::new(|name| name == "gpu-1")), ..suppression("demo/*", None) };
    let terms = terms(Some(Severity::Low), vec![only_one, suppression("demo/fine", None)]);
    let snapshot = lspci(LSPCI);
    let node = Node::decode(&snapshot);
    let rules = usual();
    for format in [Format::JsonLines, Format::Sarif, Format::Junit, Format::Markdown, Format::Text(Style::default())] {
        let mut fleet = Fleet::new(format, &rules, &terms);
        let looker = fleet.looker();
        let text = bytes(|out| {
            for label in ["dir/gpu-1.tar.zst", "gpu-2"] {
                fleet.node(label, looker.look(label, &node, &snapshot), out)?;
            }
            fleet.finish(out)
        });
        assert_eq!(fleet.exit_code(), 1, "gpu-2 fails");
        assert_eq!(fleet.to_review().len(), 1, "{format:?}");
        if format == Format::JsonLines {
            let [one, two, all] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
            let node = |line| Schema::of("fleet-node-1").valid(line);
            let (one, two, all) = (node(one), node(two), Schema::of("fleet-1").valid(all));
            assert!(one["suppressed"].as_u64() > Some(0) && two.get("suppressed").is_none());
            assert_eq!(all["suppressed"][0]["answers"], one["suppressed"]);
            assert!(one["findings"].as_array().unwrap().iter().all(|f| f["rule"] == "module/loaded"), "{one}");
        } else {
            assert!(text.contains("OPS-7") || format == Format::Junit, "{text}");
        }
    }
}
