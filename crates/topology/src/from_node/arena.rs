//! Elements while their tree grows: NCCL finds them by bus id, and adds parents after children.

use crate::xml::{Document, Element};

/// Index of an element.
pub(super) type Id = usize;

#[derive(Debug)]
struct Item {
    element: Element,
    children: Vec<Id>,
    parent: Id,
    /// From a topology file, and no device of the node has met it yet.
    idle: bool,
}

/// All elements; 0 is `<system>`.
#[derive(Debug)]
pub(super) struct Arena {
    items: Vec<Item>,
}

impl Arena {
    pub(super) fn new() -> Self {
        let element = Element::new("system").with("version", "1");
        Arena { items: vec![Item { element, children: Vec::new(), parent: 0, idle: false }] }
    }

    /// The elements of a topology file. NCCL writes its own host into all of its CPUs, and its own rank into its GPU.
    pub(super) fn of(document: Document) -> Self {
        let mut arena = Arena { items: Vec::new() };
        // Breadth first: children come after their parents.
        let mut left = std::collections::VecDeque::from([(document.system, 0)]);
        while let Some((mut element, parent)) = left.pop_front() {
            let id = arena.items.len();
            let children = std::mem::take(&mut element.children);
            match element.name.as_ref() {
                "cpu" => element.set("host_hash", super::cpu::HOST_HASH),
                "gpu" => element.attributes.retain(|(k, _)| k != "rank"),
                _ => {}
            }
            left.extend(children.into_iter().map(|c| (c, id)));
            let kept = element.get("keep") == Some("1");
            arena.items.push(Item { element, children: Vec::new(), parent, idle: id > 0 && !kept });
            if let Some(p) = arena.items.get_mut(parent).filter(|_| id > 0) {
                p.children.push(id);
            }
        }
        arena
    }

    /// The element that holds one.
    pub(super) fn parent(&self, id: Id) -> Id {
        self.items.get(id).map_or(0, |i| i.parent)
    }

    /// An element.
    pub(super) fn element(&self, id: Id) -> Option<&Element> {
        self.items.get(id).map(|i| &i.element)
    }

    /// Takes an element into use; whether it was idle until now.
    pub(super) fn meet(&mut self, id: Id) -> bool {
        self.items.get_mut(id).is_some_and(|i| std::mem::take(&mut i.idle))
    }

    /// All elements of a name.
    pub(super) fn all(&self, name: &str) -> Vec<Id> {
        self.items.iter().enumerate().filter(|(_, i)| i.element.name == name).map(|(id, _)| id).collect()
    }

    /// The first element of a name whose attribute has a value.
    pub(super) fn find(&self, name: &str, key: &str, value: &str) -> Option<Id> {
        self.items.iter().position(|i| i.element.name == name && i.element.get(key) == Some(value))
    }

    /// The first element of a name.
    pub(super) fn first(&self, name: &str) -> Option<Id> {
        self.items.iter().position(|i| i.element.name == name)
    }

    /// The first child of a name.
    pub(super) fn child(&self, parent: Id, name: &str) -> Option<Id> {
        let children = &self.items.get(parent)?.children;
        children.iter().copied().find(|c| self.items.get(*c).is_some_and(|i| i.element.name == name))
    }

    /// Adds an element as the last child.
    pub(super) fn add(&mut self, parent: Id, element: Element) -> Id {
        let at = self.items.get(parent).map_or(0, |p| p.children.len());
        self.insert(parent, at, element)
    }

    /// Adds a `<pci>` where its bus id belongs: before the first sibling whose bus id is greater.
    pub(super) fn add_sorted(&mut self, parent: Id, element: Element) -> Id {
        let busid = element.get("busid").unwrap_or_default();
        let after = |c: &Id| self.items.get(*c).and_then(|i| i.element.get("busid")).is_some_and(|b| busid < b);
        let at = self.items.get(parent).map_or(0, |p| p.children.iter().position(after).unwrap_or(p.children.len()));
        self.insert(parent, at, element)
    }

    fn insert(&mut self, parent: Id, at: usize, element: Element) -> Id {
        let id = self.items.len();
        self.items.push(Item { element, children: Vec::new(), parent, idle: false });
        if let Some(p) = self.items.get_mut(parent) {
            p.children.insert(at.min(p.children.len()), id);
        }
        id
    }

    pub(super) fn set(&mut self, id: Id, key: &str, value: impl Into<String>) {
        if let Some(i) = self.items.get_mut(id) {
            i.element.set(key, value);
        }
    }

    /// Sets an attribute that is not there yet.
    pub(super) fn init(&mut self, id: Id, key: &str, value: impl Into<String>) {
        if let Some(i) = self.items.get_mut(id).filter(|i| i.element.get(key).is_none()) {
            i.element.set(key, value);
        }
    }

    /// Takes out what no device of the node is in (`ncclTopoTrimXml`).
    fn trim(&mut self) {
        let used: Vec<bool> = self.items.iter().map(|i| !i.idle).collect();
        let mut keep = used;
        for id in (1..self.items.len()).rev() {
            let parent = self.parent(id);
            if keep.get(id) == Some(&true)
                && let Some(k) = keep.get_mut(parent)
            {
                *k = true;
            }
        }
        let gone: Vec<bool> = self
            .items
            .iter()
            .zip(&keep)
            .map(|(i, k)| !k && matches!(i.element.name.as_ref(), "pci" | "cpu" | "nic" | "net"))
            .collect();
        for i in &mut self.items {
            i.children.retain(|c| gone.get(*c) != Some(&true));
        }
    }

    /// The document. Children always come after their parents, so the tree is built from its end.
    pub(super) fn into_document(mut self) -> Document {
        self.trim();
        for id in (0..self.items.len()).rev() {
            let Some(children) = self.items.get_mut(id).map(|i| std::mem::take(&mut i.children)) else { continue };
            let elements: Vec<Element> = children
                .into_iter()
                .filter_map(|c| self.items.get_mut(c).map(|i| std::mem::take(&mut i.element)))
                .collect();
            if let Some(i) = self.items.get_mut(id) {
                i.element.children = elements;
            }
        }
        let system = self.items.into_iter().next().map(|i| i.element).unwrap_or_default();
        Document { system }
    }
}
