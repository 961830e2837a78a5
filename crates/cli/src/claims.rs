//! Lists of all nodes, as kubectl and scontrol print them, beside snapshots: each node's own entry is joined to its snapshot.

use crate::output::{Failure, remark};
use linerate_fleet::cluster::{By, Lists, Scheduler, Stranger};
use linerate_formats::bounds::INVENTORY_ANSWER;
use linerate_snapshot::{Input, Snapshot, is_snapshot_dir};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Lists, and what was joined.
#[derive(Default)]
pub(crate) struct Claims {
    lists: Lists,
    files: Vec<String>,
    seen: Mutex<Seen>,
}

/// What became of each snapshot.
#[derive(Default)]
struct Seen {
    /// Entries that are some snapshot's.
    used: BTreeSet<(Scheduler, usize)>,
    /// Entries that were joined by the name of the node alone.
    by_name: BTreeSet<(Scheduler, usize)>,
    /// Nodes that were not, by why.
    not: BTreeMap<(Scheduler, String), BTreeSet<String>>,
}

impl Claims {
    /// Takes the lists out of what the user named: files by themselves, and those that lie in a directory of snapshots. Where nothing but a list is
    /// named, it is a source itself.
    pub(crate) fn take(paths: &[PathBuf]) -> Result<(Vec<PathBuf>, Claims), Failure> {
        let is_list = |p: &&PathBuf| scheduler(p).is_some();
        let rest: Vec<PathBuf> = paths.iter().filter(|p| !is_list(p)).cloned().collect();
        if rest.is_empty() {
            return Ok((paths.to_vec(), Claims::default()));
        }
        let mut out = Claims::default();
        paths.iter().filter(is_list).try_for_each(|p| out.add(p))?;
        for dir in rest.iter().filter(|p| p.is_dir() && crate::sources::fleet(std::slice::from_ref(p)).is_some()) {
            inside(dir).iter().try_for_each(|p| out.add(p))?;
        }
        Ok((rest, out))
    }

    /// Whether there is no list.
    pub(crate) fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    fn add(&mut self, path: &Path) -> Result<(), Failure> {
        let Some(scheduler) = scheduler(path) else { return Ok(()) };
        let name = path.display();
        let failed = |e: std::io::Error| Failure::new(format!("cannot read {name}: {e}"));
        let input = Input::open(Some(path), &crate::budget::budget()).map_err(failed)?;
        // Of a list that is damaged nobody knows which nodes are missing.
        let bytes = input.text(INVENTORY_ANSWER as u64).map_err(|d| Failure::new(format!("{name}: {d}")))?;
        if bytes.len() > INVENTORY_ANSWER {
            return Err(Failure::new(format!(
                "{name}: more than {INVENTORY_ANSWER} bytes (the limit INVENTORY_ANSWER): name fewer nodes"
            )));
        }
        let left_out = self.lists.add(scheduler, &bytes).map_err(|e| {
            Failure::new(format!("{name}: {e}"))
                .hint("`kubectl get nodes -o json` and `scontrol show nodes` print whole lists")
        })?;
        left_out.iter().for_each(|l| remark(&format!("{name}: {l}")));
        self.files.push(name.to_string());
        Ok(())
    }

    /// Joins a snapshot's own entries to it.
    pub(crate) fn join(&self, snapshot: &mut Snapshot, label: &str) {
        if self.is_empty() {
            return;
        }
        let nameless = snapshot.manifest.redacted;
        let joined = self.lists.join(snapshot, label, nameless);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for one in joined {
            match one.found {
                Ok((at, by)) => {
                    seen.used.insert((one.of, at));
                    if by == By::Name {
                        seen.by_name.insert((one.of, at));
                    }
                }
                Err(why) => {
                    // What the list claims of it is not known: nothing passes for certain.
                    snapshot.left_out(format!("no entry of {} was joined to this node: {why}", one.of.name()));
                    let why = match why {
                        Stranger::None(_) | Stranger::Empty => "not listed by its ids or its name".to_owned(),
                        other => other.to_string(),
                    };
                    seen.not.entry((one.of, why)).or_default().insert(label.to_owned());
                }
            }
        }
    }

    /// Says what could not be joined.
    pub(crate) fn finish(&self) {
        if self.is_empty() {
            return;
        }
        let files = self.files.join(", ");
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for ((of, why), nodes) in &seen.not {
            let names = linerate_fleet::names::folded(nodes.iter().map(String::as_str));
            remark(&format!(
                "{files}: no entry of {} was joined to {}, {why}: {names}",
                of.name(),
                counted(nodes.len(), ["node", "nodes"])
            ));
        }
        if !seen.by_name.is_empty() {
            remark(&format!(
                "{files}: {} joined by the name of the node alone",
                counted(seen.by_name.len(), ["entry was", "entries were"])
            ));
        }
        for of in [Scheduler::Kubernetes, Scheduler::Slurm] {
            let all = self.lists.names(of).into_iter().enumerate();
            let idle: Vec<&str> = all.filter(|(at, _)| !seen.used.contains(&(of, *at))).map(|(_, n)| n).collect();
            // Of one snapshot all other nodes of a cluster are others.
            if !idle.is_empty() && seen.used.len() > 1 {
                let names = linerate_fleet::names::folded(idle.iter().copied());
                remark(&format!(
                    "{files}: {} of {} without a snapshot: {names}",
                    counted(idle.len(), ["node", "nodes"]),
                    of.name()
                ));
            }
        }
    }
}

/// `1 node`, `2 nodes`.
fn counted(n: usize, [one, many]: [&str; 2]) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Whose list a file is.
fn scheduler(path: &Path) -> Option<Scheduler> {
    let name = path.file_name()?.to_string_lossy();
    // Archives and indexes are known by their names.
    let other = [".parquet", ".toml", ".lock"];
    if linerate_snapshot::is_archive_name(&name) || other.iter().any(|e| name.ends_with(e)) || !path.is_file() {
        return None;
    }
    Scheduler::of(Input::open(Some(path), &crate::budget::budget()).ok()?.kind(&name))
}

/// Whether a file is a list of nodes.
pub(crate) fn is_list(path: &Path) -> bool {
    scheduler(path).is_some()
}

/// The lists in a directory, by name.
fn inside(dir: &Path) -> Vec<PathBuf> {
    if is_snapshot_dir(dir) {
        return Vec::new();
    }
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path());
    let mut out: Vec<PathBuf> = entries.filter(|p| is_list(p)).collect();
    out.sort();
    out
}
