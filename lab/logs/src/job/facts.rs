//! What NCCL would conclude of a job, release by release.

use super::spec::{Fault, Job};
use crate::release::{Distance, Release};
use crate::rng::Rng;

/// What a plugin calls its network.
pub(super) fn plugin_name(kind: &str, release: Release) -> &'static str {
    match kind {
        "OFI" => "AWS Libfabric",
        _ if release >= Release(2, 28, 3) => "IBext_v11",
        _ if release >= Release(2, 26, 2) => "IBext_v10",
        _ if release >= Release(2, 24, 3) => "IBext_v9",
        _ if release >= Release(2, 20, 3) => "IBext_v7",
        _ if release >= Release(2, 13, 4) => "IBext_v5",
        _ => "IBext",
    }
}

/// A rank's identity.
#[derive(Debug, Clone)]
pub(crate) struct Rank {
    pub(crate) rank: usize,
    pub(crate) node: usize,
    pub(crate) gpu: usize,
    pub(crate) pid: u32,
    pub(crate) release: Release,
    pub(crate) comm: u64,
}

/// A job with everything decided.
#[derive(Debug, Clone)]
pub(crate) struct Facts<'a> {
    pub(crate) job: &'a Job,
    pub(crate) release: Release,
    pub(crate) seed: u64,
    pub(crate) hosts: Vec<String>,
    pub(crate) ranks: Vec<Rank>,
    pub(crate) commid: u64,
    pub(crate) channels: usize,
    /// Put before file names by the build.
    pub(crate) prefix: &'static str,
    pub(crate) cuda: (u32, u32),
    pub(crate) epoch: i64,
    /// By node: the NICs that NCCL takes, and what carries the traffic.
    networks: Vec<(Vec<String>, &'static str)>,
}

impl<'a> Facts<'a> {
    pub(crate) fn new(job: &'a Job, release: Release, seed: u64) -> Self {
        let mut rng = Rng::named(seed, "facts");
        let style = rng.below(4);
        let base = 1 + rng.below(60);
        let hosts: Vec<String> = (0..job.nodes)
            .map(|n| {
                let n = base + n as u64;
                match style {
                    0 => format!("node{n:03}"),
                    1 => format!("gpu-{n:02}"),
                    2 => format!("dgx-h{n:02}-rack{}", n / 8),
                    _ => format!("train-job-worker-{}", n - base),
                }
            })
            .collect();
        let other = job.fault.iter().find_map(|f| match f {
            Fault::VersionMismatch { node, release } => Some((*node, release.parse().ok()?)),
            _ => None,
        });
        let ranks = (0..job.nodes * job.gpus)
            .map(|rank| {
                let node = rank / job.gpus.max(1);
                let release = match other {
                    Some((n, r)) if n == node => r,
                    _ => release,
                };
                let pid = 2000 + (rng.below(900) as u32) * 40 + rank as u32 * 7;
                Rank {
                    rank,
                    node,
                    gpu: rank % job.gpus.max(1),
                    pid,
                    release,
                    comm: 0x5500_0000_0000 | (rng.next() & 0xff_ffff_fff0),
                }
            })
            .collect();
        let channels = if job.gpu.nvlink() { (job.nics.max(1) * 2).clamp(2, 16) } else { 2 };
        // NVIDIA's own builds of late carry the path of their build machine.
        let prefix = if release >= Release(2, 27, 3) && rng.below(2) == 0 {
            "/dvs/p4/build/sw/gpgpu/nccl/gitfusion/stable/src/"
        } else {
            ""
        };
        let cuda = match release {
            r if r < Release(2, 7, 0) => (10, 1),
            r if r < Release(2, 12, 0) => (11, 0),
            r if r < Release(2, 18, 0) => (11, 8),
            r if r < Release(2, 21, 0) => (12, 2),
            r if r < Release(2, 26, 0) => (12, 4),
            r if r < Release(2, 28, 0) => (12, 9),
            _ => (13, 0),
        };
        let commid = rng.next();
        let epoch = 1_735_000_000 + (rng.below(400 * 86400)) as i64;
        let mut facts =
            Self { job, release, seed, hosts, ranks, commid, channels, prefix, cuda, epoch, networks: Vec::new() };
        facts.networks = (0..job.nodes).map(|n| (facts.find_hcas(n), facts.find_network(n))).collect();
        facts
    }

    /// Names of the NICs that NCCL takes on a node.
    pub(crate) fn hcas(&self, node: usize) -> &[String] {
        self.networks.get(node).map_or(&[], |(hcas, _)| hcas)
    }

