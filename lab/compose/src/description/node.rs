//! `[node]` and `[layout]`.

use serde::Deserialize;
use std::collections::BTreeMap;

/// Processor family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cpu {
    /// Intel Xeon 4th generation.
    #[default]
    IntelSapphireRapids,
    /// Intel Xeon E5 v4, as in older V100 machines.
    IntelBroadwell,
    /// Intel Xeon Scalable, 1st and 2nd generation.
    IntelCascadeLake,
    /// Intel Xeon Scalable, 3rd generation.
    IntelIceLake,
    /// AMD EPYC 7002.
    AmdRome,
    /// AMD EPYC 7003; Threadripper Pro 5000 has the same I/O die.
    AmdMilan,
    /// AMD EPYC 9004.
    AmdGenoa,
    /// AMD EPYC 9005.
    AmdTurin,
    /// NVIDIA Grace.
    Grace,
    /// Ampere Altra.
    AmpereAltra,
    /// NVIDIA GB10: Arm Cortex-X925 and -A725.
    Gb10,
}

impl Cpu {
    /// Of AMD.
    #[must_use]
    pub fn is_amd(self) -> bool {
        matches!(self, Cpu::AmdRome | Cpu::AmdMilan | Cpu::AmdGenoa | Cpu::AmdTurin)
    }

    /// Of the Arm architecture.
    #[must_use]
    pub fn is_arm(self) -> bool {
        matches!(self, Cpu::Grace | Cpu::Gb10 | Cpu::AmpereAltra)
    }
}

/// Whose virtual machine a guest is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hypervisor {
    /// QEMU with KVM: q35 with expander buses.
    #[default]
    Qemu,
    /// AWS Nitro: root buses that carry devices, bridges 1d0f:0200.
    Nitro,
    /// Hyper-V: every device is a PCI domain of its own, without ports.
    HyperV,
}

/// What the kernel runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Its own hardware.
    #[default]
    Bare,
    /// A QEMU guest.
    Guest,
    /// Its own hardware; GPUs and RDMA NICs are bound to vfio-pci.
    Host,
}

/// What the IOMMU does for devices of host drivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Iommu {
    /// Identity domains: `iommu=pt`.
    #[default]
    Identity,
    /// The firmware offers it, the kernel does not use it.
    Off,
    /// Translated, invalidation at once.
    Dma,
    /// Translated, invalidation from a queue.
    DmaFq,
    /// The firmware offers none.
    NoFirmwareTable,
}

/// How functions fall into IOMMU groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IommuGroups {
    /// One each: ports isolated when the kernel enumerated them (ACS may have been cleared since).
    #[default]
    PerFunction,
    /// One for everything below a root port: ACS was off at enumeration.
    PerRootPort,
}

/// `[node]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Node {
    /// Host name; made from the seed when left out.
    pub host: Option<String>,
    /// Serial numbers, GUIDs, addresses and the host name follow from it.
    pub seed: u64,
    /// Processor family.
    pub cpu: Cpu,
    /// Processor packages.
    pub sockets: u32,
    /// Cores of one package.
    pub cores_per_socket: u32,
    /// Hardware threads of one core.
    pub threads_per_core: u32,
    /// NUMA nodes of one package (NPS, SNC).
    pub numa_per_socket: u32,
    /// Memory of the whole node, GiB.
    pub memory_gib: u64,
    /// `uname -r`.
    pub kernel: String,
    /// `/proc/cmdline`; made from `iommu` when left out.
    pub cmdline: Option<String>,
    /// As `/proc/cpuinfo` names the processor; by family when left out.
    pub cpu_name: Option<String>,
    /// What the kernel runs on.
    pub role: Role,
    /// Whose virtual machine a guest is.
    pub hypervisor: Hypervisor,
    /// What the IOMMU does.
    pub iommu: Iommu,
    /// How functions fall into groups.
    pub iommu_groups: IommuGroups,
    /// `ubuntu-24.04`, `ubuntu-22.04`, `rhel-9`, `rocky-9`, `debian-12`, `rhcos-4`, `talos-1`.
    pub os: String,
    /// System vendor and product; by role when left out.
    pub dmi: Option<[String; 2]>,
    /// `performance`, `powersave`, …; `none` for no cpufreq at all. By role when left out.
    pub governor: Option<String>,
    /// "Max locked memory" of the capturing process: `unlimited` or bytes.
    pub memlock: String,
    /// `/sys/kernel/security/lockdown`: `none`, `integrity`, `confidentiality`.
    pub lockdown: String,
    /// `inbox` or the version of MLNX_OFED/DOCA-OFED: then the peer-memory interface exists.
    pub ofed: String,
    /// `CONFIG_…` lines of the kernel's configuration, added to the usual ones.
    pub kernel_config: BTreeMap<String, String>,
}

