//! `[pci.…]`, `[rdma.…]`, `[net.…]`.

use super::{Fabric, Scalar};
use serde::Deserialize;
use std::collections::BTreeMap;

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
    /// DevCtl2 bit 5 of a port; on where a card with virtual functions is below it.
    pub ari_forwarding: Option<bool>,
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

/// `[bond.bond0]`: where both ports of one card are its members, the card has one RDMA device (RoCE LAG).
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bond {
    /// As `bonding/mode` shows it: `802.3ad 4`.
    pub mode: String,
    /// Interfaces.
    pub members: Vec<String>,
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
