//! Every form of report of every real input that the audit accepts: the exit code says what it says for every other form, and
//! the document is what it claims to be.
#![allow(clippy::unwrap_used, clippy::print_stdout)] // helpers of tests, outside of test functions

use crate::schema;

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

type Check = fn(&str) -> Result<(), String>;

const FORMATS: [(&str, Check); 5] =
    [("text", plain), ("json", json), ("markdown", markdown), ("sarif", sarif), ("junit", junit)];

/// Where an input is of no use, the command says why and exits with this.
const REFUSED: Option<i32> = Some(3);

#[test]
fn every_real_input_in_every_format() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !data.is_dir() {
        println!("SKIPPED: ../shared/data is not here");
        return;
    }
    let mut files = Vec::new();
    list(&data, &mut files);
    let (next, accepted, bad) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match one(file) {
                        Ok(of_use) => _ = accepted.fetch_add(usize::from(of_use), Ordering::Relaxed),
                        Err(e) => bad.lock().unwrap().push(format!("{}: {e}", file.display())),
                    }
                }
            });
        }
    });
    let bad = bad.into_inner().unwrap();
    assert!(bad.is_empty(), "{} of {}:\n{}", bad.len(), files.len(), bad.join("\n"));
    let accepted = accepted.into_inner();
    println!("{accepted} of {} files, {} formats each", files.len(), FORMATS.len());
    assert!(accepted > 100, "{accepted} of {} files", files.len());
}

/// The checks find what is wrong: one word of a good document is another.
#[test]
fn damaged_documents_are_found() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/sick-8gpu.tar.zst");
    assert_eq!(one(&example), Ok(true));
    let damage = [
        ("text", "\n", "\x1b[1m\n"),
        ("json", "\"verdicts\"", "\"answers\""),
        ("json", "\"fail\"", "\"failed\""),
        ("markdown", "#", ""),
        ("sarif", "2.1.0", "2.2.0"),
        ("sarif", "\"ruleId\": \"", "\"ruleId\": \"x"),
        ("sarif", "\"ruleIndex\": 0", "\"ruleIndex\": 1"),
        ("sarif", "\"level\": \"error\"", "\"level\": \"fatal\""),
        ("sarif", "\"uri\": \"", "\"uri\": \"/"),
        ("sarif", "\"startLine\": ", "\"startLine\": 0, \"x\": "),
        ("junit", "<failure ", "<failed "),
        ("junit", "failures=\"", "failures=\"1"),
        ("junit", "</testsuite>", ""),
    ];
    for (format, from, to) in damage {
        let text = String::from_utf8(audit(&example, format).stdout).unwrap();
        assert!(text.contains(from), "{format}: no {from}");
        let check = FORMATS.iter().find(|(f, _)| *f == format).unwrap().1;
        assert!(check(&text.replace(from, to)).is_err(), "{format}: {from} became {to}, and nobody noticed");
    }
}

#[test]
fn a_schema_is_a_version_of_the_json() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let run = |source: &Path, more: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_linerate")).arg("audit").arg(source).args(more).output().unwrap()
    };
    let one = examples.join("sick-8gpu.tar.zst");
    for (more, name) in [(&[][..], "audit-2"), (&["--schema", "2"], "audit-2"), (&["--schema", "1"], "audit-1")] {
        let out = run(&one, &[&["--format", "json"], more].concat());
        assert_eq!(out.status.code(), Some(1), "{more:?}");
        schema::Schema::of(name).valid(&String::from_utf8(out.stdout).unwrap());
    }
    let many = Path::new(env!("CARGO_TARGET_TMPDIR")).join("formats-schema");
    std::fs::create_dir_all(&many).unwrap();
    for name in ["a.tar.zst", "b.tar.zst"] {
        std::fs::copy(&one, many.join(name)).unwrap();
    }
    assert_eq!(run(&many, &["--format", "json"]).status.code(), Some(1));
    for (source, more) in [
        (&one, &["--schema", "1"][..]),
        (&one, &["--schema", "2", "--format", "sarif"]),
        (&one, &["--schema", "3", "--format", "json"]),
        (&many, &["--schema", "2", "--format", "json"]),
    ] {
        let out = run(source, more);
        assert_eq!((out.status.code(), out.stdout.len()), (Some(3), 0), "{more:?}");
    }
}

