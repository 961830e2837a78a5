//! What the user named: rules by pattern, and snapshots by path.

use crate::claims;
use crate::output::Failure;
use crate::progress::Line;
use linerate_formats::wildcard;
use linerate_rules::Rule;
use linerate_snapshot::capture::{Options, Purpose};
use linerate_snapshot::{Snapshot, is_snapshot_dir};
use std::collections::HashMap;
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

/// The node at a path as it is: what hashing makes of names differs from time to time, and would be taken for a change.
pub(crate) fn unredacted(path: &Path) -> Result<Snapshot, Failure> {
    load(path, &Options { redact: false, ..crate::budget::options(path, Purpose::Collect) })
}

/// The node at a path, with progress.
pub(crate) fn load(path: &Path, options: &Options) -> Result<Snapshot, Failure> {
    let line = Line::new(true);
    Ok(linerate_snapshot::load(path, options, &|p| line.capture(p))?)
}

/// Snapshots of a fleet: several paths, a directory that is no tree itself but holds archives or trees, or a fleet's directory
/// (`NODE/TIME.tar.zst`), of which the newest of each node. `None`: one node.
pub(crate) fn fleet(paths: &[PathBuf]) -> Option<Vec<Member>> {
    let mut all = match paths {
        [one] => inside(one)?,
        [] => return None,
        many => many.iter().flat_map(|p| inside(p).unwrap_or_else(|| vec![Member::of(p)])).collect(),
    };
    tell_apart(&mut all);
    Some(all)
}

/// The snapshots in a directory. A directory of texts is one node, whatever else is in it.
fn inside(dir: &Path) -> Option<Vec<Member>> {
    let direct = members(dir);
    let listed = |p: &PathBuf| {
        !is_index(p) && !claims::is_list(p) && p.file_name().is_some_and(|n| !n.as_encoded_bytes().starts_with(b"."))
    };
    if dir.is_dir() && !is_snapshot_dir(dir) {
        let mut entries: Vec<PathBuf> =
            std::fs::read_dir(dir).ok()?.flatten().map(|e| e.path()).filter(listed).collect();
        entries.sort();
        let node = |p: &PathBuf| Some(Member { label: name_of(p), path: newest(p)? });
        let nodes: Vec<Member> = entries.iter().filter_map(node).collect();
        if !nodes.is_empty() && (direct.is_some() || !entries.iter().any(|p| p.is_file())) {
            let direct = direct.unwrap_or_default();
            let mut all: Vec<Member> = direct.iter().map(|p| Member::of(p)).chain(nodes).collect();
            all.sort_by(|a, b| a.path.cmp(&b.path));
            return Some(all);
        }
    }
    Some(direct?.iter().map(|p| Member::of(p)).collect())
}

/// The newest snapshot of a node in a fleet's directory: names are times, by the clock of who collected. Of a file with another name the node's own
/// clock counts.
fn newest(dir: &Path) -> Option<PathBuf> {
    let all = if dir.is_dir() { members(dir)? } else { return None };
    if all.len() < 2 || all.iter().all(|p| named(p).is_some()) {
        return all.into_iter().next_back();
    }
    let clock = |p: &Path| {
        let options = Options { redact: false, ..crate::budget::options(p, Purpose::Audit) };
        // What cannot be read counts only where there is nothing else.
        linerate_snapshot::load(p, &options, &|_| {}).map_or(0, |s| s.manifest.time)
    };
    all.into_iter().max_by_key(|p| (named(p).unwrap_or_else(|| clock(p)), p.clone()))
}

/// The time that a snapshot's name says, Unix time, seconds.
pub(crate) fn named(path: &Path) -> Option<u64> {
    linerate_gather::fan::seconds_of(path.file_name()?.to_str()?)
}

