//! Brings the index of a directory up to its snapshots: new ones are read on all cores, row groups without a change are copied.

use super::readers::Readers;
use super::{FileId, Index, IndexError, NAME, Writer};
use crate::lists::{self, Beside, Joins, scheduler};
use linerate_formats::bounds;
use linerate_snapshot::capture::{Options, Purpose};
use linerate_snapshot::{Budget, Each, Listing, OpenError, Reader, Source, SourceKind, load_each, sources};
use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::path::Path;

/// Who writes an index holds this file, in the directory.
const LOCK: &str = ".index.lock";
/// Row groups that may be smaller than others before they are made one.
const SMALL: usize = 8;

/// What is asked of an update.
#[derive(Debug, Clone, Default)]
pub struct Update {
    /// Reads all snapshots again.
    pub rebuild: bool,
    /// What packed snapshots may become, all together.
    pub budget: Budget,
    /// Most threads that read, each of which takes memory; 0: as many as there are cores.
    pub threads: usize,
}

/// What an update did.
#[derive(Debug, Clone, Default)]
pub struct Updated {
    /// Snapshots in the index.
    pub snapshots: usize,
    /// Of these, read now.
    pub read: usize,
    /// That the index held and the directory does not any more.
    pub gone: usize,
    /// Those that could not be read, and why.
    pub unreadable: Vec<(String, String)>,
    /// Why all were read again.
    pub rebuilt: Option<String>,
    /// Lists of schedulers in the directory, and what became of the snapshots that were read now.
    pub lists: Beside,
    /// What was joined of them.
    pub joins: Joins,
}

/// What of a directory an index does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stale {
    /// Snapshots that it does not have, or that changed.
    pub new: usize,
    /// Snapshots that it has and the directory has not. Where it has none at all, the index came without them, and this is 0.
    pub gone: usize,
}

impl Index {
    /// Whether the index says what the snapshots of its directory do.
    ///
    /// # Errors
    /// The index or the directory cannot be read.
    pub fn stale(&self, dir: &Path) -> Result<Stale, IndexError> {
        self.stale_beside(dir, &listing(dir)?)
    }

    /// The same, of a directory that was listed, without lists of nodes.
    ///
    /// # Errors
    /// The index or a list of nodes cannot be read.
    pub fn stale_beside(&self, dir: &Path, listing: &Listing) -> Result<Stale, IndexError> {
        let found = &listing.sources;
        if found.is_empty() {
            return Ok(Stale::default());
        }
        if lists::id(dir, found, &Budget::default()) != self.lists() {
            return Ok(Stale { new: found.len(), gone: 0 });
        }
        let names: HashSet<&str> = found.iter().map(|s| s.name.as_str()).collect();
        let mut held: HashMap<String, FileId> = HashMap::new();
        for group in 0..self.groups() {
            let heads = self.heads(group)?.into_iter();
            held.extend(heads.map(|h| (source_of(&h.snapshot, |n| names.contains(n)).to_owned(), h.file)));
        }
        let same = found.iter().filter(|s| held.get(&s.name) == Some(&file_of(s))).count();
        let known = found.iter().filter(|s| held.contains_key(&s.name)).count();
        Ok(Stale { new: found.len() - same, gone: held.len().saturating_sub(known) })
    }
}

/// Brings the index of a directory up to date. `progress` hears how many of how many snapshots were read.
///
/// Only one at a time does; another one waits for it, so no snapshot is lost.
///
/// # Errors
/// The directory cannot be read, or the index not written; then it is what it was.
pub fn update(dir: &Path, how: &Update, progress: &mut dyn FnMut(usize, usize)) -> Result<Updated, IndexError> {
    let _lock = lock(dir)?;
    let Listing { sources: all, left_out } = listing(dir)?;
    let lists = Beside::with(dir, &all, &how.budget)?;
    let path = dir.join(NAME);
    let mut out = Updated { snapshots: all.len(), ..Updated::default() };
    if left_out > 0 {
        let why = format!("{left_out} entries were not looked at: SOURCES_WALKED is {}", bounds::SOURCES_WALKED);
        out.unreadable.push((dir.display().to_string(), why));
    }
    let old = match Index::open(dir) {
        _ if how.rebuild => None,
        Ok(index) if index.is_current() && index.lists() != lists.id() => {
            out.rebuilt = Some("the lists of schedulers beside them changed".to_owned());
            None
        }
        Ok(index) if index.is_current() => Some(index),
        Ok(_) => {
            out.rebuilt = Some("it was made with other facts and rules".to_owned());
            None
        }
        Err(IndexError::None { .. }) => None,
        Err(e @ IndexError::Io { .. }) => return Err(e),
        Err(e) => {
            out.rebuilt = Some(e.to_string());
            None
        }
    };
    let plan = match &old {
        Some(index) => match plan(index, &all) {
            Ok(plan) => plan,
            Err(e) => {
                out.rebuilt = Some(e.to_string());
                Plan::all(&all)
            }
        },
        None => Plan::all(&all),
    };
    out.gone = plan.gone;
    if old.is_some() && plan.new.is_empty() && plan.mixed.is_empty() && out.rebuilt.is_none() {
        out.snapshots = plan.kept.len();
        return Ok(out);
    }
    let mut writer = Writer::beside(&path, lists.id())?;
    if let Some(index) = &old {
        plan.whole.iter().try_for_each(|group| writer.copy(index, *group))?;
        for group in &plan.mixed {
            for (head, record) in index.records(*group)?.filter(|(h, _)| plan.kept.contains(&h.snapshot)) {
                match &head.error {
                    Some(why) => writer.add_unreadable(&head.snapshot, head.file, &head.label, why)?,
                    None => writer.add(&head.snapshot, head.file, &record)?,
                }
            }
        }
    }
    out.read = plan.new.len();
    // A small fleet is shared out more finely; the file does not depend on the number of cores.
    let size = (plan.new.len() / 8).clamp(32, bounds::INDEX_GROUP_NODES);
    let parts: Vec<&[&Source]> = plan.new.chunks(size).collect();
    let open = |reader: &mut Reader, source: &Source, each: &mut Each<'_>| open(reader, source, &how.budget, each);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if how.threads == 0 { cores } else { cores.min(how.threads) };
    let readers = Readers { path: &path, parts: &parts, budget: &how.budget, lists: &lists, open: &open, threads };
    let mut done = readers.write(&mut writer, &mut |done| progress(done, plan.new.len()))?;
    out.unreadable.append(&mut done.unreadable);
    out.snapshots = plan.kept.len() + done.count;
    out.joins = done.joins;
    writer.finish()?;
    out.lists = lists;
    Ok(out)
}

