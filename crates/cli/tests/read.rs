//! What is read from texts that nobody of this project wrote, against what a person wrote down who read them without the program: `lab/read`.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // helpers of tests, outside of test functions

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Values of a file as `path = value`, as the reader wrote them down.
#[derive(Default)]
struct Key<'t> {
    file: &'t str,
    line: usize,
    /// A path, and its value; `None`: it must have none.
    claims: Vec<(&'t str, Option<&'t str>)>,
}

fn keys(text: &str) -> Vec<Key<'_>> {
    let mut keys: Vec<Key> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if let Some(file) = line.strip_prefix("= ") {
            keys.push(Key { file, line: number + 1, claims: Vec::new() });
        } else if line.is_empty() || line.starts_with('#') {
            continue;
        } else {
            let claim = line.strip_prefix("! ").map(|path| (path, None));
            let claim = claim.or_else(|| line.split_once(" = ").map(|(path, value)| (path, Some(value))));
            let claim = claim.unwrap_or_else(|| panic!("line {}: {line}", number + 1));
            keys.last_mut().unwrap_or_else(|| panic!("line {}: below no file", number + 1)).claims.push(claim);
        }
    }
    keys
}

/// All values of JSON with their paths: objects of a list have their address, name or number in brackets, words of a list nothing.
fn flat(value: &Value, path: &str, all: &mut BTreeMap<String, Vec<String>>) {
    match value {
        Value::Object(o) if o.contains_key("unreadable") => {}
        Value::Object(o) if o.contains_key("absent") => add(all, path, "absent".to_owned()),
        Value::Object(o) if o.contains_key("known") => flat(&o["known"], path, all),
        Value::Object(o) => {
            for (key, v) in o {
                let dot = if path.is_empty() { "" } else { "." };
                flat(v, &format!("{path}{dot}{key}"), all);
            }
        }
        Value::Array(list) => {
            for (index, v) in list.iter().enumerate() {
                match (v, sample(v)) {
                    (_, Some((of, value))) => add(all, &format!("{path}[{of}]"), value),
                    (Value::String(s), _) => add(all, &format!("{path}[]"), s.clone()),
                    (_, None) => {
                        let name = label(v).filter(|_| !["jobs", "runs"].contains(&path));
                        flat(v, &format!("{path}[{}]", name.unwrap_or(index.to_string())), all);
                    }
                }
            }
        }
        Value::Null => {}
        Value::String(s) => add(all, path, s.clone()),
        other => add(all, path, other.to_string()),
    }
}

fn add(all: &mut BTreeMap<String, Vec<String>>, path: &str, value: String) {
    all.entry(path.to_owned()).or_default().push(value);
}

/// What an object is called in a path.
fn label(object: &Value) -> Option<String> {
    let of = ["bdf", "name", "number", "index", "bar"].into_iter().find_map(|key| object.get(key))?;
    let of = of.get("known").unwrap_or(of);
    of.as_str().map(str::to_owned).or_else(|| of.as_u64().map(|n| n.to_string()))
}

/// A measured value: metric, size, statistic and labels; number and unit.
fn sample(v: &Value) -> Option<(String, String)> {
    let mut of = v.get("metric")?.as_str()?.to_owned();
    if let Some(size) = v.get("size") {
        write!(of, " {size}").unwrap();
    }
    for label in [v["stat"].as_str().filter(|s| *s != "value")].into_iter().flatten() {
        write!(of, " {label}").unwrap();
    }
    for (key, label) in v.get("labels").and_then(Value::as_object).into_iter().flatten() {
        write!(of, " {key}={}", label.as_str().map_or(label.to_string(), str::to_owned)).unwrap();
    }
    Some((of, format!("{} {}", v["value"], v["unit"].as_str()?)))
}

/// The same text, or the same measure in any unit.
fn is_same(got: &str, want: &str) -> bool {
    let near = |(a, of_a): (f64, _), (b, of_b): (f64, _)| of_a == of_b && (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
    got == want || measure(got).zip(measure(want)).is_some_and(|(a, b)| near(a, b))
}

/// A number in the base unit of what it measures: bits a second, seconds, or what stands behind it.
fn measure(text: &str) -> Option<(f64, &str)> {
    const UNITS: [(&str, f64, &str); 13] = [
        ("bits/s", 1.0, "b/s"),
        ("Mbits/s", 1e6, "b/s"),
        ("Gbits/s", 1e9, "b/s"),
        ("Gb/s", 1e9, "b/s"),
        ("B/s", 8.0, "b/s"),
        ("KiB/s", 8.0 * 1024.0, "b/s"),
        ("MiB/s", 8.0 * 1024.0 * 1024.0, "b/s"),
        ("MB/s", 8e6, "b/s"),
        ("GB/s", 8e9, "b/s"),
        ("ns", 1e-9, "s"),
        ("us", 1e-6, "s"),
        ("ms", 1e-3, "s"),
        ("s", 1.0, "s"),
    ];
    let (number, unit) = text.split_once(' ').unwrap_or((text, ""));
    let number: f64 = number.parse().ok()?;
    let known = UNITS.iter().find(|(name, ..)| *name == unit);
    Some(known.map_or((number, unit), |(_, factor, base)| (number * factor, base)))
}

/// What differs between a list and what one verb reads from its files.
fn differences(data: &Path, list: &str, arguments: &[&str]) -> (usize, usize, Vec<String>) {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/read").join(list)).unwrap();
    let keys = keys(&text);
    let home = tempfile::tempdir().unwrap();
    let (mut claims, mut different) = (0, Vec::new());
    for key in &keys {
        let out = Command::new(env!("CARGO_BIN_EXE_linerate"))
            .args(arguments)
            .args(["--format", "json", key.file])
            .current_dir(data)
            .env("LINERATE_STORE", home.path().join("history.db"))
            .output()
            .unwrap();
        let json: Value = serde_json::from_slice(&out.stdout).unwrap_or_default();
        let mut all = BTreeMap::new();
        flat(json.get("node").unwrap_or(&json), "", &mut all);
        for (path, want) in &key.claims {
            claims += 1;
            let got = all.get(*path).map(Vec::as_slice).unwrap_or_default();
            let holds = match want {
                Some(want) => got.iter().any(|g| is_same(g, want)),
                None => !all.iter().any(|(k, values)| {
                    let is_below =
                        k.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
                    is_below && values.iter().any(|v| v != "absent" && v != "UNKNOWN")
                }),
            };
            if !holds {
                let want = want.unwrap_or("no value");
                different.push(format!("{list}:{}: {}: {path}: {want}, read as {got:?}", key.line, key.file));
            }
        }
    }
    (keys.len(), claims, different)
}

#[test]
fn texts_are_read_as_people_read_them() {
    let data: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !data.is_dir() {
        println!("SKIPPED: ../shared/data is not here");
        return;
    }
    let (mut files, mut all, mut different) = (0, 0, Vec::new());
    for (list, arguments) in [
        ("gpus.txt", &["audit"][..]),
        ("rdma.txt", &["audit"]),
        ("hosts.txt", &["audit"]),
        ("benchmarks.txt", &["bench", "import", "--no-store"]),
        ("logs.txt", &["doctor"]),
    ] {
        let (f, claims, mut d) = differences(&data, list, arguments);
        println!("{list}: {f} files, {claims} values, {} different", d.len());
        (files, all) = (files + f, all + claims);
        different.append(&mut d);
    }
    assert!(files >= 60 && all >= 600, "{files} files, {all} values");
    assert!(different.is_empty(), "{} of {all} values of {files} files:\n{}", different.len(), different.join("\n"));
}
