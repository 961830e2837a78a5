//! Many nodes from what people have: directories of trees, must-gathers, sosreports, archives of directories. Every command sees the same nodes.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // helpers of tests, outside of test functions

use crate::command;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::Command;

fn run(home: &Path, arguments: &[&str]) -> (i32, String) {
    command::run(home, arguments, &[], &[], &RefCell::new(String::new()))
}

/// Three nodes, of which the last has another kernel argument.
const NODES: [(&str, &str); 3] = [("gpu001", "ro iommu=pt"), ("gpu002", "ro iommu=pt"), ("gpu003", "ro")];

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn tree(at: &Path, cmdline: &str) {
    write(&at.join("proc/cmdline"), &format!("{cmdline}\n"));
    write(&at.join("proc/cpuinfo"), "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n");
    write(&at.join("proc/sys/kernel/osrelease"), "6.8.0\n");
    write(&at.join("sys/class/net/eth0/mtu"), "9000\n");
}

/// What is in a directory, as an archive.
fn pack(from: &Path, to: &Path, flags: &str) {
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    let done = Command::new("tar").arg(flags).arg(to).arg("-C").arg(from).arg(".").status().unwrap();
    assert!(done.success());
}

/// Each kind of source, by its name.
fn sources(dir: &Path) -> Vec<(&'static str, PathBuf)> {
    let image = dir.join("must-gather.local.1/quay-io-image-sha256-1");
    let (trees, packed, fleet, sos) =
        (image.join("nodes"), dir.join("packed/image/nodes"), dir.join("fleet"), dir.join("sos"));
    write(&image.join("version"), "4.20\n");
    write(&image.join("host_service_logs/masters/kubelet_service.log"), "kubelet started\n");
    for (name, cmdline) in NODES {
        tree(&trees.join(name), cmdline);
        pack(&trees.join(name), &packed.join(name).join("sysinfo.tgz"), "-czf");
        // An older snapshot, in which all is well.
        tree(&fleet.join(name).join("20261101T120000Z"), "ro iommu=pt");
        tree(&fleet.join(name).join("20261102T120000Z"), cmdline);
        let report = dir.join("unpacked").join(format!("sosreport-{name}-2026-11-02-abcdefg"));
        tree(&report, cmdline);
        write(&report.join("sos_commands/kernel/uname_-a"), "Linux x 6.8.0\n");
        pack(report.parent().unwrap(), &sos.join(format!("sosreport-{name}-2026-11-02-abcdefg.tar.xz")), "-cJf");
        std::fs::remove_dir_all(&report).unwrap();
    }
    let archive = |from: &str, to: &str, flags: &str| {
        pack(&dir.join(from), &dir.join(to), flags);
        dir.join(to)
    };
    vec![
        ("a must-gather", dir.join("must-gather.local.1")),
        ("a must-gather, packed", archive("must-gather.local.1", "mg.tar.gz", "-czf")),
        ("a must-gather of archives", dir.join("packed")),
        ("a must-gather of archives, packed", archive("packed", "mg2.tar.xz", "-cJf")),
        ("trees of a fleet", fleet),
        ("trees of a fleet, packed", archive("fleet", "fleet.tar", "-cf")),
        ("sosreports", sos),
        ("sosreports, packed", archive("sos", "sos.tar", "-cf")),
    ]
}

#[test]
fn every_command_sees_the_same_nodes() {
    let dir = tempfile::tempdir().unwrap();
    let mut sets = Vec::new();
    for (what, path) in sources(dir.path()) {
        let text = path.to_str().unwrap();
        let name =
            |n: &str| if what.starts_with("sos") { format!("sosreport-{n}-2026-11-02-abcdefg") } else { n.to_owned() };
        let (code, out) = run(dir.path(), &["drift", text]);
        assert!(code == 1 && out.contains("3 nodes") && out.contains(&name("gpu003")), "{what}: {code} {out}");
        let (_, out) = run(dir.path(), &["audit", text, "--format", "json"]);
        for (n, _) in NODES {
            assert!(out.contains(&format!("\"{}\"", name(n))), "{what}: {n}: {out}");
        }
        let policy = dir.path().join("p.toml");
        let (_, out) = run(dir.path(), &["policy", "learn", text, "-o", policy.to_str().unwrap()]);
        assert!(out.contains('3'), "{what}: {out}");
        let (_, out) = run(dir.path(), &["policy", "check", policy.to_str().unwrap(), text, "--format", "json"]);
        assert!(out.contains("\"nodes\""), "{what}: {out}");
        // The index of a directory that holds the archive, or that is the directory.
        let home = if path.is_dir() { path.clone() } else { dir.path().join("holds") };
        if path.is_file() {
            std::fs::remove_dir_all(&home).ok();
            std::fs::create_dir_all(&home).unwrap();
            std::fs::copy(&path, home.join(path.file_name().unwrap())).unwrap();
        }
        let home = home.to_str().unwrap();
        let (code, out) = run(dir.path(), &["fleet", "index", home]);
        assert!(code == 0 && out.contains("snapshots in the index"), "{what}: {code} {out}");
        let (code, out) = run(dir.path(), &["fleet", "index", home]);
        assert!(code == 0 && out.contains(": 0 read now"), "nothing changed: {what}: {code} {out}");
        let (code, out) = run(dir.path(), &["where", "kernel.cmdline!=iommu=pt", home]);
        sets.push((what, code, out, name("gpu003")));
    }
    for (what, code, out, expected) in sets {
        assert_eq!((code, out), (0, expected), "{what}");
    }
}

