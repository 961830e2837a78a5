//! Topologies: as text, JSON, and drawings.

mod ceiling;
pub mod differences;
pub mod dot;
pub mod json;
pub mod names;
pub mod scene;
pub mod svg;
pub mod tables;
pub mod text;
pub mod tree;

use linerate_formats::nvidia_smi::Topo as TopoM;
use linerate_topology::ceiling::Ceilings;
use linerate_topology::from_node::Matrix;
use linerate_topology::xml::Document;
use linerate_topology::{Analysis, Config, Search};

/// A link of a PCI function, as words: `Gen5 x16`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkWords {
    /// As it runs.
    pub now: Option<String>,
    /// As it could, where that is more.
    pub possible: Option<String>,
}

/// What is shown.
pub struct Topo<'a> {
    /// Name of the source.
    pub label: &'a str,
    /// The tree, as it was read or made.
    pub document: &'a Document,
    /// What NCCL was taken to be.
    pub config: &'a Config,
    /// What it concludes.
    pub analysis: &'a Analysis,
    /// Links by bus id, where the source shows them; else the document's own words are shown.
    pub links: &'a dyn Fn(&str) -> Option<LinkWords>,
    /// What was assumed, or could not be seen, beside [`Analysis::notes`].
    pub notes: &'a [String],
    /// The paths in the words of `nvidia-smi topo -m`, where the source shows the PCI tree.
    pub matrix: Option<&'a Matrix>,
    /// What `nvidia-smi topo -m` itself showed.
    pub theirs: Option<&'a TopoM>,
    /// Rings and trees.
    pub search: Option<&'a Search>,
    /// What could be reached.
    pub ceilings: Option<&'a Ceilings>,
}