impl Default for Node {
    fn default() -> Self {
        Node {
            host: None,
            seed: 1,
            cpu: Cpu::default(),
            sockets: 2,
            cores_per_socket: 52,
            threads_per_core: 2,
            numa_per_socket: 1,
            memory_gib: 2048,
            kernel: "6.8.0-60-generic".into(),
            cmdline: None,
            cpu_name: None,
            role: Role::default(),
            hypervisor: Hypervisor::default(),
            iommu: Iommu::default(),
            iommu_groups: IommuGroups::default(),
            os: "ubuntu-24.04".into(),
            dmi: None,
            governor: None,
            memlock: "unlimited".into(),
            lockdown: "none".into(),
            ofed: "inbox".into(),
            kernel_config: BTreeMap::new(),
        }
    }
}

/// Which PCIe switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Switch {
    /// Broadcom PEX890xx, Gen5.
    #[default]
    Pex890xx,
    /// Broadcom PEX880xx, Gen4.
    Pex880xx,
    /// Texas Instruments XIO3130 as QEMU emulates it.
    Xio3130,
    /// The switch inside a ConnectX-8.
    ConnectX,
    /// AWS' bridges in a guest.
    Nitro,
}

/// How GPUs and NICs hang together where it is not "below one switch".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Complex {
    /// Below switches, or `switchless`.
    #[default]
    None,
    /// ConnectX-8 Data Direct: the NIC below a root port of its own, its DMA function and the GPU below another:
    /// root port, upstream port, { port, DMA function }, { port, upstream port, port, GPU }.
    DataDirect,
    /// ConnectX-8 as a switch: root port, upstream port, { port, NIC }, { port, upstream port, port, GPU }.
    Inline,
    /// On root buses, without any bridge, as some hypervisors show them.
    RootBus,
}

/// GPU model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)] // the product's own names
pub enum Gpus {
    #[default]
    H100Sxm,
    H200Sxm,
    A100Sxm,
    A100Pcie,
    H100Pcie,
    L40s,
    #[serde(rename = "rtx-6000-ada")]
    Rtx6000Ada,
    V100Pcie,
    T4,
    B200,
    B300,
    Gb200,
    Gb300,
    Gh200,
    Gb10,
    Mi300x,
    Gaudi3,
    None,
}

impl Gpus {
    /// Its CPU is reached over C2C.
    #[must_use]
    pub fn has_c2c(self) -> bool {
        matches!(self, Gpus::Gb200 | Gpus::Gb300 | Gpus::Gh200)
    }

    /// NVLink switches that are managed through ConnectX-7 functions or from elsewhere: none is a PCI device of the node.
    #[must_use]
    pub fn hides_nvswitches(self) -> bool {
        matches!(self, Gpus::B200 | Gpus::B300 | Gpus::Gb200 | Gpus::Gb300 | Gpus::Gh200)
    }
}

