//! The format of descriptions. Every field may be left out; `lab/nodes/README.md` tells it with examples.

use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// A node, described.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Description {
    /// One line for people.
    pub title: String,
    /// Another description, by name (`healthy-8gpu`) or relative path, that this one patches.
    pub base: Option<String>,
    /// The machine without its PCI devices.
    pub node: Node,
    /// Which PCI devices there are, and how they hang together.
    pub layout: Layout,
    /// Patches of PCI functions by BDF, by symbolic name, or by a pattern of either (`switch*.down*`).
    pub pci: BTreeMap<String, PciPatch>,
    /// Patches of RDMA devices by name or pattern.
    pub rdma: BTreeMap<String, RdmaPatch>,
    /// Patches of network interfaces by name or pattern.
    pub net: BTreeMap<String, NetPatch>,
    /// The NVIDIA driver and what its tools print.
    #[serde(alias = "gpu")]
    pub nvidia: Nvidia,
    /// Kernel modules.
    pub modules: Modules,
    /// NIC firmware settings by NIC name (or pattern), then by setting.
    pub mlxconfig: BTreeMap<String, BTreeMap<String, Setting>>,
    /// The kernel log.
    pub dmesg: Dmesg,
    /// Raw files, made last: path (no leading slash) to content.
    pub files: BTreeMap<String, String>,
    /// Patterns of paths that are not there.
    pub remove: Vec<String>,
    /// Patterns of files that exist but cannot be read (EACCES).
    pub denied: Vec<String>,
    /// What the rules must say of this node. Not inherited.
    pub expect: Vec<Expect>,
}

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

/// Address Translation Services of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ats {
    /// No capability.
    Absent,
    /// Capability, not enabled.
    Disabled,
    /// Enabled.
    Enabled,
}

/// AER counters by the names the kernel prints (`RxErr`, `BadTLP`, `DLP`, …).
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Aer {
    /// `aer_dev_correctable`.
    pub correctable: BTreeMap<String, u64>,
    /// `aer_dev_nonfatal`.
    pub nonfatal: BTreeMap<String, u64>,
    /// `aer_dev_fatal`.
    pub fatal: BTreeMap<String, u64>,
}

/// `[pci."0000:1a:00.0"]`, `[pci.gpu0]`, `[pci."switch*.down*"]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PciPatch {
    /// Speed the link runs at: `32`, `32.0 GT/s PCIe`. Both ends of the link follow.
    pub link_speed: Option<Scalar>,
    /// Lanes the link runs with. Both ends of the link follow.
    pub link_width: Option<u8>,
    /// Fastest speed of this end.
    pub max_link_speed: Option<Scalar>,
    /// Lanes of this end.
    pub max_link_width: Option<u8>,
    /// `numa_node`.
    pub numa_node: Option<i32>,
    /// Driver, or `none`.
    pub driver: Option<String>,
    /// ACS control register; gives the function the capability when it has none.
    pub acs_ctl: Option<u16>,
    /// ACS capability register.
    pub acs_cap: Option<u16>,
    /// `true`: no ACS capability.
    pub acs_absent: bool,
    /// Address Translation Services.
    pub ats: Option<Ats>,
    /// Max payload in use, bytes.
    pub mps: Option<u16>,
    /// Max payload supported, bytes.
    pub mps_supported: Option<u16>,
    /// Max read request, bytes.
    pub mrrs: Option<u16>,
    /// DevCtl bit 4.
    pub relaxed_ordering: Option<bool>,
    /// DevCtl bit 8.
    pub ext_tag: Option<bool>,
    /// DevCtl2 bit 12.
    pub ten_bit_tag: Option<bool>,
    /// DevCtl bit 11.
    pub no_snoop: Option<bool>,
    /// `off`, `l0s`, `l1`, `l0s-l1`.
    pub aspm: Option<String>,
    /// Error counters.
    pub aer: Option<Aer>,
    /// Size of a GPU's BAR1: `256M`, `128G`, `0`.
    pub bar1: Option<String>,
    /// Bytes of configuration space that could be read: 64, 256, 4096.
    pub config_len: Option<u16>,
    /// No configuration space at all in the tree.
    pub no_config: bool,
    /// Virtual functions that exist.
    pub vfs: Option<u16>,
    /// Virtual functions at most.
    pub total_vfs: Option<u16>,
    /// IOMMU group number.
    pub iommu_group: Option<u32>,
    /// Device id, for products this crate does not know.
    pub device_id: Option<u16>,
    /// The function does not exist (fallen off the bus).
    pub gone: bool,
}

