//! Rules on NIC firmware and GPU memory: composed nodes with one thing wrong, healthy nodes, empty sources, real texts.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use linerate_compose::{Description, Entry, Expect, Tree};
use linerate_node::Node;
use linerate_rules::{Rule, Severity, Status, Verdict, audit, rules};
use linerate_snapshot::{Coverage, Output, OutputKind, Snapshot, Why};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn own() -> Vec<&'static Rule> {
    rules().iter().copied().filter(|r| matches!(r.area(), "nicfw" | "gpumem")).collect()
}

/// As a capture would have left it in memory.
fn snapshot(tree: &Tree) -> Snapshot {
    let mut s = Snapshot::new("composed");
    for (path, entry) in &tree.entries {
        match entry {
            Entry::File(data) => s.add_file(path, data),
            Entry::Link(to) => s.add_link(path, to.as_bytes()),
            Entry::Dir => s.add_dir(path),
            Entry::Denied => s.add_failed(path, Why::Denied),
        };
    }
    s.coverage = Coverage::Full { not_tried: Vec::new() };
    for n in 0.. {
        let Some(stdout) = tree.get(&format!("cmd/{n}/stdout")) else { break };
        let text = String::from_utf8_lossy(tree.get(&format!("cmd/{n}/argv")).unwrap_or_default()).into_owned();
        // One argument a line, or a JSON list.
        let argv: Vec<String> =
            serde_json::from_str(&text).unwrap_or_else(|_| text.lines().map(str::to_owned).collect());
        let kind = match argv.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["dmesg", ..] => OutputKind::Dmesg,
            ["mlxconfig", ..] => OutputKind::MlxconfigText,
            ["nvidia-smi", "-q", "-x"] => OutputKind::NvidiaSmiXml,
            ["systemd-detect-virt"] => OutputKind::DetectVirt,
            _ => continue,
        };
        let entry = find(&s, &format!("cmd/{n}/stdout"));
        let status =
            tree.get(&format!("cmd/{n}/status")).and_then(|t| std::str::from_utf8(t).ok()?.trim().parse().ok());
        assert!(!stdout.is_empty() || status != Some(0) || kind == OutputKind::Dmesg, "{argv:?} printed nothing");
        s.outputs.push(Output { kind, entry, argv, status });
    }
    s
}

fn find(s: &Snapshot, path: &str) -> linerate_snapshot::EntryId {
    match s.resolve(path) {
        linerate_snapshot::Lookup::Found(e) => e,
        other => panic!("{path}: {other:?}"),
    }
}

fn judge(s: &Snapshot) -> Vec<Verdict> {
    audit(&Node::decode(s), s, &own()).verdicts
}

fn show(v: &Verdict) -> String {
    let f = &v.finding;
    format!("{} {} {:?} {}: {}", v.rule.id, f.status.name(), v.severity(), f.subject, f.message)
}

fn descriptions(prefixes: &[&str]) -> Vec<PathBuf> {
    let dir = root().join("lab/nodes/broken");
    let mut out: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    out.retain(|p| prefixes.iter().any(|x| p.file_name().unwrap().to_string_lossy().starts_with(x)));
    out.sort();
    out
}

fn meets(d: &Description, e: &Expect, v: &Verdict) -> bool {
    let subject = v.finding.subject.to_string();
    let wanted = d.subject(e).unwrap();
    v.rule.id == e.rule
        && v.finding.status.name() == e.status
        && e.severity.as_deref().is_none_or(|s| s == v.severity().name())
        && e.message_has.as_deref().is_none_or(|t| v.finding.message.contains(t))
        && wanted.is_none_or(|w| subject == w || subject.starts_with(&format!("{w} ")))
}

#[test]
fn what_is_broken_is_found() {
    let files = descriptions(&["nicfw--", "gpumem--"]);
    assert!(files.len() >= 30, "only {} descriptions", files.len());
    for path in files {
        let d = Description::load(&path).unwrap_or_else(|e| panic!("{e}"));
        let s = snapshot(&d.compose().unwrap_or_else(|e| panic!("{}: {e}", path.display())));
        let verdicts = judge(&s);
        let ours = |e: &&Expect| e.rule.starts_with("nicfw/") || e.rule.starts_with("gpumem/");
        assert!(d.expect.iter().any(|e| ours(&e)), "{}: expects nothing", path.display());
        for e in d.expect.iter().filter(ours) {
            assert!(
                verdicts.iter().any(|v| meets(&d, e, v)),
                "{}: {e:?} not among\n{}",
                path.display(),
                verdicts.iter().filter(|v| v.rule.id == e.rule).map(show).collect::<Vec<_>>().join("\n")
            );
        }
    }
}

#[test]
fn every_rule_has_a_failing_a_passing_and_an_undecided_node() {
    let mut seen: Vec<(String, String)> = Vec::new();
    let healthy = std::fs::read_dir(root().join("lab/nodes")).unwrap().map(|e| e.unwrap().path());
    let healthy = healthy.filter(|p| p.extension().is_some_and(|e| e == "toml"));
    for path in descriptions(&["nicfw--", "gpumem--"]).into_iter().chain(healthy) {
        let d = Description::load(&path).unwrap();
        for v in judge(&snapshot(&d.compose().unwrap())) {
            seen.push((v.rule.id.to_owned(), v.finding.status.name().to_owned()));
        }
    }
    // A display switch never fails; neither does the presence of settings, nor a query: what failed is unknown.
    let never_fail = ["nicfw/advanced-pci-settings", "nicfw/visible", "nicfw/query-failed", "nicfw/next-boot-only"];
    for rule in own() {
        for status in ["pass", "fail", "unknown"] {
            if status == "fail" && never_fail.contains(&rule.id) {
                continue;
            }
            assert!(seen.iter().any(|(r, s)| r == rule.id && s == status), "no node makes {} answer {status}", rule.id);
        }
    }
}

