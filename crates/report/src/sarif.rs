//! SARIF 2.1.0 (OASIS standard), for viewers of code-scanning results.
//!
//! Failures are results of kind `fail`, unknown answers of kind `open` (SARIF: "the evaluation could not decide"). What passed or
//! does not apply is not written: common viewers show every result as an alert.

use crate::fix::Fix;
use crate::fleet::Member;
use crate::words::Words;
use crate::{Report, VERSION, json, suppressed};
use linerate_fleet::audit::At;
use linerate_remedy::On;
use linerate_rules::{Evidence, Rule, Severity, Status, Suppression, Verdict};
use linerate_snapshot::{Pos, Snapshot};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{self, Write};

/// Writes the document.
///
/// # Errors
/// Those of the writer.
pub fn render(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let words = Words::of(report.snapshot);
    let mut rules: Vec<&'static Rule> = Vec::new();
    let mut index: HashMap<&'static str, usize> = HashMap::new();
    for (v, _) in shown(report) {
        index.entry(v.rule.id).or_insert_with(|| {
            rules.push(v.rule);
            rules.len() - 1
        });
    }
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        runs: [Run {
            automation_details: json!({ "id": format!("linerate/{}", report.snapshot.label) }),
            column_kind: "unicodeCodePoints",
            properties: asked(&report.audit.terms.only),
            results: Results { report, words: &words, index: &index },
            tool: json!({ "driver": {
                "name": "linerate",
                "version": VERSION,
                "rules": rules.into_iter().map(rule).collect::<Vec<_>>(),
            }}),
        }],
        version: "2.1.0",
    };
    json::write_pretty(&log, out)
}

/// Which rules were asked, where not all were.
fn asked(only: &[String]) -> Option<Value> {
    (!only.is_empty()).then(|| json!({ "onlyRules": only }))
}

/// Verdicts that are results.
fn shown<'r>(report: &'r Report<'_>) -> impl Iterator<Item = (&'r Verdict, Option<&'r Suppression>)> {
    let told = |v: &Verdict| matches!(v.finding.status, Status::Fail | Status::Unknown);
    let counted = report.audit.verdicts.iter().filter(move |v| told(v)).map(|v| (v, None));
    counted.chain(report.audit.suppressed.iter().map(|(v, by)| (v, Some(&**by))))
}

/// Members in the order of their names, as everywhere in our JSON.
#[derive(Serialize)]
struct Log<'r, 's> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    runs: [Run<'r, 's>; 1],
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'r, 's> {
    automation_details: Value,
    column_kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    properties: Option<Value>,
    results: Results<'r, 's>,
    tool: Value,
}

/// Results, each made when it is written: a hostile node has tens of thousands.
struct Results<'r, 's> {
    report: &'r Report<'s>,
    words: &'r Words<'r>,
    index: &'r HashMap<&'static str, usize>,
}

impl Serialize for Results<'_, '_> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut times: HashMap<(&'static str, String), u32> = HashMap::new();
        let causes = self.report.audit.causes();
        s.collect_seq(shown(self.report).map(|(v, by)| {
            let at = self.index.get(v.rule.id).copied().unwrap_or_default();
            let time = times.entry((v.rule.id, v.finding.subject.to_string())).or_default();
            let mut made = result(v, at, *time, self.report, self.words, "");
            suppress(&mut made, by);
            follow(&mut made, causes.of(v));
            *time += 1;
            made
        }))
    }
}

fn rule(r: &'static Rule) -> Value {
    let mut out = json!({
        "id": r.id,
        "shortDescription": { "text": r.title },
        "fullDescription": { "text": format!("{}. A failure costs: {}", r.title, r.effect.text) },
        "help": { "text": r.docs, "markdown": crate::explain::rule_markdown(r) },
        "defaultConfiguration": { "level": level(r.severity.usual) },
        "properties": { "tags": [r.area()], "effect-quality": r.effect.quality },
    });
    if let Some(source) = r.sources.iter().find(|s| s.at.starts_with("http")) {
        out["helpUri"] = json!(source.at);
    }
    out
}

fn level(s: Severity) -> &'static str {
    match s {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low | Severity::Info => "note",
    }
}

