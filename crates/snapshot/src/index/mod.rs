//! The snapshot in memory: an arena of bytes and a tree of entries over it, built once, read many times.
//!
//! Lookups walk one name at a time, so a decoder that is in a device's directory pays for the leaf only. Children that came
//! sorted, from a pack, are searched as they lie; all others are in a hash table keyed by (directory, name). Links are followed
//! inside the tree, never out of it.

mod build;
mod change;
mod evidence;
mod packed;
mod readings;

use packed::head;
pub(crate) use packed::{Packed, PackedKind};

use crate::{Coverage, Lines, Manifest, Output, Why};
use hashbrown::DefaultHashBuilder;
use hashbrown::HashTable;
use linerate_formats::bounds::LINK_HOPS;
use std::collections::BTreeMap;
use std::hash::BuildHasher;

/// An entry of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId(u32);

impl EntryId {
    /// The root, in every snapshot.
    pub const ROOT: EntryId = EntryId(0);
}

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

#[derive(Debug, Clone, Copy)]
struct Node {
    name: (u32, u32),
    data: (u32, u32),
    parent: u32,
    first_child: u32,
    last_child: u32,
    next: u32,
    /// So many children, from the first on, lie one behind the other and sorted by name. They are not in the table.
    sorted: u32,
    skipped: Skipped,
    kind: Kind,
}

/// What was not looked for in the directory of a PCI function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Skipped {
    Nothing,
    /// The files of ids, which the header of the configuration space says, too.
    Ids,
    /// All but a few files.
    Bystander,
}

/// What an entry is, in one byte: why something was not read is beside ([`Snapshot::failures`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Dir,
    File,
    CutFile,
    Link,
    /// `data.0` is the number of its reason.
    Failed,
    /// Taken away again: nobody finds it.
    Gone,
}

impl Node {
    fn root() -> Self {
        Node {
            name: (0, 0),
            data: (0, 0),
            parent: NONE,
            first_child: NONE,
            last_child: NONE,
            next: NONE,
            sorted: 0,
            skipped: Skipped::Nothing,
            kind: Kind::Dir,
        }
    }
}

/// Links that are looked for in the directory of a bystander.
pub(crate) const BYSTANDER_LINKS: &[&str] = &["driver", "iommu_group"];
/// Files that say what the header of the configuration space says.
pub(crate) const IDS: &[&str] = &["vendor", "device", "class"];
const NONE: u32 = u32::MAX;

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
    /// How the names of the entries that came sorted begin: most are distinguished by it.
    heads: Vec<u64>,
    /// Why what was seen was not read: [`EntryKind::Failed`] each.
    failures: Vec<EntryKind>,
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
    /// Where the lines of texts stand that were cut out of files.
    lines: BTreeMap<EntryId, Lines>,
    /// What went wrong while it was made or read, for people: one sentence each.
    pub problems: Vec<String>,
    /// A limit, or damage, left part of the source out: what is judged to be right may lack it.
    pub incomplete: bool,
}

impl Snapshot {
    /// Notes that part of the source was left out, and why.
    pub fn left_out(&mut self, why: String) {
        self.problems.push(why);
        self.incomplete = true;
    }

