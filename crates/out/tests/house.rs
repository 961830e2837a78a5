//! That every crate which ships has clippy look for files and programs that do not go through this one (`clippy.toml`), and that nobody
//! is let off.
#![allow(clippy::unwrap_used)] // helpers of tests, outside of test functions

use std::fs;
use std::path::{Path, PathBuf};

const ASKED: &str = "#![cfg_attr(not(test), warn(clippy::disallowed_methods))]";

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn sources(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

#[test]
fn clippy_looks_at_every_crate() {
    let mut roots = 0;
    for entry in fs::read_dir(crates()).unwrap() {
        for root in ["src/lib.rs", "src/main.rs"].map(|r| entry.as_ref().unwrap().path().join(r)) {
            let Ok(text) = fs::read_to_string(&root) else { continue };
            assert!(text.lines().any(|l| l == ASKED), "{}: {ASKED}", root.display());
            roots += 1;
        }
    }
    assert!(roots > 10, "{roots}");
    let table = fs::read_to_string(crates().parent().unwrap().join("clippy.toml")).unwrap();
    for path in ["std::process::Command::new", "std::fs::write", "std::fs::File::create"] {
        assert!(table.contains(&format!("path = \"{path}\"")), "{path}");
    }
}

#[test]
fn nobody_is_let_off() {
    let mut all = Vec::new();
    for entry in fs::read_dir(crates()).unwrap() {
        sources(&entry.unwrap().path().join("src"), &mut all);
    }
    let allows = |p: &&PathBuf| fs::read_to_string(p).unwrap().contains("allow(clippy::disallowed_methods)");
    let let_off: Vec<&PathBuf> = all.iter().filter(allows).collect();
    assert_eq!(let_off, [&crates().join("out/src/child.rs")]);
}