/// NIC model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Deserialize)]
pub enum Nics {
    /// 400 Gb/s, InfiniBand.
    #[default]
    #[serde(rename = "connectx-7-400g-ib")]
    ConnectX7Ib,
    /// 400 Gb/s, Ethernet.
    #[serde(rename = "connectx-7-roce")]
    ConnectX7Roce,
    /// 2 × 200 Gb/s, Ethernet, two functions.
    #[serde(rename = "connectx-7-2x200g-roce")]
    ConnectX7Dual,
    /// 200 Gb/s, InfiniBand.
    #[serde(rename = "connectx-6-hdr-ib")]
    ConnectX6Ib,
    /// 200 Gb/s, Ethernet.
    #[serde(rename = "connectx-6-roce")]
    ConnectX6Roce,
    /// 2 × 200 Gb/s, Ethernet, two functions.
    #[serde(rename = "connectx-6-2x200g-roce")]
    ConnectX6Dual,
    /// 100 Gb/s, InfiniBand.
    #[serde(rename = "connectx-6-hdr100-ib")]
    ConnectX6Hdr100,
    /// 2 × 100 Gb/s, Ethernet, two functions.
    #[serde(rename = "connectx-6dx")]
    ConnectX6Dx,
    /// 100 Gb/s, Ethernet.
    #[serde(rename = "connectx-5-roce")]
    ConnectX5Roce,
    /// 2 × 25 Gb/s, Ethernet, two functions.
    #[serde(rename = "connectx-4lx")]
    ConnectX4Lx,
    /// Broadcom BCM57508, 2 × 100 Gb/s, Ethernet, two functions.
    #[serde(rename = "bcm57508")]
    Bcm57508,
    /// A virtual function of ConnectX-6 as a guest sees it: 200 Gb/s, InfiniBand.
    #[serde(rename = "connectx-6-vf-ib")]
    ConnectX6VfIb,
    /// A virtual function of ConnectX-7 as a guest sees it: 400 Gb/s, InfiniBand.
    #[serde(rename = "connectx-7-vf-ib")]
    ConnectX7VfIb,
    /// A virtual function of ConnectX-5 as a guest sees it: accelerated Ethernet.
    #[serde(rename = "connectx-5-vf-eth")]
    ConnectX5VfEth,
    /// Google's virtual NIC: Ethernet without RDMA.
    #[serde(rename = "gvnic")]
    Gvnic,
    /// 2 × 40 Gb/s, Ethernet, one function.
    #[serde(rename = "connectx-3")]
    ConnectX3,
    /// 400 Gb/s, Ethernet.
    #[serde(rename = "bluefield-3")]
    BlueField3,
    /// 400 Gb/s, Ethernet, two functions: as a DPU, whose ports its own Arm cores own.
    #[serde(rename = "bluefield-3-dpu")]
    BlueField3Dpu,
    /// 800 Gb/s, InfiniBand.
    #[serde(rename = "connectx-8")]
    ConnectX8,
    /// 2 × 400 Gb/s, Ethernet, two functions.
    #[serde(rename = "connectx-8-roce")]
    ConnectX8Roce,
    /// Half of a card with two PCIe links of four lanes: 2 × 200 Gb/s, Ethernet, two functions.
    #[serde(rename = "connectx-7-x4")]
    ConnectX7x4,
    /// A ConnectX-7 function that manages NVLink switches (`layout.nvlink_bridges`).
    #[serde(rename = "nvlink-bridge")]
    NvlinkBridge,
    /// AWS EFA, 100 Gb/s, first generation (p4d).
    #[serde(rename = "efa")]
    Efa,
    /// AWS EFA, 100 Gb/s, second generation (p5).
    #[serde(rename = "efa-2")]
    Efa2,
    /// AWS EFA, 200 Gb/s, third generation (p5en).
    #[serde(rename = "efa-3")]
    Efa3,
    /// Broadcom BCM57608, 400 Gb/s, Ethernet.
    #[serde(rename = "bnxt")]
    Bnxt,
    /// Intel E810, 100 Gb/s, Ethernet.
    #[serde(rename = "irdma")]
    Irdma,
    /// No NIC.
    #[serde(rename = "none")]
    None,
}

/// Link layer of an RDMA port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Fabric {
    /// `InfiniBand`.
    InfiniBand,
    /// `Ethernet`: RoCE.
    Ethernet,
    /// Neither: EFA. The kernel prints `Unknown`, libibverbs `Unspecified`.
    Unspecified,
}

/// `[[layout.group]]`: cards that stand together, where not all sockets are alike.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Group {
    /// Processor package.
    pub socket: u32,
    /// Which root bus of the socket; the next free one when left out.
    pub root: Option<u32>,
    /// No switch: every card has a root port of its own.
    pub switchless: bool,
    /// Switches between the root port and a card: 1, or 2 with one of its own for each card.
    pub tiers: Option<u32>,
    /// GPUs.
    pub gpus: u32,
    /// NICs.
    pub nics: u32,
    /// Their model, where it is not the layout's.
    pub nic: Option<Nics>,
}

/// `[layout]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Layout {
    /// PCIe switches below one socket.
    pub switches_per_socket: u32,
    /// GPUs below one switch.
    pub gpus_per_switch: u32,
    /// NICs below one switch.
    pub nics_per_switch: u32,
    /// No switches: every GPU and NIC has a root port of its own. The counts stay.
    pub switchless: bool,
    /// In place of the counts for each switch: groups one by one.
    pub group: Vec<Group>,
    /// How GPUs and NICs hang together where it is not below one switch. The counts stay.
    pub complex: Complex,
    /// Which switches.
    pub switch: Switch,
    /// GPU model.
    pub gpu: Gpus,
    /// NIC model.
    pub nic: Nics,
    /// NVSwitches, behind a switch of their own on the last socket.
    pub nvswitches: u32,
    /// ConnectX-7 functions that manage NVLink switches, four to a card, below switches of their own on the last socket.
    pub nvlink_bridges: u32,
    /// NVMe disks, spread over the sockets.
    pub nvme: u32,
    /// Cards for storage and services, one root port each.
    pub frontend: u32,
    /// Their model; ConnectX-6 Dx when left out.
    pub frontend_nic: Option<Nics>,
    /// The root complex's own functions, the platform controller, the management network.
    pub clutter: bool,
}

impl Default for Layout {
    fn default() -> Self {
        Layout {
            switches_per_socket: 2,
            gpus_per_switch: 2,
            nics_per_switch: 2,
            switchless: false,
            group: Vec::new(),
            complex: Complex::default(),
            switch: Switch::default(),
            gpu: Gpus::default(),
            nic: Nics::default(),
            nvswitches: 4,
            nvlink_bridges: 0,
            nvme: 8,
            frontend: 0,
            frontend_nic: None,
            clutter: true,
        }
    }
}