/// `--nodes`: some of them, whatever they lie in; what is not there is said, and does not pass.
#[test]
fn some_nodes_of_a_source() {
    let dir = tempfile::tempdir().unwrap();
    let policy = dir.path().join("p.toml");
    let policy = policy.to_str().unwrap();
    for (what, path) in sources(dir.path()).into_iter().filter(|(what, _)| !what.starts_with("sos")) {
        let text = path.to_str().unwrap();
        let (code, out) = run(dir.path(), &["drift", text, "--nodes", "gpu[001-002]"]);
        assert!(code == 0 && out.contains("2 nodes") && !out.contains("gpu003"), "{what}: {code} {out}");
        let (code, out) = run(dir.path(), &["drift", text, "--nodes", "gpu[001-003,009]"]);
        assert!(code == 1 && out.contains("gpu009") && out.contains("no source has a node"), "{what}: {code} {out}");
        let (_, out) = run(dir.path(), &["audit", text, "--nodes", "gpu[002,007]", "--format", "json"]);
        assert!(out.contains("gpu002") && out.contains("gpu007") && !out.contains("gpu001"), "{what}: {out}");
        let (code, out) = run(dir.path(), &["audit", text, "--nodes", "cpu1"]);
        assert!(code == 3 && out.contains("no source has a node of this name: cpu1"), "{what}: {code} {out}");
        let (_, out) = run(dir.path(), &["policy", "learn", text, "--nodes", "gpu[001-002]", "-o", policy]);
        let learnt = std::fs::read_to_string(policy).unwrap();
        assert!(learnt.contains("learnt_from = \"gpu[001-002]\""), "{what}: {out} {learnt}");
        let check = ["policy", "check", policy, text, "--nodes", "gpu003", "--format", "json"];
        let (code, out) = run(dir.path(), &check);
        assert!(code == 1 && out.contains("gpu003") && !out.contains("gpu001"), "{what}: {code} {out}");
        if path.is_dir() {
            run(dir.path(), &["fleet", "index", text]);
            let asked = ["where", "kernel.release=6.8.0", text, "--nodes", "gpu[002-003,009]"];
            let (code, out) = run(dir.path(), &asked);
            assert!(code == 0 && out.contains("gpu[002-003]") && out.contains("names: gpu009"), "{what}: {code} {out}");
            // From the index, too.
            let (code, out) = run(dir.path(), &["drift", text, "--nodes", "gpu[001-002]"]);
            assert!(code == 0 && out.contains("2 nodes"), "{what}: {code} {out}");
        }
    }
    let (code, out) = run(dir.path(), &["drift", "x", "--nodes", "gpu[1-"]);
    assert!(code == 3 && out.contains("--nodes gpu[1-"), "{code} {out}");
    // Files of a fleet's directory are called by it.
    let files = NODES.map(|(n, _)| dir.path().join("fleet").join(n).join("20261102T120000Z"));
    let mut learn = vec!["policy", "learn", "-o", policy];
    learn.extend(files.iter().map(|f| f.to_str().unwrap()));
    let (_, out) = run(dir.path(), &learn);
    let learnt = std::fs::read_to_string(policy).unwrap();
    assert!(learnt.contains("learnt_from = \"gpu[001-003]\""), "{out} {learnt}");
}

#[test]
fn a_command_that_takes_one_node_names_them() {
    let dir = tempfile::tempdir().unwrap();
    for (what, path) in sources(dir.path()).into_iter().filter(|(_, p)| p.is_file()) {
        let text = path.to_str().unwrap();
        let (code, out) = run(dir.path(), &["topo", text]);
        // Of a fleet's directory each time counts, and is named.
        let (held, name) = match what {
            _ if what.starts_with("sos") => ("holds 3 nodes", "sosreport-gpu003-2026-11-02-abcdefg"),
            "trees of a fleet, packed" => ("holds 6 nodes", "gpu003/20261102T120000Z"),
            _ => ("holds 3 nodes", "gpu003"),
        };
        assert!(code == 3 && out.contains(held) && out.contains("gpu002"), "{what}: {code} {out}");
        let one = format!("{text}/{name}");
        let (code, out) = run(dir.path(), &["audit", &one, "--format", "json"]);
        assert!(code != 3 && out.contains("[ \"ro\" ]"), "{what}: {code} {out}");
    }
}

/// Whatever waits for its input ends at the first signal, with the code of a shell's.
#[test]
fn the_first_signal_ends_what_waits_for_input() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let verbs: &[&[&str]] = &[
        &["audit", "-"],
        &["doctor", "-"],
        &["topo", "-"],
        &["plan", "-"],
        &["bench", "import", "-"],
        &["watch", "counters"],
    ];
    for (args, signal, code) in verbs.iter().flat_map(|a| [(a, "-TERM", 143), (a, "-INT", 130)]) {
        let mut linerate = Command::new(env!("CARGO_BIN_EXE_linerate"));
        let linerate = linerate.args(*args).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = linerate.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(500));
        let pid = child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success(), "{args:?}");
        let until = Instant::now() + Duration::from_secs(10);
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break Some(status),
                None if Instant::now() > until => break None,
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        let _ = child.kill();
        assert_eq!(status.and_then(|s| s.code()), Some(code), "{args:?} {signal}");
    }
}