    /// What carries traffic between nodes: a plugin's name, `IB`, `Socket`.
    pub(crate) fn network(&self, node: usize) -> &'static str {
        self.networks.get(node).map_or("Socket", |(_, network)| network)
    }

    pub(crate) fn nranks(&self) -> usize {
        self.ranks.len()
    }

    pub(crate) fn host(&self, node: usize) -> &str {
        self.hosts.get(node).map_or("localhost", String::as_str)
    }

    pub(crate) fn env(&self, name: &str) -> Option<&str> {
        self.job.env.get(name).map(String::as_str)
    }

    pub(crate) fn has(&self, is: impl Fn(&Fault) -> bool) -> bool {
        self.job.fault.iter().any(is)
    }

    /// `10.0.N.H` of the bootstrap's interface, and the interface.
    pub(crate) fn address(&self, node: usize) -> (String, String) {
        for fault in &self.job.fault {
            if let Fault::WrongInterface { node: n, ifname, address } = fault
                && *n == node
            {
                return (ifname.clone(), address.clone());
            }
        }
        (self.job.ifname.clone(), format!("10.{}.0.{}", 10 + self.seed % 40, node + 11))
    }

    /// Bus id as NCCL's number: domain, bus, device, function.
    pub(crate) fn busid(&self, gpu: usize) -> u64 {
        let bus = [0x07, 0x0f, 0x47, 0x4e, 0x87, 0x90, 0xb7, 0xbd].get(gpu % 8).copied().unwrap_or(0x07);
        let domain = if self.job.gpu.grace() { (gpu as u64 + 8) << 20 } else { 0 };
        domain | (bus << 12)
    }

    /// NICs that a node offers, after faults.
    pub(crate) fn nics(&self, node: usize) -> usize {
        if self.job.fabric == "none"
            || self.has(|f| matches!(f, Fault::NoDevice { node: n } if n.is_none_or(|n| n == node)))
        {
            return 0;
        }
        let fewer = self.job.fault.iter().find_map(|f| match f {
            Fault::FewerNics { node: n, nics } if *n == node => Some(*nics),
            _ => None,
        });
        fewer.unwrap_or(self.job.nics)
    }

    /// What is there, through `NCCL_IB_HCA`.
    fn find_hcas(&self, node: usize) -> Vec<String> {
        let there = (0..self.nics(node)).map(|n| format!("mlx5_{n}"));
        let Some(filter) = self.env("NCCL_IB_HCA") else { return there.collect() };
        let (exclude, list) = filter.strip_prefix('^').map_or((false, filter), |l| (true, l));
        let (exact, list) = list.strip_prefix('=').map_or((false, list), |l| (true, l));
        there
            .filter(|name| {
                let hit = list.split(',').any(|item| {
                    let item = item.split(':').next().unwrap_or_default();
                    if exact { name == item } else { name.starts_with(item) }
                });
                hit != exclude
            })
            .collect()
    }

    /// The first of plugin, IB and sockets that has devices.
    fn find_network(&self, node: usize) -> &'static str {
        let plugin_works = !self.has(|f| matches!(f, Fault::PluginInitFailed { .. }));
        if self.env("NCCL_NET") == Some("Socket") {
            return "Socket";
        }
        if self.env("NCCL_NET_PLUGIN") != Some("none") && plugin_works {
            match self.job.plugin.as_str() {
                "OFI" => return "AWS Libfabric",
                kind @ "IBext" if !self.ib_off(node) => return plugin_name(kind, self.release),
                _ => {}
            }
        }
        if self.ib_off(node) { "Socket" } else { "IB" }
    }

    fn ib_off(&self, node: usize) -> bool {
        self.env("NCCL_IB_DISABLE") == Some("1")
            || self.has(|f| matches!(f, Fault::NoLibibverbs))
            || self.find_hcas(node).is_empty()
    }

    /// GPUDirect RDMA is possible on this machine with this release.
    pub(crate) fn gdr_possible(&self) -> bool {
        self.job.peermem || self.dmabuf()
    }

    /// DMA-BUF works and is not switched off.
    pub(crate) fn dmabuf(&self) -> bool {
        self.job.dmabuf && self.release.knows_dmabuf() && self.env("NCCL_DMABUF_ENABLE") != Some("0")
    }

    /// The level, by name or old number.
    pub(crate) fn gdr_level(&self) -> Distance {
        match self.env("NCCL_NET_GDR_LEVEL") {
            Some("LOC" | "0") => Distance::LOC,
            Some("PIX" | "1") => Distance::PIX,
            Some("PXB" | "2") => Distance::PXB,
            Some("PHB" | "3") => Distance::PHB,
            Some(_) => Distance::SYS,
            None => self.release.default_gdr_level(),
        }
    }

    /// GPUDirect RDMA for what arrives, and for what is sent.
    pub(crate) fn gdr(&self, node: usize) -> (bool, bool) {
        let net = self.network(node);
        if net == "Socket" || !self.gdr_possible() || !self.near().1 {
            return (false, false);
        }
        (true, self.gdr_read())
    }

    /// The distance from a GPU to its NIC as the decision counts it, and whether it is near enough. In 2.27 and 2.28 (and in 2.26
    /// where the environment asks) a NIC behind the CPU of a C2C system counts as C2C, number 3.
    pub(crate) fn near(&self) -> (u32, bool) {
        let asked = self.env("NCCL_NET_GDR_C2C");
        let exception = match self.release {
            r if r >= Release(2, 29, 2) || r < Release(2, 26, 2) => false,
            r if r >= Release(2, 27, 3) => asked != Some("0"),
            _ => asked == Some("1"),
        };
        let level = self.gdr_level();
        if self.job.gpu.grace() && self.job.distance == Distance::P2C && exception {
            return (3, 3 <= self.release.distance(level));
        }
        (self.release.distance(self.job.distance), self.release.within(self.job.distance, level))
    }

    /// Since 2.26 a Grace system's NIC that is not behind its CPU is mapped over PCIe, and the lines say so.
    pub(crate) fn forced_pci(&self) -> bool {
        self.release >= Release(2, 26, 2) && self.job.gpu.grace() && self.job.distance != Distance::P2C
    }

    /// Whether GPUDirect RDMA is used for sending.
    pub(crate) fn gdr_read(&self) -> bool {
        match self.env("NCCL_NET_GDR_READ") {
            Some("0") => false,
            Some(_) => true,
            None => self.job.gpu.sm() >= 80 || self.job.gpu.nvlink() || self.job.gpus == 1,
        }
    }

    /// The NIC of a GPU, as an index into [`Facts::hcas`].
    pub(crate) fn nic_of(&self, node: usize, gpu: usize) -> usize {
        let n = self.hcas(node).len().max(1);
        (gpu * n) / self.job.gpus.max(1)
    }

    /// A time within the log, as the log's clothes and companions print it.
    pub(crate) fn clock(&self, seconds: f64) -> String {
        super::stamp(self.epoch, seconds)
    }
}
