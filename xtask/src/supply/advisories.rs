//! What RustSec's database says of crates whose names are in Cargo.lock.

use super::table::Locked;
use crate::shell::{self, Result};
use semver::{Version, VersionReq};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// An advisory, as far as it decides.
pub(super) struct Advisory {
    pub(super) id: String,
    pub(super) package: String,
    /// `vulnerability`, `unsound`, `unmaintained`, `notice`.
    pub(super) kind: String,
    /// Ranges of versions, comma within a range.
    patched: Vec<String>,
    unaffected: Vec<String>,
}

impl Advisory {
    /// Whether a version is affected: it is in no range that is patched or never was affected.
    pub(super) fn affects(&self, version: &str) -> Result<bool> {
        let version = Version::parse(version).map_err(|e| format!("{version}: {e}"))?;
        for range in self.patched.iter().chain(&self.unaffected) {
            let range = VersionReq::parse(range).map_err(|e| format!("{range:?}: {e}"))?;
            if range.matches(&version) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[derive(Deserialize)]
struct File {
    advisory: Head,
    #[serde(default)]
    versions: Versions,
}

#[derive(Deserialize)]
struct Head {
    id: String,
    package: String,
    date: String,
    informational: Option<String>,
    withdrawn: Option<String>,
}

#[derive(Deserialize, Default)]
struct Versions {
    #[serde(default)]
    patched: Vec<String>,
    #[serde(default)]
    unaffected: Vec<String>,
}

/// The table of a checkout of the database: all that stand under names of locked crates.
pub(super) fn collect(dir: &Path, locked: &[Locked]) -> Result<String> {
    let git = |args: &[&str]| shell::output(Command::new("git").arg("-C").arg(dir).args(args));
    let commit = git(&["log", "-1", "--format=%h of %cs"])?;
    let files = git(&["ls-tree", "-r", "--name-only", "HEAD", "crates/"])?;
    let files: Vec<&str> = files.lines().filter(|f| f.contains("/RUSTSEC-")).collect();
    if files.is_empty() {
        return Err(format!("{}: no advisory in crates/: is it a checkout of RustSec's advisory-db?", dir.display()));
    }
    let mut out = format!(
        "# RustSec's advisory-db {}, {} advisories: those about crates whose names are in Cargo.lock.\n\
         # id, date, crate, kind, patched, never affected\n",
        commit.trim(),
        files.len()
    );
    let names: BTreeSet<&str> = locked.iter().map(|l| l.name.as_str()).collect();
    for file in files.iter().filter(|f| f.split('/').nth(1).is_some_and(|name| names.contains(name))) {
        let text = git(&["show", &format!("HEAD:{file}")])?;
        let head = text.split("```toml").nth(1).and_then(|t| t.split("```").next());
        let head = head.ok_or_else(|| format!("{file}: no advisory in TOML"))?;
        let File { advisory: a, versions: v } = toml::from_str(head).map_err(|e| format!("{file}: {e}"))?;
        if a.withdrawn.is_none() {
            let kind = a.informational.as_deref().unwrap_or("vulnerability");
            let fields = [&a.id, &a.date, &a.package, kind, &v.patched.join("; "), &v.unaffected.join("; ")];
            out.push_str(&fields.join("\t"));
            out.push('\n');
        }
    }
    Ok(out)
}

/// The database's commit and date, and the advisories of a table.
pub(super) fn parse(text: &str) -> Result<(String, Vec<Advisory>)> {
    let named = text.lines().next().and_then(|l| l.strip_prefix("# ")).and_then(|l| l.split(',').next());
    let named = named.ok_or("docs/security/advisories.tsv: its first line does not name the database")?;
    let ranges = |s: &str| s.split("; ").filter(|r| !r.is_empty()).map(str::to_owned).collect();
    let rows = text.lines().filter(|l| !l.starts_with('#') && !l.is_empty());
    let advisories = rows.map(|l| match l.split('\t').collect::<Vec<_>>().as_slice() {
        [id, _, package, kind, patched, unaffected] => Ok(Advisory {
            id: (*id).to_owned(),
            package: (*package).to_owned(),
            kind: (*kind).to_owned(),
            patched: ranges(patched),
            unaffected: ranges(unaffected),
        }),
        _ => Err(format!("docs/security/advisories.tsv: {l:?} is no row of it")),
    });
    Ok((named.to_owned(), advisories.collect::<Result<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_affected_version_is_found() {
        let text = "# db 1 of 2026-01-01, 2 advisories\nRUSTSEC-1\t2026-01-01\tx\tunsound\t>= 0.10.1; < 0.10.0, >= 0.9.3\t< 0.7.0\nRUSTSEC-2\t2026-01-01\ty\tunmaintained\t\t\n";
        let (database, all) = parse(text).unwrap();
        assert_eq!(database, "db 1 of 2026-01-01");
        for (version, want) in
            [("0.10.3", false), ("0.10.0", true), ("0.9.4", false), ("0.8.0", true), ("0.6.1", false)]
        {
            assert_eq!(all[0].affects(version), Ok(want), "{version}");
        }
        assert_eq!(all[1].affects("9.9.9"), Ok(true), "nothing is patched in a crate that nobody keeps");
        assert!(all[0].affects("no version").is_err());
        assert!(parse("RUSTSEC-1\tx\n").is_err());
    }
}
