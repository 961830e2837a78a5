//! Facts that a source does not show, and which conclusions depend on them.
//!
//! Without them the analysis goes on with [`crate::Assumptions`], because NCCL's arithmetic needs a number. Who shows a conclusion asks here
//! first what it hangs on, and says so at that place, or does not conclude.

use crate::analysis::Analysis;
use crate::gdr::{Gdr, GdrDecision, GdrReason};
use crate::local::LocalNets;
use crate::path::PathType;
use crate::search::Search;
use crate::system::{NodeId, NodeKind};

/// A fact that the source does not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Open {
    /// What the topology file says with which NCCL begins: it goes before the node's own PCI tree.
    TopologyFile,
    /// Whether GPUs have NVLink between them.
    Nvlink,
    /// How many NVLinks each GPU has; that there are some is known.
    NvlinkCount,
    /// Whether a GPU has a C2C link to its CPU.
    C2c,
    /// Which NICs have an active port.
    NicPorts,
    /// Speed of NICs.
    NicSpeed,
    /// Whether the drivers of GPU and NIC do GPUDirect RDMA.
    Gdr,
    /// Compute capability of GPUs.
    GpuSm,
    /// Vendor and model of the CPU.
    Cpu,
    /// NUMA nodes of devices.
    Numa,
    /// What lies between devices and the root complex.
    Place,
}

impl Open {
    /// What is not in the input, as a noun.
    #[must_use]
    pub fn what(self) -> &'static str {
        match self {
            Open::TopologyFile => "the topology file with which NCCL begins here (NCCL_TOPO_FILE)",
            Open::Nvlink => "whether the GPUs have NVLink",
            Open::NvlinkCount => "the number of NVLinks of each GPU",
            Open::C2c => "whether the GPUs have C2C links to the CPU",
            Open::NicPorts => "which NICs have an active port",
            Open::NicSpeed => "the speed of the NICs",
            Open::Gdr => "whether the drivers of GPU and NIC do GPUDirect RDMA",
            Open::GpuSm => "the compute capability of the GPUs",
            Open::Cpu => "vendor and model of the CPU",
            Open::Numa => "the NUMA node of some device",
            Open::Place => "the PCIe path of some device",
        }
    }

    /// The same in a word or two, for a place that many hang on.
    #[must_use]
    pub fn short(self) -> &'static str {
        match self {
            Open::TopologyFile => "NCCL's topology file",
            Open::Nvlink => "NVLink",
            Open::NvlinkCount => "the number of NVLinks",
            Open::C2c => "C2C",
            Open::NicPorts => "active ports",
            Open::NicSpeed => "NIC speeds",
            Open::Gdr => "drivers for GPUDirect RDMA",
            Open::GpuSm => "compute capability",
            Open::Cpu => "the CPU",
            Open::Numa => "NUMA nodes",
            Open::Place => "PCIe paths",
        }
    }

    /// What shows it.
    #[must_use]
    pub fn see(self) -> &'static str {
        match self {
            Open::TopologyFile => "give the file itself: `linerate topo FILE.xml`, or a capture of the node with it",
            Open::Nvlink | Open::NvlinkCount => "add `nvidia-smi topo -m`, or give --assume-nvlinks N (0: none)",
            Open::C2c => "add `nvidia-smi -q`",
            Open::NicPorts => "add `ibstat` or `ibv_devinfo`, or give --assume-nic-gbps N",
            Open::NicSpeed => "add `ibstat`, or give --assume-nic-gbps N",
            Open::Gdr => "add `lsmod`, `uname -r` and `cat /proc/driver/nvidia/version`",
            Open::GpuSm => "add `nvidia-smi -q`, or give --assume-sm N",
            Open::Cpu => "add `lscpu` or /proc/cpuinfo",
            Open::Numa => "add `lspci -vvv` as root, or a capture",
            Open::Place => "add `lspci -vvv` of the whole machine",
        }
    }
}

/// What the driver stack lacks for GPUDirect RDMA, where a node shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lack {
    /// No peer-memory module, and the proprietary GPU driver exports no DMA-BUF.
    ProprietaryDriver,
    /// No peer-memory module, and a kernel older than the NIC driver's DMA-BUF registration, or built without it.
    Kernel,
    /// No peer-memory module, and this NIC's driver has no DMA-BUF registration.
    NicDriver,
}

impl Lack {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Lack::ProprietaryDriver => {
                "no peer-memory module is loaded, and the proprietary GPU driver exports no DMA-BUF"
            }
            Lack::Kernel => {
                "no peer-memory module is loaded, and this kernel (its release or its options) has no DMA-BUF support for the NIC driver"
            }
            Lack::NicDriver => "no peer-memory module is loaded, and the driver of this NIC cannot register DMA-BUF",
        }
    }
}

fn tidy(mut open: Vec<Open>) -> Vec<Open> {
    open.sort_unstable();
    open.dedup();
    open
}

