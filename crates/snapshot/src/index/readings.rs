//! Facts: what is at a path, or what it means that nothing is there.

use super::{EntryId, EntryKind, Kind, Lookup, Snapshot};
use crate::{Coverage, Place, Reading, Why};

impl Snapshot {
    /// Content of the file at a path below `dir`.
    #[must_use]
    pub fn read(&self, dir: EntryId, leaf: &'static str) -> Reading<&[u8]> {
        // Most of what is read is a file in the directory at hand, or not there.
        match self.child(dir, leaf) {
            Some(id) if self.nodes[id.0 as usize].kind == Kind::File => {
                return Reading::Known(self.data(id), Place::of(id));
            }
            None if self.nodes[dir.0 as usize].kind == Kind::Dir && is_name(leaf) => return self.missing(dir, leaf),
            _ => {}
        }
        self.at(dir, leaf).and_then(|id, place| match self.kind(id) {
            EntryKind::File | EntryKind::CutFile => Reading::Known(self.data(id), place),
            _ => Reading::Unreadable(Place::below(dir, leaf), Why::Malformed("not a file".into())),
        })
    }

    /// As [`Self::read`], for UTF-8 text without surrounding ASCII white space.
    #[must_use]
    pub fn text(&self, dir: EntryId, leaf: &'static str) -> Reading<&str> {
        self.read(dir, leaf).parse("not UTF-8 text", |b| std::str::from_utf8(b.trim_ascii()).ok())
    }

    /// Last name of the target of the link at `leaf` below `dir`: the driver, the IOMMU group.
    #[must_use]
    pub fn link_name(&self, dir: EntryId, leaf: &'static str) -> Reading<&str> {
        match self.child(dir, leaf) {
            Some(id) => match self.kind(id) {
                EntryKind::Link => Reading::Known(self.data(id), Place::of(id)).parse("not a link to a name", |t| {
                    let t = std::str::from_utf8(t).ok()?.trim_end_matches('/');
                    Some(t.rsplit('/').next().unwrap_or(t)).filter(|n| !n.is_empty())
                }),
                EntryKind::Failed(why) => Reading::Unreadable(Place::of(id), why.clone()),
                _ => Reading::Unreadable(Place::of(id), Why::Malformed("not a symbolic link".into())),
            },
            None => self.missing(dir, leaf),
        }
    }

    /// The directory at a path, links followed.
    #[must_use]
    pub fn dir(&self, path: &'static str) -> Reading<EntryId> {
        self.at(self.root(), path)
    }

    /// What is at a path below `dir`, links followed.
    fn at(&self, dir: EntryId, path: &'static str) -> Reading<EntryId> {
        match self.resolve_from(dir, path) {
            Lookup::Found(id) => Reading::Known(id, Place::of(id)),
            Lookup::Missing => self.missing(dir, path),
            Lookup::Blocked(id, why) => Reading::Unreadable(Place::of(id), why),
        }
    }

    /// What a path that is not there means: absent where the capture looked, else not collected.
    #[must_use]
    pub fn missing<T>(&self, dir: EntryId, leaf: &'static str) -> Reading<T> {
        let place = Place::below(dir, leaf);
        match &self.coverage {
            _ if self.was_skipped(dir, leaf) => Reading::Unreadable(place, Why::NotCollected),
            Coverage::Partial => Reading::Unreadable(place, Why::NotCollected),
            Coverage::Full { not_tried } if not_tried.is_empty() => Reading::Absent(place),
            Coverage::Full { not_tried } => {
                let path = self.describe(place);
                let path = path.trim_start_matches('/');
                // What another pattern looked for was looked for; what could not be listed was not, whoever looked.
                let mut open = not_tried.iter().filter(|p| crate::manifest::covers(p, path)).peekable();
                let tried = || self.manifest.tried.iter().any(|t| crate::manifest::covers(t, path));
                if open.peek().is_some() && (open.any(|p| p.ends_with("**")) || !tried()) {
                    Reading::Unreadable(place, Why::NotCollected)
                } else {
                    Reading::Absent(place)
                }
            }
        }
    }

    /// Something that no capture of this kind can show.
    #[must_use]
    pub fn missing_always<T>(&self, dir: EntryId, leaf: &'static str) -> Reading<T> {
        Reading::Unreadable(Place::below(dir, leaf), Why::NotCollected)
    }
}

/// Whether a path is one name, so that a directory has it as its child or not at all.
fn is_name(path: &str) -> bool {
    !matches!(path, "" | "." | "..") && path.bytes().all(|b| b != b'/')
}
