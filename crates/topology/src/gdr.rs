//! Whether a GPU and a NIC talk to each other directly (`ncclTopoCheckGdr`), and why.

use crate::config::Config;
use crate::error::Error;
use crate::open::Lack;
use crate::path::PathType;
use crate::paths::Paths;
use crate::system::{NodeId, NodeKind, System};
use std::fmt;

/// How GPUDirect RDMA is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub enum GdrMode {
    /// As the driver maps it.
    Default,
    /// Over PCIe, though the GPU has a C2C link.
    Pci,
}

/// Why it is done or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum GdrReason {
    /// Near enough.
    Near {
        /// How far they are.
        kind: PathType,
        /// How far they may be.
        limit: PathType,
    },
    /// Too far apart.
    TooFar {
        /// How far they are.
        kind: PathType,
        /// How far they may be.
        limit: PathType,
        /// Whether `NCCL_NET_GDR_LEVEL` says so.
        by_env: bool,
    },
    /// NIC and drivers cannot register GPU memory.
    NicLacksGdr {
        /// What is missing, where the source shows it.
        lack: Option<Lack>,
    },
    /// The GPU cannot.
    GpuLacksGdr,
    /// The GPU is split, and `NCCL_NET_GDR_MLOPART` does not allow it.
    SplitGpu,
    /// `NCCL_NET_GDR_READ=0`: not for sending.
    ReadDisabledByEnv,
    /// A GPU before Ampere with other traffic on PCIe: not for sending.
    ReadOldGpuWithoutNvlink {
        /// Its compute capability, times ten.
        sm: i32,
    },
}

impl fmt::Display for GdrReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Near { kind, limit } => write!(f, "GPU and NIC are {kind} apart, and {limit} is allowed"),
            Self::TooFar { kind, limit, by_env } => {
                let by = if *by_env { "NCCL_NET_GDR_LEVEL" } else { "the default" };
                write!(f, "GPU and NIC are {kind} apart, and {by} allows {limit} at most")
            }
            Self::NicLacksGdr { lack: Some(lack) } => f.write_str(lack.words()),
            Self::NicLacksGdr { lack: None } => f.write_str("NIC and drivers do not register GPU memory (gdr=\"0\")"),
            Self::GpuLacksGdr => f.write_str("the GPU cannot do GPUDirect RDMA (gdr=\"0\")"),
            Self::SplitGpu => f.write_str("the GPU is split, and NCCL_NET_GDR_MLOPART is not set"),
            Self::ReadDisabledByEnv => f.write_str("NCCL_NET_GDR_READ=0"),
            Self::ReadOldGpuWithoutNvlink { sm } => {
                write!(
                    f,
                    "the GPU (sm {sm}) is older than sm 80 and has no NVLink: its reads would disturb other PCIe traffic"
                )
            }
        }
    }
}

/// One direction of one pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct GdrDecision {
    /// How; `None` where it is not done.
    pub mode: Option<GdrMode>,
    /// Why.
    #[serde(flatten)]
    pub reason: GdrReason,
    /// The rank whose GPU was judged instead: it relays (PXN).
    pub via: Option<i32>,
}

/// What follows received data into the GPU's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub enum Flush {
    /// Always: a read that waits for the writes.
    Always,
    /// Nothing: the GPU keeps the order.
    None,
    /// Over C2C: data came by PCIe.
    C2c,
}

/// A rank and a NIC.
#[derive(Debug, Clone, PartialEq)]
pub struct Gdr {
    /// The rank.
    pub rank: i32,
    /// Its GPU.
    pub gpu: NodeId,
    /// The NIC.
    pub net: NodeId,
    /// Its number.
    pub net_dev: i32,
    /// Receiving: the NIC writes.
    pub recv: GdrDecision,
    /// Sending: the NIC reads.
    pub send: GdrDecision,
    /// How far the GPU is from the NIC.
    pub kind: PathType,
    /// GB/s.
    pub bandwidth: f32,
    /// The rank that talks to the NIC: another one is a relay (PXN).
    pub proxy_rank: i32,
    /// What follows received data.
    pub flush: Flush,
}

