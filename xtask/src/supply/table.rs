//! The crates of Cargo.lock as a table.

use super::COMMAND;
use crate::metadata::{Metadata, Package, reached};
use crate::shell::{self, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// A crate of others.
#[derive(Default)]
pub(super) struct Locked {
    pub(super) name: String,
    pub(super) version: String,
    /// SHA-256 of its archive, by the registry.
    pub(super) checksum: String,
    /// A part of what users get, or needed to build that.
    pub(super) shipped: bool,
    /// This platform builds it; what follows is known of those only.
    pub(super) built: bool,
    pub(super) licence: String,
    /// Runs code of its own while we build: `build`, `macro`.
    pub(super) runs: String,
    /// Lines of its sources with the word `unsafe`.
    pub(super) unsafe_lines: usize,
    pub(super) repository: String,
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    version: String,
    /// Absent for what is in this repository.
    checksum: Option<String>,
}

/// All crates of Cargo.lock that are not in this repository.
pub(super) fn locked(all: &Metadata) -> Result<Vec<Locked>> {
    let text = std::fs::read_to_string(shell::root().join("Cargo.lock")).map_err(|e| format!("Cargo.lock: {e}"))?;
    let lock: Lock = toml::from_str(&text).map_err(|e| format!("Cargo.lock: {e}"))?;
    let command = all.packages.iter().filter(|p| p.name == COMMAND && all.workspace_members.contains(&p.id));
    let shipped = reached(all, command.map(|p| p.id.as_str()).collect());
    let known: BTreeMap<(&str, &str), &Package> =
        all.packages.iter().map(|p| ((p.name.as_str(), p.version.as_str()), p)).collect();
    let of = |e: Entry| {
        let package = known.get(&(e.name.as_str(), e.version.as_str()));
        let runs = |p: &&Package| {
            let kinds = || p.targets.iter().flat_map(|t| &t.kind);
            let words = [("custom-build", "build"), ("proc-macro", "macro")];
            let found = words.iter().filter(|(kind, _)| kinds().any(|k| k == kind)).map(|(_, word)| *word);
            found.collect::<Vec<_>>().join(" ")
        };
        Some(Locked {
            checksum: e.checksum?,
            shipped: package.is_some_and(|p| shipped.contains(p.id.as_str())),
            built: package.is_some(),
            licence: package.and_then(|p| p.license.clone()).unwrap_or_default(),
            runs: package.map(runs).unwrap_or_default(),
            unsafe_lines: package.and_then(|p| p.manifest_path.parent()).map_or(0, unsafe_lines),
            repository: package.and_then(|p| p.repository.clone()).unwrap_or_default(),
            name: e.name,
            version: e.version,
        })
    };
    Ok(lock.package.into_iter().filter_map(of).collect())
}

fn unsafe_lines(dir: &Path) -> usize {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path());
    let count = |text: String| text.lines().filter(|l| !l.trim_start().starts_with("//") && has_word(l)).count();
    entries
        .map(|p| match p.extension() {
            _ if p.is_dir() && !p.ends_with("tests") && !p.ends_with("benches") => unsafe_lines(&p),
            Some(e) if e == "rs" => std::fs::read_to_string(&p).map_or(0, count),
            _ => 0,
        })
        .sum()
}

fn has_word(line: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == "unsafe")
}

const HEAD: &str = "# Crates of Cargo.lock that were compared with the advisories beside this file. Written by `cargo xtask supply --write`.\n\
    # crate, version, SHA-256 of its archive, where it is (linerate, tools, other: not built on this platform), licence, code that it runs\n\
    # while we build, lines with `unsafe`, repository\n";

pub(super) fn write(locked: &[Locked]) -> String {
    let mut out = HEAD.to_owned();
    for l in locked {
        let place = match (l.shipped, l.built) {
            (true, _) => "linerate",
            (false, true) => "tools",
            (false, false) => "other",
        };
        let fields =
            [&l.name, &l.version, &l.checksum, place, &l.licence, &l.runs, &l.unsafe_lines.to_string(), &l.repository];
        out.push_str(&fields.join("\t"));
        out.push('\n');
    }
    out
}

/// Name and version of each crate with its checksum.
pub(super) fn parse(text: &str) -> Result<BTreeMap<(String, String), String>> {
    let rows = text.lines().filter(|l| !l.starts_with('#') && !l.is_empty());
    rows.map(|l| match l.split('\t').collect::<Vec<_>>().as_slice() {
        [name, version, sum, ..] => Ok((((*name).to_owned(), (*version).to_owned()), (*sum).to_owned())),
        _ => Err(format!("{}: {l:?} is no row of it", super::CRATES)),
    })
    .collect()
}