/// A fleet's directory: the newest of each node, one that is damaged, and what is no node.
#[test]
fn a_fleet_in_every_format() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("formats-fleet");
    let _ = std::fs::remove_dir_all(&dir);
    let archive = |name: &str| std::fs::read(examples.join(name)).unwrap();
    let (healthy, sick) = (archive("healthy-8gpu.tar.zst"), archive("sick-8gpu.tar.zst"));
    for (path, bytes) in [
        ("gpu001/20260101T000000Z.tar.zst", &sick),
        ("gpu001/20260102T000000Z.tar.zst", &healthy),
        ("gpu002/20260101T000000Z.tar.zst", &healthy),
        ("gpu003/20260101T000000Z.tar.zst", &sick),
        ("gpu004/20260101T000000Z.tar.zst", &b"no archive at all".to_vec()),
        ("index.parquet", &Vec::new()),
    ] {
        let path = dir.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let written = |format: &str| {
        let out = audit(&dir, format);
        assert_eq!(out.status.code(), Some(1), "{format}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    for (format, check) in [("text", plain as Check), ("markdown", markdown), ("sarif", sarif), ("junit", junit)] {
        let text = written(format);
        assert_eq!(check(&text), Ok(()), "{format}");
        assert!(text.contains("gpu003") && text.contains("gpu004"), "{format}: {text}");
        assert_eq!(text, written(format), "{format}: the same again");
    }
    let text = written("text");
    assert!(text.lines().all(|l| l.chars().count() <= 80 || !l.trim().contains(' ')), "{text}");
    let lines = written("json");
    let (nodes, last) = lines.trim_end().rsplit_once('\n').unwrap();
    let node = schema::Schema::of("fleet-node-1");
    let nodes: Vec<Value> = nodes.lines().map(|l| node.valid(l)).collect();
    let labels: Vec<&str> = nodes.iter().filter_map(|n| n["label"].as_str()).collect();
    assert_eq!(labels, ["gpu001", "gpu002", "gpu003", "gpu004"]);
    assert_eq!(nodes[0]["fail"], nodes[1]["fail"], "the newest counts");
    let last = schema::Schema::of("fleet-1").valid(last);
    assert_eq!((&last["nodes"], &last["unreadable"]), (&4.into(), &1.into()));
    let sick: Vec<&Value> = last["sets"].as_array().unwrap().iter().filter(|s| s["nodes"] == "gpu003").collect();
    assert!(
        sick.iter().any(|s| s["status"] == "fail" && s["at"].as_str().is_some_and(|a| a.contains("GPU"))),
        "{sick:?}"
    );
    // A file and a directory's node with one name are two nodes.
    let file = dir.join("gpu002.tar.zst");
    std::fs::copy(examples.join("healthy-8gpu.tar.zst"), &file).unwrap();
    let out = audit(&dir, "json").stdout;
    let text = String::from_utf8(out).unwrap();
    assert!(
        text.contains("\"gpu002/20260101T000000Z.tar.zst\"") && text.contains("\"formats-fleet/gpu002.tar.zst\""),
        "{text}"
    );
}

fn list(dir: &Path, to: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            list(&path, to);
        } else {
            to.push(path);
        }
    }
}

fn audit(file: &Path, format: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linerate"));
    command.arg("audit").arg(file).args(["--format", format]).output().unwrap()
}

/// Whether the input is of use; then every form of its report is right.
fn one(file: &Path) -> Result<bool, String> {
    let mut code = None;
    for (format, check) in FORMATS {
        let out = audit(file, format);
        let said = String::from_utf8_lossy(&out.stderr);
        if said.contains("panicked") {
            return Err(format!("{format}: {said}"));
        }
        let text = String::from_utf8(out.stdout).map_err(|e| format!("{format}: {e}"))?;
        match (code, out.status.code()) {
            (None, REFUSED) if text.is_empty() && !said.trim().is_empty() => return Ok(false),
            (None, first @ Some(0..=2)) => code = first,
            (old, new) if old.is_some() && old == new => {}
            (old, new) => return Err(format!("{format}: exit code {new:?}, before {old:?}: {said}")),
        }
        check(&text).map_err(|e| format!("{format}: {e}"))?;
    }
    Ok(true)
}

fn ensure(good: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if good { Ok(()) } else { Err(what()) }
}

fn plain(text: &str) -> Result<(), String> {
    ensure(!text.trim().is_empty(), || "nothing".into())?;
    let control = text.chars().find(|c| c.is_control() && *c != '\n');
    ensure(control.is_none(), || format!("a control character: {control:?}"))
}

fn markdown(text: &str) -> Result<(), String> {
    plain(text)?;
    ensure(text.lines().any(|l| l.starts_with('#')), || "no heading".into())
}

/// One report, or a line for each node of a text that is of several.
fn json(text: &str) -> Result<(), String> {
    if text.starts_with("{\"schema\":\"linerate.fleet-node/1\"") {
        let (nodes, fleet) = text.trim_end().rsplit_once('\n').ok_or("a node without its fleet")?;
        let is_valid = |schema: &str, line: &str| {
            let value: Value = serde_json::from_str(line).map_err(|e| e.to_string())?;
            schema::Schema::of(schema).check(&value)
        };
        nodes.lines().try_for_each(|l| is_valid("fleet-node-1", l))?;
        return is_valid("fleet-1", fleet);
    }
    let value: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    schema::Schema::of("audit-2").check(&value)
}

