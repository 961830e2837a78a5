//! What the answer depends on besides the topology: the release, its environment, the number of nodes, what to assume.

use crate::Version;
use crate::env::Env;
use crate::fill::Assumptions;
use crate::open::{Lack, Open};

/// How the document is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Input {
    /// As `NCCL_TOPO_FILE`: every rank fills it from its node, keeps what it uses, fuses ports, and the ranks' trees are merged.
    #[default]
    File,
    /// As NCCL has it after that: nothing is filled or merged.
    Fused,
}

/// What the answer depends on besides the topology.
#[derive(Debug, Clone)]
pub struct Config {
    /// Release of NCCL.
    pub version: Version,
    /// Its environment.
    pub env: Env,
    /// Equal nodes of the job; 1 for one node.
    pub nodes: u32,
    /// How the document is read.
    pub input: Input,
    /// What to assume where the document is silent.
    pub assume: Assumptions,
    /// What the document's source does not show beyond what the document itself leaves out.
    pub unseen: Vec<Open>,
    /// What is assumed because somebody said so: it is not open.
    pub told: Vec<Open>,
    /// Why its NICs cannot do GPUDirect RDMA, where they cannot.
    pub lack: Option<Lack>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            version: Version::default(),
            env: Env::default(),
            nodes: 1,
            input: Input::default(),
            assume: Assumptions::default(),
            unseen: Vec::new(),
            told: Vec::new(),
            lack: None,
        }
    }
}
