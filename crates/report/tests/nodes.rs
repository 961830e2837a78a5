//! Lists of nodes: JSON against its schema, the page, the set.

#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use crate::common::schema;

use linerate_report::Style;
use linerate_report::nodes::{Answer, Format, Group, Node, Report, SCHEMA, Source, Unreached};
use serde_json::Value;

fn report(reach: bool) -> Report {
    let source = |line| Source { kind: "genders", what: "/etc/genders".to_owned(), line };
    let node = |i: u64| Node {
        name: format!("gpu{i:03}"),
        way: format!("root@gpu{i:03}"),
        transport: "ssh",
        sudo: i == 1,
        groups: vec!["rack1".to_owned(), "genders:ib\u{1b}[31m".to_owned()],
        sources: vec![source(Some(3)), source(None)],
        answer: reach.then(|| Answer {
            reached: i != 3,
            milliseconds: i,
            cause: (i == 3).then_some("refused"),
            said: (i == 3).then(|| "Connection refused".to_owned()),
        }),
    };
    Report {
        set: ["gpu001", "gpu002", "gpu003"].iter().collect(),
        count: 3,
        reference: Some("gpu001".to_owned()),
        sources: vec![source(None)],
        nodes: (1..4).map(node).collect(),
        groups: vec![Group { name: "rack1".to_owned(), set: ["gpu001"].iter().collect() }],
        reached: reach.then(|| ["gpu001", "gpu002"].iter().collect()),
        unreached: if reach {
            vec![Unreached { cause: "refused", sentence: "nobody listens", set: ["gpu003"].iter().collect() }]
        } else {
            Vec::new()
        },
        remarks: vec!["x\ny".to_owned()],
        exit_code: if reach { 1 } else { 2 },
    }
}

fn written(reach: bool, format: Format) -> String {
    let mut out = Vec::new();
    report(reach).write(format, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn forms_say_the_same() {
    let schema = schema::Schema::of("nodes-1");
    for reach in [false, true] {
        let value = schema.valid(&written(reach, Format::Json));
        assert_eq!((&value["schema"], &value["set"]), (&SCHEMA.into(), &"gpu[001-003]".into()));
        let page = written(reach, Format::Text(Style::default()));
        assert!(!page.chars().any(|c| c.is_control() && c != '\n'), "{page}");
        assert!(page.lines().any(|l| l == "gpu[001-003]"), "{page}");
        assert_eq!(page.contains("2 of 3 reached"), reach, "{page}");
        let wrong = [
            ("/schema", Value::from("linerate.nodes/2")),
            ("/nodes/0/transport", "carrier pigeon".into()),
            ("/sources/0/line", 0.into()),
            ("/count", Value::from(-1)),
        ];
        schema.rejects(&value, &wrong);
    }
    assert_eq!(written(false, Format::Set), "gpu[001-003]\n");
    assert_eq!(written(true, Format::Set), "gpu[001-002]\n");
}
