//! `linerate vm check`: domains of the lab beside their hosts, as a person calls it.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use crate::schema;

use schema::Schema;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn linerate(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_linerate")).args(args).output().unwrap()
}

/// A host of the lab without its domain, and the domain as a file.
fn lab(name: &str, to: &Path) -> (PathBuf, PathBuf) {
    let nodes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lab/nodes");
    let mut tree = linerate_compose::Description::load(&nodes.join(name)).unwrap().compose().unwrap();
    let (host, domain) = (to.join("host"), to.join("vm.xml"));
    std::fs::write(&domain, tree.get("cmd/90/stdout").unwrap()).unwrap();
    tree.entries.retain(|path, _| !path.starts_with("cmd/90/"));
    tree.write_to(&host).unwrap();
    (host, domain)
}

/// The answer for programs, held against its schema, and the exit code.
fn checked(name: &str) -> (Value, i32) {
    let dir = tempfile::tempdir().unwrap();
    let (host, domain) = lab(name, dir.path());
    let out = linerate(&["vm", "check", domain.to_str().unwrap(), "--host", host.to_str().unwrap(), "-f", "json"]);
    let value = Schema::of("vm-check-1").valid(&String::from_utf8(out.stdout).unwrap());
    assert_eq!(value["exit_code"], out.status.code().unwrap());
    (value, out.status.code().unwrap())
}

#[test]
fn a_right_domain_is_right() {
    let (value, code) = checked("healthy-vm-host-domain.toml");
    assert_eq!((code, value["conclusion"].as_str().unwrap()), (0, "open"), "{}", value["verdicts"]);
    assert_eq!(value["nccl"]["with_file"]["differing"].as_array().unwrap().len(), 0);
    assert_ne!(value["nccl"]["in_guest"]["differing"].as_array().unwrap().len(), 0, "emulated links are believed");
}

#[test]
fn what_is_wrong_comes_first() {
    let cases = [
        ("vm--one-switch", "vm/one-switch"),
        ("vm--machine", "vm/legal"),
        ("vm--numa", "vm/numa"),
        ("vm--bus-numbers", "vm/bus-numbers"),
    ];
    for (name, rule) in cases {
        let (value, code) = checked(&format!("broken/{name}.toml"));
        assert_eq!((code, value["conclusion"].as_str().unwrap()), (1, "explained"), "{name}");
        let rules: Vec<&str> =
            value["verdicts"].as_array().unwrap().iter().filter_map(|v| v["rule"].as_str()).collect();
        assert!(rules.contains(&rule), "{name}: {rules:?}");
        let severities: Vec<&str> =
            value["verdicts"].as_array().unwrap().iter().filter_map(|v| v["severity"].as_str()).collect();
        assert_eq!(severities.first(), Some(&"high"), "{name}");
    }
}

#[test]
fn a_domain_alone_leaves_its_host_open() {
    let dir = tempfile::tempdir().unwrap();
    let (_, domain) = lab("healthy-vm-host-domain.toml", dir.path());
    let out = linerate(&["vm", "check", domain.to_str().unwrap(), "-f", "json"]);
    let value = Schema::of("vm-check-1").valid(&String::from_utf8(out.stdout).unwrap());
    assert_eq!((out.status.code(), value["nccl"].is_null()), (Some(2), true));
    assert!(value["verdicts"].as_array().unwrap().iter().any(|v| v["rule"] == "vm/affinity"));
}

#[test]
fn what_is_no_domain_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("vm.xml");
    let bomb = "<!DOCTYPE d [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]>\n<domain type='kvm'><name>&b;</name></domain>";
    for text in ["", "no XML", "<network><name>n</name></network>", "<domain type='kvm'><name>a</name>", bomb] {
        std::fs::write(&file, text).unwrap();
        let out = linerate(&["vm", "check", file.to_str().unwrap()]);
        assert_eq!(
            (out.status.code(), out.stdout.len()),
            (Some(3), 0),
            "{text}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
    }
}
