//! Who the nodes of snapshots are and were: names and identities, of earlier snapshots of a fleet's directory as well.

use crate::chosen::Chosen;
use crate::output::Failure;
use crate::progress::Line;
use crate::sources::{self, Member};
use linerate_fleet::identity::{self, Remark, Sighting};
use linerate_fleet::{Addresses, Identity};
use linerate_gather::index::{FileId, Head, Index};
use linerate_snapshot::{Snapshot, is_snapshot_dir};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// A node as one snapshot shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Where the snapshot is.
    path: PathBuf,
    /// How the node is called.
    label: String,
    identity: Identity,
    addresses: Addresses,
    time: u64,
}

impl Seen {
    /// Of a snapshot.
    pub(crate) fn of(path: &Path, label: &str, snapshot: &Snapshot) -> Self {
        Seen {
            path: path.to_owned(),
            label: label.to_owned(),
            identity: Identity::of(snapshot),
            addresses: Addresses::of(snapshot),
            time: taken(path, snapshot),
        }
    }

    /// Of one that could not be read; `None`: it lies in an archive of several.
    pub(crate) fn unread(members: &[Member], label: &str) -> Option<Self> {
        let Member { path, .. } = members.iter().find(|m| m.label == label)?;
        let time = sources::named(path).unwrap_or(0);
        let (label, identity, addresses) = (label.to_owned(), Identity::default(), Addresses::default());
        Some(Seen { path: path.clone(), label, identity, addresses, time })
    }

    fn sighting(&self) -> Sighting<'_> {
        let snapshot = self.path.to_str().unwrap_or_default();
        Sighting { label: &self.label, identity: &self.identity, addresses: &self.addresses, time: self.time, snapshot }
    }
}

/// When a snapshot was taken: what its name says, else the node's own clock.
pub(crate) fn taken(path: &Path, snapshot: &Snapshot) -> u64 {
    sources::named(path).unwrap_or(snapshot.manifest.time)
}

/// Snapshots that do not count, as their node has a newer one under another name: of directories alone. Who names a file wants it.
pub(crate) fn older(named: &[PathBuf], seen: &[Seen]) -> BTreeSet<PathBuf> {
    let mut out = BTreeSet::new();
    for dir in named.iter().filter(|p| is_fleet(p)) {
        let inside: Vec<&Seen> = seen.iter().filter(|s| s.path.starts_with(dir)).collect();
        let sightings: Vec<Sighting<'_>> = inside.iter().map(|s| s.sighting()).collect();
        let counts = identity::newest(&sightings);
        // Of an archive of several nodes all count where one does.
        let newest: BTreeSet<&PathBuf> = counts.iter().filter_map(|n| inside.get(*n)).map(|s| &s.path).collect();
        out.extend(inside.iter().map(|s| &s.path).filter(|p| !newest.contains(p)).cloned());
    }
    out
}

/// What names and identities say together: of these snapshots, and of the earlier ones of the directories among `named`, which are read unless the
/// directory's index has them.
pub(crate) fn remarks(named: &[PathBuf], mut seen: Vec<Seen>) -> Result<Vec<Remark>, Failure> {
    let now: BTreeSet<PathBuf> = seen.iter().map(|s| s.path.clone()).collect();
    let mut unread: Vec<Member> = Vec::new();
    for dir in named.iter().filter(|p| is_fleet(p)) {
        let known = heads(dir);
        for source in sources::listing(dir).all.sources.iter().cloned() {
            // Only what lies in a node's directory is an earlier one.
            if now.contains(&source.path) || !source.name.contains('/') {
                continue;
            }
            match known
                .get(&source.name)
                .filter(|h| h.file == FileId { bytes: source.file.0, modified: source.file.1 } && h.error.is_none())
            {
                Some(Head { identity, addresses, time, .. }) => {
                    let (label, identity, addresses) = (source.label, identity.clone(), addresses.clone());
                    seen.push(Seen { path: source.path, label, identity, addresses, time: *time });
                }
                None => unread.push(Member { label: source.label, path: source.path }),
            }
        }
    }
    let look = |m: &Member, label: &str, snapshot: &Snapshot| Seen::of(&m.path, label, snapshot);
    let how = (false, &crate::many::as_it_is as &crate::many::Before<'_>, &Chosen::default(), &Line::new(true));
    crate::many::each(&unread, how, look, |_, one| {
        // What cannot be read says nothing.
        seen.extend(one.ok());
        Ok(())
    })?;
    let sightings: Vec<Sighting<'_>> = seen.iter().map(Seen::sighting).collect();
    Ok(identity::remarks(&sightings))
}

fn is_fleet(path: &Path) -> bool {
    path.is_dir() && !is_snapshot_dir(path)
}

/// What the index of a directory says of its snapshots, where there is one.
fn heads(dir: &Path) -> HashMap<String, Head> {
    let Ok(index) = Index::open(dir) else { return HashMap::new() };
    let all = (0..index.groups()).flat_map(|g| index.heads(g).unwrap_or_default());
    all.map(|h| (h.snapshot.clone(), h)).collect()
}
