//! Lists of all nodes, as kubectl and scontrol print them, beside snapshots: each node's own entry is joined to its snapshot. A list is of no time: it is
//! joined to each snapshot that has no entry of its own.

use linerate_fleet::cluster::{By, Joined, Lists, Scheduler, Stranger};
use linerate_formats::ParseError;
use linerate_formats::bounds::{INVENTORY_ANSWER, LeftOut};
use linerate_snapshot::{Budget, Damage, Input, Snapshot, Source, SourceKind, is_archive_name, is_snapshot_dir};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Why a list could not be read. Of one that is damaged nobody knows which nodes are missing.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The file system refused.
    #[error("cannot read {}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It ends before its end.
    #[error("{}: {source}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
        source: Damage,
    },
    /// It is longer than a list may be.
    #[error("{}: more than {INVENTORY_ANSWER} bytes (the limit INVENTORY_ANSWER): name fewer nodes", .path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
    },
    /// It is none.
    #[error("{}: {source}", .path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: ParseError,
    },
}

/// Lists that lie beside snapshots.
#[derive(Debug, Clone, Default)]
pub struct Beside {
    /// Their nodes.
    pub lists: Lists,
    /// Where they are.
    pub files: Vec<PathBuf>,
    /// What a limit left out of them.
    pub left_out: Vec<(PathBuf, LeftOut)>,
    /// By what a change of them is known.
    id: String,
}

/// What became of each snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Joins {
    /// Entries that are some snapshot's.
    pub used: BTreeSet<(Scheduler, usize)>,
    /// Entries that were joined by the name of the node alone.
    pub by_name: BTreeSet<(Scheduler, usize)>,
    /// Nodes that were not, by why.
    pub not: BTreeMap<(Scheduler, String), BTreeSet<String>>,
}

impl Joins {
    /// Those of other snapshots, too.
    pub fn append(&mut self, mut other: Joins) {
        self.used.append(&mut other.used);
        self.by_name.append(&mut other.by_name);
        for (why, mut nodes) in other.not {
            self.not.entry(why).or_default().append(&mut nodes);
        }
    }

    fn note(&mut self, label: &str, one: Joined) {
        match one.found {
            Ok((at, by)) => {
                self.used.insert((one.of, at));
                if by == By::Name {
                    self.by_name.insert((one.of, at));
                }
            }
            Err(why) => {
                let why = match why {
                    Stranger::None(_) | Stranger::Empty => "not listed by its ids or its name".to_owned(),
                    other => other.to_string(),
                };
                self.not.entry((one.of, why)).or_default().insert(label.to_owned());
            }
        }
    }
}

impl Beside {
    /// Those that lie in a directory, by name.
    ///
    /// # Errors
    /// One of them cannot be read as a whole.
    pub fn inside(dir: &Path, budget: &Budget) -> Result<Self, ListError> {
        let mut out = Beside::default();
        files(dir).iter().try_for_each(|path| out.add(path, budget).map(drop))?;
        Ok(out)
    }

    /// Those that lie in a directory beside snapshots. In one of texts alone a list is one of them.
    ///
    /// # Errors
    /// One of them cannot be read as a whole.
    pub fn with(dir: &Path, sources: &[Source], budget: &Budget) -> Result<Self, ListError> {
        if are_snapshots(sources) { Beside::inside(dir, budget) } else { Ok(Beside::default()) }
    }

    /// Adds a list. False: it is none.
    ///
    /// # Errors
    /// It cannot be read as a whole.
    pub fn add(&mut self, path: &Path, budget: &Budget) -> Result<bool, ListError> {
        let Some(scheduler) = scheduler(path, budget) else { return Ok(false) };
        let path = || path.to_owned();
        let io = |source| ListError::Io { path: path(), source };
        let id = id_of(&path()).map_err(io)?;
        let input = Input::open(Some(&path()), budget).map_err(io)?;
        let text = input.text(INVENTORY_ANSWER as u64);
        let bytes = text.map_err(|source| ListError::Damaged { path: path(), source })?;
        if bytes.len() > INVENTORY_ANSWER {
            return Err(ListError::TooLong { path: path() });
        }
        let left_out = self.lists.add(scheduler, &bytes).map_err(|source| ListError::Form { path: path(), source })?;
        self.left_out.extend(left_out.into_iter().map(|l| (path(), l)));
        self.id.push_str(&id);
        self.files.push(path());
        Ok(true)
    }

    /// Those of another place behind these.
    pub fn append(&mut self, mut other: Beside) {
        self.lists.append(other.lists);
        self.files.append(&mut other.files);
        self.left_out.append(&mut other.left_out);
        self.id.push_str(&other.id);
    }

    /// By what a change of them is known; empty where there are none.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Joins a snapshot's own entries to it, and notes what became of it. What a list claims of a node that is not in it is not known: nothing passes
    /// for certain.
    pub fn join(&self, snapshot: &mut Snapshot, label: &str, joins: &mut Joins) {
        let nameless = snapshot.manifest.redacted;
        for one in self.lists.join(snapshot, label, nameless) {
            if let Err(why) = &one.found {
                snapshot.left_out(format!("no entry of {} matches this node: {why}", one.of.name()));
            }
            joins.note(label, one);
        }
    }
}

/// By what a change of the lists of a directory is known, without reading them: as [`Beside::id`] of [`Beside::with`].
#[must_use]
pub fn id(dir: &Path, sources: &[Source], budget: &Budget) -> String {
    let all = if are_snapshots(sources) { files(dir) } else { Vec::new() };
    all.iter().filter(|path| scheduler(path, budget).is_some()).filter_map(|path| id_of(path).ok()).collect()
}

fn are_snapshots(sources: &[Source]) -> bool {
    sources.iter().any(|s| !matches!(s.kind, SourceKind::Text | SourceKind::Unknown))
}

/// What may be a list in a directory, by name.
fn files(dir: &Path) -> Vec<PathBuf> {
    if is_snapshot_dir(dir) {
        return Vec::new();
    }
    let mut all: Vec<PathBuf> = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path()).collect();
    all.sort();
    all
}

/// Name, size and time of a file.
fn id_of(path: &Path) -> io::Result<String> {
    let about = std::fs::metadata(path)?;
    let modified = about.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(format!("{name} {} bytes {} ns\n", about.len(), modified.as_nanos()))
}

/// Whose list a file is. Archives and indexes are known by their names.
#[must_use]
pub fn scheduler(path: &Path, budget: &Budget) -> Option<Scheduler> {
    let name = path.file_name()?.to_string_lossy();
    let other = [".parquet", ".toml", ".lock"];
    if is_archive_name(&name) || other.iter().any(|e| name.ends_with(e)) || !path.is_file() {
        return None;
    }
    Scheduler::of(Input::open(Some(path), budget).ok()?.kind(&name))
}
