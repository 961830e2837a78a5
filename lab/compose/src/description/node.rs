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
    /// AMD EPYC 9004.
    AmdGenoa,
    /// AMD EPYC 9005.
    AmdTurin,
    /// NVIDIA Grace.
    Grace,
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
    /// What the kernel runs on.
    pub role: Role,
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
            role: Role::default(),
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
    H100Pcie,
    L40s,
    V100Pcie,
    T4,
    None,
}

/// NIC model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub enum Nics {
    /// 400 Gb/s, InfiniBand.
    #[default]
    #[serde(rename = "connectx-7-400g-ib")]
    ConnectX7Ib,
    /// 400 Gb/s, Ethernet.
    #[serde(rename = "connectx-7-roce")]
    ConnectX7Roce,
    /// 2 × 100 Gb/s, Ethernet, two functions.
    #[serde(rename = "connectx-6dx")]
    ConnectX6Dx,
    /// 2 × 40 Gb/s, Ethernet, one function.
    #[serde(rename = "connectx-3")]
    ConnectX3,
    /// 400 Gb/s, Ethernet.
    #[serde(rename = "bluefield-3")]
    BlueField3,
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
    /// Which switches.
    pub switch: Switch,
    /// GPU model.
    pub gpu: Gpus,
    /// NIC model.
    pub nic: Nics,
    /// NVSwitches, behind a switch of their own on the last socket.
    pub nvswitches: u32,
    /// NVMe disks, spread over the sockets.
    pub nvme: u32,
    /// ConnectX-6 Dx for storage and services, one root port each.
    pub frontend: u32,
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
            switch: Switch::default(),
            gpu: Gpus::default(),
            nic: Nics::default(),
            nvswitches: 4,
            nvme: 8,
            frontend: 0,
            clutter: true,
        }
    }
}
