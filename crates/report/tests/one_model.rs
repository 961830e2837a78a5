//! The audit and the plan say the same of the same fix: when it holds, what it disturbs, what it can break. On every composed node.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::composed as common;

use linerate_node::Node;
use linerate_remedy::plan::{Options, plan};
use linerate_report::Report;
use linerate_rules::{audit, rules};
use serde_json::Value;
use std::collections::BTreeMap;

const TERMS: [&str; 3] = ["persistence", "disruption", "risk"];

fn json(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> Value {
    let mut out = Vec::new();
    write(&mut out).expect("memory");
    serde_json::from_slice(&out).expect("JSON")
}

fn list<'v>(of: &'v Value, key: &str) -> &'v [Value] {
    of[key].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The remedies of an audit's failing verdicts, by rule and subject.
fn remedies(audit: &Value) -> BTreeMap<(String, String), &Value> {
    let key = |v: &Value| (v["rule"].as_str().unwrap().to_owned(), v["subject"].as_str().unwrap().to_owned());
    let failing = list(audit, "verdicts").iter().filter(|v| v["status"] == "fail" && !v["remedy"].is_null());
    failing.map(|v| (key(v), &v["remedy"])).collect()
}

fn sets_firmware(act: &Value) -> bool {
    act["kind"] == "nic-firmware"
}

#[test]
fn audit_and_plan_say_the_same_of_a_fix() {
    let (mut compared, mut wrong) = (0, Vec::new());
    for path in common::all_descriptions() {
        let s = common::load(&path).1;
        let node = Node::decode(&s);
        let audit = audit(&node, &s, rules());
        let report = Report { audit: &audit, node: &node, snapshot: &s };
        let audited = json(|out| linerate_report::json::render(&report, linerate_report::json::Version::Two, out));
        let planned = serde_json::to_value(plan(&s, &node, &audit, &Options::default())).expect("a plan");
        let remedies = remedies(&audited);
        for step in list(&planned, "steps") {
            for proof in list(step, "proof").iter().filter(|p| p["kind"] == "rule") {
                let (rule, subject) = (proof["rule"].as_str().unwrap(), proof["subject"].as_str().unwrap());
                let Some(remedy) = remedies.get(&(rule.to_owned(), subject.to_owned())) else { continue };
                // Another fix: what waits is cancelled, because the node would be worse with it.
                if remedy["action"]["kind"] == "nic-firmware-reset" && list(step, "change").iter().any(sets_firmware) {
                    continue;
                }
                compared += 1;
                for term in TERMS.iter().filter(|t| remedy[**t] != step[**t]) {
                    wrong.push(format!(
                        "{}: {rule} of {subject}: {term} {} in the audit, {} in the step {}",
                        path.file_stem().unwrap().display(),
                        remedy[*term],
                        step[*term],
                        step["id"]
                    ));
                }
            }
        }
    }
    assert!(compared > 50, "only {compared} fixes: the test tests nothing");
    assert!(wrong.is_empty(), "{} of {compared} fixes:\n{}", wrong.len(), wrong.join("\n"));
}
