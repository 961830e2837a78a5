//! Lists of all nodes, as kubectl and scontrol print them, beside snapshots: each node's own entry is joined to its snapshot.

use crate::budget::budget;
use crate::output::{Failure, remark};
use crate::sources;
use linerate_fleet::cluster::Scheduler;
use linerate_formats::counted;
use linerate_gather::lists::{self, Beside, Joins, ListError};
use linerate_snapshot::{Snapshot, is_snapshot_dir};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Lists, and what was joined.
#[derive(Default)]
pub(crate) struct Claims {
    beside: Beside,
    joins: Mutex<Joins>,
}

impl Claims {
    /// Takes the lists out of what the user named: files by themselves, and those that lie in a directory of snapshots. Where nothing but a list is
    /// named, it is a source itself.
    pub(crate) fn take(paths: &[PathBuf]) -> Result<(Vec<PathBuf>, Claims), Failure> {
        let is_fleet = |dir: &PathBuf| sources::fleet(std::slice::from_ref(dir)).is_some();
        Claims::of(paths, |dir| if is_fleet(dir) { Beside::inside(dir, &budget()) } else { Ok(Beside::default()) })
    }

    /// The same, as an index has them: where each source of a directory is one of many.
    pub(crate) fn take_of_many(paths: &[PathBuf]) -> Result<(Vec<PathBuf>, Claims), Failure> {
        Claims::of(paths, |dir| Beside::with(dir, &sources::listing(dir).all.sources, &budget()))
    }

    fn of(
        paths: &[PathBuf],
        inside: impl Fn(&PathBuf) -> Result<Beside, ListError>,
    ) -> Result<(Vec<PathBuf>, Claims), Failure> {
        let rest: Vec<PathBuf> = paths.iter().filter(|p| !is_list(p)).cloned().collect();
        if rest.is_empty() {
            return Ok((paths.to_vec(), Claims::default()));
        }
        let mut beside = Beside::default();
        for path in paths.iter().filter(|p| is_list(p)) {
            beside.add(path, &budget()).map_err(unread)?;
        }
        for dir in rest.iter().filter(|p| p.is_dir() && !is_snapshot_dir(p)) {
            beside.append(inside(dir).map_err(unread)?);
        }
        left_out(&beside);
        Ok((rest, Claims { beside, joins: Mutex::default() }))
    }

    /// Whether there is no list.
    fn is_empty(&self) -> bool {
        self.beside.files.is_empty()
    }

    /// Joins a snapshot's own entries to it.
    pub(crate) fn join(&self, snapshot: &mut Snapshot, label: &str) {
        if self.is_empty() {
            return;
        }
        let mut joins = Joins::default();
        self.beside.join(snapshot, label, &mut joins);
        self.joins.lock().unwrap_or_else(PoisonError::into_inner).append(joins);
    }

    /// Says what could not be joined.
    pub(crate) fn finish(&self) {
        if !self.is_empty() {
            said(&self.beside, &self.joins.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// That a list could not be read, and what to do.
fn unread(e: ListError) -> Failure {
    let failure = Failure::new(&e);
    match e {
        ListError::Form { .. } => {
            failure.hint("`kubectl get nodes -o json` and `scontrol show nodes` print whole lists")
        }
        _ => failure,
    }
}

/// Says what a limit left out of lists.
pub(crate) fn left_out(beside: &Beside) {
    beside.left_out.iter().for_each(|(file, l)| remark(&format!("{}: {l}", file.display())));
}

/// Says what could not be joined.
pub(crate) fn said(beside: &Beside, joins: &Joins) {
    let files: Vec<String> = beside.files.iter().map(|f| f.display().to_string()).collect();
    let files = files.join(", ");
    for ((of, why), nodes) in &joins.not {
        let names = linerate_fleet::names::folded(nodes.iter().map(String::as_str));
        remark(&format!(
            "{files}: no entry of {} matches {}, {why}: {names}",
            of.name(),
            counted(nodes.len(), "node", "nodes")
        ));
    }
    if !joins.by_name.is_empty() {
        remark(&format!(
            "{files}: {} matched by the name of the node alone",
            counted(joins.by_name.len(), "entry was", "entries were")
        ));
    }
    for of in [Scheduler::Kubernetes, Scheduler::Slurm] {
        let all = beside.lists.names(of).into_iter().enumerate();
        let idle: Vec<&str> = all.filter(|(at, _)| !joins.used.contains(&(of, *at))).map(|(_, n)| n).collect();
        // Of one snapshot all other nodes of a cluster are others.
        if !idle.is_empty() && joins.used.len() > 1 {
            let names = linerate_fleet::names::folded(idle.iter().copied());
            remark(&format!(
                "{files}: {} of {} without a snapshot: {names}",
                counted(idle.len(), "node", "nodes"),
                of.name()
            ));
        }
    }
}

/// Whether a file is a list of nodes.
pub(crate) fn is_list(path: &Path) -> bool {
    lists::scheduler(path, &budget()).is_some()
}
