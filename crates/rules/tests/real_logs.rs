//! Kernel logs of other people, where they are here.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

use crate::common;

use linerate_rules::Audit;
use linerate_snapshot::{Output, OutputKind, Snapshot};
use std::path::{Path, PathBuf};

fn data() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if path.exists() {
        return Some(path);
    }
    eprintln!("SKIPPED: ../shared/data is not here");
    None
}

fn judge(log: &Path) -> Audit {
    let mut s = Snapshot::new(log.display().to_string());
    let entry = s.add_file("pasted.txt", &std::fs::read(log).unwrap()).unwrap();
    s.outputs.push(Output { kind: OutputKind::Dmesg, entry, argv: vec![], status: None });
    common::judge(&s)
}

fn print(a: &Audit) {
    for v in a.verdicts.iter().filter(|v| {
        let ours = ["iommu/", "cmdline/", "modules/"].iter().any(|area| v.rule.id.starts_with(area));
        ours && v.finding.status != linerate_rules::Status::Unknown
    }) {
        println!("{}", common::words(v));
    }
}

#[test]
fn a_log_alone_tells_its_faults_and_its_command_line() {
    let Some(data) = data() else { return };
    let audit = judge(&data.join("cases/onl-897-dmar-fault/dmesg.txt"));
    print(&audit);
    let faults = common::said(&audit, "iommu/faults");
    // Whose the faults are, this text does not say.
    assert!(faults.iter().any(|l| l.contains(" unknown ")), "{faults:?}");
    assert!(faults.iter().all(|l| l.contains(" unknown ") || l.contains(" fail info ")), "{faults:?}");
    let audit = judge(&data.join("dmesg/perftest-289__iommu-off-boot.txt"));
    print(&audit);
    assert!(common::said(&audit, "iommu/faults").iter().all(|l| l.contains(" unknown ")));
    let words = common::said(&audit, "cmdline/noats");
    assert!(words.iter().all(|l| l.contains(" pass ")), "the log's own command line was not read: {words:?}");
}

#[test]
fn every_log_is_judged_without_panic() {
    let Some(data) = data() else { return };
    let mut seen = 0;
    for file in std::fs::read_dir(data.join("dmesg")).unwrap().map(|e| e.unwrap().path()) {
        println!("== {}", file.display());
        print(&judge(&file));
        seen += 1;
    }
    assert!(seen > 5, "{seen} logs");
}