#[test]
fn healthy_nodes_have_no_finding() {
    for entry in std::fs::read_dir(root().join("lab/nodes")).unwrap() {
        let path = entry.unwrap().path();
        if !path.file_name().unwrap().to_string_lossy().starts_with("healthy") {
            continue;
        }
        let d = Description::load(&path).unwrap();
        let s = snapshot(&d.compose().unwrap());
        let verdicts = judge(&s);
        for v in &verdicts {
            if std::env::var_os("SHOW").is_some() {
                println!("{}: {}", path.display(), show(v));
            }
            let bad = v.finding.status == Status::Fail && v.severity() > Severity::Info;
            assert!(!bad, "{}: {}", path.display(), show(v));
        }
        let unknown = verdicts.iter().filter(|v| v.finding.status == Status::Unknown).count();
        assert!(unknown <= 12, "{}: {unknown} unknown", path.display());
    }
}

#[test]
fn an_empty_source_passes_nothing_and_is_short() {
    for coverage in [Coverage::Partial, Coverage::Full { not_tried: Vec::new() }] {
        let mut s = Snapshot::new("empty");
        s.coverage = coverage.clone();
        let verdicts = judge(&s);
        for v in &verdicts {
            assert!(v.finding.status != Status::Pass && v.finding.status != Status::Fail, "{}", show(v));
            assert!(!v.finding.message.contains("report this as a bug"), "{}", show(v));
        }
        assert!(verdicts.len() <= own().len() + 2, "{}", verdicts.len());
    }
}

#[test]
fn every_rule_is_documented() {
    for rule in own() {
        for head in ["## What it checks", "## Why it matters", "## See it yourself", "## Fix"] {
            assert!(rule.docs.contains(head), "{}: {head}", rule.id);
        }
        assert!(!rule.sources.is_empty() && !rule.reads.is_empty(), "{}", rule.id);
        assert!(rule.sources.iter().all(|s| s.at.starts_with("https://")), "{}", rule.id);
    }
}

/// Texts of other people, each as a source of its own.
fn real(folder: &str, kind: impl Fn(&str) -> OutputKind) -> Option<Vec<(String, Vec<Verdict>)>> {
    let dir = root().join("../shared/data").join(folder);
    let Ok(list) = std::fs::read_dir(&dir) else {
        println!("SKIPPED: ../shared/data is not here");
        return None;
    };
    let mut out = Vec::new();
    for entry in list {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut s = Snapshot::new(name.clone());
        let entry = s.add_file(&name, &std::fs::read(&path).unwrap()).unwrap();
        s.outputs.push(Output { kind: kind(&name), entry, argv: Vec::new(), status: None });
        out.push((name, judge(&s)));
    }
    Some(out)
}

fn has(all: &[(String, Vec<Verdict>)], file: &str, rule: &str, status: Status, message: &str) {
    let (name, verdicts) = all.iter().find(|(n, _)| n.contains(file)).unwrap_or_else(|| panic!("no {file}"));
    assert!(
        verdicts.iter().any(|v| v.rule.id == rule && v.finding.status == status && v.finding.message.contains(message)),
        "{name}: no {rule} {} with {message:?} among\n{}",
        status.name(),
        verdicts.iter().filter(|v| v.rule.id == rule).map(show).collect::<Vec<_>>().join("\n")
    );
}

#[test]
fn real_firmware_queries() {
    let Some(all) = real("mlxconfig", |_| OutputKind::MlxconfigText) else { return };
    has(&all, "README.8", "nicfw/next-boot-only", Status::Unknown, "plain query");
    has(&all, "README.8", "nicfw/pending-reset", Status::Unknown, "next boot");
    has(&all, "test.go.2.txt", "nicfw/bluefield-mode", Status::Fail, "DPU mode");
    // The port owners go back to DEVICE_DEFAULT: nobody can say whether that changes anything.
    has(&all, "nvconfig_utils_test.go.4", "nicfw/pending-reset", Status::Unknown, "PCI_DOWNSTREAM_PORT_OWNER");
    has(&all, "mellanox_test.go.2", "nicfw/restricted-pci", Status::Pass, "no PCIe restriction");
    has(&all, "mellanox_test.go.2", "nicfw/pending-reset", Status::Pass, "Current equals Next Boot");
}

#[test]
fn real_kernel_logs() {
    let Some(all) = real("dmesg", |_| OutputKind::Dmesg) else { return };
    has(&all, "kmsg-peermem", "gpumem/peermem-symbols", Status::Fail, "invalid context");
    has(&all, "decode.iso", "gpumem/xid", Status::Pass, "");
    has(&all, "gpud-dmesg-iso", "gpumem/xid", Status::Fail, "Xid 13");
}

#[test]
fn real_nvidia_smi() {
    let kind = |n: &str| if n.ends_with(".xml") { OutputKind::NvidiaSmiXml } else { OutputKind::NvidiaSmiQuery };
    let Some(all) = real("nvidia-smi", kind) else { return };
    has(&all, "a100-sxm4", "gpumem/pcie-replays", Status::Pass, "0 replays");
    for (name, verdicts) in &all {
        for v in verdicts {
            assert!(!v.finding.message.contains("report this as a bug"), "{name}: {}", show(v));
        }
    }
}
