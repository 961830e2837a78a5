//! Brings the index of a directory up to its snapshots: new ones are read on all cores, row groups without a change are copied.

use super::readers::Readers;
use super::sources::{Source, sources};
use super::{FileId, Index, IndexError, NAME, Writer};
use linerate_formats::bounds;
use linerate_snapshot::capture::{Options, Purpose};
use linerate_snapshot::{Budget, OpenError, Reader, Snapshot};
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
}

/// What an update did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
        let found = list(dir)?;
        if found.is_empty() {
            return Ok(Stale::default());
        }
        let mut held: HashMap<String, FileId> = HashMap::new();
        for group in 0..self.groups() {
            held.extend(self.heads(group)?.into_iter().map(|h| (h.snapshot, h.file)));
        }
        let same = found.iter().filter(|s| held.get(&s.name) == Some(&s.file())).count();
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
    let all = list(dir)?;
    let path = dir.join(NAME);
    let mut out = Updated { snapshots: all.len(), ..Updated::default() };
    let old = match Index::open(dir) {
        _ if how.rebuild => None,
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
        return Ok(out);
    }
    let mut writer = Writer::begin(&path)?;
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
    let open = |reader: &mut Reader, source: &Source| open(reader, source, &how.budget);
    let readers = Readers { path: &path, parts: &parts, budget: &how.budget, open: &open };
    out.unreadable = readers.write(&mut writer, &mut |done| progress(done, plan.new.len()))?;
    writer.finish()?;
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
    let found: HashMap<&str, FileId> = all.iter().map(|s| (s.name.as_str(), s.file())).collect();
    let mut out = Plan::default();
    let mut small = Vec::new();
    for group in 0..index.groups() {
        let heads = index.heads(group)?;
        let stays =
            |h: &&super::Head| found.get(h.snapshot.as_str()) == Some(&h.file) && !out.kept.contains(&h.snapshot);
        let kept: Vec<String> = heads.iter().filter(stays).map(|h| h.snapshot.clone()).collect();
        out.gone += heads.iter().filter(|h| !found.contains_key(h.snapshot.as_str())).count();
        if kept.len() < heads.len() {
            out.mixed.push(group);
        } else if heads.len() < bounds::INDEX_GROUP_NODES / 2 {
            small.push(group);
        } else {
            out.whole.push(group);
        }
        out.kept.extend(kept);
    }
    if small.len() > SMALL {
        out.mixed.append(&mut small);
    }
    out.whole.append(&mut small);
    out.whole.sort_unstable();
    out.new = all.iter().filter(|s| !out.kept.contains(&s.name)).collect();
    Ok(out)
}

fn open(reader: &mut Reader, source: &Source, budget: &Budget) -> Result<Snapshot, OpenError> {
    if source.path.is_file() {
        match reader.read(&source.path) {
            Ok(s) => return Ok(s),
            Err(e @ OpenError::TooLarge { .. }) => return Err(e),
            Err(_) => {}
        }
    }
    let options = Options { budget: budget.clone(), ..Options::new(&source.path, Purpose::Audit) };
    linerate_snapshot::load(&source.path, &options, &|_| {})
}

fn list(dir: &Path) -> Result<Vec<Source>, IndexError> {
    sources(dir).map_err(|source| IndexError::Io { doing: "read", path: dir.to_owned(), source })
}

/// Held until it is dropped; the kernel lets go of it with the process.
fn lock(dir: &Path) -> Result<File, IndexError> {
    let path = dir.join(LOCK);
    let io = |source| IndexError::Io { doing: "lock", path: path.clone(), source };
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(io)?;
    file.lock().map_err(io)?;
    Ok(file)
}
