//! Topologies: as text, JSON, and drawings.

mod ceiling;
pub mod differences;
pub mod dot;
pub mod json;
mod link;
pub mod matrix;
pub mod names;
pub mod scene;
pub mod svg;
mod tables;
pub mod text;
mod tree;

pub use link::{LinkLookup, LinkState, PcieLink};

use linerate_formats::nvidia_smi::Topo as TopoM;
use linerate_topology::ceiling::Ceilings;
use linerate_topology::from_node::Matrix;
use linerate_topology::xml::Document;
use linerate_topology::{Analysis, Config, Search};

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
    pub links: LinkLookup<'a>,
    /// Models of devices by bus id, where the source names them.
    pub models: &'a dyn Fn(&str) -> Option<String>,
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