/// What decisions are made from.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) system: &'a System,
    pub(crate) config: &'a Config,
    /// Of each GPU (by its place among GPUs): the CPU near it.
    pub(crate) local_cpu: &'a [Option<NodeId>],
    /// Of each GPU (by its place): the first GPU of its rank. NCCL asks by rank, and finds that one.
    pub(crate) first: &'a [NodeId],
}

/// Of each GPU (by its place): the first GPU of its rank.
pub(crate) fn first_of_ranks(system: &System) -> Vec<NodeId> {
    let mut seen = std::collections::HashMap::new();
    system.gpus().map(|(id, g)| *seen.entry(g.rank).or_insert(id)).collect()
}

impl View<'_> {
    pub(crate) fn cpu_of(&self, gpu: NodeId) -> Option<NodeId> {
        let index = self.system.node(gpu)?.index as usize;
        self.local_cpu.get(index).copied().flatten()
    }

    /// The first GPU of the rank that has this one.
    pub(crate) fn by_rank(&self, gpu: NodeId) -> NodeId {
        let index = self.system.node(gpu).map_or(usize::MAX, |n| n.index as usize);
        self.first.get(index).copied().unwrap_or(gpu)
    }

    /// The limit, and whether the environment set it.
    fn limit(&self) -> (PathType, bool) {
        match self.config.env.gdr_level {
            Some(level) => (level, true),
            None if self.config.version.since(2, 29) && self.config.env.gdr_c2c_in(self.config.version) => {
                (PathType::P2c, false)
            }
            None => (PathType::Pxb, false),
        }
    }

    /// Judges a direction of a pair by the paths as they are.
    pub(crate) fn gdr(&self, paths: &Paths, gpu: NodeId, net: NodeId, read: bool) -> Result<GdrDecision, Error> {
        self.judge(paths, gpu, net, read, || self.proxy(paths, gpu, net))
    }

    /// The same, for somebody who may know the relay.
    fn judge(
        &self,
        paths: &Paths,
        gpu: NodeId,
        net: NodeId,
        read: bool,
        relay: impl FnOnce() -> Result<i32, Error>,
    ) -> Result<GdrDecision, Error> {
        let gpu = self.by_rank(gpu);
        let no = |reason| Ok(GdrDecision { mode: None, reason, via: None });
        let node = |id| self.system.node(id);
        let (Some(g), Some(n)) = (node(gpu).and_then(|n| n.gpu()), node(net).and_then(|n| n.net())) else {
            return no(GdrReason::GpuLacksGdr);
        };
        let env = &self.config.env;
        if !n.gdr {
            return no(GdrReason::NicLacksGdr { lack: self.config.lack });
        }
        if !g.gdr {
            return no(GdrReason::GpuLacksGdr);
        }
        if g.mlopart != -1 && !env.gdr_mlopart {
            return no(GdrReason::SplitGpu);
        }
        if read && env.gdr_read == 0 {
            return no(GdrReason::ReadDisabledByEnv);
        }
        if read && env.gdr_read < 0 && g.sm < 80 {
            let gpus = self.system.of(NodeKind::Gpu);
            let nvlink = gpus.iter().any(|p| *p != gpu && paths.path(gpu, *p).kind == PathType::Nvl);
            if gpus.len() > 1 && !nvlink {
                return no(GdrReason::ReadOldGpuWithoutNvlink { sm: g.sm });
            }
        }
        let (limit, by_env) = self.limit();
        let mut kind = paths.path(gpu, net).kind;
        let (mut judged, mut via) = (gpu, None);
        if kind == PathType::Pxn {
            let rank = relay()?;
            via = Some(rank);
            judged = self.system.gpu_of_rank(rank).unwrap_or(gpu);
            kind = paths.path(judged, net).kind;
        }
        let c2c = self.cpu_of(judged).is_some_and(|c| paths.path(judged, c).kind == PathType::C2c);
        // 2.26 to 2.28 take the way over C2C and CPU for C2C itself.
        let v = self.config.version;
        let mut counted = kind;
        let over_c2c = if v.since(2, 27) { kind == PathType::P2c } else { kind == PathType::Phb && c2c };
        if !v.since(2, 29) && env.gdr_c2c_in(v) && over_c2c {
            counted = PathType::C2c;
        }
        if counted > limit {
            return Ok(GdrDecision { mode: None, reason: GdrReason::TooFar { kind, limit, by_env }, via });
        }
        let straight = if v.since(2, 29) { PathType::P2c } else { PathType::C2c };
        let mode = if c2c && counted != straight { GdrMode::Pci } else { GdrMode::Default };
        Ok(GdrDecision { mode: Some(mode), reason: GdrReason::Near { kind, limit }, via })
    }

    /// The rank that talks to a NIC for a GPU (`ncclTopoGetIntermediateRank`).
    pub(crate) fn proxy(&self, paths: &Paths, gpu: NodeId, net: NodeId) -> Result<i32, Error> {
        let system = self.system;
        let gpu = self.by_rank(gpu);
        let own = system.node(gpu).and_then(|n| n.gpu()).map_or(-1, |g| g.rank);
        if paths.path(gpu, net).kind != PathType::Pxn {
            return Ok(own);
        }
        let nodes = paths.hops(system, gpu, net).skip(1).filter_map(|l| system.node(l.to).map(|n| (l.to, n)));
        let first = nodes.into_iter().find(|(_, n)| n.kind != NodeKind::Nvs);
        let relay = first.and_then(|(id, n)| match n.kind {
            NodeKind::Dev => {
                let ranks = system.links_of(id).iter().filter_map(|l| system.node(l.to));
                ranks.into_iter().find(|n| n.kind == NodeKind::Gpu)
            }
            _ => Some(n),
        });
        let found = relay.and_then(|n| n.gpu().map(|g| (n.host(), g.dev)));
        found.and_then(|(host, dev)| rank_of_dev(system, host, dev)).ok_or_else(|| {
            Error::Internal(format!("no GPU between rank {own} and a NIC that it reaches through another GPU"))
        })
    }

    pub(crate) fn flush(&self, paths: &Paths, gpu: NodeId, net: NodeId) -> Flush {
        let gpu = self.by_rank(gpu);
        let sm = self.system.node(gpu).and_then(|n| n.gpu()).map_or(0, |g| g.sm);
        if self.config.env.force_flush || sm < 90 {
            return Flush::Always;
        }
        let c2c = self.cpu_of(gpu).is_some_and(|c| paths.path(gpu, c).kind == PathType::C2c);
        if c2c && paths.path(gpu, net).kind <= PathType::Pxb { Flush::C2c } else { Flush::None }
    }

    /// All pairs, by the final paths.
    pub(crate) fn all(&self, paths: &Paths) -> Result<Vec<Gdr>, Error> {
        let mut all = Vec::new();
        for (gpu, g) in self.system.gpus() {
            for (net, n) in self.system.nets() {
                let path = paths.path(gpu, net);
                let proxy_rank = self.proxy(paths, gpu, net)?;
                all.push(Gdr {
                    rank: g.rank,
                    gpu,
                    net,
                    net_dev: n.dev,
                    recv: self.judge(paths, gpu, net, false, || Ok(proxy_rank))?,
                    send: self.judge(paths, gpu, net, true, || Ok(proxy_rank))?,
                    kind: path.kind,
                    bandwidth: path.bandwidth,
                    proxy_rank,
                    flush: self.flush(paths, gpu, net),
                });
            }
        }
        Ok(all)
    }
}

/// The first rank of a GPU by its number.
pub(crate) fn rank_of_dev(system: &System, host: i64, dev: i32) -> Option<i32> {
    let on_host = |id: NodeId| system.node(id).is_some_and(|n| n.host() == host);
    system.gpus().find(|(id, g)| g.dev == dev && on_host(*id)).map(|(_, g)| g.rank)
}
