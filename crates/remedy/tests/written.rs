//! Plans that were written before are read, and mean what they meant.
#![allow(clippy::expect_used)]

use crate::common;

use linerate_remedy::{Act, Plan, Step};
use std::path::{Path, PathBuf};

/// A plan of version 0.1.0 with acts of all kinds, on one line.
const WRITTEN: &[u8] = include_bytes!("fixtures/plan-0.1.0.json");

#[test]
fn a_plan_that_was_written_before_has_its_digest() {
    let plan = Plan::read(WRITTEN).expect("a plan");
    assert_eq!(plan, common::plan().sealed());
    assert_eq!(serde_json::to_vec(&plan).expect("JSON"), WRITTEN.trim_ascii_end());
}

/// A node refuses what it does not know: an act of another kind, or with more than its kind has.
#[test]
fn acts_are_closed() {
    let plan = common::plan();
    for act in plan.steps.iter().flat_map(Step::acts) {
        let read = |with: &str| {
            let mut json = serde_json::to_value(act).expect("JSON");
            json[with] = "more".into();
            serde_json::from_value::<Act>(json)
        };
        assert!(read("kind").is_err() && read("more").is_err(), "{act:?}");
    }
}

/// Whoever wants something of every act asks it: the kinds are listed in one place of each crate.
#[test]
fn acts_are_listed_in_one_place_of_each_crate() {
    let kinds = ["File", "Run", "Value", "Trial", "NicFirmware", "Bios", "Label"].map(|kind| format!("Act::{kind}("));
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut lists = Vec::new();
    for file in sources(&crates) {
        let text = std::fs::read_to_string(&file).expect("a source");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        if kinds.iter().filter(|kind| code.contains(*kind)).count() > kinds.len() / 2 {
            lists.push(file.strip_prefix(&crates).expect("below it").to_owned());
        }
    }
    assert_eq!(lists, ["apply/src/act/mod.rs", "remedy/src/act/mod.rs"].map(PathBuf::from));
}

/// What the crates ship, sorted.
fn sources(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(dir).expect("a directory").map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    let is = |path: &Path, names: &[&str]| path.file_name().is_some_and(|name| names.iter().any(|n| name == *n));
    let all = paths.into_iter().filter(|p| !is(p, &["tests", "tests.rs", "target", "fixtures", "examples", "benches"]));
    all.flat_map(|p| match p.is_dir() {
        true => sources(&p),
        false if p.extension().is_some_and(|e| e == "rs") => vec![p],
        false => Vec::new(),
    })
    .collect()
}
