//! The variables that are known here are those whose values a capture keeps.
#![allow(clippy::unwrap_used, clippy::panic)]

use linerate_snapshot::Lookup;
use linerate_snapshot::capture::{Options, Purpose, capture};

#[test]
fn every_known_variable_is_captured() {
    let registry = include_str!("../data/registry.tsv").lines().filter(|l| !l.starts_with('#'));
    let registry = registry.filter_map(|l| l.split('\t').next());
    let known = include_str!("../data/known.txt").lines();
    let known = known.filter_map(|l| l.strip_prefix('[')?.strip_suffix(']'));
    let names: Vec<&str> = registry.chain(known).collect();
    assert!(names.len() > 400, "{}", names.len());
    let dir = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("allowed");
    std::fs::create_dir_all(dir.join("sys/bus")).unwrap();
    std::fs::create_dir_all(dir.join("etc")).unwrap();
    // A capture takes 4 KiB of the file.
    for names in names.chunks(60) {
        // Neither a switch nor a small number: these pass for any name.
        let text: String = names.iter().map(|n| format!("{n}=mlx5_0,/opt/x\n")).collect();
        std::fs::write(dir.join("etc/nccl.conf"), &text).unwrap();
        let s = capture(&Options { redact: false, ..Options::new(&dir, Purpose::Audit) }, &|_| {}).unwrap();
        let Lookup::Found(id) = s.resolve("etc/nccl.conf") else { panic!("it is captured") };
        let kept = String::from_utf8(s.data(id).to_vec()).unwrap();
        let hidden: Vec<&str> = kept.lines().filter(|l| !l.ends_with("=mlx5_0,/opt/x")).collect();
        assert!(hidden.is_empty(), "crates/snapshot/src/redact/secrets/env.txt lacks: {hidden:?}");
        assert_eq!(kept.lines().count(), names.len());
    }
}
