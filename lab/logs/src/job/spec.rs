//! A job as a scenario describes it.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::release::Distance;

/// A model of GPU, with what NCCL derives from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Gpu {
    /// Volta with NVLink.
    V100,
    /// Volta on PCIe.
    V100Pcie,
    /// Turing on PCIe.
    T4,
    /// Ampere with NVSwitch.
    A100,
    /// Ampere on PCIe.
    A40,
    /// Hopper with NVSwitch.
    H100,
    /// Ada on PCIe, a consumer's.
    Rtx4090,
    /// Grace and Hopper.
    Gh200,
    /// Grace and Blackwell, one NVLink domain over nodes.
    Gb200,
}

impl Gpu {
    /// Compute capability times ten.
    pub fn sm(self) -> u32 {
        match self {
            Self::V100 | Self::V100Pcie => 70,
            Self::T4 => 75,
            Self::A100 => 80,
            Self::A40 => 86,
            Self::Rtx4090 => 89,
            Self::H100 | Self::Gh200 => 90,
            Self::Gb200 => 100,
        }
    }

    /// GPUs of a node are joined by NVLink.
    pub fn nvlink(self) -> bool {
        !matches!(self, Self::V100Pcie | Self::T4 | Self::A40 | Self::Rtx4090)
    }

    /// Behind a Grace CPU.
    pub fn grace(self) -> bool {
        matches!(self, Self::Gh200 | Self::Gb200)
    }

    /// As nvidia-smi names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::V100 => "Tesla V100-SXM2-32GB",
            Self::V100Pcie => "Tesla V100-PCIE-16GB",
            Self::T4 => "Tesla T4",
            Self::A100 => "NVIDIA A100-SXM4-80GB",
            Self::A40 => "NVIDIA A40",
            Self::H100 => "NVIDIA H100 80GB HBM3",
            Self::Rtx4090 => "NVIDIA GeForce RTX 4090",
            Self::Gh200 => "NVIDIA GH200 480GB",
            Self::Gb200 => "NVIDIA GB200",
        }
    }
}

/// When a fault strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Moment {
    /// With the first messages.
    Start,
    /// After collectives have gone well.
    #[default]
    Run,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[allow(missing_docs)] // The variants are named as the scenarios write them; each fault's file says what it prints.
pub enum Fault {
    NoLibibverbs,
    NoDevice {
        node: Option<usize>,
    },
    FewerNics {
        node: usize,
        nics: usize,
    },
    PluginInitFailed {
        #[serde(default)]
        missing: bool,
    },
    NoInterface {
        node: usize,
    },
    WrongInterface {
        node: usize,
        ifname: String,
        address: String,
    },
    Connect {
        node: usize,
        errno: i32,
    },
    Accept {
        node: usize,
        errno: i32,
    },
    Completion {
        node: usize,
        #[serde(default)]
        gpu: usize,
        status: u32,
        #[serde(default)]
        vendor: u32,
        #[serde(default)]
        at: Moment,
        #[serde(default)]
        everywhere: bool,
    },
    ModifyQp {
        node: usize,
        errno: i32,
    },
    Verbs {
        node: usize,
        call: String,
        errno: i32,
    },
    PortEvent {
        node: usize,
        #[serde(default)]
        nic: usize,
    },
    P2pRefused,
    P2pDisabled,
    ContainersIsolated,
    ShmFull {
        node: usize,
    },
    Duplicate {
        node: usize,
    },
    Cuda {
        node: usize,
        #[serde(default)]
        gpu: usize,
        error: String,
        #[serde(default)]
        at: Moment,
    },
    NvlsBind {
        node: usize,
    },
    Imex {
        #[serde(default)]
        channel: bool,
    },
    VersionMismatch {
        node: usize,
        release: String,
    },
    PeerExited {
        node: usize,
        #[serde(default)]
        gpu: usize,
        #[serde(default)]
        shown: bool,
    },
    RemoteClosed {
        node: usize,
        #[serde(default)]
        gpu: usize,
    },
    Watchdog {
        #[serde(default)]
        behind: usize,
        #[serde(default)]
        op: String,
    },
    SizeMismatch {
        node: usize,
    },
    TopoFile {
        fits: Option<bool>,
    },
    SmallMtu,
    Kernel {
        node: usize,
        event: String,
    },
}

/// A benchmark's table beside the log.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bench {
    /// Bus bandwidth at the largest size, GB/s.
    pub busbw: f64,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Job {
    /// Nodes.
    pub nodes: usize,
    /// GPUs of a node, one rank each.
    pub gpus: usize,
    /// RDMA NICs of a node.
    pub nics: usize,
    /// `ib`, `roce` or `none`.
    pub fabric: String,
    /// The GPUs.
    pub gpu: Gpu,
    /// From a GPU to its NIC.
    pub distance: Distance,
    /// A peer-memory module is loaded.
    pub peermem: bool,
    /// The kernel, the driver and the NICs' driver can do DMA-BUF.
    pub dmabuf: bool,
    /// An external plugin: `none`, `IBext`, `OFI`.
    pub plugin: String,
    /// The interface of the bootstrap.
    pub ifname: String,
    /// Merge of two ports to one NIC.
    pub merged: bool,
    /// Environment of all ranks.
    pub env: BTreeMap<String, String>,
    /// What is wrong.
    pub fault: Vec<Fault>,
    /// A table of all_reduce_perf.
    pub bench: Option<Bench>,
}

impl Default for Job {
    fn default() -> Self {
        Self {
            nodes: 2,
            gpus: 8,
            nics: 8,
            fabric: "ib".into(),
            gpu: Gpu::H100,
            distance: Distance::PIX,
            peermem: true,
            dmabuf: false,
            plugin: "none".into(),
            ifname: "eth0".into(),
            merged: false,
            env: BTreeMap::new(),
            fault: Vec::new(),
            bench: None,
        }
    }
}