/// What becomes of an old index.
#[derive(Default)]
struct Plan<'s> {
    /// Groups that are copied.
    whole: Vec<usize>,
    /// Groups of which some snapshots are gone or changed, and small ones that become one.
    mixed: Vec<usize>,
    /// Snapshots that stay as the index has them.
    kept: HashSet<String>,
    new: Vec<&'s Source>,
    gone: usize,
}

impl<'s> Plan<'s> {
    fn all(all: &'s [Source]) -> Self {
        Plan { new: all.iter().collect(), ..Plan::default() }
    }
}

fn plan<'s>(index: &Index, all: &'s [Source]) -> Result<Plan<'s>, IndexError> {
    let found: HashMap<&str, FileId> = all.iter().map(|s| (s.name.as_str(), file_of(s))).collect();
    let of = |name: &str| source_of(name, |n| found.contains_key(n)).to_owned();
    let mut known: HashSet<String> = HashSet::new();
    let mut out = Plan::default();
    let mut small = Vec::new();
    for group in 0..index.groups() {
        let heads = index.heads(group)?;
        let stays =
            |h: &&super::Head| found.get(of(&h.snapshot).as_str()) == Some(&h.file) && !out.kept.contains(&h.snapshot);
        let kept: Vec<String> = heads.iter().filter(stays).map(|h| h.snapshot.clone()).collect();
        out.gone += heads.iter().filter(|h| !found.contains_key(of(&h.snapshot).as_str())).count();
        if kept.len() < heads.len() {
            out.mixed.push(group);
        } else if heads.len() < bounds::INDEX_GROUP_NODES / 2 {
            small.push(group);
        } else {
            out.whole.push(group);
        }
        known.extend(kept.iter().map(|name| of(name)));
        out.kept.extend(kept);
    }
    if small.len() > SMALL {
        out.mixed.append(&mut small);
    }
    out.whole.append(&mut small);
    out.whole.sort_unstable();
    out.new = all.iter().filter(|s| !known.contains(&s.name)).collect();
    Ok(out)
}

fn open(reader: &mut Reader, source: &Source, budget: &Budget, each: &mut Each<'_>) -> Result<(), OpenError> {
    // As `drift` reads trees: what hashing makes of names is another one each time.
    let options = Options { redact: false, budget: budget.clone(), ..Options::new(&source.path, Purpose::Audit) };
    load_each(reader, &source.path, &options, each)
}

/// By what a change of a source is known.
pub(super) fn file_of(source: &Source) -> FileId {
    FileId { bytes: source.file.0, modified: source.file.1 }
}

/// The source of a snapshot: its name, or that of the archive in which it lies.
fn source_of(name: &str, is_source: impl Fn(&str) -> bool) -> &str {
    let above = std::iter::successors(Some(name), |n| n.rsplit_once('/').map(|(dir, _)| dir));
    above.into_iter().find(|n| is_source(n)).unwrap_or(name)
}

/// Its sources, without lists of nodes.
fn listing(dir: &Path) -> Result<Listing, IndexError> {
    let mut all = sources(dir).map_err(|source| IndexError::Io { doing: "read", path: dir.to_owned(), source })?;
    all.sources.retain(|s| s.kind != SourceKind::Text || scheduler(&s.path, &Budget::default()).is_none());
    Ok(all)
}

/// Held until it is dropped; the kernel lets go of it with the process.
fn lock(dir: &Path) -> Result<File, IndexError> {
    let path = dir.join(LOCK);
    let io = |source| IndexError::Io { doing: "lock", path: path.clone(), source };
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(io)?;
    file.lock().map_err(io)?;
    Ok(file)
}
