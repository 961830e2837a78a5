//! Which nodes fulfil a condition: JSON against its schema, and that all forms name the same.

#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use crate::common::schema;

use linerate_report::Style;
use linerate_report::located::{Format, Found, Located, SCHEMA, Shown};
use serde_json::Value;

fn found(label: &str) -> Found {
    Found { label: label.to_owned(), node: format!("m-{label}+s"), time: 7, snapshot: format!("{label}/1.tar.zst") }
}

fn located(yes: &[&str], blind: &[&str]) -> Located {
    let shown = Shown {
        id: "net.mtu",
        subject: "rail 3 NIC".to_owned(),
        part: String::new(),
        value: Some("1500".to_owned()),
        count: yes.len(),
        nodes: yes.join(","),
    };
    let shown = if yes.is_empty() { Vec::new() } else { vec![shown] };
    let asked = (vec!["net.mtu=1500".to_owned()], Some("rail 3 NIC".to_owned()));
    Located::of(asked, yes.iter().map(|l| found(l)).collect(), blind, 5, shown)
}

fn written(report: &Located, format: Format) -> String {
    let mut out = Vec::new();
    report.write(format, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn forms_say_the_same() {
    let schema = schema::Schema::of("where-1");
    let cases: [(&[&str], &[&str], u8); 4] =
        [(&["a1", "a2"], &["b"], 0), (&["a1"], &[], 0), (&[], &[], 1), (&[], &["b"], 2)];
    for (yes, blind, code) in cases {
        let mut report = located(yes, blind);
        report.remarks = vec!["one node was renamed: a0, a1".to_owned()];
        let value = schema.valid(&written(&report, Format::Json));
        assert_eq!((&value["schema"], &value["exit_code"]), (&SCHEMA.into(), &code.into()));
        assert_eq!(value["nodes"].as_array().unwrap().len(), yes.len());
        assert_eq!(value["cannot_tell_count"], blind.len());
        let set = written(&report, Format::Set);
        assert_eq!((set.lines().count(), value["set"].as_str().unwrap()), (usize::from(!yes.is_empty()), set.trim()));
        assert_eq!(written(&report, Format::Lines).lines().collect::<Vec<_>>(), yes);
        let page = written(&report, Format::Text(Style::default()));
        assert!(
            page.lines().all(|l| l.chars().count() <= 80)
                && yes.iter().chain(blind).all(|n| page.contains(n))
                && page.contains("renamed"),
            "{page}"
        );
        let wrong =
            [("/schema", Value::from("linerate.where/2")), ("/exit_code", Value::from(3)), ("/no", Value::Null)];
        schema.rejects(&value, &wrong);
    }
}

#[test]
fn names_of_nodes_do_not_reach_the_terminal_raw() {
    let report = located(&["a\x1b[31m", "b\nc"], &["d\x07"]);
    for format in [Format::Set, Format::Lines, Format::Text(Style::default()), Format::Json] {
        assert!(!written(&report, format).contains(['\x1b', '\x07']));
    }
    assert_eq!(written(&report, Format::Lines).lines().count(), 2);
}
