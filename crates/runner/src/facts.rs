//! What of a node decides how a test is called there: RDMA devices with their GIDs, interfaces, NUMA nodes, GPUs. Read from its
//! snapshot; what that does not show stays unknown.

use crate::tools::RdmaPath;
use linerate_node::Node;
use linerate_node::rdma::{LinkLayer, PortState, RdmaPort};
use linerate_snapshot::Snapshot;

/// What is known of a host.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// Whether there is a snapshot behind this.
    pub known: bool,
    /// Ports of RDMA devices.
    pub rdma: Vec<RdmaFact>,
    /// Interfaces.
    pub nets: Vec<NetFact>,
    /// NUMA nodes and their CPUs.
    pub numa: Vec<(u32, String)>,
    /// GPUs.
    pub gpus: u32,
}

/// A port of an RDMA device.
#[derive(Debug, Clone, PartialEq)]
pub struct RdmaFact {
    /// How tests name it.
    pub path: RdmaPath,
    /// Interface of its first GID.
    pub netdev: Option<String>,
    /// Whether its port is active; `None` where that was not seen.
    pub active: Option<bool>,
    /// Soft-RoCE and the like.
    pub software: bool,
    /// NUMA node.
    pub numa: Option<u32>,
    /// What the GID is, in words.
    pub gid: &'static str,
}

/// An interface.
#[derive(Debug, Clone, PartialEq)]
pub struct NetFact {
    /// Name.
    pub name: String,
    /// Speed, Gb/s.
    pub gbps: Option<f64>,
    /// NUMA node.
    pub numa: Option<u32>,
}

impl Facts {
    /// Reads a snapshot.
    #[must_use]
    pub fn of(snapshot: &Snapshot) -> Self {
        let node = Node::decode(snapshot);
        let numa_of = |bdf| {
            let function = node.pci.get(node.pci.find(bdf)?);
            function.numa_node.known().and_then(|n| u32::try_from(*n).ok())
        };
        let mut out = Facts { known: true, ..Facts::default() };
        for device in node.rdma.known().into_iter().flatten() {
            out.rdma.extend(device.ports.iter().map(|port| {
                let (gid, words) = gid(port);
                RdmaFact {
                    path: RdmaPath { device: device.name.clone(), port: port.number, gid, gbps: port.data_rate_gbps() },
                    netdev: port.netdev.known().cloned(),
                    active: port.state.known().map(|s| *s == PortState::Active),
                    software: device.is_software(),
                    numa: device.pci.and_then(numa_of),
                    gid: words,
                }
            }));
        }
        let net = |n: &linerate_node::net::NetDev<'_>| NetFact {
            name: n.name.to_owned(),
            gbps: n.speed_mbps.known().filter(|s| **s > 0 && **s < u32::MAX).map(|s| f64::from(*s) / 1000.0),
            numa: n.pci.and_then(numa_of),
        };
        out.nets = node.net.known().into_iter().flatten().map(net).collect();
        out.numa = node.numa.known().into_iter().flatten().map(|n| (n.id, n.cpulist.clone())).collect();
        out.gpus = u32::try_from(node.pci.nvidia_gpus().count()).unwrap_or(0);
        out
    }

    /// The RDMA port for a test, and why this one. An active one; with the data's interface; no software where there is hardware;
    /// the fastest; the first.
    #[must_use]
    pub fn rdma_for(&self, netdev: Option<&str>, wanted: Option<&str>) -> Option<(&RdmaFact, String)> {
        let matches = |r: &&RdmaFact| wanted.is_none_or(|w| r.path.device == w);
        let on_way = |r: &RdmaFact| netdev.is_some() && r.netdev.as_deref() == netdev;
        let rank = |r: &RdmaFact| {
            let speed = r.path.gbps.map_or(0, |g| (g * 1000.0) as u64);
            (r.active == Some(true), on_way(r), !r.software, speed)
        };
        let mut best: Option<&RdmaFact> = None;
        for port in self.rdma.iter().filter(matches) {
            if best.is_none_or(|b| rank(port) > rank(b)) {
                best = Some(port);
            }
        }
        let best = best?;
        let why = if wanted.is_some() {
            "as asked"
        } else if on_way(best) {
            "its interface carries the data's address"
        } else if self.rdma.len() == 1 {
            "the only one"
        } else {
            "the fastest active one"
        };
        let state = if best.active == Some(false) { ", although its port is not active" } else { "" };
        Some((best, format!("{} port {} ({why}{state}; {})", best.path.device, best.path.port, best.gid)))
    }

    /// An interface.
    #[must_use]
    pub fn net(&self, name: &str) -> Option<&NetFact> {
        self.nets.iter().find(|n| n.name == name)
    }
}

