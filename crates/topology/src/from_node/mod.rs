//! From a node to the topology XML that NCCL would dump there.
//!
//! The definition is NCCL 2.30.7: `graph/xml.cc` for what it reads of sysfs and NVML, `graph/topo.cc` for the order, and
//! `transport/net_ib/init.cc` for the devices that its InfiniBand plugin lists. What a snapshot cannot show is reported as unknown, never guessed in
//! silence: an attribute that is not known is left out and listed.

mod arena;
mod compare;
mod cpu;
mod extra;
mod file;
mod gpu;
mod link;
pub mod matrix;
mod nic;
mod notes;
mod nvlink;
mod sm;

pub use compare::{Difference, compare_with_topo_m};
pub use extra::{extra, is_device, is_guest, port, shows_wires};
pub use link::topmost;
pub use matrix::Matrix;

use crate::config::Config;
use crate::error::Error;
use crate::fill::{self, Nvlink};
use crate::open::{Lack, Open};
use crate::path::PathType;
use crate::version::Version;
use crate::xml::{Document, XmlError};
use arena::Arena;
use linerate_node::Node;
use linerate_node::pci::Kind;
use notes::Notes;

/// What decides about the document besides the node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Whether the network plugin puts the ports and virtual functions of a card in its function 0, as NCCL's InfiniBand plugin does
    /// (and `NCCL_IB_MERGE_VFS=1`, which is the default). Otherwise each device stays in its own function.
    pub merge_functions: bool,
    /// GPUDirect RDMA of the NICs, where it is better known than the node shows it.
    pub nic_gdr: Option<bool>,
    /// `NCCL_TOPO_FILE` of the job's environment, which goes before every nccl.conf. `None`: not set there.
    pub topology_file: Option<String>,
    /// Release of NCCL. Before 2.30 it takes a GPU's link from sysfs, as for other devices: what it could be at most, not what it is; and writes
    /// neither an `affinity` that it does not know nor `mlopart`.
    pub release: Version,
}

impl Default for Options {
    fn default() -> Self {
        Options { merge_functions: true, nic_gdr: None, topology_file: None, release: Version::REFERENCE }
    }
}

/// A document from a node, and how sure it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FromNode {
    /// As a file for every rank (`NCCL_TOPO_FILE`): all GPUs, all NICs that NCCL lists, nothing fused.
    pub document: Document,
    /// What was taken for granted, as sentences.
    pub assumptions: Vec<String>,
    /// What the snapshot does not show and the document therefore lacks, as sentences.
    pub unknown: Vec<String>,
    /// What is on the node and not in the document, and why.
    pub left_out: Vec<String>,
    /// What the snapshot does not show and conclusions may hang on, beyond what the document leaves out.
    pub open: Vec<Open>,
    /// What the driver stack lacks for GPUDirect RDMA.
    pub lack: Option<Lack>,
    /// The NVLinks that the node is known to have, where nothing counts them.
    pub nvlink: Nvlink,
}

impl FromNode {
    /// Puts what the node shows beside the document into a configuration; what somebody said there stays.
    pub fn configure(&self, config: &mut Config) {
        config.unseen.clone_from(&self.open);
        config.lack = self.lack;
        if config.assume.nvlink == Nvlink::None && !config.told.contains(&Open::NvlinkCount) {
            config.assume.nvlink = self.nvlink.clone();
        }
    }

    /// The document as rank 0 writes it to `NCCL_TOPO_DUMP_FILE`: the ranks' trees merged in their order, NICs not yet fused.
    /// Attributes that are unknown are filled with `config.assume`; the second part tells which.
    ///
    /// # Errors
    ///
    /// Where NCCL itself would stop.
    pub fn dumped(&self, config: &Config) -> Result<(Document, Vec<String>), Error> {
        let mut config = config.clone();
        config.env.merge_level = PathType::Loc;
        config.env.force_merge.clear();
        let filled = fill::fill(&self.document, &config)?;
        let mut document = filled.tree.to_document();
        if !config.version.since(2, 30) {
            document.system.leave_out("mlopart");
        }
        Ok((document, filled.assumed))
    }
}

/// Why there is no document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FromNodeError {
    /// Nothing tells of PCI functions or GPUs.
    #[error(
        "the snapshot shows no PCI functions and no GPUs: give a snapshot with sys/bus/pci/devices, or the text of `lspci -vvv` or `nvidia-smi -q`"
    )]
    NoPci,
    /// PCI functions are known, and none of them is a GPU.
    #[error("the node has no NVIDIA GPU: NCCL builds no topology there")]
    NoGpu,
    /// AMD's GPUs alone.
    #[error(
        "{gpus} AMD GPUs and no NVIDIA GPU: `linerate audit` lists and judges them; NCCL's model is not computed here, as RCCL's differs"
    )]
    AmdGpus {
        /// How many.
        gpus: usize,
    },
    /// NCCL begins with a topology file that it cannot read, and stops there.
    #[error("NCCL stops at its topology file {path}: {error}")]
    TopologyFile {
        /// Its path.
        path: String,
        /// What NCCL refuses.
        error: Box<XmlError>,
    },
}

/// What is collected while the document is built.
struct Build<'a, 's> {
    node: &'a Node<'s>,
    options: &'a Options,
    arena: Arena,
    assumed: Notes,
    unknown: Notes,
    left_out: Notes,
    open: Vec<Open>,
    lack: Option<Lack>,
    nvlink: Nvlink,
}

/// The topology of a node, with the usual options.
///
/// # Errors
///
/// Where the snapshot shows no GPU.
pub fn from_node(node: &Node<'_>) -> Result<FromNode, FromNodeError> {
    from_node_with(node, &Options::default())
}

/// The topology of a node.
///
/// # Errors
///
/// Where the snapshot shows no GPU.
pub fn from_node_with(node: &Node<'_>, options: &Options) -> Result<FromNode, FromNodeError> {
    let mut b = Build {
        node,
        options,
        arena: Arena::new(),
        assumed: Notes::default(),
        unknown: Notes::default(),
        left_out: Notes::default(),
        open: Vec::new(),
        lack: None,
        nvlink: Nvlink::None,
    };
    let gpus = gpu::list(&mut b);
    if gpus.is_empty() {
        let nothing = node.pci.functions.is_empty() && node.nvidia.asked.known().is_none();
        return Err(match node.pci.of_kind(Kind::AmdGpu).count() {
            _ if nothing => FromNodeError::NoPci,
            0 => FromNodeError::NoGpu,
            gpus => FromNodeError::AmdGpus { gpus },
        });
    }
    file::begin(&mut b)?;
    // Rank 0 has its GPU first, then all NICs; the other ranks add their GPUs. CPUs come in that order.
    let ways = nvlink::ways(&b, &gpus);
    for (i, g) in gpus.iter().enumerate() {
        gpu::place(&mut b, &gpus, g, ways);
        if i == 0 {
            nic::place(&mut b);
        }
    }
    b.assumed.say(format!("ranks 0 to {}: one process per GPU, in NVML's order", gpus.len() - 1));
    b.assumed.say("host_hash: a placeholder; NCCL replaces it when it reads a file");
    b.assumed.say("no GIN, RMA or CollNet plugin: <net> has no gin, rma or coll");
    Ok(FromNode {
        document: b.arena.into_document(),
        assumptions: b.assumed.sentences(),
        unknown: b.unknown.sentences(),
        left_out: b.left_out.sentences(),
        open: b.open,
        lack: b.lack,
        nvlink: b.nvlink,
    })
}