/// What SARIF 2.1.0 requires of the members that are written.
fn sarif(text: &str) -> Result<(), String> {
    let log: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    ensure(log["version"] == "2.1.0", || "version".into())?;
    ensure(log["$schema"].as_str().is_some_and(|s| s.contains("sarif-2.1.0")), || "$schema".into())?;
    let runs = log["runs"].as_array().ok_or("runs")?;
    ensure(runs.len() == 1, || format!("{} runs", runs.len()))?;
    for run in runs {
        let driver = &run["tool"]["driver"];
        ensure(driver["name"] == "linerate", || "tool.driver.name".into())?;
        let rules = driver["rules"].as_array().ok_or("rules")?;
        let ids: Vec<&str> = rules.iter().filter_map(|r| r["id"].as_str()).collect();
        let unique: BTreeSet<&str> = ids.iter().copied().collect();
        ensure(ids.len() == rules.len() && unique.len() == ids.len(), || "ids of rules".into())?;
        for r in rules {
            let described = ["shortDescription", "fullDescription", "help"].iter().all(|m| has_text(&r[*m]));
            ensure(described && is_level(&r["defaultConfiguration"]["level"]), || format!("rule {}", r["id"]))?;
        }
        for r in run["results"].as_array().ok_or("results")? {
            result(r, &ids).map_err(|e| format!("{e}: {r}"))?;
        }
    }
    Ok(())
}

fn result(r: &Value, ids: &[&str]) -> Result<(), &'static str> {
    let id = r["ruleId"].as_str().ok_or("ruleId")?;
    let index = r["ruleIndex"].as_u64().ok_or("ruleIndex")?;
    let true_or = |good: bool, what| if good { Ok(()) } else { Err(what) };
    true_or(ids.get(index as usize) == Some(&id), "ruleId and ruleIndex")?;
    true_or(has_text(&r["message"]), "message.text")?;
    true_or(is_level(&r["level"]), "level")?;
    // The standard, 3.27.10: a result that is no failure has the level none.
    true_or((r["kind"] == "fail") == (r["level"] != "none"), "kind and level")?;
    true_or(["fail", "open"].iter().any(|k| r["kind"] == *k), "kind")?;
    let locations = r["locations"].as_array().ok_or("locations")?;
    true_or(!locations.is_empty(), "locations")?;
    let related = r["relatedLocations"].as_array();
    for l in locations.iter().chain(related.into_iter().flatten()) {
        let logical = l["logicalLocations"].as_array();
        true_or(logical.is_none_or(|l| l.iter().all(|l| is_word(&l["name"]))), "logicalLocations")?;
        let place = &l["physicalLocation"];
        true_or(logical.is_some() || !place.is_null(), "a location of nothing")?;
        if place.is_null() {
            continue;
        }
        let uri = place["artifactLocation"]["uri"].as_str().ok_or("uri")?;
        let allowed = |b: u8| b.is_ascii_alphanumeric() || b"/-._~%".contains(&b);
        true_or(!uri.is_empty() && !uri.starts_with('/') && uri.bytes().all(allowed), "uri")?;
        let region = &place["region"];
        let line = region["startLine"].as_u64();
        let bytes = region["byteOffset"].as_u64().zip(region["byteLength"].as_u64());
        true_or(region.is_null() || line.is_some_and(|n| n >= 1) || bytes.is_some(), "region")?;
    }
    Ok(())
}

fn has_text(message: &Value) -> bool {
    is_word(&message["text"])
}

fn is_word(v: &Value) -> bool {
    v.as_str().is_some_and(|t| !t.trim().is_empty())
}

fn is_level(v: &Value) -> bool {
    ["none", "note", "warning", "error"].iter().any(|l| v == l)
}

/// Well-formed, and every count is what is there.
fn junit(text: &str) -> Result<(), String> {
    let doc = roxmltree::Document::parse(text).map_err(|e| e.to_string())?;
    let root = doc.root_element();
    ensure(root.has_tag_name("testsuites"), || "the root".into())?;
    let suites: Vec<_> = root.children().filter(|n| n.is_element()).collect();
    ensure(suites.iter().all(|s| s.has_tag_name("testsuite")), || "a child of the root".into())?;
    for (attribute, tag) in
        [("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")]
    {
        let claimed = |n: roxmltree::Node<'_, '_>| n.attribute(attribute).and_then(|v| v.parse::<usize>().ok());
        let there = |n: roxmltree::Node<'_, '_>| n.descendants().filter(|d| d.has_tag_name(tag)).count();
        // Of many nodes nobody knows the sums when the root is written.
        let of_fleet = root.attribute("name") == Some("linerate fleet");
        for n in suites.iter().copied().chain([root].into_iter().filter(|_| !of_fleet)) {
            ensure(claimed(n) == Some(there(n)), || format!("{attribute}: {:?} of {}", claimed(n), there(n)))?;
        }
        let sum: usize = suites.iter().filter_map(|n| claimed(*n)).sum();
        ensure(of_fleet || claimed(root) == Some(sum), || format!("{attribute} of all"))?;
    }
    let named = |n: &roxmltree::Node<'_, '_>| ["classname", "name"].iter().all(|a| n.attribute(*a).is_some());
    ensure(root.descendants().filter(|n| n.has_tag_name("testcase")).all(|n| named(&n)), || {
        "a case without a name".into()
    })
}
