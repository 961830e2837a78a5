//! A snapshot that is made in one go of entries that are sorted already: no table of names is needed to find them.

use super::{Kind, NONE, Node, Snapshot};

/// Entries in breadth-first order, the children of each directory together and sorted by name.
pub(crate) struct Packed {
    nodes: Vec<Node>,
    heads: Vec<u64>,
}

/// What an entry of a pack can be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PackedKind {
    Dir,
    File,
    Link,
}

/// How a name begins: its first eight bytes, as a number that is ordered as they are.
pub(crate) fn head(name: &[u8]) -> u64 {
    let mut head = [0; 8];
    match name.first_chunk::<8>() {
        Some(first) => head = *first,
        None => head.iter_mut().zip(name).for_each(|(to, from)| *to = *from),
    }
    u64::from_be_bytes(head)
}

/// [`head`] of a name that lies in a text, with other bytes behind it.
pub(crate) fn head_in(text: &[u8], at: usize, len: usize) -> u64 {
    match text.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        Some(first) if len < 8 => u64::from_be_bytes(*first) & !(u64::MAX >> (8 * len)),
        Some(first) => u64::from_be_bytes(*first),
        None => head(text.get(at..at + len).unwrap_or_default()),
    }
}

impl Packed {
    pub(crate) fn reserve(&mut self, entries: usize) {
        self.nodes.reserve(entries);
        self.heads.reserve(entries + 1);
    }

    /// So many children of a directory come next, one or more. `None` where they cannot: it is no directory, or comes later
    /// than its children.
    pub(crate) fn open(&mut self, dir: usize, count: u32) -> Option<()> {
        let first = u32::try_from(self.nodes.len()).ok()?;
        let last = first.checked_add(count - 1).filter(|n| *n < NONE)?;
        let node = self.nodes.get_mut(dir).filter(|n| n.kind == Kind::Dir)?;
        (node.first_child, node.last_child, node.sorted) = (first, last, count);
        Some(())
    }

    /// The next child of the directory that was opened last: how its name begins, and where that and its content lie. The
    /// caller has checked that the name is above the one before.
    pub(crate) fn entry(&mut self, dir: usize, head: u64, name: (u32, u32), kind: PackedKind, data: (u32, u32)) {
        let id = self.nodes.len() as u32;
        let kind = match kind {
            PackedKind::Dir => Kind::Dir,
            PackedKind::File => Kind::File,
            PackedKind::Link => Kind::Link,
        };
        self.heads.push(head);
        self.nodes.push(Node { name, data, parent: dir as u32, next: id + 1, kind, ..Node::root() });
    }

    /// The directory that was opened last has no more children.
    pub(crate) fn close(&mut self) {
        if let Some(last) = self.nodes.last_mut() {
            last.next = NONE;
        }
    }
}

impl Snapshot {
    /// The memory of an empty snapshot, to be filled.
    pub(crate) fn take_packed(&mut self) -> Packed {
        let mut nodes = std::mem::take(&mut self.nodes);
        nodes.clear();
        nodes.push(Node::root());
        let mut heads = std::mem::take(&mut self.heads);
        heads.clear();
        heads.push(0);
        Packed { nodes, heads }
    }

    /// Puts it back. The bytes of names and contents become the snapshot's, in exchange for its own.
    pub(crate) fn adopt(&mut self, packed: Packed, bytes: &mut Vec<u8>) {
        self.nodes = packed.nodes;
        self.heads = packed.heads;
        std::mem::swap(&mut self.arena, bytes);
    }
}
