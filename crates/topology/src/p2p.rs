//! How two GPUs talk to each other (`ncclTopoCheckP2p`, `ncclTopoCheckNet`), and why.

use crate::error::Error;
use crate::gdr::{View, rank_of_dev};
use crate::path::PathType;
use crate::paths::Paths;
use crate::system::{Arch, CpuVendor, NodeData, NodeId, NodeKind};
use std::fmt;

/// What carries data from one GPU to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Transport {
    /// One GPU writes into, or reads from, the other.
    P2p,
    /// Memory of the host.
    Shm,
    /// The network.
    Net,
}

impl Transport {
    /// NCCL's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::P2p => "P2P",
            Self::Shm => "SHM",
            Self::Net => "NET",
        }
    }
}

/// Why two GPUs are direct peers or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum P2pReason {
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
        /// Whether `NCCL_P2P_LEVEL` says so.
        by_env: bool,
    },
    /// `NCCL_P2P_DISABLE=1`.
    DisabledByEnv,
}

impl fmt::Display for P2pReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Near { kind, limit } => write!(f, "the GPUs are {kind} apart, and {limit} is allowed"),
            Self::TooFar { kind, limit, by_env } => {
                let by = if *by_env { "NCCL_P2P_LEVEL" } else { "the default" };
                write!(f, "the GPUs are {kind} apart, and {by} allows {limit} at most")
            }
            Self::DisabledByEnv => f.write_str("NCCL_P2P_DISABLE=1"),
        }
    }
}

/// A pair of ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct P2p {
    /// From.
    pub rank1: i32,
    /// To.
    pub rank2: i32,
    /// The GPUs.
    pub gpus: (NodeId, NodeId),
    /// Whether they are near enough to be direct peers. CUDA and NVML are taken to allow it.
    pub allowed: bool,
    /// Why.
    pub reason: P2pReason,
    /// Whether the receiver reads (Ampere over NVLink), instead of the sender's writing.
    pub read: bool,
    /// The rank whose GPU is between them.
    pub intermediate: Option<i32>,
    /// Whether both reach NICs faster than each other.
    pub net_is_faster: bool,
    /// What carries their data.
    pub transport: Transport,
}

/// What [`View::p2p`] finds.
#[derive(Clone, Copy)]
pub(crate) struct Peer {
    pub(crate) allowed: bool,
    pub(crate) reason: P2pReason,
    pub(crate) read: bool,
    pub(crate) intermediate: Option<i32>,
}

impl View<'_> {
    /// The limit, and whether the environment set it.
    pub(crate) fn p2p_limit(&self) -> (PathType, bool) {
        if let Some(level) = self.config.env.p2p_level {
            return (level, true);
        }
        let first = self.system.cpus().next().map(|(_, c)| (c.arch, c.vendor));
        let amd = first == Some((Some(Arch::X86), Some(CpuVendor::Amd)));
        let v = self.config.version;
        if !v.since(2, 23) {
            let known = matches!(first, Some((Some(Arch::Arm), _) | (Some(Arch::X86), Some(_)))) && !amd;
            return (if known { PathType::Pxb } else { PathType::Sys }, false);
        }
        // A pair is counted in devices since 2.30, in ranks before.
        let devices = if v.since(2, 30) { NodeKind::Dev } else { NodeKind::Gpu };
        let pair = self.system.of(devices).len() <= 2;
        (if amd && pair { PathType::Sys } else { PathType::Pxb }, false)
    }

    /// Whether two GPUs are direct peers, by the paths as they are.
    pub(crate) fn p2p(&self, paths: &Paths, one: NodeId, two: NodeId) -> Result<Peer, Error> {
        let system = self.system;
        let (one, two) = (self.by_rank(one), self.by_rank(two));
        let path = paths.path(one, two);
        let mut intermediate = None;
        // GPU, DEV, DEV, DEV, GPU: through another GPU.
        if path.hops == 4 {
            let between = paths.hops(system, one, two).nth(1).and_then(|l| system.node(l.to));
            if let Some((NodeData::Dev { dev, .. }, host)) = between.map(|n| (&n.data, n.host())) {
                intermediate = Some(
                    rank_of_dev(system, host, *dev)
                        .ok_or_else(|| Error::Internal(format!("GPU {dev} is between two others and has no rank")))?,
                );
            }
        }
        let (limit, by_env) = self.p2p_limit();
        let allowed = path.kind <= limit;
        let reason = match (allowed, self.config.env.p2p_disabled) {
            (true, _) => P2pReason::Near { kind: path.kind, limit },
            (false, true) => P2pReason::DisabledByEnv,
            (false, false) => P2pReason::TooFar { kind: path.kind, limit, by_env },
        };
        let sm = |id| system.node(id).and_then(|n| n.gpu()).map(|g| g.sm);
        let read = path.kind == PathType::Nvl && sm(one) == Some(80) && sm(two) == Some(80);
        Ok(Peer { allowed, reason, read, intermediate })
    }

    /// The fastest way of each GPU (by its place) to a NIC over PCIe switches only.
    pub(crate) fn net_speeds(&self, paths: &Paths) -> Vec<f32> {
        let nets = self.system.of(NodeKind::Net);
        let near = |g: NodeId| nets.iter().map(move |n| paths.path(g, *n)).filter(|p| p.kind <= PathType::Pxb);
        self.system.of(NodeKind::Gpu).iter().map(|g| near(*g).fold(0.0, |max, p| p.bandwidth.max(max))).collect()
    }

    /// Whether both GPUs reach NICs faster than each other.
    pub(crate) fn net_is_faster(&self, paths: &Paths, speeds: &[f32], one: NodeId, two: NodeId) -> bool {
        let (one, two) = (self.by_rank(one), self.by_rank(two));
        let speed = |id: NodeId| {
            let i = self.system.node(id).map_or(usize::MAX, |n| n.index as usize);
            speeds.get(i).copied().unwrap_or(0.0)
        };
        let direct = paths.path(one, two).bandwidth;
        !self.config.env.net_disable_intra && speed(one) > direct && speed(two) > direct
    }

    /// What carries their data.
    pub(crate) fn transport(&self, peer: Peer, net_is_faster: bool, one: NodeId, two: NodeId) -> Transport {
        let host = |id| self.system.node(id).map(|n| n.host());
        let p2p = peer.allowed && (peer.intermediate.is_some() || !net_is_faster);
        match (p2p, net_is_faster || self.config.env.shm_disable || host(one) != host(two)) {
            (true, _) => Transport::P2p,
            (false, false) => Transport::Shm,
            (false, true) => Transport::Net,
        }
    }

    /// All pairs, by the final paths.
    pub(crate) fn all_p2p(&self, paths: &Paths) -> Result<Vec<P2p>, Error> {
        let speeds = self.net_speeds(paths);
        let mut all = Vec::new();
        for (one, a) in self.system.gpus() {
            for (two, b) in self.system.gpus().filter(|(two, _)| *two != one) {
                let peer = self.p2p(paths, one, two)?;
                let net_is_faster = self.net_is_faster(paths, &speeds, one, two);
                all.push(P2p {
                    rank1: a.rank,
                    rank2: b.rank,
                    gpus: (one, two),
                    allowed: peer.allowed,
                    reason: peer.reason,
                    read: peer.read,
                    intermediate: peer.intermediate,
                    net_is_faster,
                    transport: self.transport(peer, net_is_faster, one, two),
                });
            }
        }
        Ok(all)
    }
}
