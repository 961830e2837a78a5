//! The snapshot in memory: an arena of bytes and a tree of entries over it, built once, read many times.
//!
//! Lookups walk one name at a time through a hash table keyed by (directory, name), so a decoder that stands in a device's
//! directory pays for the leaf only. Links are followed inside the tree, never out of it.

use crate::{Coverage, Manifest, Output, Place, Pos, Reading, Why};
use hashbrown::DefaultHashBuilder;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// An entry of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId(u32);

/// What an entry is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryKind {
    /// A directory.
    Dir,
    /// A file.
    File,
    /// A file of which only a part was kept.
    CutFile,
    /// A symbolic link.
    Link,
    /// Seen, not read.
    Failed(Why),
}

#[derive(Debug, Clone)]
struct Node {
    name: (u32, u32),
    data: (u32, u32),
    parent: u32,
    first_child: u32,
    last_child: u32,
    next: u32,
    kind: EntryKind,
}

const NONE: u32 = u32::MAX;
/// As the kernel's limit on symbolic links in one walk.
const MAX_HOPS: u32 = 40;
const MAX_DEPTH: usize = 64;

/// Result of a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// Found.
    Found(EntryId),
    /// Not there.
    Missing,
    /// The way is blocked by an entry that could not be read.
    Blocked(EntryId, Why),
}

/// What a node showed. See the crate's documentation.
#[derive(Debug, Clone)]
pub struct Snapshot {
    arena: Vec<u8>,
    nodes: Vec<Node>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// Name for people: a path, a host.
    pub label: String,
    /// What "not there" means.
    pub coverage: Coverage,
    /// How it came to be.
    pub manifest: Manifest,
    /// Tool outputs among the entries.
    pub outputs: Vec<Output>,
    /// What went wrong while it was made or read, for people: one sentence each.
    pub problems: Vec<String>,
}

