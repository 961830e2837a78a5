//! Real trees and texts of other people, where they are here: a healthy machine must stay without findings.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::print_stderr)]

use crate::common;

use linerate_rules::{Audit, Severity, Status};
use linerate_snapshot::{Output, OutputKind, Snapshot};
use std::path::{Path, PathBuf};

fn data(relative: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(relative);
    if path.exists() {
        return Some(path);
    }
    eprintln!("SKIPPED: ../shared/data is not here");
    None
}

fn text(relative: &str, kind: OutputKind) -> Option<Snapshot> {
    let bytes = std::fs::read(data(relative)?).unwrap();
    let mut s = Snapshot::new(relative);
    let entry = s.add_file("pasted.txt", &bytes).unwrap();
    s.outputs.push(Output { kind, entry, argv: vec![], status: None });
    Some(s)
}

/// The class directory of the archive, as `sys/class/infiniband` of a partial tree.
fn h100() -> Option<Snapshot> {
    let archive = data("sysfs-ib/gpud-sys-class-infiniband-h100.0.tar.gz")?;
    let dir = std::env::temp_dir().join(format!("linerate-h100-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let done = std::process::Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(&dir).status().expect("tar");
    assert!(done.success());
    let mut s = Snapshot::new("h100");
    let mut todo = vec![dir.clone()];
    while let Some(at) = todo.pop() {
        for e in std::fs::read_dir(&at).unwrap().map(|e| e.unwrap().path()) {
            if e.is_dir() {
                todo.push(e);
                continue;
            }
            let path = e.to_string_lossy().into_owned();
            let Some((_, below)) = path.split_once("sys-class-infiniband-h100.0/") else { continue };
            s.add_file(&format!("sys/class/infiniband/{below}"), &std::fs::read(&e).unwrap());
        }
    }
    std::fs::remove_dir_all(&dir).unwrap();
    Some(s)
}

fn print(a: &Audit) {
    for v in &a.verdicts {
        println!("{}", common::words(v));
    }
}

fn findings(a: &Audit) -> Vec<String> {
    a.with(Status::Fail).filter(|v| v.severity() > Severity::Info).map(common::words).collect()
}

#[test]
fn the_h100_class_tree_has_one_doubtful_link_and_no_other_finding() {
    let Some(s) = h100() else { return };
    let audit = common::judge(&s);
    print(&audit);
    // mlx5_1's link_downed is at the end of its counter; nothing else is wrong there.
    let found = findings(&audit);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with("rdma/port-errors fail low mlx5_1/1"), "{found:?}");
    let active = common::said(&audit, "rdma/port-state");
    assert_eq!(active.iter().filter(|l| l.contains(" pass ")).count(), 9, "{active:#?}");
    // Rails are InfiniBand, the front end is RoCE: without PCI data nobody can say which is which.
    assert!(common::said(&audit, "rdma/link-layer")[0].contains("unknown"));
}

#[test]
fn the_dell_server_has_no_finding_of_these_areas_in_its_lspci_text() {
    let Some(s) = text("lspci/gpud-lspci-vvv.txt", OutputKind::Lspci) else { return };
    let audit = common::judge(&s);
    print(&audit);
    let ours: Vec<_> = findings(&audit)
        .into_iter()
        .filter(|l| ["rdma/", "numa/", "cpu/", "memory/"].iter().any(|a| l.starts_with(a)))
        .collect();
    assert!(ours.is_empty(), "{ours:#?}");
    let near = common::said(&audit, "numa/no-shared-switch");
    assert_eq!(near.iter().filter(|l| l.contains(" pass ")).count(), 8, "{near:#?}");
}

#[test]
fn texts_of_tools_are_read_without_panic_and_give_verdicts() {
    for (dir, kind) in [("ibv_devinfo", OutputKind::IbvDevinfo), ("ibstat", OutputKind::Ibstat)] {
        let Some(dir) = data(dir) else { return };
        for file in std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()) {
            let mut s = Snapshot::new(file.display().to_string());
            let entry = s.add_file("pasted.txt", &std::fs::read(&file).unwrap()).unwrap();
            s.outputs.push(Output { kind, entry, argv: vec![], status: None });
            let audit = common::judge(&s);
            println!("== {}", file.display());
            for v in
                audit.verdicts.iter().filter(|v| v.rule.id.starts_with("rdma/") && v.finding.status == Status::Fail)
            {
                println!("{}", common::words(v));
            }
        }
    }
}
