//! The typed node, decoded from a [`Snapshot`]: every fact a [`Reading`], every reading with its place.
//!
//! Pure: nothing here touches the system. What a source does not hold is unreadable, never a default.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod acs_text;
pub mod aer;
pub mod amd;
pub mod burn;
pub mod cluster;
pub mod context;
pub mod counters;
pub mod cpu;
mod cut;
pub mod direct;
pub mod dmabuf;
pub mod efa;
pub mod firmware;
pub mod gpu;
pub mod gpudirect;
pub mod iommu;
pub mod jobs;
pub mod kernel;
pub mod memory;
pub mod modprobe;
pub mod nccl;
pub mod net;
pub mod net_text;
pub mod net_written;
pub mod nicfw;
pub mod numa;
pub mod p2p;
pub mod pci;
mod pci_decode;
mod pci_shown;
mod pci_sysfs;
pub mod peermem;
pub mod pods;
mod printed;
pub mod rails;
pub mod rdma;
mod rdma_card;
mod rdma_text;
pub mod requester;
pub mod roce;
pub mod sysctl;
pub mod transport;
pub mod units;
pub mod vms;

pub use cut::Cut;
pub use linerate_snapshot::{Place, Reading, Why};

use context::{Context, Role};
use linerate_formats::pci::caps::AcsBits;
use linerate_snapshot::Snapshot;
use pci::{Kind, PciFunction, PciTree};

/// A node. Borrows texts from its snapshot.
#[derive(Debug, Clone)]
pub struct Node<'s> {
    /// PCI functions and their tree.
    pub pci: PciTree<'s>,
    /// Controls of Access Control Services that a text shows without their ports, each with its line: evidence about the node, not about
    /// a port, and no list of all ports.
    pub acs_unnamed: Vec<(AcsBits, Place)>,
    /// IOMMU groups, units, firmware tables.
    pub iommu: iommu::Iommu,
    /// CPU.
    pub cpu: cpu::Cpu,
    /// Kernel.
    pub kernel: kernel::Kernel,
    /// GPUs as their driver reports them, and the driver.
    pub nvidia: gpu::Nvidia<'s>,
    /// AMD's GPUs as `rocm-smi` and `amd-smi` show them.
    pub amd: amd::Amd,
    /// Firmware settings of NICs.
    pub nic_firmware: Vec<nicfw::NicFirmware>,
    /// Queries of firmware settings that failed.
    pub nic_firmware_errors: Vec<nicfw::QueryError>,
    /// Ways to register GPU memory with the RDMA stack.
    pub peermem: peermem::Peermem,
    /// NUMA nodes.
    pub numa: Reading<Vec<numa::NumaNode>>,
    /// DMI, lockdown.
    pub firmware: firmware::Firmware,
    /// RDMA devices.
    pub rdma: Reading<Vec<rdma::RdmaDevice>>,
    /// What texts say of RDMA devices that they do not show.
    pub rdma_unshown: rdma::Unshown,
    /// Network interfaces.
    pub net: Reading<Vec<net::NetDev<'s>>>,
    /// Interfaces as texts of tools show them: no list of all, so nothing is absent from it.
    pub net_shown: Vec<net_text::NetShown>,
    /// Interfaces as files of netplan and NetworkManager write them, where the source holds such files as texts.
    pub net_written: Vec<net_written::NetWritten>,
    /// What EFA needs besides its driver.
    pub efa: efa::Efa,
    /// What NCCL is configured with about the topology.
    pub nccl: nccl::Nccl<'s>,
    /// Limits.
    pub memory: memory::Memory,
    /// Settings of the sysctl tree.
    pub sysctls: linerate_snapshot::Reading<Vec<sysctl::Sysctl>>,
    /// Each GPU with its nearest NICs.
    pub rails: Vec<rails::Rail>,
    /// What schedulers claim of it.
    pub cluster: cluster::Cluster,
    /// Pods of Kubernetes, and services of compose files, that the source holds.
    pub pods: Vec<pods::PodAt>,
    /// Runs of gpu-burn that the source holds.
    pub burns: Vec<burn::RunAt>,
    /// Batch scripts of Slurm that the source holds.
    pub jobs: Vec<jobs::ScriptAt>,
    /// Units of systemd that the source holds as texts.
    pub units: Vec<units::UnitAt>,
    /// Virtual machines: a host's, or what a guest was started with.
    pub vms: vms::Vms,
    /// What kind of node this is.
    pub context: Context,
    /// Parts of texts that were not read because a limit was reached.
    pub cuts: Vec<Cut>,
    /// What grew since an earlier reading of this node. `None`: there is one reading.
    pub growth: Option<counters::Growth>,
}

impl<'s> Node<'s> {
    /// Decodes a snapshot.
    #[must_use]
    pub fn decode(s: &'s Snapshot) -> Self {
        Self::decode_as(s, None)
    }

