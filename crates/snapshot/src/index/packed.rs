//! A snapshot that is made in one go of entries that are sorted already: no table of names is needed to find them.

use super::{Kind, NONE, Node, Snapshot, slice};

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

impl PackedKind {
    /// By the type of a tar entry.
    pub(crate) fn of(byte: u8) -> Option<Self> {
        match byte {
            b'0' => Some(PackedKind::File),
            b'2' => Some(PackedKind::Link),
            b'5' => Some(PackedKind::Dir),
            _ => None,
        }
    }
}

/// How the two names begin that no entry has; nor does any begin so, and go on with NUL.
const DOTS: [u64; 2] = [u64::from_be_bytes(*b".\0\0\0\0\0\0\0"), u64::from_be_bytes(*b"..\0\0\0\0\0\0")];

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
fn head_in(text: &[u8], at: usize, len: usize) -> u64 {
    match text.get(at..).and_then(<[u8]>::first_chunk::<8>) {
        Some(first) if len < 8 => u64::from_be_bytes(*first) & !(u64::MAX >> (8 * len)),
        Some(first) => u64::from_be_bytes(*first),
        None => head(text.get(at..at + len).unwrap_or_default()),
    }
}

impl Packed {
    /// All entries: what they are, where their names and contents lie in a body. They are nobody's children yet.
    pub(crate) fn entries(
        &mut self,
        count: usize,
        all: impl Iterator<Item = (PackedKind, (u32, u32), (u32, u32))>,
        body: &[u8],
    ) {
        self.nodes.reserve(count);
        self.heads.reserve(count + 1);
        self.nodes.extend(all.map(|(kind, name, data)| {
            let kind = match kind {
                PackedKind::Dir => Kind::Dir,
                PackedKind::File => Kind::File,
                PackedKind::Link => Kind::Link,
            };
            Node { name, data, kind, ..Node::root() }
        }));
        let new = self.nodes.get(self.heads.len()..).unwrap_or_default();
        self.heads.extend(new.iter().map(|n| head_in(body, n.name.0 as usize, n.name.1 as usize)));
    }

    /// So many entries, one or more, are the children of a directory. `None` where they cannot be: it is no directory, or comes
    /// later than its children.
    pub(crate) fn children(&mut self, dir: usize, first: u32, count: u32) -> Option<()> {
        let last = first.checked_add(count - 1).filter(|n| *n < NONE)?;
        let node = self.nodes.get_mut(dir).filter(|n| n.kind == Kind::Dir && dir < first as usize)?;
        (node.first_child, node.last_child, node.sorted) = (first, last, count);
        let of = self.nodes.get_mut(first as usize..=last as usize)?;
        for (next, n) in (first + 1..).zip(of) {
            n.parent = dir as u32;
            n.next = if next > last { NONE } else { next };
        }
        Some(())
    }

    /// Whether entries are sorted by names that a snapshot can hold, each once. How names begin decides most comparisons.
    pub(crate) fn are_sorted(&self, first: usize, count: usize, body: &[u8]) -> bool {
        let nodes = self.nodes.get(first..first + count).unwrap_or_default();
        let heads = self.heads.get(first..first + count).unwrap_or_default();
        // "" is below everything.
        let (mut last, mut last_head) = ((0, 0), 0);
        nodes.iter().zip(heads).all(|(n, head)| {
            let above = *head > last_head || (*head == last_head && slice(body, n.name) > slice(body, last));
            (last, last_head) = (n.name, *head);
            above && !DOTS.contains(head)
        })
    }

    /// Whether each name begins and ends where a character of the text does that all names make.
    pub(crate) fn are_text(&self, text: &str, at: usize) -> bool {
        let names = self.nodes.get(1..).unwrap_or_default();
        text.is_ascii() || names.iter().all(|n| text.is_char_boundary((n.name.0 as usize).wrapping_sub(at)))
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