/// What is not in the input, as a list of nouns.
#[must_use]
pub fn words(open: &[Open]) -> String {
    let mut list: Vec<&str> = open.iter().map(|o| o.what()).collect();
    list.dedup();
    match list.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [many @ .., last] => format!("{} and {last}", many.join(", ")),
    }
}

impl Analysis {
    fn among(&self, list: &[Open]) -> Vec<Open> {
        // The file may say anything of NUMA nodes, PCIe, links and NICs.
        let file = std::iter::once(Open::TopologyFile);
        file.chain(list.iter().copied()).filter(|o| self.open.contains(o)).collect()
    }

    fn is(&self, id: NodeId, kind: NodeKind) -> bool {
        self.system.node(id).is_some_and(|n| n.kind == kind)
    }

    /// What the type of a path hangs on. Below PCIe switches it is what the tree shows; farther apart, NVLink or C2C may be nearer.
    #[must_use]
    pub fn open_for_type(&self, from: NodeId, to: NodeId) -> Vec<Open> {
        let Some(raw) = self.raw.get(from, to) else { return Vec::new() };
        let gpus = self.is(from, NodeKind::Gpu) && self.is(to, NodeKind::Gpu);
        match raw.kind {
            _ if from == to => Vec::new(),
            PathType::Nvl | PathType::Nvb | PathType::Pix | PathType::Pxb if gpus => self.among(&[Open::Nvlink]),
            _ if gpus => self.among(&[Open::Nvlink, Open::Numa, Open::Place]),
            PathType::Loc | PathType::Nvl | PathType::Nvb | PathType::C2c | PathType::Pix | PathType::Pxb => {
                self.among(&[])
            }
            // NCCL goes through another GPU (PXN) where that is faster to this NIC.
            _ => self.among(&[Open::Nvlink, Open::NvlinkCount, Open::C2c, Open::NicSpeed, Open::Numa, Open::Place]),
        }
    }

    /// What the bandwidth of a path hangs on.
    #[must_use]
    pub fn open_for_bandwidth(&self, from: NodeId, to: NodeId) -> Vec<Open> {
        let mut out = self.open_for_type(from, to);
        let Some(path) = self.paths.get(from, to).filter(|_| from != to) else { return out };
        if self.is(from, NodeKind::Net) || self.is(to, NodeKind::Net) {
            out.extend(self.among(&[Open::NicSpeed, Open::Gdr]));
        }
        if matches!(path.kind, PathType::Nvl | PathType::Nvb | PathType::Pxn) {
            out.extend(self.among(&[Open::NvlinkCount]));
        }
        if path.kind >= PathType::Phb {
            out.extend(self.among(&[Open::Cpu]));
        }
        tidy(out)
    }

    /// What a decision about GPUDirect RDMA hangs on.
    #[must_use]
    pub fn open_for_gdr(&self, g: &Gdr) -> Vec<Open> {
        let far = |d: &GdrDecision| matches!(d.reason, GdrReason::TooFar { .. });
        let near = self.open_for_type(g.gpu, g.net);
        // What is too far apart is so whatever the drivers can do.
        if far(&g.send) && far(&g.recv) {
            return near;
        }
        let mut out = self.among(&[Open::Gdr]);
        out.extend(near);
        tidy(out)
    }

    /// What the choice of a rank's NICs hangs on: NCCL takes the fastest, and the nearest of those; how many of several that are alike follows
    /// from what GPUs have between them.
    #[must_use]
    pub fn open_for_local(&self, l: &LocalNets) -> Vec<Open> {
        let mut out = self.among(&[Open::NicPorts, Open::NicSpeed, Open::Gdr]);
        if self.system.of(NodeKind::Gpu).len() > 1 {
            out.extend(self.among(&[Open::Nvlink, Open::NvlinkCount]));
        }
        if l.kind > PathType::Pxb {
            out.extend(self.among(&[Open::C2c, Open::Numa, Open::Place]));
        }
        tidy(out)
    }

    /// What rings and trees hang on.
    #[must_use]
    pub fn open_for_search(&self, s: &Search) -> Vec<Open> {
        let mut out = if self.system.of(NodeKind::Gpu).len() > 1 {
            self.among(&[Open::Nvlink, Open::NvlinkCount, Open::C2c])
        } else {
            self.among(&[])
        };
        if s.inter {
            out.extend(self.among(&[Open::NicPorts, Open::NicSpeed, Open::Gdr]));
        }
        if s.ring.type_intra >= PathType::Phb || s.inter && s.ring.type_inter >= PathType::Phb {
            out.extend(self.among(&[Open::Cpu, Open::Numa, Open::Place]));
        }
        tidy(out)
    }

    /// What ceilings of the node hang on.
    #[must_use]
    pub fn open_for_ceilings(&self, inter: bool) -> Vec<Open> {
        let mut out = self.among(&[Open::Nvlink, Open::NvlinkCount, Open::C2c]);
        if inter {
            out.extend(self.among(&[Open::NicPorts, Open::NicSpeed]));
        }
        tidy(out)
    }
}
