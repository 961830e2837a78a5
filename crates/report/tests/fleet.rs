//! Many nodes: who fails what, and where, in each form.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use crate::common;

use common::schema::Schema;
use common::{FINE, HOST, HOSTILE, LSPCI, REDIRECT, UNSEEN, bytes, lspci, usual};
use linerate_node::Node;
use linerate_report::Style;
use linerate_report::fleet::{Fleet, Format, Looked};
use linerate_rules::{Rule, Terms};
use linerate_snapshot::Snapshot;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::LazyLock;

static TERMS: LazyLock<Terms> = LazyLock::new(Terms::default);

fn look(format: Format, label: &str, s: &Snapshot, rules: &[&'static Rule]) -> Looked {
    Fleet::new(format, rules, &TERMS).looker().look(label, &Node::decode(s), s)
}

/// Nodes with a text of lspci each, judged by rules of their own, and one that cannot be read.
fn written(format: Format, nodes: &[(&str, &str, &[&'static Rule])], all: &[&'static Rule]) -> (String, u8) {
    let mut fleet = Fleet::new(format, all, &TERMS);
    let text = bytes(|out| {
        for (label, text, rules) in nodes {
            fleet.node(label, look(format, label, &lspci(text), rules), out)?;
        }
        fleet.unreadable("node-5", "node-5.tar.zst: cut after 512 bytes\n", out)?;
        fleet.finish(out)
    });
    (text, fleet.exit_code())
}

fn fleet(format: Format) -> (String, u8) {
    let nodes: [(&str, &str, &[&'static Rule]); 4] = [
        ("node-1", LSPCI, &usual()),
        ("node-2-with-a-name-that-is-rather-long", LSPCI, &[&REDIRECT, &HOSTILE]),
        ("node-3\x1b[2J", LSPCI, &[&UNSEEN, &FINE, &HOST]),
        ("node-4", LSPCI, &[&FINE]),
    ];
    written(format, &nodes, &[])
}

#[test]
fn fleet_for_a_terminal() {
    for style in [Style::default(), Style { verbose: true, ..Style::default() }] {
        let (text, code) = fleet(Format::Text(style));
        assert_eq!(code, 1);
        assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
        insta::assert_snapshot!(format!("fleet_for_a_terminal{}", if style.verbose { "_verbose" } else { "" }), text);
    }
}

#[test]
fn fleet_as_json_lines() {
    let (text, _) = fleet(Format::JsonLines);
    let lines: Vec<&str> = text.lines().collect();
    let (last, nodes) = lines.split_last().unwrap();
    assert_eq!(nodes.len(), 5);
    let schema = Schema::of("fleet-node-1");
    let nodes: Vec<Value> = nodes.iter().map(|l| schema.valid(l)).collect();
    assert_eq!(nodes[0]["worst"]["rule"], "demo/translated");
    assert_eq!(nodes[4]["error"], "node-5.tar.zst: cut after 512 bytes\n");
    let first = &nodes[0]["findings"][0];
    assert_eq!(
        (&first["rule"], &first["at"], &first["part"]),
        (&"demo/translated".into(), &"GPU 0".into(), &"".into())
    );
    assert_eq!(first["subject"], "0000:18:00.0");
    for n in &nodes {
        let fails: u64 = ["critical", "high", "medium", "low"].iter().map(|s| n["fail"][s].as_u64().unwrap()).sum();
        assert_eq!(n["findings"].as_array().unwrap().len() as u64, fails);
    }
    let wrong = [
        ("/schema", Value::from("linerate.fleet-node/2")),
        ("/findings/0/severity", Value::from("awful")),
        ("/findings/0/at", Value::Null),
        ("/exit_code", Value::from(3)),
    ];
    schema.rejects(&nodes[0], &wrong);

    let schema = Schema::of("fleet-1");
    let last = schema.valid(last);
    assert_eq!((&last["nodes"], &last["with_findings"], &last["cannot_tell"]), (&5.into(), &2.into(), &1.into()));
    let redirect = last["rules"].as_array().unwrap().iter().find(|r| r["rule"] == "demo/redirect").unwrap();
    assert_eq!((&redirect["fail"], &redirect["severity"]), (&2.into(), &"high".into()), "once per node");
    let sets = last["sets"].as_array().unwrap();
    let of = |rule: &str| -> Vec<(&str, u64)> {
        let of = sets.iter().filter(|s| s["rule"] == rule && s["status"] == "fail");
        of.map(|s| (s["at"].as_str().unwrap(), s["count"].as_u64().unwrap())).collect()
    };
    assert_eq!(of("demo/redirect"), [("bridges above GPU 0, bridges above rail 0 NIC", 2)]);
    assert_eq!(of("demo/translated"), [("GPU 0, rail 0 NIC", 1)]);
    assert_eq!(of("module/loaded"), [("nvidia_peermem", 1)]);
    assert_eq!(of("demo/note"), [], "info is no finding");
    let wrong = [
        ("/sets/0/status", Value::from("pass")),
        ("/sets/0/count", Value::from(-1)),
        ("/rules/0/fail", Value::from("all")),
        ("/unreadable", Value::Null),
    ];
    schema.rejects(&last, &wrong);
}

#[test]
fn exit_codes_of_a_fleet() {
    let s = lspci(LSPCI);
    for format in [Format::JsonLines, Format::Sarif, Format::Junit, Format::Markdown, Format::Text(Style::default())] {
        let good = || look(format, "n", &s, &[&FINE]);
        let unknown = || look(format, "n", &Snapshot::new("empty"), &[&UNSEEN]);
        let code = |all: Vec<Looked>| {
            let mut f = Fleet::new(format, &[], &TERMS);
            bytes(|out| all.into_iter().try_for_each(|a| f.node("n", a, out)));
            f.exit_code()
        };
        assert_eq!(code(vec![]), 2, "no node: nothing was shown to be good");
        assert_eq!(code(vec![good()]), 0);
        assert_eq!(code(vec![good(), unknown()]), 2);
        assert_eq!(code(vec![good(), unknown(), look(format, "n", &s, &[&REDIRECT])]), 1);
    }
}

fn alike(format: Format, first: &str) -> String {
    let mut rules = usual();
    rules.push(&HOSTILE);
    let names = ["gpu001", "gpu002 <b>|\x1b[2J"];
    let nodes = [(names[0], first, rules.as_slice()), (names[1], LSPCI, rules.as_slice())];
    written(format, &nodes, &rules).0
}

#[test]
fn sarif_is_one_run_and_names_nodes() {
    let log: Value = serde_json::from_str(&alike(Format::Sarif, LSPCI)).unwrap();
    assert_eq!((&log["version"], log["runs"].as_array().unwrap().len()), (&"2.1.0".into(), 1));
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 2 * (6 + 1 + 41));
    let mut prints = BTreeSet::new();
    for r in results {
        assert_eq!(rules[r["ruleIndex"].as_u64().unwrap() as usize]["id"], r["ruleId"]);
        assert!(prints.insert(r["partialFingerprints"]["linerate/position/v1"].as_str().unwrap()), "twice: {r}");
        let node = r["properties"]["node"].as_str().unwrap();
        let logical = &r["locations"][0]["logicalLocations"];
        assert!(logical[0]["fullyQualifiedName"].as_str().unwrap().starts_with(&format!("{node}/")));
        assert_eq!(logical[1]["name"], node);
        let uri = r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str();
        assert!(uri.is_none_or(|u| u.starts_with(if node == "gpu001" { "gpu001/" } else { "gpu002%20%3Cb%3E%7C%1B" })));
    }
    let invocation = &run["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    assert_eq!(invocation["toolExecutionNotifications"][0]["locations"][0]["logicalLocations"][0]["name"], "node-5");
}

/// A device that has another address is the same result.
#[test]
fn fingerprints_are_of_positions() {
    let prints = |text: &str| -> BTreeSet<(String, String)> {
        let log: Value = serde_json::from_str(&alike(Format::Sarif, text)).unwrap();
        let results = log["runs"][0]["results"].as_array().unwrap().clone();
        let of = |r: &Value| (r["ruleId"].to_string(), r["partialFingerprints"]["linerate/position/v1"].to_string());
        results.iter().filter(|r| r["properties"]["node"] == "gpu001").map(of).collect()
    };
    let moved = LSPCI
        .replace("0000:18:00.0", "0000:28:00.0")
        .replace("secondary=18, subordinate=18", "secondary=28, subordinate=28");
    let moved = moved.replace("subordinate=1a", "subordinate=2a");
    assert!(LSPCI != moved && prints(LSPCI) == prints(&moved));
    // Fixed for all time: a changed hash would show every known result as new.
    let known = ("\"demo/translated\"".to_owned(), "\"a4e5f677fe9e301c\"".to_owned());
    assert!(prints(LSPCI).contains(&known), "{:?}", prints(LSPCI));
}

#[test]
fn junit_has_a_suite_for_each_node() {
    let text = alike(Format::Junit, LSPCI);
    let doc = roxmltree::Document::parse(&text).unwrap();
    let suites: Vec<_> = doc.root_element().children().filter(|n| n.is_element()).collect();
    let names: Vec<_> = suites.iter().filter_map(|s| s.attribute("name")).collect();
    assert_eq!(names, ["gpu001", "gpu002 <b>|\\u{1b}[2J", "node-5"]);
    for suite in &suites {
        let count = |tag: &str| suite.descendants().filter(|n| n.has_tag_name(tag)).count().to_string();
        for (attribute, tag) in
            [("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")]
        {
            assert_eq!(suite.attribute(attribute), Some(count(tag).as_str()));
        }
    }
    assert_eq!(suites[2].attribute("errors"), Some("1"), "what could not be read is never green");
    let failures = doc.descendants().filter(|n| n.has_tag_name("failure"));
    assert!(failures.into_iter().all(|n| n.text().is_some_and(|t| t.starts_with("position: "))));
}

#[test]
fn markdown_of_a_fleet() {
    insta::assert_snapshot!(alike(Format::Markdown, LSPCI));
}
