//! The document as NCCL holds it: the elements that it knows, where it knows them, in one vector.

use crate::error::Error;
use crate::number::{int, long};
use crate::xml::{At, Document, Element, MAX_DEPTH, Name};

/// Elements of a document, at most: more than 72 GPUs of 18 hosts need many times over.
const MAX_ELEMENTS: usize = 20_000;

/// Elements that NCCL knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag {
    System,
    Cpu,
    Pci,
    Gpu,
    Nvlink,
    C2c,
    PciLink,
    Nic,
    Net,
}

impl Tag {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Tag::System => "system",
            Tag::Cpu => "cpu",
            Tag::Pci => "pci",
            Tag::Gpu => "gpu",
            Tag::Nvlink => "nvlink",
            Tag::C2c => "c2c",
            Tag::PciLink => "pcilink",
            Tag::Nic => "nic",
            Tag::Net => "net",
        }
    }

    /// What an element is within another; `None` where NCCL skips it.
    fn within(parent: Tag, name: &str) -> Option<Tag> {
        Some(match (parent, name) {
            (Tag::System, "cpu") => Tag::Cpu,
            (Tag::Cpu | Tag::Pci, "pci") => Tag::Pci,
            (Tag::Cpu | Tag::Pci, "nic") => Tag::Nic,
            (Tag::Pci, "gpu") => Tag::Gpu,
            (Tag::Pci, "pcilink") => Tag::PciLink,
            (Tag::Gpu, "nvlink") => Tag::Nvlink,
            (Tag::Gpu, "c2c") => Tag::C2c,
            (Tag::Nic, "net") => Tag::Net,
            _ => return None,
        })
    }
}

/// An element of the tree.
#[derive(Debug, Clone)]
pub(crate) struct TreeNode {
    pub(crate) tag: Tag,
    pub(crate) attributes: Vec<(Name, String)>,
    pub(crate) at: At,
    pub(crate) parent: Option<u32>,
    pub(crate) children: Vec<u32>,
    /// `keep="1"`: what is below is not trimmed.
    pub(crate) keep: bool,
}

/// The tree: node 0 is `<system>`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<TreeNode>,
}

impl Tree {
    pub(crate) fn of(document: &Document) -> Result<Tree, Error> {
        let mut tree = Tree::default();
        let root = tree.push(Tag::System, &document.system, None);
        let mut left: Vec<(&Element, u32, usize)> = vec![(&document.system, root, 1)];
        // Depth first, so that ids are in document order: children are pushed in reverse.
        let mut pending: Vec<(&Element, Tag, u32, usize)> = Vec::new();
        while let Some((e, id, depth)) = left.pop() {
            if depth > MAX_DEPTH {
                return Err(Error::TooDeep(MAX_DEPTH));
            }
            let tag = tree.node(id).map_or(Tag::System, |n| n.tag);
            pending
                .extend(e.children.iter().rev().filter_map(|c| Some((c, Tag::within(tag, &c.name)?, id, depth + 1))));
            if tree.nodes.len() > MAX_ELEMENTS {
                return Err(Error::TooMany { what: "elements", limit: MAX_ELEMENTS });
            }
            if let Some((c, tag, parent, depth)) = pending.pop() {
                let id = tree.push(tag, c, Some(parent));
                left.push((c, id, depth));
            }
        }
        Ok(tree)
    }

    fn push(&mut self, tag: Tag, e: &Element, parent: Option<u32>) -> u32 {
        let mut attributes = e.attributes.clone();
        let kept = |(k, v): &(Name, String)| k == "keep" && v == "1";
        let keep = attributes.iter().position(kept).map(|i| attributes.remove(i)).is_some();
        self.add(TreeNode { tag, attributes, at: e.at, parent, children: Vec::new(), keep })
    }

    /// Adds a node, as the last child of its parent.
    pub(crate) fn add(&mut self, node: TreeNode) -> u32 {
        let id = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        if let Some(p) = node.parent.and_then(|p| self.nodes.get_mut(p as usize)) {
            p.children.push(id);
        }
        self.nodes.push(node);
        id
    }

    /// Adds a node that was not in the document.
    pub(crate) fn make(&mut self, tag: Tag, parent: u32, attributes: Vec<(Name, String)>) -> u32 {
        let at = self.node(parent).map(|p| p.at).unwrap_or_default();
        self.add(TreeNode { tag, attributes, at, parent: Some(parent), children: Vec::new(), keep: false })
    }

    pub(crate) fn node(&self, id: u32) -> Option<&TreeNode> {
        self.nodes.get(id as usize)
    }

    pub(crate) fn children(&self, id: u32) -> &[u32] {
        self.node(id).map_or(&[], |n| n.children.as_slice())
    }

    pub(crate) fn tag(&self, id: u32) -> Option<Tag> {
        self.node(id).map(|n| n.tag)
    }

    pub(crate) fn parent(&self, id: u32) -> Option<u32> {
        self.node(id)?.parent
    }

    pub(crate) fn get(&self, id: u32, key: &str) -> Option<&str> {
        crate::xml::get(&self.node(id)?.attributes, key)
    }

    pub(crate) fn set(&mut self, id: u32, key: &str, value: impl Into<String>) {
        if let Some(n) = self.nodes.get_mut(id as usize) {
            crate::xml::set(&mut n.attributes, key, value.into());
        }
    }

    /// Sets an attribute that is not there; says whether it did.
    pub(crate) fn init(&mut self, id: u32, key: &str, value: impl Into<String>) -> bool {
        let missing = self.get(id, key).is_none();
        if missing {
            self.set(id, key, value);
        }
        missing
    }

    /// The first child of a tag.
    pub(crate) fn child(&self, id: u32, tag: Tag) -> Option<u32> {
        self.children(id).iter().copied().find(|c| self.tag(*c) == Some(tag))
    }

    /// All nodes of a tag, in the order in which they came.
    pub(crate) fn all(&self, tag: Tag) -> impl Iterator<Item = u32> {
        (0_u32..).zip(&self.nodes).filter(move |(_, n)| n.tag == tag).map(|(i, _)| i)
    }

    /// An attribute without which NCCL stops.
    pub(crate) fn need(&self, id: u32, attribute: &'static str) -> Result<&str, Error> {
        self.get(id, attribute).ok_or_else(|| {
            let n = self.node(id);
            Error::Missing {
                element: n.map_or("?", |n| n.tag.name()).to_owned(),
                attribute,
                at: n.map(|n| n.at).unwrap_or_default(),
            }
        })
    }

    pub(crate) fn need_int(&self, id: u32, attribute: &'static str) -> Result<i32, Error> {
        self.need(id, attribute).map(int)
    }

    pub(crate) fn int_or(&self, id: u32, attribute: &str, default: i32) -> i32 {
        self.get(id, attribute).map_or(default, int)
    }

    pub(crate) fn long(&self, id: u32, attribute: &str) -> i64 {
        self.get(id, attribute).map_or(0, long)
    }

    /// As a document again.
    pub(crate) fn to_document(&self) -> Document {
        fn element(tree: &Tree, id: u32) -> Element {
            let mut e = Element::new(tree.tag(id).map_or("?", Tag::name));
            if let Some(n) = tree.node(id) {
                e.attributes.clone_from(&n.attributes);
                e.at = n.at;
                e.children = n.children.iter().map(|c| element(tree, *c)).collect();
            }
            e
        }
        Document { system: element(self, 0) }
    }
}