/// Nodes that would have the same name have their directory before it: each counts.
fn tell_apart(all: &mut [Member]) {
    let mut times: HashMap<String, usize> = HashMap::new();
    all.iter().for_each(|m| *times.entry(m.label.clone()).or_default() += 1);
    for m in all.iter_mut().filter(|m| times.get(&m.label).is_some_and(|n| *n > 1)) {
        if let Some(parent) = m.path.parent().and_then(Path::file_name) {
            m.label = format!("{}/{}", parent.to_string_lossy(), name_of(&m.path));
        }
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

/// By its name: nobody reads thousands of heads.
pub(crate) fn is_archive(p: &Path) -> bool {
    let name = p.file_name().map(|n| n.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    [".tar", ".tar.zst", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz"].iter().any(|e| name.ends_with(e))
}

/// A snapshot of a fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    /// How its node is called: the directory of a fleet's node, else the file without what packs it.
    pub(crate) label: String,
    /// Where it is.
    pub(crate) path: PathBuf,
}

impl Member {
    /// A file or a tree by itself.
    pub(crate) fn of(path: &Path) -> Self {
        Member { label: short(path), path: path.to_owned() }
    }
}

/// The snapshots that paths name: files and trees themselves; of a directory each one in it; of a fleet's directory (`NODE/TIME.tar.zst`) the
/// newest of each node.
pub(crate) fn latest(paths: &[PathBuf]) -> Vec<Member> {
    let mut out = Vec::new();
    for path in paths {
        if !path.is_dir() || is_snapshot_dir(path) {
            out.push(Member::of(path));
            continue;
        }
        let mut inside: Vec<PathBuf> =
            std::fs::read_dir(path).into_iter().flatten().flatten().map(|e| e.path()).collect();
        inside.sort();
        let shown = |p: &&PathBuf| p.file_name().is_some_and(|n| !n.as_encoded_bytes().starts_with(b"."));
        for one in inside.iter().filter(shown) {
            if is_snapshot_dir(one) || one.is_file() && !is_index(one) && !claims::is_list(one) {
                out.push(Member::of(one));
            } else if let Some(newest) = newest(one) {
                out.push(Member { label: name_of(one), path: newest });
            }
        }
    }
    out
}

/// Nodes of a fleet before and after a time.
#[derive(Default)]
pub(crate) struct Pairs {
    /// The newest snapshot that is not younger than the time, and the newest.
    pub(crate) both: Vec<(Member, Member)>,
    /// Nodes of which there is only what is younger.
    pub(crate) new: Vec<String>,
    /// Nodes of which there is only what is not.
    pub(crate) old: Vec<String>,
}

/// Of each node of a fleet's directory.
pub(crate) fn pairs(dirs: &[PathBuf], time: u64) -> Pairs {
    let mut out = Pairs::default();
    for dir in dirs {
        let mut nodes: Vec<PathBuf> =
            std::fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path()).collect();
        nodes.sort();
        for node in nodes.iter().filter(|p| p.is_dir() && !is_snapshot_dir(p)) {
            let mut times: Vec<(u64, PathBuf)> =
                members(node).into_iter().flatten().filter_map(|p| Some((named(&p)?, p))).collect();
            times.sort();
            let member = |path: &Path| Member { label: name_of(node), path: path.to_owned() };
            let before = times.iter().rev().find(|(at, _)| *at <= time);
            match (before, times.last()) {
                (Some((then, before)), Some((at, now))) if then < at => out.both.push((member(before), member(now))),
                (Some(_), _) => out.old.push(name_of(node)),
                (None, Some(_)) => out.new.push(name_of(node)),
                (None, None) => {}
            }
        }
    }
    out
}

fn is_index(p: &Path) -> bool {
    p.extension().is_some_and(|e| e == "parquet" || e == "json" || e == "toml" || e == "lock")
}

fn name_of(p: &Path) -> String {
    p.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

/// How the node of one source is called: of a fleet's file (`NODE/TIME.tar.zst`) its directory.
pub(crate) fn label(p: &Path) -> String {
    p.parent().filter(|_| named(p).is_some()).map_or_else(|| short(p), name_of)
}

/// The name of a file, without what packs it.
pub(crate) fn short(p: &Path) -> String {
    let name = p.file_name().map_or_else(|| "this machine".to_owned(), |n| n.to_string_lossy().into_owned());
    let ends = [".tar.zst", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2", ".tar", ".txt", ".log"];
    ends.iter().find_map(|e| name.strip_suffix(e)).map_or(name.clone(), str::to_owned)
}