    /// An empty one.
    #[must_use]
    pub fn new(label: impl Into<String>) -> Self {
        Snapshot {
            arena: Vec::new(),
            nodes: vec![Node::root()],
            heads: Vec::new(),
            failures: Vec::new(),
            table: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            label: label.into(),
            coverage: Coverage::Partial,
            manifest: Manifest::default(),
            outputs: Vec::new(),
            lines: BTreeMap::new(),
            problems: Vec::new(),
            incomplete: false,
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

    /// The same memory, with nothing in it.
    pub(crate) fn emptied(self, label: &str) -> Self {
        let Snapshot { mut arena, mut nodes, mut heads, mut failures, mut table, hasher, mut outputs, .. } = self;
        let fresh = Snapshot::new(label);
        arena.clear();
        nodes.clear();
        nodes.push(Node::root());
        heads.clear();
        failures.clear();
        table.clear();
        outputs.clear();
        Snapshot { arena, nodes, heads, failures, table, hasher, outputs, ..fresh }
    }

    /// The root directory.
    #[must_use]
    pub fn root(&self) -> EntryId {
        EntryId::ROOT
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

    fn hash(&self, parent: u32, name: &[u8]) -> u64 {
        self.hasher.hash_one((parent, name))
    }

    /// A direct child, links not followed.
    #[must_use]
    pub fn child(&self, dir: EntryId, name: &str) -> Option<EntryId> {
        let d = &self.nodes[dir.0 as usize];
        let found = self.child_sorted(dir, name).or_else(|| {
            // Of most directories all children came sorted: what is not among them is not there.
            let all_sorted =
                d.first_child == NONE || d.last_child.wrapping_sub(d.first_child) == d.sorted.wrapping_sub(1);
            if all_sorted {
                return None;
            }
            self.child_hashed(self.hash(dir.0, name.as_bytes()), dir, name)
        });
        found.filter(|id| self.nodes[id.0 as usize].kind != Kind::Gone)
    }

    fn child_sorted(&self, dir: EntryId, name: &str) -> Option<EntryId> {
        let d = &self.nodes[dir.0 as usize];
        if d.sorted == 0 {
            return None;
        }
        let (first, name) = (d.first_child as usize, name.as_bytes());
        let heads = self.heads.get(first..first + d.sorted as usize)?;
        let head = head(name);
        let at = heads.partition_point(|h| *h < head);
        if heads.get(at) != Some(&head) {
            return None;
        }
        // One name begins so, or two: `current_link_speed` and `current_link_width`.
        if heads.get(at + 2) != Some(&head) {
            let of = self.nodes.get(first + at..(first + at + 2).min(first + heads.len()))?;
            let n = of.iter().position(|n| slice(&self.arena, n.name) == name)?;
            return Some(EntryId((first + at + n) as u32));
        }
        let same = heads.get(at..)?.partition_point(|h| *h == head);
        let of = self.nodes.get(first + at..first + at + same)?;
        let n = of.binary_search_by(|n| slice(&self.arena, n.name).cmp(name)).ok()?;
        Some(EntryId((first + at + n) as u32))
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
        let d = &self.nodes[dir.0 as usize];
        let mut out = Vec::with_capacity(d.sorted as usize);
        let mut at = d.first_child;
        let mut gone = 0;
        while at != NONE {
            let n = &self.nodes[at as usize];
            match n.kind {
                Kind::Gone => gone += 1,
                _ => out.push((self.name(EntryId(at)), EntryId(at))),
            }
            at = n.next;
        }
        if out.len() + gone > d.sorted as usize {
            out.sort_unstable_by(|a, b| a.0.cmp(b.0));
        }
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
        let node = &self.nodes[id.0 as usize];
        match node.kind {
            Kind::Dir => &EntryKind::Dir,
            Kind::File => &EntryKind::File,
            Kind::CutFile => &EntryKind::CutFile,
            Kind::Link => &EntryKind::Link,
            Kind::Failed => self.failures.get(node.data.0 as usize).unwrap_or(&EntryKind::Failed(Why::NotCollected)),
            Kind::Gone => &EntryKind::Failed(Why::NotCollected),
        }
    }

    /// Content of a file, target of a link.
    #[must_use]
    pub fn data(&self, id: EntryId) -> &[u8] {
        let node = &self.nodes[id.0 as usize];
        if matches!(node.kind, Kind::Failed | Kind::Gone) { &[] } else { slice(&self.arena, node.data) }
    }

    /// The directory it is in.
    #[must_use]
    pub fn parent(&self, id: EntryId) -> Option<EntryId> {
        let p = self.nodes[id.0 as usize].parent;
        (p != NONE).then_some(EntryId(p))
    }

    /// Number of an entry: those above it have smaller ones, unless they were made later.
    pub(crate) fn number(id: EntryId) -> usize {
        id.0 as usize
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
        if self.nodes[id.0 as usize].kind != Kind::Link {
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
        let (mut at, mut rest) = (from, Some(path));
        while let Some(path) = rest {
            let name;
            (name, rest) = first_name(path);
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
                EntryKind::Dir | EntryKind::File | EntryKind::CutFile => next,
                EntryKind::Link => {
                    *hops += 1;
                    if *hops > LINK_HOPS {
                        return Lookup::Missing;
                    }
                    match self.walk_link(next, hops) {
                        Lookup::Found(id) => id,
                        other => return other,
                    }
                }
                EntryKind::Failed(why) => return Lookup::Blocked(next, why.clone()),
            };
        }
        Lookup::Found(at)
    }

    /// What was not looked for in a directory.
    pub(crate) fn skipped(&self, dir: EntryId) -> Skipped {
        self.nodes[dir.0 as usize].skipped
    }

    /// Whether only a few files of a function were looked for.
    pub(crate) fn is_bystander(&self, dir: EntryId) -> bool {
        self.skipped(dir) == Skipped::Bystander
    }

    /// Whether a file of a function was not looked for.
    fn was_skipped(&self, dir: EntryId, leaf: &str) -> bool {
        match self.follow(dir).and_then(|d| self.nodes.get(d.0 as usize)).map(|n| n.skipped) {
            Some(Skipped::Bystander) => leaf != "config" && !BYSTANDER_LINKS.contains(&leaf),
            Some(Skipped::Ids) => IDS.contains(&leaf),
            Some(Skipped::Nothing) | None => false,
        }
    }
}

/// The first name of a path, and what follows its slash.
fn first_name(path: &str) -> (&str, Option<&str>) {
    // Names are short: looking at each byte is quicker than a search that gets ready first.
    match path.bytes().position(|b| b == b'/') {
        Some(i) => (path.get(..i).unwrap_or_default(), path.get(i + 1..)),
        None => (path, None),
    }
}

fn slice(arena: &[u8], (start, len): (u32, u32)) -> &[u8] {
    arena.get(start as usize..start as usize + len as usize).unwrap_or_default()
}
