//! Rules on NIC firmware and GPU memory: composed nodes with one thing wrong, healthy nodes, empty sources, real texts.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use linerate_compose::{Description, Entry, Expect, Tree};
use linerate_node::Node;
use linerate_rules::{Rule, Severity, Status, Verdict, audit, rules};
use linerate_snapshot::{Coverage, Output, OutputKind, Snapshot, Why};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

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
    for n in 0..100 {
        let Some(stdout) = tree.get(&format!("cmd/{n}/stdout")) else { continue };
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
        assert!(!stdout.is_empty(), "{argv:?} printed nothing");
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

/// A composed node and what the rules say of it. Composed once: it takes most of the time.
struct Judged {
    name: String,
    node: Description,
    verdicts: Vec<Verdict>,
}

static JUDGED: LazyLock<Vec<Judged>> = LazyLock::new(|| {
    let ours = |n: &str| n.starts_with("nicfw--") || n.starts_with("gpumem--");
    let mut paths = Vec::new();
    for (dir, wanted) in
        [("lab/nodes/broken", &ours as &dyn Fn(&str) -> bool), ("lab/nodes", &|n| n.starts_with("healthy"))]
    {
        for entry in std::fs::read_dir(root().join(dir)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.ends_with(".toml") && wanted(&name) {
                paths.push((name, path));
            }
        }
    }
    paths.sort();
    let judged = |(name, path): (String, PathBuf)| {
        let node = Description::load(&path).unwrap_or_else(|e| panic!("{e}"));
        let tree = node.compose().unwrap_or_else(|e| panic!("{name}: {e}"));
        Judged { name, node, verdicts: judge(&snapshot(&tree)) }
    };
    paths.into_iter().map(judged).collect()
});

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
fn every_rule_has_a_failing_a_passing_and_an_undecided_node() {
    let status = |v: &Verdict| (v.rule.id.to_owned(), v.finding.status.name().to_owned());
    let mut seen: Vec<(String, String)> = JUDGED.iter().flat_map(|j| &j.verdicts).map(status).collect();
    // A tree of somebody else: what is not there says nothing. Here: no links to drivers.
    let mut tree = Description::load(&root().join("lab/nodes/healthy-8gpu.toml")).unwrap().compose().unwrap();
    tree.entries.retain(|path, _| !path.ends_with("/driver"));
    let mut s = snapshot(&tree);
    s.coverage = Coverage::Partial;
    seen.extend(judge(&s).iter().map(status));
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
    has(&all, "nvconfig_utils_test.go.2", "nicfw/bluefield-mode", Status::Fail, "DPU mode");
    // The port owners go back to DEVICE_DEFAULT: nobody can say whether that changes anything.
    has(&all, "nvconfig_utils_test.go.4", "nicfw/pending-reset", Status::Unknown, "PCI_DOWNSTREAM_PORT_OWNER");
    has(&all, "mellanox_test.go.2", "nicfw/restricted-pci", Status::Pass, "no PCIe restriction");
    has(
        &all,
        "mellanox_test.go.2",
        "nicfw/pending-reset",
        Status::Fail,
        "ROCE_CONTROL DEVICE_DEFAULT(0) → ROCE_ENABLE(2)",
    );
}

#[test]
fn real_kernel_logs() {
    let Some(all) = real("dmesg", |_| OutputKind::Dmesg) else { return };
    has(&all, "kmsg-peermem", "gpumem/peermem-symbols", Status::Fail, "invalid context");
    has(&all, "decode.iso", "gpumem/xid", Status::Fail, "Xid 43");
    has(&all, "test_dmesg_log.1", "gpumem/xid", Status::Pass, "no Xid");
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
