//! What the user named: rules by pattern, and snapshots by path.

use crate::claims;
use crate::output::{Failure, remark};
use crate::progress::Line;
use linerate_fleet::since::Pairs;
use linerate_formats::bounds::SOURCES_WALKED;
use linerate_gather::fan::seconds_of;
use linerate_rules::Rule;
use linerate_rules::terms::names;
use linerate_snapshot::capture::{Options, Purpose};
use linerate_snapshot::{Listing, Snapshot, Source, SourceKind, dated, is_snapshot_dir, short_name};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// An area with those of its rules that were chosen.
type Chosen = (&'static str, &'static str, Vec<&'static Rule>);

/// Areas with the rules whose id, or area, a pattern names. No pattern: all.
pub(crate) fn select_areas(patterns: &[String]) -> Result<Vec<Chosen>, Failure> {
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

/// The snapshots in a directory. A directory of texts is one node, whatever else is below it.
fn inside(dir: &Path) -> Option<Vec<Member>> {
    if !dir.is_dir() || is_snapshot_dir(dir) {
        return None;
    }
    let listed = listing(dir);
    let all = listed.newest();
    let is_direct = |s: &Source| !s.name.contains('/');
    let is_node = |s: &Source| matches!(s.kind, SourceKind::Archive | SourceKind::Tree);
    let has_direct = all.iter().any(|s| is_node(s) && is_direct(s));
    let has_texts = all.iter().any(|s| s.kind == SourceKind::Text);
    let nodes: Vec<&Source> = all.iter().filter(|s| is_node(s) || s.kind == SourceKind::Texts).collect();
    // One tree in a directory is that tree (an unpacked archive), not a fleet of one.
    let is_one = matches!(nodes.as_slice(), [one] if one.kind == SourceKind::Tree);
    let is_fleet = !nodes.is_empty() && !is_one && (has_direct || !has_texts);
    is_fleet.then(|| nodes.into_iter().map(Member::from).collect())
}

/// A directory as this command saw it. It is listed once, so that all parts of an answer are of one state of it.
pub(crate) struct Listed {
    /// What it holds, without lists of nodes.
    pub(crate) all: Listing,
    /// Of these, of each node the newest snapshot.
    newest: OnceLock<Vec<Source>>,
}

static LISTED: Mutex<BTreeMap<PathBuf, Arc<Listed>>> = Mutex::new(BTreeMap::new());

/// What a directory holds.
pub(crate) fn listing(dir: &Path) -> Arc<Listed> {
    let mut known = LISTED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(listed) = known.get(dir) {
        return Arc::clone(listed);
    }
    // What cannot be read holds nothing.
    let mut all = linerate_snapshot::sources(dir).unwrap_or_default();
    all.sources.retain(|s| s.kind != SourceKind::Text || !claims::is_list(&s.path));
    if all.left_out > 0 {
        let (n, most) = (all.left_out, SOURCES_WALKED);
        let dir = dir.display();
        remark(&format!("{dir}: {n} entries were not looked at: SOURCES_WALKED is {most}; name directories below it"));
    }
    let listed = Arc::new(Listed { all, newest: OnceLock::new() });
    known.insert(dir.to_owned(), Arc::clone(&listed));
    listed
}

impl Listed {
    /// Of each node the newest snapshot.
    fn newest(&self) -> &[Source] {
        self.newest.get_or_init(|| newest(self.all.clone().newest()))
    }
}

/// Of a node's directory the newest snapshot: by the time that its name says, the clock of who collected; of a file with another name the node's own
/// clock counts.
fn newest(all: Vec<Source>) -> Vec<Source> {
    // How many lie in a directory, and whether one of them is named by its time.
    let mut beside: HashMap<&Path, (usize, bool)> = HashMap::new();
    for s in &all {
        let (count, is_node) = beside.entry(s.path.parent().unwrap_or(Path::new(""))).or_default();
        (*count, *is_node) = (*count + 1, *is_node || dated(&s.name).is_some());
    }
    let several = |s: &Source| {
        let dir = s.path.parent()?;
        beside.get(dir).is_some_and(|(count, is_node)| *count > 1 && *is_node).then(|| dir.to_owned())
    };
    let mut last: HashMap<PathBuf, (u64, PathBuf)> = HashMap::new();
    for (s, dir) in all.iter().filter_map(|s| Some((s, several(s)?))) {
        let one = (named(&s.path).unwrap_or_else(|| clock(&s.path)), s.path.clone());
        let best = last.entry(dir).or_insert_with(|| one.clone());
        if *best < one {
            *best = one;
        }
    }
    let older: BTreeSet<PathBuf> = all
        .iter()
        .filter(|s| several(s).and_then(|dir| last.get(&dir)).is_some_and(|(_, path)| *path != s.path))
        .map(|s| s.path.clone())
        .collect();
    all.into_iter().filter(|s| !older.contains(&s.path)).collect()
}

/// Unix time of a snapshot by its node's clock. What cannot be read counts only where there is nothing else.
fn clock(path: &Path) -> u64 {
    let options = Options { redact: false, ..crate::budget::options(path, Purpose::Audit) };
    linerate_snapshot::load(path, &options, &|_| {}).map_or(0, |s| s.manifest.time)
}

/// The time that a snapshot's name says, Unix time, seconds: of an archive or a tree.
pub(crate) fn named(path: &Path) -> Option<u64> {
    seconds_of(path.file_name()?.to_str()?)
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
        Member { label: label(path), path: path.to_owned() }
    }
}

impl From<&Source> for Member {
    fn from(s: &Source) -> Self {
        Member { label: s.label.clone(), path: s.path.clone() }
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
        out.extend(listing(path).newest().iter().filter(|s| s.kind != SourceKind::Unknown).map(Member::from));
    }
    out
}

/// Of each node of a fleet's directory.
pub(crate) fn pairs(dirs: &[PathBuf], time: u64) -> Pairs<Member> {
    let mut out = Pairs::default();
    for dir in dirs {
        let listed = listing(dir);
        let times = listed.all.sources.iter().filter_map(|s| Some((dated(&s.name)?, named(&s.path)?, Member::from(s))));
        out.append(Pairs::of(times, time, |m| &m.label));
    }
    out
}

fn name_of(p: &Path) -> String {
    p.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

/// How the node of one source is called: of a fleet's file (`NODE/TIME.tar.zst`) or tree its directory.
pub(crate) fn label(p: &Path) -> String {
    let text = p.to_string_lossy();
    dated(&text).and_then(|dir| dir.rsplit('/').next()).map_or_else(|| short(p), str::to_owned)
}

/// The name of a file, without what packs it.
pub(crate) fn short(p: &Path) -> String {
    let name = p.file_name().map_or_else(|| "this machine".to_owned(), |n| n.to_string_lossy().into_owned());
    short_name(&name).to_owned()
}
