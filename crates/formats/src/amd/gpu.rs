//! What both tools show of one GPU, under their names.

use super::address;
use crate::pci::{Bdf, LinkSpeed, LinkWidth};
use crate::text::{At, leading_number, number};
use serde::Serialize;

/// A GPU. A field is `None` where the text does not show it; texts are as printed, and `N/A` is not a value.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Gpu {
    /// Number in the tool's list.
    pub number: u32,
    /// 1-based line at which it is first named.
    pub line: u32,
    /// Address.
    pub bdf: Option<At<Bdf>>,
    /// Product name: `AMD Instinct MI300X OAM`.
    pub name: Option<At<String>>,
    /// PCI device id.
    pub device_id: Option<At<u16>>,
    /// Version of the VBIOS.
    pub vbios: Option<At<String>>,
    /// Unique id of the GPU: a number of rocm-smi, a UUID of amd-smi. Redacted texts have a hash of it.
    pub unique_id: Option<At<String>>,
    /// Serial number of the board. Redacted texts have a hash of it.
    pub serial: Option<At<String>>,
    /// NUMA node that the kernel gives its PCI function.
    pub numa_affinity: Option<At<i32>>,
    /// `OAM`, `PCIE`, `CEM`.
    pub slot: Option<At<String>>,
    /// Lanes in use.
    pub width: Option<At<LinkWidth>>,
    /// Lanes that the PCI function has.
    pub max_width: Option<At<LinkWidth>>,
    /// Speed now: an idle GPU may lower it.
    pub speed: Option<At<LinkSpeed>>,
    /// Speed that the PCI function has.
    pub max_speed: Option<At<LinkSpeed>>,
    /// Packets that the link sent again.
    pub replays: Option<At<u64>>,
    /// How often replays did not help, so that the link was trained again.
    pub replay_rollovers: Option<At<u64>>,
    /// How often the link left its working state to recover.
    pub l0_to_recovery: Option<At<u64>>,
    /// Damaged packets that arrived.
    pub naks_sent: Option<At<u64>>,
    /// Packets that the other end found damaged.
    pub naks_received: Option<At<u64>>,
}

impl Gpu {
    /// Takes a value under its name; of `amd-smi` with the section it is in. The first that says something counts.
    pub(super) fn set(&mut self, section: &str, key: &str, value: &str, line: u32) {
        let value = value.trim();
        if says_nothing(value) {
            return;
        }
        let text = || Some(At::new(value.to_owned(), line));
        let count = || value.parse().ok().map(|n| At::new(n, line));
        // `32 GT/s`: older releases printed MT/s, of which some were wrong.
        let speed = || {
            let speed = value.contains("GT/s").then(|| LinkSpeed::parse(value)).flatten();
            speed.map(|s| At::new(s, line))
        };
        // 0: the function has no link of its own.
        let width = || leading_number::<u8>(value).filter(|w| *w > 0).map(|w| At::new(LinkWidth(w), line));
        match (section, key) {
            (_, "PCI Bus" | "BDF") => put(&mut self.bdf, address(value).map(|b| At::new(b, line))),
            (_, "Card series" | "Card Series" | "Device Name" | "MARKET_NAME") => put(&mut self.name, text()),
            (_, "Device ID" | "GPU ID") | ("ASIC", "DEVICE_ID") => {
                let id = number(value).filter(|_| value.starts_with("0x")).and_then(|n| u16::try_from(n).ok());
                put(&mut self.device_id, id.map(|n| At::new(n, line)));
            }
            (_, "VBIOS version") | ("VBIOS" | "IFWI", "PART_NUMBER") => put(&mut self.vbios, text()),
            (_, "Unique ID") | ("", "UUID") => put(&mut self.unique_id, text()),
            (_, "Serial Number") | ("BOARD", "PRODUCT_SERIAL") => put(&mut self.serial, text()),
            (_, "(Topology) Numa Affinity") | ("NUMA", "AFFINITY") => {
                put(&mut self.numa_affinity, value.parse().ok().map(|n| At::new(n, line)));
            }
            ("BUS", "SLOT_TYPE") => put(&mut self.slot, text()),
            ("PCIE", "WIDTH" | "CURRENT_LANES") => put(&mut self.width, width()),
            ("PCIE", "SPEED" | "CURRENT_SPEED") => put(&mut self.speed, speed()),
            ("BUS", "MAX_PCIE_WIDTH" | "MAX_PCIE_LANES") => put(&mut self.max_width, width()),
            ("BUS", "MAX_PCIE_SPEED") => put(&mut self.max_speed, speed()),
            (_, "PCIe Replay Count") | ("PCIE", "REPLAY_COUNT") => put(&mut self.replays, count()),
            ("PCIE", "REPLAY_ROLL_OVER_COUNT") => put(&mut self.replay_rollovers, count()),
            ("PCIE", "L0_TO_RECOVERY_COUNT") => put(&mut self.l0_to_recovery, count()),
            ("PCIE", "NAK_SENT_COUNT") => put(&mut self.naks_sent, count()),
            ("PCIE", "NAK_RECEIVED_COUNT") => put(&mut self.naks_received, count()),
            _ => {}
        }
    }
}

fn says_nothing(value: &str) -> bool {
    value.is_empty() || ["n/a", "none", "unknown", "not supported"].contains(&value.to_ascii_lowercase().as_str())
}

fn put<T>(field: &mut Option<At<T>>, value: Option<At<T>>) {
    if field.is_none() {
        *field = value;
    }
}