    /// Decodes a snapshot of a node whose role the user gave.
    #[must_use]
    pub fn decode_as(s: &'s Snapshot, told: Option<Role>) -> Self {
        let mut cuts = Vec::new();
        let mut rdma = rdma::decode(s, &mut cuts);
        let pci = pci_decode::tree(s, &rdma, &mut cuts);
        if let Reading::Known(devices, _) = &mut rdma {
            transport::purposes(devices, &pci);
        }
        let cpu = cpu::Cpu::decode(s);
        let numa = numa::decode(s, &cpu);
        let (nic_firmware, nic_firmware_errors) = nicfw::decode(s, &mut cuts);
        let kernel = kernel::Kernel::decode(s);
        let net_shown = net_text::decode(s, &mut cuts);
        let mut net = net::decode(s);
        net_text::fill(&mut net, &net_shown);
        let acs_unnamed = acs_text::decode(s, &mut cuts);
        let mut node = Node {
            pci,
            acs_unnamed,
            iommu: iommu::Iommu::decode(s),
            cpu,
            firmware: firmware::Firmware::decode(s, &kernel),
            kernel,
            nvidia: gpu::Nvidia::decode(s, &mut cuts),
            amd: amd::Amd::decode(s, &mut cuts),
            nic_firmware,
            nic_firmware_errors,
            peermem: peermem::Peermem::decode(s),
            numa,
            rdma,
            rdma_unshown: rdma_text::unshown(s),
            net,
            net_shown,
            net_written: net_written::decode(s, &mut cuts),
            efa: efa::Efa::decode(s),
            nccl: nccl::Nccl::decode(s),
            memory: memory::Memory::decode(s),
            sysctls: sysctl::decode(s),
            rails: Vec::new(),
            cluster: cluster::Cluster::decode(s, &mut cuts),
            pods: pods::decode(s, &mut cuts),
            burns: burn::decode(s, &mut cuts),
            jobs: jobs::decode(s, &mut cuts),
            units: units::decode(s, &mut cuts),
            vms: vms::decode(s),
            context: Context::undecided(),
            cuts,
            growth: None,
        };
        cut::lists(s, &mut node.cuts);
        node.rails = rails::rails(&node.pci);
        if !node.vms.read.is_empty() && !context::is_guest(&node, told) {
            vms::mark(&mut node.pci, &node.vms.read, told == Some(Role::VmHost));
        }
        node.context = Context::of(&node, told);
        node
    }

    /// GPUs that NCCL can use here, in NVML's order: those that the driver reports, which in a container may be a part of the machine's; where
    /// it was not asked or did not answer, those of the PCI tree that answer, by address.
    #[must_use]
    pub fn nccl_gpus(&self) -> Vec<linerate_formats::pci::Bdf> {
        if self.nvidia.gpus.is_empty() {
            return self.pci.nvidia_gpus().filter(|(_, f)| f.silent.is_none()).map(|(_, f)| f.bdf).collect();
        }
        self.nvidia.gpus.iter().map(|g| g.bdf).collect()
    }

    /// RDMA device that a PCI function is.
    #[must_use]
    pub fn rdma_of(&self, f: &PciFunction<'_>) -> Option<&rdma::RdmaDevice> {
        self.rdma.known()?.iter().find(|d| d.pci == Some(f.bdf))
    }

    /// The closest rail on which a PCI function is among the nearest NICs.
    #[must_use]
    pub fn rail_of(&self, f: &PciFunction<'_>) -> Option<&rails::Rail> {
        let id = self.pci.find(f.bdf)?;
        self.rails.iter().filter(|r| r.nics.contains(&id)).min_by_key(|r| (r.distance, r.bridges))
    }

    /// Whether two NUMA nodes are of one socket; `None` where that is not seen. NCCL's `SYS` means another NUMA node, no more.
    #[must_use]
    pub fn same_socket(&self, a: i32, b: i32) -> Option<bool> {
        let nodes = self.numa.known().map(Vec::as_slice).unwrap_or_default();
        numa::same_socket(nodes, self.cpu.sockets.known().copied(), a, b)
    }

    /// A short name for people: what it is, and which.
    #[must_use]
    pub fn name_of(&self, f: &PciFunction<'_>) -> String {
        let what = match f.kind {
            Kind::Gpu => "GPU",
            Kind::AmdGpu => "AMD GPU",
            Kind::Accelerator => "accelerator",
            Kind::NvlinkBridge => "NVLink management function",
            Kind::PerhapsNvlinkBridge => "NIC or NVLink management function",
            Kind::NvSwitch => "NVSwitch",
            Kind::RdmaNic => "RDMA NIC",
            Kind::Nic => "NIC",
            Kind::DataDirect => "Data Direct function",
            Kind::Bridge => "bridge",
            Kind::Nvme => "NVMe",
            Kind::Other | Kind::Unknown => "",
        };
        let name = match self.rdma_of(f) {
            Some(d) => d.name.clone(),
            None => f.name.clone(),
        };
        match (what.is_empty(), name.is_empty()) {
            (false, false) => format!("{what} {name}"),
            (false, true) => what.to_owned(),
            (true, false) => name,
            (true, true) => match (f.vendor.known(), f.device.known()) {
                (Some(v), Some(d)) => format!("{v:04x}:{d:04x}"),
                _ => "device".to_owned(),
            },
        }
    }
}
