//! NCCL's topology XML, kept without loss: every attribute in its order, known or not.

mod lenient;
mod nccl;
mod parse;
mod write;

pub use parse::{Dialect, XmlError};
pub(crate) use parse::{MAX_DEPTH, NCCL_MAX_NODES};

use std::borrow::Cow;

/// A name of an element or attribute: those of NCCL's format cost nothing to keep.
pub type Name = Cow<'static, str>;

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
    pub name: Name,
    /// Keys and values, unescaped.
    pub attributes: Vec<(Name, String)>,
    /// What is inside.
    pub children: Vec<Element>,
    /// Where it began; line 0 where it was made, not read.
    pub at: At,
}

impl Element {
    /// Takes an attribute out, here and below.
    pub(crate) fn leave_out(&mut self, key: &str) {
        let mut all = vec![self];
        while let Some(e) = all.pop() {
            e.attributes.retain(|(k, _)| k != key);
            all.extend(&mut e.children);
        }
    }

    /// One without attributes.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Element { name: self::name(name), ..Self::default() }
    }

    /// Value of an attribute, the first of that name.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        get(&self.attributes, key)
    }

    /// Sets an attribute: in its place where it is there, else at the end.
    pub fn set(&mut self, key: &str, value: impl Into<String>) {
        set(&mut self.attributes, key, value.into());
    }

    /// The same, with an attribute set.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<String>) -> Self {
        self.set(key, value);
        self
    }

    /// The same, with a child added.
    #[must_use]
    pub fn holding(mut self, child: Element) -> Self {
        self.children.push(child);
        self
    }

    /// Children of a name.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |c| c.name == name)
    }

    /// This element and all below it, in the order of the document.
    pub fn all(&self) -> impl Iterator<Item = &Element> {
        // Not recursive: depth is bounded by the parser, but documents are also made by hand.
        let mut left = vec![self];
        std::iter::from_fn(move || {
            let e = left.pop()?;
            left.extend(e.children.iter().rev());
            Some(e)
        })
    }
}

/// Value of a key.
pub(crate) fn get<'a>(attributes: &'a [(Name, String)], key: &str) -> Option<&'a str> {
    attributes.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
}

/// Sets a key, in its place or at the end.
pub(crate) fn set(attributes: &mut Vec<(Name, String)>, key: &str, value: String) {
    match attributes.iter_mut().find(|(k, _)| k == key) {
        Some((_, v)) => *v = value,
        None => attributes.push((name(key), value)),
    }
}

/// Names that NCCL's files use.
const KNOWN: &[&str] = &[
    "busid",
    "class",
    "link_speed",
    "link_width",
    "vendor",
    "device",
    "subsystem_vendor",
    "subsystem_device",
    "name",
    "dev",
    "speed",
    "port",
    "latency",
    "guid",
    "maxconn",
    "gdr",
    "net",
    "coll",
    "keep",
    "sm",
    "rank",
    "mlopart",
    "target",
    "count",
    "tclass",
    "bw",
    "numaid",
    "affinity",
    "arch",
    "familyid",
    "modelid",
    "host_hash",
    "version",
    "system",
    "cpu",
    "pci",
    "gpu",
    "nvlink",
    "c2c",
    "nic",
    "pcilink",
    "gin",
    "rma",
    "rail",
    "plane",
];

/// The name, without an allocation where it is one of NCCL's.
pub(crate) fn name(s: &str) -> Name {
    match KNOWN.iter().find(|k| **k == s) {
        Some(k) => Cow::Borrowed(k),
        None => Cow::Owned(s.to_owned()),
    }
}

/// A topology: the `<system>` element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// `<system version="1">`.
    pub system: Element,
}

impl Document {
    /// AMD's RCCL wrote it: GPUs have `gcn` (RCCL src/graph/xml.cc `ncclTopoGetXmlFromGpu`), or their functions AMD's vendor id.
    #[must_use]
    pub fn is_rccl(&self) -> bool {
        let amd = |e: &Element| e.get("vendor") == Some("0x1002") && e.named("gpu").next().is_some();
        self.system.all().any(|e| e.name == "gpu" && e.get("gcn").is_some() || amd(e))
    }
}