/// `below`: what paths are below, as URI reference that ends with `/`; empty for a node alone.
fn result(v: &Verdict, rule_index: usize, time: u32, report: &Report<'_>, words: &Words<'_>, below: &str) -> Value {
    let snapshot = report.snapshot;
    let f = &v.finding;
    let failed = f.status == Status::Fail;
    let mut text = format!("{}: {}", f.subject, f.message);
    if let Some(r) = &f.remedy {
        text.push_str(&format!(". Fix: {}", r.summary));
    }
    if let Some(see) = &f.see {
        text.push_str(&format!(". To see it: {see}"));
    }
    let subject = f.subject.to_string();
    let logical = json!([{
        "name": subject,
        "fullyQualifiedName": format!("{}/{subject}", json::kind_of(&f.subject)),
        "kind": "resource",
    }]);
    let mut places = f.evidence.iter().map(|e| physical(e, snapshot, words, below));
    let mut location = json!({ "logicalLocations": logical });
    if let Some(first) = places.next() {
        location["physicalLocation"] = first;
    }
    let related: Vec<Value> = places
        .enumerate()
        .map(|(i, p)| json!({ "id": i + 1, "physicalLocation": p, "message": { "text": "more evidence" } }))
        .collect();
    let mut out = json!({
        "ruleId": v.rule.id,
        "ruleIndex": rule_index,
        "kind": if failed { "fail" } else { "open" },
        // The standard allows a level other than none for failures only.
        "level": if failed { level(v.severity()) } else { "none" },
        "message": { "text": text },
        "locations": [location],
        "partialFingerprints": { "linerate/v1": fingerprint(v, time, &snapshot.manifest.host) },
        "properties": { "severity": v.severity().name(), "status": f.status.name() },
    });
    if !related.is_empty() {
        out["relatedLocations"] = json!(related);
    }
    if let Some(r) = &f.remedy {
        out["properties"]["remedy"] = json!(Fix::of(r, &On::node(report.node)));
    }
    out
}

/// What a result follows from.
fn follow(result: &mut Value, cause: Option<&Verdict>) {
    if let Some(c) = cause {
        result["properties"]["followsFrom"] = json!({ "rule": c.rule.id, "subject": c.finding.subject });
    }
}

/// SARIF 2.1.0, 3.35: who suppressed a result, and why.
fn suppress(result: &mut Value, by: Option<&Suppression>) {
    if let Some(s) = by {
        result["suppressions"] =
            json!([{ "kind": "external", "status": "accepted", "justification": suppressed::why(s) }]);
    }
}

fn physical(e: &Evidence, snapshot: &Snapshot, words: &Words<'_>, below: &str) -> Value {
    let mut path = snapshot.path(e.place.base);
    if !e.place.leaf.is_empty() {
        path = format!("{path}/{}", e.place.leaf);
    }
    let path = uri(path.trim_start_matches('/'));
    let mut out = json!({ "artifactLocation": { "uri": format!("{below}{path}") } });
    match e.place.pos {
        Pos::Whole => {}
        Pos::Line(n) => {
            let line = snapshot.line_in_file(e.place.base, n).max(1);
            out["region"] = json!({ "startLine": line, "snippet": { "text": words.excerpt(e.place) } });
        }
        Pos::Bytes { offset, len } => out["region"] = json!({ "byteOffset": offset, "byteLength": len }),
    }
    out
}

/// A relative URI reference (RFC 3986): everything but unreserved characters and `/` in percent encoding. An empty path, which
/// is the snapshot itself, is `.`.
fn uri(path: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(path.len() + 8);
    for b in path.bytes() {
        if b.is_ascii_alphanumeric() || matches!(b, b'/' | b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(b));
        } else {
            // Writing to a string does not fail.
            let _ = write!(out, "%{b:02X}");
        }
    }
    if out.is_empty() { ".".to_owned() } else { out }
}

/// Stays the same from audit to audit: host, rule, subject, and which of several answers about it. No message (its numbers move).
/// FNV-1a, 64 bits: fixed for all time, unlike the standard library's hash.
fn fingerprint(v: &Verdict, time: u32, host: &str) -> String {
    let subject = v.finding.subject.to_string();
    hashed(&[host, v.rule.id, json::kind_of(&v.finding.subject), &subject, &time.to_string()])
}

