//! What many nodes show: JSON against its schema, the page, the table.

#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use crate::common::schema;

use linerate_fleet::drift::{Head, Options, Table, drift};
use linerate_fleet::{Profile, Record};
use linerate_node::Node;
use linerate_report::Style;
use linerate_report::drift::{Format, Report, SCHEMA, Unreadable};
use serde_json::Value;
use std::path::Path;

fn record(name: &str) -> Record {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let s = linerate_snapshot::load_bytes(&std::fs::read(path).unwrap(), name).unwrap();
    let node = Node::decode(&s);
    Record::of(Profile::of(name, &node, &s, linerate_rules::rules()), &node, &s)
}

fn written(records: &[(&str, &Record)], unreadable: &[&str], format: Format) -> (String, u8) {
    let mut table = Table::new();
    for (label, r) in records {
        table.record(&Record { label: (*label).to_owned(), ..(*r).clone() });
    }
    let heads: Vec<&Head> = table.heads().collect();
    let unreadable = unreadable.iter().map(|u| Unreadable { source: (*u).to_owned(), why: "\x1b[31mno".to_owned() });
    let report = Report::of(&heads, &drift(&table, &Options::default()), unreadable.collect(), &[]);
    let mut out = Vec::new();
    report.write(format, &mut out).unwrap();
    (String::from_utf8(out).unwrap(), report.exit_code)
}

#[test]
fn forms_say_the_same() {
    let (healthy, sick) = (record("healthy-8gpu.tar.zst"), record("sick-8gpu.tar.zst"));
    let schema = schema::Schema::of("drift-1");
    let same = [("a1", &healthy), ("a2", &healthy)];
    let odd = [("a1", &healthy), ("a2", &healthy), ("a3", &sick)];
    for (nodes, unreadable, code) in [(&same[..], &[][..], 0), (&same, &["x"], 2), (&odd, &["x"], 1)] {
        let (json, exit) = written(nodes, unreadable, Format::Json);
        let value = schema.valid(&json);
        assert_eq!((exit, &value["schema"], &value["exit_code"]), (code, &SCHEMA.into(), &code.into()));
        let rows = value["classes"][0]["facts"].as_array().unwrap();
        assert_eq!(rows.is_empty(), code != 1);
        let (table, _) = written(nodes, unreadable, Format::Markdown);
        let lines = table.lines().filter(|l| l.starts_with("| ") && !l.starts_with("| |")).count();
        assert_eq!(lines, rows.len());
        let (page, _) = written(nodes, unreadable, Format::Text(Style::default()));
        assert!(page.lines().all(|l| l.chars().count() <= 80) && !page.contains('\x1b'), "{page}");
        for row in rows.iter().filter(|r| r["severity"] == "high") {
            let rule = row["values"][1]["verdict"]["rule"].as_str().unwrap();
            assert!(page.contains(rule) && table.contains(rule), "{rule}");
            assert_eq!((&row["values"][0]["count"], &row["values"][1]["nodes"]), (&2.into(), &"a3".into()));
        }
        if code == 1 {
            let wrong = [
                ("/schema", Value::from("linerate.drift/2")),
                ("/classes/0/facts/0/severity", Value::from("awful")),
                ("/classes/0/facts/0/values/0/state", Value::from("perhaps")),
                ("/count", Value::from(-1)),
            ];
            schema.rejects(&value, &wrong);
        }
    }
}

/// A setting that differs now and after the reset is one row; one that differs only after it says so.
#[test]
fn what_holds_after_a_reset_is_called_so() {
    let query = |name: &str, now: &str, next: &str| {
        let text = format!(
            "\nDevice #1:\n----------\n\nDevice type:        ConnectX7\nName:               MCX75310AAS-NEA_Ax\nDevice:             0000:03:00.0\n\n\
             Configurations:                                 Default             Current             Next Boot\n\
             \x20       SRIOV_EN                                False(0)            {now:<20}{next}\n"
        );
        Record::read(name, &linerate_snapshot::load_bytes(text.as_bytes(), name).unwrap())
    };
    let most = query("most", "False(0)", "False(0)");
    for (odd, wanted) in [
        (query("both", "True(1)", "True(1)"), &["SRIOV_EN"][..]),
        (query("pending", "False(0)", "True(1)"), &["SRIOV_EN after the next reset"]),
    ] {
        let nodes = [("a1", &most), ("a2", &most), ("a3", &odd)];
        let (page, _) = written(&nodes, &[], Format::Text(Style::default()));
        let rows: Vec<&str> =
            page.lines().filter_map(|l| l.split_once("SRIOV_EN").map(|(head, _)| &l[head.len()..])).collect();
        assert_eq!(rows, wanted, "{page}");
    }
}
