//! What judgements depend on besides the settings.

use crate::facts::{Link, NodeFacts};
use crate::registry::nearest;
use crate::setting::Elsewhere;
use linerate_topology::Version;

/// How nodes are connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fabric {
    /// InfiniBand.
    InfiniBand,
    /// RoCE.
    Roce,
    /// Ports of both kinds.
    Mixed,
    /// No RDMA port that NCCL could use.
    None,
}

/// What judgements depend on. `None` is not known, and nothing is guessed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Context {
    /// Release of NCCL; `2.21.0` stands for the last 2.21.
    pub nccl: Option<Version>,
    /// The node.
    pub node: Option<NodeFacts>,
    /// The network that NCCL said it uses: `IB`, `Socket`, a plugin's name.
    pub network: Option<String>,
    /// How nodes are connected, where the user gave it; else the node's ports tell.
    pub fabric: Option<Fabric>,
    /// An input names AMD's RCCL, which reads `NCCL_*`, too.
    pub rccl: bool,
    /// Parts of the environment that the inputs name and do not hold.
    pub elsewhere: Vec<Elsewhere>,
}

impl Context {
    /// The release whose sources answer for [`Context::nccl`].
    #[must_use]
    pub fn release(&self) -> Option<Version> {
        self.nccl.map(nearest)
    }

    /// Whether the release is `major.minor` or later.
    #[must_use]
    pub fn since(&self, major: u16, minor: u16) -> Option<bool> {
        self.release().map(|v| v.since(major, minor))
    }

    /// Whether AMD's RCCL reads the environment, not NVIDIA's NCCL: an input says so, or the node has GPUs of AMD only.
    #[must_use]
    pub fn is_rccl(&self) -> bool {
        self.rccl || self.node.as_ref().is_some_and(|n| n.amd_only)
    }

    /// How nodes are connected: as given, or by the ports that NCCL would use.
    #[must_use]
    pub fn fabric(&self) -> Option<Fabric> {
        if self.fabric.is_some() {
            return self.fabric;
        }
        let node = self.node.as_ref()?;
        let nics = node.nics.as_ref()?;
        if nics.iter().any(|n| n.active().is_none()) {
            return None;
        }
        let ports = || {
            node.active().filter(|n| n.compute != Some(false)).flat_map(|n| &n.ports).filter(|p| p.active == Some(true))
        };
        let has = |link| ports().any(|p| p.link == Some(link));
        if ports().any(|p| p.link.is_none()) {
            return None;
        }
        Some(match (has(Link::InfiniBand), has(Link::Ethernet)) {
            (true, true) => Fabric::Mixed,
            (true, false) => Fabric::InfiniBand,
            (false, true) => Fabric::Roce,
            (false, false) => Fabric::None,
        })
    }
}
