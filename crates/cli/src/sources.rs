//! What the user named: rules by pattern, and snapshots by path.

use crate::output::Failure;
use linerate_formats::wildcard;
use linerate_rules::Rule;
use linerate_snapshot::is_snapshot_dir;
use std::path::{Path, PathBuf};

/// An area with those of its rules that were chosen.
type Chosen = (&'static str, &'static str, Vec<&'static Rule>);

/// Areas with the rules whose id, or area, a pattern names. No pattern: all.
pub(crate) fn select_areas(patterns: &[String]) -> Result<Vec<Chosen>, Failure> {
    let names = |p: &str, r: &Rule| p == r.area() || wildcard::star(p.as_bytes(), r.id.as_bytes());
    if let Some(p) = patterns.iter().find(|p| !linerate_rules::rules().iter().any(|r| names(p, r))) {
        return Err(Failure::new(format!("no rule matches `{p}`")).hint("`linerate rules` lists all"));
    }
    let wanted = |r: &Rule| patterns.is_empty() || patterns.iter().any(|p| names(p, r));
    let areas = linerate_rules::areas().iter();
    let some =
        areas.map(|(id, about, rules)| (*id, *about, rules.iter().copied().filter(|r| wanted(r)).collect::<Vec<_>>()));
    Ok(some.filter(|(.., rules)| !rules.is_empty()).collect())
}

/// Rules whose id, or area, a pattern names. No pattern: all.
pub(crate) fn select(patterns: &[String]) -> Result<Vec<&'static Rule>, Failure> {
    Ok(select_areas(patterns)?.into_iter().flat_map(|(.., rules)| rules).collect())
}

/// Snapshots of a fleet: several paths, or a directory that is no tree itself but holds archives or trees. `None`: one node.
pub(crate) fn fleet(paths: &[PathBuf]) -> Option<Vec<PathBuf>> {
    match paths {
        [one] => members(one),
        [] => None,
        many => Some(many.iter().flat_map(|p| members(p).unwrap_or_else(|| vec![p.clone()])).collect()),
    }
}

fn members(dir: &Path) -> Option<Vec<PathBuf>> {
    if !dir.is_dir() || is_snapshot_dir(dir) {
        return None;
    }
    let mut out: Vec<PathBuf> = std::fs::read_dir(dir)
        .ok()?
        .flatten()
        .map(|e| e.path())
        .filter(|p| is_archive(p) || (p.is_dir() && is_snapshot_dir(p)))
        .collect();
    out.sort();
    // One tree in a directory is that tree (an unpacked archive), not a fleet of one.
    (out.len() > 1 || out.first().is_some_and(|p| p.is_file())).then_some(out)
}

fn is_archive(p: &Path) -> bool {
    let name = p.file_name().map(|n| n.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    [".tar", ".tar.zst", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz"].iter().any(|e| name.ends_with(e))
}
