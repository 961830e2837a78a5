//! What cargo says of the packages: one model for all checks of dependencies.

use crate::shell::{self, Result};
use serde::Deserialize;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::process::Command;

#[derive(Deserialize)]
pub(crate) struct Metadata {
    pub(crate) packages: Vec<Package>,
    pub(crate) workspace_members: Vec<String>,
    pub(crate) resolve: Resolve,
}

#[derive(Deserialize)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    pub(crate) source: Option<String>,
    pub(crate) dependencies: Vec<Dependency>,
    #[serde(default)]
    pub(crate) repository: Option<String>,
    /// Where its `Cargo.toml` lies.
    #[serde(default)]
    pub(crate) manifest_path: PathBuf,
    #[serde(default)]
    pub(crate) targets: Vec<Target>,
}

#[derive(Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// As in [`DepKind`].
    pub(crate) kind: Option<String>,
    /// Versions that are asked for.
    #[serde(default)]
    pub(crate) req: String,
    /// Absent for what is in this repository.
    pub(crate) source: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Resolve {
    pub(crate) nodes: Vec<Node>,
}

#[derive(Deserialize)]
pub(crate) struct Node {
    pub(crate) id: String,
    pub(crate) deps: Vec<NodeDep>,
}

#[derive(Deserialize)]
pub(crate) struct NodeDep {
    pub(crate) pkg: String,
    pub(crate) dep_kinds: Vec<DepKind>,
}

#[derive(Deserialize)]
pub(crate) struct DepKind {
    /// `None` for a normal dependency, else `dev` or `build`.
    pub(crate) kind: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Target {
    /// `lib`, `proc-macro`, `custom-build` …
    pub(crate) kind: Vec<String>,
}

/// All packages that this platform builds: only those are on the disk.
pub(crate) fn load() -> Result<Metadata> {
    let rustc = shell::output(Command::new("rustc").arg("-vV").current_dir(shell::root()))?;
    let host = rustc.lines().find_map(|l| l.strip_prefix("host: ")).ok_or("rustc -vV names no host")?;
    let args = ["metadata", "--format-version", "1", "--offline", "--locked", "--filter-platform", host];
    let json = shell::output(shell::cargo().args(args))?;
    serde_json::from_str(&json).map_err(|e| format!("cargo metadata: {e}"))
}

/// Normal and build dependencies, and theirs.
pub(crate) fn reached<'a>(all: &'a Metadata, mut from: Vec<&'a str>) -> BTreeSet<&'a str> {
    let nodes: HashMap<&str, &Node> = all.resolve.nodes.iter().map(|n| (n.id.as_str(), n)).collect();
    let mut out = BTreeSet::new();
    while let Some(id) = from.pop() {
        if out.insert(id) {
            let deps = nodes.get(id).into_iter().flat_map(|n| &n.deps);
            let used = deps.filter(|d| d.dep_kinds.iter().any(|k| k.kind.as_deref() != Some("dev")));
            from.extend(used.map(|d| d.pkg.as_str()));
        }
    }
    out
}

/// Names and versions of what a package uses itself, normally or to be built.
pub(crate) fn uses<'a>(all: &'a Metadata, id: &str) -> Vec<(&'a str, &'a str)> {
    let known: HashMap<&str, &Package> = all.packages.iter().map(|p| (p.id.as_str(), p)).collect();
    let deps = all.resolve.nodes.iter().filter(|n| n.id == id).flat_map(|n| &n.deps);
    let used = deps.filter(|d| d.dep_kinds.iter().any(|k| k.kind.as_deref() != Some("dev")));
    let mut out: Vec<_> =
        used.filter_map(|d| known.get(d.pkg.as_str())).map(|p| (p.name.as_str(), p.version.as_str())).collect();
    out.sort_unstable();
    out.dedup();
    out
}
