//! Rules on NIC firmware and GPU memory over real texts of other people, where they are.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use linerate_node::Node;
use linerate_rules::{Status, Verdict, audit, rules};
use linerate_snapshot::{Output, OutputKind, Snapshot};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn judge(s: &Snapshot) -> Vec<Verdict> {
    let own: Vec<_> = rules().iter().copied().filter(|r| matches!(r.area(), "nicfw" | "gpumem")).collect();
    audit(&Node::decode(s), s, &own).verdicts
}

fn show(v: &Verdict) -> String {
    let f = &v.finding;
    format!("{} {} {:?} {}: {}", v.rule.id, f.status.name(), v.severity(), f.subject, f.message)
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
    has(&all, "test_dmesg_log.1", "gpumem/xid", Status::Unknown, "no Xid");
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
