//! Rules in words, and the summary of a fleet.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

mod common;

use common::{CATALOGUE, FINE, HOST, HOSTILE, LSPCI, REDIRECT, UNSEEN, bytes, lspci, survey_of, usual};
use linerate_report::fleet::{Fleet, Format};
use linerate_report::{Style, explain};
use linerate_snapshot::Snapshot;
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

fn fleet(format: Format) -> (String, u8) {
    let s = lspci(LSPCI);
    let mut fleet = Fleet::new(format);
    let text = bytes(|out| {
        fleet.node("node-1", &survey_of(&s, &usual()), out)?;
        fleet.node("node-2-with-a-name-that-is-rather-long", &survey_of(&s, &[&REDIRECT, &HOSTILE]), out)?;
        fleet.node("node-3\x1b[2J", &survey_of(&s, &[&UNSEEN, &FINE, &HOST]), out)?;
        fleet.node("node-4", &survey_of(&s, &[&FINE]), out)?;
        fleet.unreadable("node-5", "node-5.tar.zst: cut after 512 bytes\n", out)?;
        fleet.finish(out)
    });
    (text, fleet.exit_code())
}

#[test]
fn fleet_for_a_terminal() {
    let (text, code) = fleet(Format::Text(Style::default()));
    assert_eq!(code, 1);
    assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn fleet_as_json_lines() {
    let (text, _) = fleet(Format::JsonLines);
    let lines: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines.len(), 6);
    assert_eq!(lines[0]["worst"]["rule"], "demo/translated");
    assert_eq!(lines[4]["error"], "node-5.tar.zst: cut after 512 bytes\n");
    let last = &lines[5];
    assert_eq!((&last["nodes"], &last["with_findings"], &last["cannot_tell"]), (&5.into(), &2.into(), &1.into()));
    let redirect = last["rules"].as_array().unwrap().iter().find(|r| r["rule"] == "demo/redirect").unwrap();
    assert_eq!((&redirect["fail"], &redirect["severity"]), (&2.into(), &"high".into()), "once per node");
}

#[test]
fn exit_codes_of_a_fleet() {
    let s = lspci(LSPCI);
    let good = survey_of(&s, &[&FINE]);
    let unknown = survey_of(&Snapshot::new("empty"), &[&UNSEEN]);
    let code = |surveys: &[&linerate_rules::Survey]| {
        let mut f = Fleet::new(Format::JsonLines);
        bytes(|out| surveys.iter().try_for_each(|a| f.node("n", a, out)));
        f.exit_code()
    };
    assert_eq!(code(&[]), 2, "no node: nothing was shown to be good");
    assert_eq!(code(&[&good]), 0);
    assert_eq!(code(&[&good, &unknown]), 2);
    assert_eq!(code(&[&good, &unknown, &survey_of(&s, &[&REDIRECT])]), 1);
}
