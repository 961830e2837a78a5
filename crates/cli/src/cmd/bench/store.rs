//! The history: where it is, and what is kept beside a run.

use crate::output::Failure;
use linerate_bench::facts::{Fact, Facts};
use linerate_snapshot::Snapshot;
use linerate_store::{SnapshotRef, Store, default_path};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// An open history.
pub(super) struct Opened {
    pub(super) store: Store,
    pub(super) path: PathBuf,
}

/// Where the history is.
pub(super) fn path(told: Option<&Path>) -> Result<PathBuf, Failure> {
    told.map(Path::to_owned).or_else(|| default_path(|name| std::env::var_os(name))).ok_or_else(|| {
        Failure::new("there is no home directory in which a history could be kept")
            .hint("name a file with --store, or keep nothing with --no-store")
    })
}

pub(super) fn open_to_write(told: Option<&Path>) -> Result<Opened, Failure> {
    let path = path(told)?;
    Ok(Opened { store: Store::open(&path)?, path })
}

pub(super) fn open_to_read(told: Option<&Path>) -> Result<Opened, Failure> {
    let path = path(told)?;
    Ok(Opened { store: Store::read(&path)?, path })
}

/// Seconds of the Unix epoch.
pub(super) fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64())
}

/// What is kept of a snapshot beside a run: where it is, and what can move a benchmark.
pub(super) fn reference(snapshot: &Snapshot, at: Option<&Path>, digest: String) -> SnapshotRef {
    let facts = Facts::of(snapshot);
    // A fact travels with its weight and its reason, so that a later comparison needs no catalogue of today's.
    let list = facts.list.iter().filter_map(|(what, fact)| Some((what.clone(), serde_json::to_string(fact).ok()?)));
    SnapshotRef {
        digest,
        host: facts.host.clone(),
        label: Some(snapshot.label.clone()),
        path: at.map(|p| p.display().to_string()),
        taken: None,
        facts: list.collect(),
    }
}

/// The facts that were kept.
pub(super) fn facts(s: &SnapshotRef) -> Facts {
    let list = s.facts.iter().filter_map(|(what, text)| Some((what.clone(), serde_json::from_str::<Fact>(text).ok()?)));
    Facts { host: s.host.clone(), list: list.collect() }
}
