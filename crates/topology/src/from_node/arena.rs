//! Elements while their tree grows: NCCL finds them by bus id, and adds parents after children.

use crate::xml::{Document, Element};

/// Index of an element.
pub(super) type Id = usize;

#[derive(Debug)]
struct Item {
    element: Element,
    children: Vec<Id>,
}

/// All elements; 0 is `<system>`.
#[derive(Debug)]
pub(super) struct Arena {
    items: Vec<Item>,
}

impl Arena {
    pub(super) fn new() -> Self {
        Arena { items: vec![Item { element: Element::new("system").with("version", "1"), children: Vec::new() }] }
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
        self.items.push(Item { element, children: Vec::new() });
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

    /// The document. Children always come after their parents, so the tree is built from its end.
    pub(super) fn into_document(mut self) -> Document {
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
