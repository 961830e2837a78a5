//! How a snapshot comes to be: entries are added, never taken away.

use super::{EntryId, EntryKind, Kind, NONE, Node, Skipped, Snapshot, slice};
use crate::Why;
use linerate_formats::bounds::PATH_DEPTH;
use std::hash::BuildHasher;

impl Snapshot {
    /// Adds a file. Parents are made as needed. Returns `None` (and adds nothing) for a path that leaves the tree, is deeper
    /// than 64 names, or already is there as something else than a directory.
    pub fn add_file(&mut self, path: &str, data: &[u8]) -> Option<EntryId> {
        self.add(path, EntryKind::File, data)
    }

    /// Adds a file that was cut.
    pub fn add_cut_file(&mut self, path: &str, data: &[u8]) -> Option<EntryId> {
        self.add(path, EntryKind::CutFile, data)
    }

    /// Adds a symbolic link.
    pub fn add_link(&mut self, path: &str, target: &[u8]) -> Option<EntryId> {
        self.add(path, EntryKind::Link, target)
    }

    /// Adds a directory.
    pub fn add_dir(&mut self, path: &str) -> Option<EntryId> {
        self.add(path, EntryKind::Dir, &[])
    }

    /// Adds something that was seen but not read.
    pub fn add_failed(&mut self, path: &str, why: Why) -> Option<EntryId> {
        self.add(path, EntryKind::Failed(why), &[])
    }

    fn add(&mut self, path: &str, kind: EntryKind, data: &[u8]) -> Option<EntryId> {
        let (dir, name) = match path.rsplit_once('/') {
            Some((d, n)) => (self.make_dirs(d)?, n),
            None => (0, path),
        };
        self.add_at(EntryId(dir), name, kind, data)
    }

    /// Adds below a directory that is already there.
    pub fn add_at(&mut self, dir: EntryId, name: &str, kind: EntryKind, data: &[u8]) -> Option<EntryId> {
        if name.is_empty() || name == "." || name == ".." || name.contains('/') {
            return (kind == EntryKind::Dir && (name.is_empty() || name == ".")).then_some(dir);
        }
        let hash = self.hash(dir.0, name.as_bytes());
        if let Some(existing) = self.child_sorted(dir, name).or_else(|| self.child_hashed(hash, dir, name)) {
            let old = self.nodes[existing.0 as usize];
            // What was below a directory that was taken away is still listed there, each gone.
            let revived = old.kind == Kind::Gone && kind == EntryKind::Dir;
            return match (old.kind, &kind) {
                (Kind::Dir, EntryKind::Dir) => Some(existing),
                // A later capture of the same file replaces the earlier failure only.
                (Kind::Failed, _) | (Kind::Gone, _) if old.first_child == NONE || revived => {
                    let (kind, data) = self.keep(kind, data)?;
                    let old = &mut self.nodes[existing.0 as usize];
                    (old.kind, old.data) = (kind, data);
                    Some(existing)
                }
                _ => None,
            };
        }
        if self.nodes[dir.0 as usize].kind != Kind::Dir {
            return None;
        }
        let id = u32::try_from(self.nodes.len()).ok().filter(|n| *n < NONE)?;
        let name_at = u32::try_from(self.arena.len()).ok()?;
        self.arena.extend_from_slice(name.as_bytes());
        let (kind, data) = self.keep(kind, data)?;
        self.nodes.push(Node { name: (name_at, name.len() as u32), data, parent: dir.0, kind, ..Node::root() });
        let parent = &mut self.nodes[dir.0 as usize];
        let last = std::mem::replace(&mut parent.last_child, id);
        if last == NONE {
            parent.first_child = id;
        } else {
            self.nodes[last as usize].next = id;
        }
        let (nodes, arena, hasher) = (&self.nodes, &self.arena, &self.hasher);
        self.table.insert_unique(hash, id, |i| {
            let n = &nodes[*i as usize];
            hasher.hash_one((n.parent, slice(arena, n.name)))
        });
        Some(EntryId(id))
    }

    /// Keeps an entry's content, or why there is none.
    fn keep(&mut self, kind: EntryKind, data: &[u8]) -> Option<(Kind, (u32, u32))> {
        let kind = match kind {
            EntryKind::Dir => Kind::Dir,
            EntryKind::File => Kind::File,
            EntryKind::CutFile => Kind::CutFile,
            EntryKind::Link => Kind::Link,
            failed @ EntryKind::Failed(_) => {
                let number = u32::try_from(self.failures.len()).ok()?;
                self.failures.push(failed);
                return Some((Kind::Failed, (number, 0)));
            }
        };
        let at = u32::try_from(self.arena.len()).ok()?;
        self.arena.extend_from_slice(data);
        u32::try_from(self.arena.len()).ok()?;
        Some((kind, (at, data.len() as u32)))
    }

    /// All entries, in the order in which they were added.
    pub(crate) fn ids(&self) -> impl Iterator<Item = EntryId> + use<> {
        (0..self.nodes.len() as u32).map(EntryId)
    }

    /// Gives an entry that is there another content.
    pub(super) fn put(&mut self, id: EntryId, kind: EntryKind, data: &[u8]) -> Option<EntryId> {
        let (kind, data) = self.keep(kind, data)?;
        let old = self.nodes.get_mut(id.0 as usize)?;
        (old.kind, old.data) = (kind, data);
        Some(id)
    }

    /// Gives a file that is there another content; what it is stays.
    pub(crate) fn replace(&mut self, id: EntryId, data: &[u8]) {
        let kind = self.kind(id).clone();
        self.put(id, kind, data);
    }

    /// Notes that only a part of a file was kept.
    pub(crate) fn mark_cut(&mut self, id: EntryId) {
        if let Some(n) = self.nodes.get_mut(id.0 as usize).filter(|n| n.kind == Kind::File) {
            n.kind = Kind::CutFile;
        }
    }

    /// Notes that a directory could not be listed (to the end): nothing in it is absent.
    pub(crate) fn fail_dir(&mut self, dir: EntryId, why: Why) {
        let path = self.path(dir);
        match self.nodes.get_mut(dir.0 as usize) {
            Some(n) if n.first_child == NONE && n.parent != NONE => {
                let number = u32::try_from(self.failures.len()).unwrap_or(u32::MAX);
                (n.kind, n.data) = (Kind::Failed, (number, 0));
                self.failures.push(EntryKind::Failed(why));
            }
            Some(_) => {
                let path = if path.is_empty() { "**".to_owned() } else { format!("{path}/**") };
                self.manifest.unread.push(crate::manifest::Unread { path, why: why.to_string() });
            }
            None => {}
        }
    }

    /// Notes that only a few files of a function were looked for.
    pub(crate) fn mark_bystander(&mut self, dir: EntryId) {
        self.mark_skipped(dir, Skipped::Bystander);
    }

    /// Notes what was not looked for in a directory.
    pub(crate) fn mark_skipped(&mut self, dir: EntryId, what: Skipped) {
        if let Some(n) = self.nodes.get_mut(dir.0 as usize) {
            n.skipped = what;
        }
    }

    fn make_dirs(&mut self, path: &str) -> Option<u32> {
        let mut at = EntryId(0);
        for (depth, name) in path.split('/').enumerate() {
            if name.is_empty() || name == "." {
                continue;
            }
            if name == ".." || depth >= PATH_DEPTH {
                return None;
            }
            at = match self.child(at, name) {
                Some(id) if self.nodes[id.0 as usize].kind == Kind::Dir => id,
                Some(_) => return None,
                None => self.add_at(at, name, EntryKind::Dir, &[])?,
            };
        }
        Some(at.0)
    }
}
