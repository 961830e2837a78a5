//! NCCL's topology XML, kept without loss: every attribute in its order, known or not.

mod parse;
mod write;

pub use parse::{Dialect, XmlError};

/// A place in a text: 1-based.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct At {
    /// Line.
    pub line: u32,
    /// Column, in bytes.
    pub column: u32,
}

/// An element: its name, attributes in their order, children in theirs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Element {
    /// `system`, `cpu`, `pci`, `gpu`, `nvlink`, `c2c`, `nic`, `net`, or anything else.
    pub name: String,
    /// Keys and values, unescaped.
    pub attributes: Vec<(String, String)>,
    /// What is inside.
    pub children: Vec<Element>,
    /// Where it began; line 0 where it was made, not read.
    pub at: At,
}

impl Element {
    /// One without attributes.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Element { name: name.to_owned(), ..Self::default() }
    }

    /// Value of an attribute, the first of that name.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.attributes.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    /// Sets an attribute: in its place where it is there, else at the end.
    pub fn set(&mut self, key: &str, value: impl Into<String>) {
        match self.attributes.iter_mut().find(|(k, _)| k == key) {
            Some((_, v)) => *v = value.into(),
            None => self.attributes.push((key.to_owned(), value.into())),
        }
    }

    /// The same, with an attribute set.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<String>) -> Self {
        self.set(key, value);
        self
    }

    /// Children of a name.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |c| c.name == name)
    }

    /// Elements here and below.
    #[must_use]
    pub fn count(&self) -> usize {
        // Not recursive: depth is bounded by the parser, but documents are also made by hand.
        let mut n = 0;
        let mut left = vec![self];
        while let Some(e) = left.pop() {
            n += 1;
            left.extend(&e.children);
        }
        n
    }
}

/// A topology: the `<system>` element, and what stood around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// `<system version="1">`.
    pub system: Element,
}
