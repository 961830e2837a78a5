//! What differs between two nodes: JSON against its schema, the page, the table.

#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use crate::common::schema;

use linerate_fleet::Profile;
use linerate_fleet::diff::{Diff, diff};
use linerate_node::Node;
use linerate_report::Style;
use linerate_report::diff::{Format, Report, SCHEMA};
use serde_json::Value;
use std::path::Path;

fn example(name: &str) -> Profile {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let s = linerate_snapshot::load_bytes(&std::fs::read(path).unwrap(), name).unwrap();
    Profile::of(name, &Node::decode(&s), &s, linerate_rules::rules())
}

fn written(d: &Diff, format: Format) -> (String, u8) {
    let report = Report::of(["healthy", "sick"], d, false);
    let mut out = Vec::new();
    report.write(format, &mut out).unwrap();
    (String::from_utf8(out).unwrap(), report.exit_code)
}

#[test]
fn forms_say_the_same() {
    let (healthy, sick) = (example("healthy-8gpu.tar.zst"), example("sick-8gpu.tar.zst"));
    let schema = schema::Schema::of("diff-1");
    for (found, code) in [(diff(&healthy, &sick), 1), (diff(&healthy, &healthy), 0)] {
        let (json, exit) = written(&found, Format::Json);
        let value = schema.valid(&json);
        assert_eq!((exit, &value["schema"], &value["exit_code"]), (code, &SCHEMA.into(), &code.into()));
        let rows = value["differences"].as_array().unwrap();
        assert_eq!(rows.is_empty(), code == 0);
        let (table, _) = written(&found, Format::Markdown);
        let lines = table.lines().filter(|l| l.starts_with("| ") && !l.starts_with("| |")).count();
        assert_eq!(lines, rows.len());
        let (page, _) = written(&found, Format::Text(Style::default()));
        assert!(page.lines().all(|l| l.chars().count() <= 80), "{page}");
        for row in rows.iter().filter(|r| r["severity"] == "high") {
            let rule = row["rules"][1][0]["rule"].as_str().unwrap();
            assert!(page.contains(rule) && table.contains(rule), "{rule}");
        }
        if code == 1 {
            let wrong = [
                ("/schema", Value::from("linerate.diff/2")),
                ("/differences/0/severity", Value::from("awful")),
                ("/differences/0/sides/0", Value::from("perhaps")),
                ("/compared", Value::from(-1)),
            ];
            schema.rejects(&value, &wrong);
        }
    }
}

/// The sick example's own faults are what differs, by position.
#[test]
fn the_sick_example_differs_where_it_is_sick() {
    let (healthy, sick) = (example("healthy-8gpu.tar.zst"), example("sick-8gpu.tar.zst"));
    let found = diff(&healthy, &sick);
    let (json, _) = written(&found, Format::Json);
    let value: Value = serde_json::from_str(&json).unwrap();
    let at = |fact: &str| {
        let rows = value["differences"].as_array().unwrap().iter();
        rows.filter(|r| r["fact"] == fact && !r["severity"].is_null())
            .map(|r| r["at"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(at("pci.link.width"), ["rail 3 NIC"]);
    assert_eq!(at("rdma.ports.rate_gbps"), ["rail 2 NIC"]);
    assert_eq!(at("rdma.ports.state"), ["rail 5 NIC"]);
    assert_eq!(at("pci.express.relaxed_ordering"), ["rail 6 NIC"]);
    assert_eq!(at("iommu.groups.domain"), ["GPU 0-7", "rail 0-7 NIC"]);
    assert_eq!(at("nvidia.flavour"), [""]);
}