/// A GID of a port.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gid {
    /// Position in the table.
    pub index: u16,
    /// Eight groups of four digits.
    pub gid: String,
    /// `IB/RoCE v1` or `RoCE v2`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Network interface.
    #[serde(default)]
    pub ndev: Option<String>,
}

/// `[rdma.mlx5_0]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RdmaPatch {
    /// `4: ACTIVE`, or one of ACTIVE, DOWN, INIT, ARMED.
    pub state: Option<String>,
    /// `5: LinkUp`, or one of LinkUp, Disabled, Polling.
    pub phys_state: Option<String>,
    /// `400 Gb/sec (4X NDR)`.
    pub rate: Option<String>,
    /// Link layer.
    pub link_layer: Option<Fabric>,
    /// LID.
    pub lid: Option<u16>,
    /// Subnet manager's LID.
    pub sm_lid: Option<u16>,
    /// RDMA MTU, bytes.
    pub active_mtu: Option<u16>,
    /// Replaces the GID table.
    pub gids: Option<Vec<Gid>>,
    /// `counters/*`.
    pub counters: BTreeMap<String, u64>,
    /// `hw_counters/*`.
    pub hw_counters: BTreeMap<String, u64>,
    /// Firmware version.
    pub fw_ver: Option<String>,
    /// Board (PSID).
    pub board_id: Option<String>,
    /// Port that the patch is about; all when left out.
    pub port: Option<u8>,
}

/// `[net.eth0]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NetPatch {
    /// MTU.
    pub mtu: Option<u32>,
    /// Mb/s; -1 when down.
    pub speed: Option<i64>,
    /// `up`, `down`.
    pub operstate: Option<String>,
}

/// `[nvidia]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Nvidia {
    /// Driver version; empty for no driver.
    pub driver: String,
    /// Open kernel modules.
    pub open: bool,
    /// `/proc/driver/nvidia/params`, in place of or besides the usual ones (names without `NVreg_`).
    pub params: BTreeMap<String, Scalar>,
    /// GPU memory, MiB, in place of the model's.
    pub fb_mib: Option<u64>,
    /// BAR1 as `nvidia-smi` prints it, MiB, in place of the function's.
    pub bar1_mib: Option<u64>,
    /// Whether `nvidia-smi` could be run.
    pub smi: bool,
}

impl Default for Nvidia {
    fn default() -> Self {
        Nvidia {
            driver: "570.133.20".into(),
            open: true,
            params: BTreeMap::new(),
            fb_mib: None,
            bar1_mib: None,
            smi: true,
        }
    }
}

/// `[modules]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Modules {
    /// Loaded besides the usual ones.
    pub add: Vec<String>,
    /// Not loaded.
    pub drop: Vec<String>,
    /// `/sys/module/M/version`.
    pub version: BTreeMap<String, String>,
    /// `/sys/module/M/parameters/P`.
    pub params: BTreeMap<String, BTreeMap<String, Scalar>>,
}

/// A firmware setting. What is left out keeps the model's value; `current` follows `default`, `next` follows `current`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Setting {
    /// Factory value.
    pub default: Option<Scalar>,
    /// Value in force.
    pub current: Option<Scalar>,
    /// Value after the next reset.
    pub next: Option<Scalar>,
    /// The firmware does not show it.
    pub hidden: bool,
}

/// `[dmesg]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dmesg {
    /// Lines after those of the boot.
    pub lines: Vec<String>,
}

/// What a rule must say.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// `area/slug`.
    pub rule: String,
    /// `pass`, `fail`, `unknown`, `not-applicable`.
    pub status: String,
    /// Subject: a BDF, a device name, or a symbolic name (resolved by [`Description::subject`]).
    #[serde(default)]
    pub subject: Option<String>,
    /// Severity.
    #[serde(default)]
    pub severity: Option<String>,
    /// Text that the message must hold.
    #[serde(default)]
    pub message_has: Option<String>,
}

/// A value that may be written as text, number or boolean, kept as text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scalar(pub String);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Any {
            Text(String),
            Integer(i64),
            Float(f64),
            Truth(bool),
        }
        Ok(Scalar(match Any::deserialize(d)? {
            Any::Text(t) => t,
            Any::Integer(n) => n.to_string(),
            Any::Float(n) => n.to_string(),
            Any::Truth(true) => "True(1)".into(),
            Any::Truth(false) => "False(0)".into(),
        }))
    }
}