/// The GID for RoCE, as NCCL prefers it: version 2 with an IPv4 address.
fn gid(port: &RdmaPort) -> (Option<u32>, &'static str) {
    match port.link_layer.known() {
        Some(LinkLayer::InfiniBand) => return (None, "InfiniBand: no GID to choose"),
        None => return (None, "link layer unknown: the tool chooses the GID"),
        Some(LinkLayer::Unspecified) => return (None, "neither InfiniBand nor RoCE: no GID to choose"),
        Some(LinkLayer::Ethernet) => {}
    }
    let gids = port.gids.known().map(Vec::as_slice).unwrap_or_default();
    let used = || gids.iter().filter(|g| !g.is_zero());
    let v2 = || used().filter(|g| g.is_roce_v2());
    if let Some(g) = v2().find(|g| g.is_ipv4()) {
        (Some(g.index), "GID: RoCE v2, IPv4")
    } else if let Some(g) = v2().find(|g| !g.is_link_local()) {
        (Some(g.index), "GID: RoCE v2, no IPv4 there")
    } else if let Some(g) = v2().next() {
        (Some(g.index), "GID: RoCE v2, link-local: there is no other")
    } else {
        (None, "no RoCE v2 GID is known: the tool chooses")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(device: &str, netdev: &str, gbps: f64, active: bool, software: bool) -> RdmaFact {
        RdmaFact {
            path: RdmaPath { device: device.into(), port: 1, gid: Some(3), gbps: Some(gbps) },
            netdev: Some(netdev.into()),
            active: Some(active),
            software,
            numa: None,
            gid: "",
        }
    }

    #[test]
    fn which_device() {
        let rdma = vec![
            port("rxe0", "eth0", 800.0, true, true),
            port("mlx5_0", "ib0", 100.0, true, false),
            port("mlx5_1", "ib1", 400.0, true, false),
            port("mlx5_2", "ib2", 800.0, false, false),
        ];
        let facts = Facts { rdma, ..Facts::default() };
        let which = |netdev, wanted| facts.rdma_for(netdev, wanted).map(|(r, _)| r.path.device.as_str());
        assert_eq!(which(None, None), Some("mlx5_1"));
        assert_eq!(which(Some("ib0"), None), Some("mlx5_0"));
        assert_eq!(which(Some("eth0"), None), Some("rxe0"));
        assert_eq!(which(Some("ib2"), None), Some("mlx5_1"), "active before on the way");
        assert_eq!(which(None, Some("mlx5_2")), Some("mlx5_2"));
        assert_eq!(which(None, Some("mlx5_9")), None);
        assert!(facts.rdma_for(None, Some("mlx5_2")).unwrap().1.contains("not active"));
        assert_eq!(Facts::default().rdma_for(None, None), None);
    }

    #[test]
    fn from_a_snapshot() {
        let mut s = Snapshot::new("x");
        let port = "sys/class/infiniband/mlx5_0/ports/1";
        s.add_file(&format!("{port}/state"), b"4: ACTIVE\n");
        s.add_file(&format!("{port}/link_layer"), b"Ethernet\n");
        s.add_file(&format!("{port}/rate"), b"400 Gb/sec (4X NDR)\n");
        for (n, gid, kind) in [
            (0, "fe80:0000:0000:0000:0000:0000:0000:0001", "IB/RoCE v1"),
            (1, "fe80:0000:0000:0000:0000:0000:0000:0001", "RoCE v2"),
            (2, "0000:0000:0000:0000:0000:ffff:0a00:0001", "IB/RoCE v1"),
            (3, "0000:0000:0000:0000:0000:ffff:0a00:0001", "RoCE v2"),
        ] {
            s.add_file(&format!("{port}/gids/{n}"), format!("{gid}\n").as_bytes());
            s.add_file(&format!("{port}/gid_attrs/types/{n}"), format!("{kind}\n").as_bytes());
            s.add_file(&format!("{port}/gid_attrs/ndevs/{n}"), b"ens1\n");
        }
        s.add_file("sys/class/net/ens1/speed", b"400000\n");
        let facts = Facts::of(&s);
        let (rdma, why) = facts.rdma_for(Some("ens1"), None).unwrap();
        assert_eq!((rdma.path.gid, rdma.path.gbps, rdma.active), (Some(3), Some(400.0), Some(true)));
        assert!(why.contains("carries the data's address") && why.contains("RoCE v2, IPv4"), "{why}");
        assert_eq!(facts.net("ens1").and_then(|n| n.gbps), Some(400.0));
    }
}