fn hashed(parts: &[&str]) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for b in parts.join("\0").bytes() {
        hash = (hash ^ u64::from(b)).wrapping_mul(0x100_0000_01b3);
    }
    format!("{hash:016x}")
}

/// The head of a run with the results of many nodes: those follow, with commas between, then [`end`].
pub(crate) fn begin(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(
        b"{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{\n\
          \"automationDetails\":{\"id\":\"linerate/fleet/\"},\"columnKind\":\"unicodeCodePoints\",\"results\":[\n",
    )
}

/// Results of a node among many, with commas between. A path is below the node's name, and a fingerprint is that of node, rule and position: it
/// stays when devices get other addresses.
pub(crate) fn results(member: &Member<'_>, out: &mut Vec<u8>) {
    let Member { label, report, places, rules } = member;
    let index: HashMap<&str, usize> = rules.iter().enumerate().map(|(i, r)| (r.id, i)).collect();
    let words = Words::of(report.snapshot);
    let below = format!("{}/", uri(label));
    let mut times: HashMap<(&'static str, At), u32> = HashMap::new();
    let causes = report.audit.causes();
    for (v, by) in shown(report) {
        let at = places.at(&v.finding.subject);
        let place = at.to_string();
        let time = times.entry((v.rule.id, at)).or_default();
        let mut made = result(v, index.get(v.rule.id).copied().unwrap_or_default(), *time, report, &words, &below);
        suppress(&mut made, by);
        follow(&mut made, causes.of(v));
        made["partialFingerprints"] =
            json!({ "linerate/position/v1": hashed(&[label, v.rule.id, &place, &time.to_string()]) });
        *time += 1;
        let subject = v.finding.subject.to_string();
        made["locations"][0]["logicalLocations"] = json!([
            {
                "name": subject,
                "fullyQualifiedName": format!("{label}/{}/{subject}", json::kind_of(&v.finding.subject)),
                "kind": "resource",
            },
            { "name": label, "fullyQualifiedName": label, "kind": "resource" },
        ]);
        made["properties"]["node"] = json!(label);
        made["properties"]["position"] = json!(place);
        if !out.is_empty() {
            out.extend_from_slice(b",\n");
        }
        // Writing to memory does not fail.
        let _ = json::write_line(&made, out);
        out.pop_if(|b| *b == b'\n');
    }
}

/// The end of such a run: the rules that were asked, and which nodes could not be read.
pub(crate) fn end(
    rules: &[&'static Rule],
    only: &[String],
    unreadable: &[(String, String)],
    out: &mut dyn Write,
) -> io::Result<()> {
    let notes: Vec<Value> = unreadable
        .iter()
        .map(|(label, why)| {
            json!({
                "level": "error",
                "message": { "text": format!("{label}: could not be read: {why}") },
                "locations": [{ "logicalLocations": [{ "name": label, "fullyQualifiedName": label, "kind": "resource" }] }],
            })
        })
        .collect();
    let tool = json!({ "driver": {
        "name": "linerate",
        "version": VERSION,
        "rules": rules.iter().map(|r| rule(r)).collect::<Vec<_>>(),
    }});
    let invocations = json!([{ "executionSuccessful": notes.is_empty(), "toolExecutionNotifications": notes }]);
    out.write_all(b"\n],\n\"invocations\":")?;
    json::write_line(&invocations, out)?;
    if let Some(asked) = asked(only) {
        out.write_all(b",\"properties\":")?;
        json::write_line(&asked, out)?;
    }
    out.write_all(b",\"tool\":")?;
    json::write_line(&tool, out)?;
    out.write_all(b"}]}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris() {
        assert_eq!(uri("sys/bus/pci/devices/0000:19:00.0/config"), "sys/bus/pci/devices/0000%3A19%3A00.0/config");
        assert_eq!(uri("a b\u{e9}%"), "a%20b%C3%A9%25");
        assert_eq!(uri(""), ".");
    }
}
