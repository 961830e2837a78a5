//! What a drawing of a node shows: data only, the same for every way to draw it.

mod build;
mod link;
mod words;

pub(super) use link::PCIE_STEPS;
pub use link::{Link, Medium, Step};

use super::LinkLookup;
use linerate_topology::from_node::Matrix;
use linerate_topology::{Analysis, Document};

/// What is known besides the topology itself.
#[derive(Default, Clone)]
pub struct Extras<'a> {
    /// Title of the drawing, such as the name of the node.
    pub title: String,
    /// Release of NCCL.
    pub nccl: Option<String>,
    /// Lines to stand below the drawing.
    pub notes: Vec<String>,
    /// The state of a device's PCIe link, by its bus id.
    pub links: Option<LinkLookup<'a>>,
    /// What limits the node: a bus id or a name (`mlx5_0`, `GPU 3`, `NUMA 1`, `NVLink`, `SMP`).
    pub bottleneck: Option<String>,
    /// Numbers of NICs are those of `nvidia-smi topo -m` (NIC6 is N6), where the source shows the PCI tree.
    pub matrix: Option<&'a Matrix>,
}

/// A drawing, before it has places and colours.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scene {
    /// Title.
    pub title: String,
    /// Release of NCCL.
    pub nccl: Option<String>,
    /// Lines below the drawing.
    pub notes: Vec<String>,
    /// NUMA nodes, by host and number.
    pub cpus: Vec<Cpu>,
    /// Switches; those of one parent in the order of their bus ids, after their parent.
    pub switches: Vec<Switch>,
    /// GPUs, in the order of their numbers.
    pub gpus: Vec<Gpu>,
    /// Network devices, in the order of their numbers.
    pub nics: Vec<Nic>,
    /// Links between NUMA nodes.
    pub smp: Vec<Pair>,
    /// NVLinks from GPU to GPU.
    pub nvlinks: Vec<Pair>,
    /// Links between switches besides the tree (`<pcilink>`).
    pub crosslinks: Vec<(usize, usize)>,
    /// Whether the NVLink switches limit.
    pub fabric_limits: bool,
    /// Whether the links between NUMA nodes limit.
    pub smp_limits: bool,
    /// What limits, in words; whether it is marked says [`Bottleneck::found`].
    pub bottleneck: Option<Bottleneck>,
}

/// What limits the node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bottleneck {
    /// As it was named.
    pub name: String,
    /// Whether anything here has that name.
    pub found: bool,
}

/// What a device hangs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parent {
    /// A NUMA node's host bridge: place in [`Scene::cpus`].
    Cpu(usize),
    /// A switch: place in [`Scene::switches`].
    Switch(usize),
}

/// A NUMA node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cpu {
    /// Host, in the order in which they appear.
    pub host: i64,
    /// `NUMA 0`; with the host where there are several.
    pub name: String,
    /// Vendor, architecture, logical CPUs: as far as they are known.
    pub detail: String,
    /// Whether it limits.
    pub limits: bool,
}

/// A PCIe switch, or an adapter with several network devices.
#[derive(Debug, Clone, PartialEq)]
pub struct Switch {
    /// What it hangs on.
    pub parent: Parent,
    /// Whether it is an adapter.
    pub adapter: bool,
    /// Bus id.
    pub busid: String,
    /// Its link upwards.
    pub link: Link,
    /// Whether it limits.
    pub limits: bool,
}

/// A GPU.
#[derive(Debug, Clone, PartialEq)]
pub struct Gpu {
    /// What it hangs on.
    pub parent: Parent,
    /// `GPU 0`.
    pub name: String,
    /// Bus id.
    pub busid: String,
    /// Compute capability, times ten.
    pub sm: i32,
    /// Ranks on it.
    pub ranks: Vec<i32>,
    /// Its PCIe link.
    pub link: Link,
    /// Its own link to a CPU, besides PCIe: place of the CPU, and C2C or NVLink.
    pub direct: Option<(usize, Link)>,
    /// Its links to the NVLink switches: how many, where known, and all of them together.
    pub fabric: Option<(Option<u32>, Link)>,
    /// Network devices that it uses: places in [`Scene::nics`].
    pub nics: Vec<usize>,
    /// How far they are, in NCCL's word.
    pub distance: Option<&'static str>,
    /// Whether they reach its memory.
    pub direct_rdma: DirectRdma,
    /// Whether it limits.
    pub limits: bool,
}

/// Whether a GPU's network devices read and write its memory themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DirectRdma {
    /// All of them, both ways.
    Yes,
    /// Some of them, or one way only; and why not all.
    Partly(String),
    /// None; and why.
    No(String),
    /// It uses none here, or is on another of the nodes that NCCL makes of the host.
    Unknown,
}

/// A network device.
#[derive(Debug, Clone, PartialEq)]
pub struct Nic {
    /// What it hangs on.
    pub parent: Parent,
    /// Its number in its badge: that of `nvidia-smi topo -m` where it is known, else its place.
    pub number: usize,
    /// Its name; fused ones are joined with `+`.
    pub name: String,
    /// Bus id of its PCIe function.
    pub busid: Option<String>,
    /// Gb/s; `None` where the topology does not say.
    pub gbits: Option<f32>,
    /// Whether it can do GPUDirect RDMA.
    pub gdr: bool,
    /// Its link upwards.
    pub link: Link,
    /// Whether it limits.
    pub limits: bool,
}

/// A link between two of a kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// Place of one.
    pub a: usize,
    /// Place of the other.
    pub b: usize,
    /// How many there are, where known.
    pub count: Option<u32>,
    /// The link.
    pub link: Link,
}

impl Scene {
    /// What `analysis` says of `document`. Bandwidths are those that NCCL counts with; generations and widths are those of
    /// `extras.links`, else of `document`: what neither shows is left out.
    #[must_use]
    pub fn new(document: &Document, analysis: &Analysis, extras: &Extras<'_>) -> Scene {
        build::build(document, analysis, extras)
    }

    /// Whether GPUs are joined by NVLink switches.
    #[must_use]
    pub(crate) fn has_fabric(&self) -> bool {
        self.gpus.iter().any(|g| g.fabric.is_some())
    }

    /// The NUMA node under which something is.
    #[must_use]
    pub fn cpu_of(&self, mut parent: Parent) -> Option<usize> {
        // A switch's parent comes before it: this ends.
        for _ in 0..=self.switches.len() {
            match parent {
                Parent::Cpu(c) => return (c < self.cpus.len()).then_some(c),
                Parent::Switch(s) => parent = self.switches.get(s)?.parent,
            }
        }
        None
    }

    /// One line about how much there is.
    #[must_use]
    pub fn summary(&self) -> String {
        words::summary(self)
    }
}