impl Snapshot {
    /// An empty one.
    #[must_use]
    pub fn new(label: impl Into<String>) -> Self {
        let root = Node {
            name: (0, 0),
            data: (0, 0),
            parent: NONE,
            first_child: NONE,
            last_child: NONE,
            next: NONE,
            kind: EntryKind::Dir,
        };
        Snapshot {
            arena: Vec::new(),
            nodes: vec![root],
            table: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            label: label.into(),
            coverage: Coverage::Partial,
            manifest: Manifest::default(),
            outputs: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Makes room for so many entries and bytes, so that nothing is moved while they come.
    pub(crate) fn reserve(&mut self, entries: usize, bytes: usize) {
        self.arena.reserve(bytes);
        self.nodes.reserve(entries);
        let (nodes, arena, hasher) = (&self.nodes, &self.arena, &self.hasher);
        self.table.reserve(entries, |i| {
            let n = &nodes[*i as usize];
            hasher.hash_one((n.parent, slice(arena, n.name)))
        });
    }

    /// The root directory.
    #[must_use]
    pub fn root(&self) -> EntryId {
        EntryId(0)
    }

    /// Number of entries, the root included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether nothing but the root is there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    /// Bytes kept.
    #[must_use]
    pub fn size(&self) -> usize {
        self.arena.len()
    }

    // ---- building ----

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
        if let Some(existing) = self.child_hashed(hash, dir, name) {
            let old = &mut self.nodes[existing.0 as usize];
            return match (&old.kind, &kind) {
                (EntryKind::Dir, EntryKind::Dir) => Some(existing),
                // A later capture of the same file replaces the earlier failure only.
                (EntryKind::Failed(_), _) if old.first_child == NONE => {
                    let start = u32::try_from(self.arena.len()).ok()?;
                    self.arena.extend_from_slice(data);
                    old.kind = kind;
                    old.data = (start, u32::try_from(data.len()).ok()?);
                    Some(existing)
                }
                _ => None,
            };
        }
        if !matches!(self.nodes[dir.0 as usize].kind, EntryKind::Dir) {
            return None;
        }
        let id = u32::try_from(self.nodes.len()).ok().filter(|n| *n < NONE)?;
        let name_at = u32::try_from(self.arena.len()).ok()?;
        self.arena.extend_from_slice(name.as_bytes());
        let data_at = u32::try_from(self.arena.len()).ok()?;
        self.arena.extend_from_slice(data);
        u32::try_from(self.arena.len()).ok()?;
        self.nodes.push(Node {
            name: (name_at, name.len() as u32),
            data: (data_at, data.len() as u32),
            parent: dir.0,
            first_child: NONE,
            last_child: NONE,
            next: NONE,
            kind,
        });
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

    /// All entries, in the order in which they were added.
    pub(crate) fn ids(&self) -> impl Iterator<Item = EntryId> + use<> {
        (0..self.nodes.len() as u32).map(EntryId)
    }

    /// Notes that only a part of a file was kept.
    pub(crate) fn mark_cut(&mut self, id: EntryId) {
        if let Some(n) = self.nodes.get_mut(id.0 as usize).filter(|n| n.kind == EntryKind::File) {
            n.kind = EntryKind::CutFile;
        }
    }

    /// Notes that a directory could not be listed (to the end): nothing in it is absent.
    pub(crate) fn fail_dir(&mut self, dir: EntryId, why: Why) {
        let path = self.path(dir);
        match self.nodes.get_mut(dir.0 as usize) {
            Some(n) if n.first_child == NONE && n.parent != NONE => n.kind = EntryKind::Failed(why),
            Some(_) => {
                let path = if path.is_empty() { "**".to_owned() } else { format!("{path}/**") };
                self.manifest.unread.push(crate::manifest::Unread { path, why: why.to_string() });
            }
            None => {}
        }
    }

    fn make_dirs(&mut self, path: &str) -> Option<u32> {
        let mut at = EntryId(0);
        for (depth, name) in path.split('/').enumerate() {
            if name.is_empty() || name == "." {
                continue;
            }
            if name == ".." || depth > MAX_DEPTH {
                return None;
            }
            at = match self.child(at, name) {
                Some(id) if matches!(self.nodes[id.0 as usize].kind, EntryKind::Dir) => id,
                Some(_) => return None,
                None => self.add_at(at, name, EntryKind::Dir, &[])?,
            };
        }
        Some(at.0)
    }

    fn hash(&self, parent: u32, name: &[u8]) -> u64 {
        self.hasher.hash_one((parent, name))
    }

    // ---- reading ----

    /// A direct child, links not followed.
    #[must_use]
    pub fn child(&self, dir: EntryId, name: &str) -> Option<EntryId> {
        self.child_hashed(self.hash(dir.0, name.as_bytes()), dir, name)
    }

    fn child_hashed(&self, hash: u64, dir: EntryId, name: &str) -> Option<EntryId> {
        self.table
            .find(hash, |i| {
                let n = &self.nodes[*i as usize];
                n.parent == dir.0 && slice(&self.arena, n.name) == name.as_bytes()
            })
            .map(|i| EntryId(*i))
    }

    /// Children of a directory (a link to one is followed), sorted by name.
    #[must_use]
    pub fn children(&self, dir: EntryId) -> Vec<(&str, EntryId)> {
        let dir = self.follow(dir).unwrap_or(dir);
        let mut out = Vec::new();
        let mut at = self.nodes[dir.0 as usize].first_child;
        while at != NONE {
            let n = &self.nodes[at as usize];
            out.push((self.name(EntryId(at)), EntryId(at)));
            at = n.next;
        }
        out.sort_unstable_by(|a, b| a.0.cmp(b.0));
        out
    }

    /// The entry's own name.
    #[must_use]
    pub fn name(&self, id: EntryId) -> &str {
        std::str::from_utf8(slice(&self.arena, self.nodes[id.0 as usize].name)).unwrap_or_default()
    }

    /// What it is.
    #[must_use]
    pub fn kind(&self, id: EntryId) -> &EntryKind {
        &self.nodes[id.0 as usize].kind
    }

    /// Content of a file, target of a link.
    #[must_use]
    pub fn data(&self, id: EntryId) -> &[u8] {
        slice(&self.arena, self.nodes[id.0 as usize].data)
    }

    /// The directory it is in.
    #[must_use]
    pub fn parent(&self, id: EntryId) -> Option<EntryId> {
        let p = self.nodes[id.0 as usize].parent;
        (p != NONE).then_some(EntryId(p))
    }

    /// Path from the root, without a leading slash.
    #[must_use]
    pub fn path(&self, id: EntryId) -> String {
        let mut names = Vec::new();
        let mut at = Some(id);
        while let Some(i) = at {
            names.push(self.name(i));
            at = self.parent(i);
        }
        names.reverse();
        names.join("/").trim_start_matches('/').to_owned()
    }

    /// Walks a path from the root, following links inside the tree.
    #[must_use]
    pub fn resolve(&self, path: &str) -> Lookup {
        self.resolve_from(self.root(), path)
    }

    /// Walks a path from a directory, following links inside the tree.
    #[must_use]
    pub fn resolve_from(&self, from: EntryId, path: &str) -> Lookup {
        let mut hops = 0;
        // A device as its class lists it is a link; what is looked for is behind it.
        let from = self.follow(from).unwrap_or(from);
        self.walk(from, path, &mut hops)
    }

    /// The target of a link (of links), or the entry itself.
    #[must_use]
    pub fn follow(&self, id: EntryId) -> Option<EntryId> {
        if !matches!(self.kind(id), EntryKind::Link) {
            return Some(id);
        }
        let mut hops = 1;
        match self.walk_link(id, &mut hops) {
            Lookup::Found(id) => Some(id),
            _ => None,
        }
    }

    fn walk_link(&self, link: EntryId, hops: &mut u32) -> Lookup {
        let Ok(target) = std::str::from_utf8(self.data(link)) else { return Lookup::Missing };
        let from = if target.starts_with('/') { self.root() } else { self.parent(link).unwrap_or(self.root()) };
        self.walk(from, target, hops)
    }

    fn walk(&self, from: EntryId, path: &str, hops: &mut u32) -> Lookup {
        let mut at = from;
        for name in path.split('/') {
            match name {
                "" | "." => continue,
                ".." => {
                    at = self.parent(at).unwrap_or(at);
                    continue;
                }
                _ => {}
            }
            let Some(next) = self.child(at, name) else { return Lookup::Missing };
            at = match self.kind(next) {
                EntryKind::Link => {
                    *hops += 1;
                    if *hops > MAX_HOPS {
                        return Lookup::Missing;
                    }
                    match self.walk_link(next, hops) {
                        Lookup::Found(id) => id,
                        other => return other,
                    }
                }
                EntryKind::Failed(why) => return Lookup::Blocked(next, why.clone()),
                _ => next,
            };
        }
        Lookup::Found(at)
    }

    /// Content of the file at a path below `dir`.
    #[must_use]
    pub fn read(&self, dir: EntryId, leaf: &'static str) -> Reading<&[u8]> {
        match self.resolve_from(dir, leaf) {
            Lookup::Found(id) => match self.kind(id) {
                EntryKind::File | EntryKind::CutFile => Reading::Known(self.data(id), Place::of(id)),
                _ => Reading::Unreadable(Place::below(dir, leaf), Why::Malformed("not a file".into())),
            },
            Lookup::Missing => self.missing(dir, leaf),
            Lookup::Blocked(id, why) => Reading::Unreadable(Place::of(id), why),
        }
    }

    /// As [`Self::read`], for UTF-8 text without surrounding white space.
    #[must_use]
    pub fn text(&self, dir: EntryId, leaf: &'static str) -> Reading<&str> {
        self.read(dir, leaf).parse("not UTF-8 text", |b| std::str::from_utf8(b).ok().map(str::trim))
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
        match self.resolve(path) {
            Lookup::Found(id) => Reading::Known(id, Place::of(id)),
            Lookup::Missing => self.missing(self.root(), path),
            Lookup::Blocked(id, why) => Reading::Unreadable(Place::of(id), why),
        }
    }

    /// What a path that is not there means: absent where the capture looked, else not collected.
    #[must_use]
    pub fn missing<T>(&self, dir: EntryId, leaf: &'static str) -> Reading<T> {
        let place = Place::below(dir, leaf);
        match &self.coverage {
            Coverage::Partial => Reading::Unreadable(place, Why::NotCollected),
            Coverage::Full { not_tried } if not_tried.is_empty() => Reading::Absent(place),
            Coverage::Full { not_tried } => {
                let path = self.describe(place);
                let path = path.trim_start_matches('/');
                if not_tried.iter().any(|p| crate::manifest::covers(p, path)) {
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

    // ---- evidence ----

    /// The place in words: a path, a command with a line, a pasted file with a line.
    #[must_use]
    pub fn describe(&self, place: Place) -> String {
        let output = self.outputs.iter().find(|o| o.entry == place.base);
        let mut s = match output {
            Some(o) if !o.argv.is_empty() => format!("`{}`", o.argv.join(" ")),
            Some(_) => self.path(place.base),
            None => {
                let path = self.path(place.base);
                match (path.is_empty(), place.leaf.is_empty()) {
                    (_, true) => format!("/{path}"),
                    (true, false) => format!("/{}", place.leaf),
                    (false, false) => format!("/{path}/{}", place.leaf),
                }
            }
        };
        match place.pos {
            Pos::Whole => {}
            Pos::Line(n) => s.push_str(&format!(":{n}")),
            Pos::Bytes { offset, len } => s.push_str(&format!(" @{offset:#x}+{len}")),
        }
        s
    }

    /// The bytes at the place, as text: the line, the hex bytes, or the start of the file. Empty when nothing is there.
    #[must_use]
    pub fn excerpt(&self, place: Place) -> String {
        const MAX: usize = 200;
        if !place.leaf.is_empty() {
            return String::new();
        }
        let data = match self.kind(place.base) {
            EntryKind::Failed(_) => return String::new(),
            EntryKind::Dir => return format!("({} entries)", self.children(place.base).len()),
            _ => self.data(place.base),
        };
        match place.pos {
            Pos::Bytes { offset, len } => {
                let end = (usize::from(offset) + usize::from(len)).min(data.len());
                let bytes = data.get(usize::from(offset)..end).unwrap_or_default();
                bytes.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ")
            }
            Pos::Line(n) => {
                let line = data.split(|b| *b == b'\n').nth((n as usize).saturating_sub(1)).unwrap_or_default();
                clip(line, MAX)
            }
            Pos::Whole => clip(data, MAX),
        }
    }
}

fn slice(arena: &[u8], (start, len): (u32, u32)) -> &[u8] {
    arena.get(start as usize..start as usize + len as usize).unwrap_or_default()
}

/// Trimmed text of at most `max` characters, with control characters made visible: excerpts go to terminals.
fn clip(bytes: &[u8], max: usize) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(max * 4)]);
    let text = text.trim();
    let mut out: String = text
        .chars()
        .take(max)
        .map(|c| if c.is_control() && c != '\t' { if c == '\n' { ' ' } else { '\u{fffd}' } } else { c })
        .collect();
    if text.chars().nth(max).is_some() {
        out.push('…');
    }
    out
}
