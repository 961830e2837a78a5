//! With which features each crate is built: the same in the tests, in this program and in what it builds with it. Where one differs, all
//! crates that stand on it are built again, which is minutes.

use crate::shell::{self, Result};
use std::collections::{BTreeMap, BTreeSet};

/// Features of a crate with its version, once for each way in which it is built: for this machine's programs, for macros.
type Features = BTreeMap<String, BTreeSet<String>>;

/// What is built with other features than the tests have; a sentence each.
pub(crate) fn differing() -> Result<Vec<String>> {
    let tests = tree(&["--workspace"], "normal,build,dev")?;
    let mut wrong = Vec::new();
    for packages in [&["xtask"][..], &["xtask", "linerate"], &["xtask", "linerate-fuzz"]] {
        let args: Vec<&str> = packages.iter().flat_map(|p| ["--package", *p]).collect();
        for (krate, has) in tree(&args, "normal,build")? {
            let wants = tests.get(&krate).cloned().unwrap_or_default();
            if !has.is_subset(&wants) || wants.len() > 1 {
                wrong.push(format!(
                    "{krate} is built with [{}] for {}, and with [{}] for the tests: name what is missing in xtask/Cargo.toml",
                    joined(&has),
                    packages.join(" and "),
                    joined(&wants)
                ));
            }
        }
    }
    Ok(wrong)
}

fn joined(features: &BTreeSet<String>) -> String {
    features.iter().map(String::as_str).collect::<Vec<_>>().join("] or [")
}

fn tree(packages: &[&str], edges: &str) -> Result<Features> {
    let form = ["--prefix", "none", "--no-dedupe", "--format", "{p}|{f}", "--edges", edges];
    let text = shell::output(shell::cargo().args(["tree", "--locked", "--quiet"]).args(packages).args(form))?;
    Ok(read(&text))
}

/// `serde v1.0.229|alloc,default,derive`; a macro's name ends in `(proc-macro)`, one of ours in its directory.
fn read(text: &str) -> Features {
    let mut out = Features::new();
    for (krate, features) in text.lines().filter_map(|l| l.split_once('|')) {
        let krate = krate.split(" (").next().unwrap_or(krate).trim();
        out.entry(krate.to_owned()).or_default().insert(features.to_owned());
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_of_cargo_tree() {
        let all = super::read("a v1.0.0|x,y\nb v2.0.0 (proc-macro)|\na v1.0.0|x\n\n[dev-dependencies]\n");
        let of = |k: &str| all.get(k).map(|f| f.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!((of("a v1.0.0"), of("b v2.0.0"), all.len()), (Some(vec!["x", "x,y"]), Some(vec![""]), 2));
    }
}
