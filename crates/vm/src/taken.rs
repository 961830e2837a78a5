//! What a domain has already: numbers that a layout leaves alone.

use crate::guest::guest;
use linerate_formats::libvirt::{Address, Domain};
use linerate_formats::pci::Bdf;
use std::collections::{BTreeMap, BTreeSet};

/// What a domain has already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// Indexes of controllers, those that libvirt will give them, and numbers of chassis: no new controller has one of them.
    pub indexes: BTreeSet<u32>,
    /// Bus numbers: the first and last of each root that has some, by the first.
    pub ranges: Vec<(u32, u32)>,
    /// Slots of the root.
    pub slots: BTreeSet<u8>,
    /// Functions of the host that it is given besides the layout's.
    pub others: Vec<Bdf>,
    /// NUMA nodes of the host for which it has a cell, and the cell; `None`: it has no cells, the layout makes them.
    pub cells: Option<BTreeMap<u32, u32>>,
    /// Whether it may have more than 255 CPUs.
    pub has_eim: bool,
}

/// Bus numbers that pcie-root keeps at least: 0, and one for each port that libvirt adds for disks, network and the like.
const KEPT: u32 = 16;
/// Bus numbers of PCI.
const BUSES: u32 = 256;
/// Devices that may need a port, if they have no PCI address.
const MAY_NEED_PORT: &[&str] = &[
    "controller",
    "disk",
    "filesystem",
    "hostdev",
    "input",
    "interface",
    "memballoon",
    "redirdev",
    "rng",
    "shmem",
    "sound",
    "video",
    "vsock",
    "watchdog",
];

impl Default for Taken {
    /// A new domain.
    fn default() -> Self {
        Taken {
            indexes: BTreeSet::new(),
            ranges: vec![(0, KEPT - 1)],
            slots: BTreeSet::new(),
            others: Vec::new(),
            cells: None,
            has_eim: false,
        }
    }
}

impl Taken {
    /// Of a domain. `moved` are functions of the host that the layout gives another place, `gone` are indexes of controllers that no longer exist.
    #[must_use]
    pub fn of(domain: &Domain, moved: &BTreeSet<Bdf>, gone: &BTreeSet<u32>) -> Taken {
        let stays = |source: Option<Bdf>| !source.is_some_and(|s| moved.contains(&s));
        let hostdevs = || domain.hostdevs.iter().filter(|h| stays(h.source));
        let addresses = || {
            let of_controllers = domain.controllers.iter().filter_map(|c| c.address);
            let of_devices = domain.devices.iter().filter_map(|d| d.address);
            of_controllers.chain(of_devices).chain(hostdevs().filter_map(|h| h.address))
        };
        let mut indexes: BTreeSet<u32> = domain.controllers.iter().map(|c| c.index).collect();
        // libvirt adds the controllers that addresses name.
        indexes.extend(addresses().map(|a: Address| a.bus).filter(|bus| !gone.contains(bus)));
        let most = indexes.iter().next_back().copied().unwrap_or_default().min(BUSES);
        let added = (1..most).filter(|n| !domain.controllers.iter().any(|c| c.index == *n)).count();
        indexes.extend(domain.controllers.iter().filter_map(|c| c.chassis));
        let tree = guest(domain);
        let unplaced = hostdevs().filter(|h| h.address.is_none()).count()
            + domain
                .controllers
                .iter()
                .filter(|c| c.address.is_none() && !c.model.is_some_and(|m| m.is_root()))
                .count()
            + domain
                .devices
                .iter()
                .filter(|d| d.address.is_none() && MAY_NEED_PORT.contains(&d.element.as_str()))
                .count();
        let more = u32::try_from(added + unplaced).unwrap_or(BUSES).min(BUSES);
        let ranges = tree.ranges.iter().map(|(first, used, _)| match first {
            0 => (0, used.saturating_add(more).max(KEPT - 1)),
            _ => (*first, *used),
        });
        Taken {
            indexes,
            ranges: ranges.collect(),
            slots: addresses().filter(|a| a.bus == 0).filter_map(|a| u8::try_from(a.slot).ok()).collect(),
            others: hostdevs().filter_map(|h| h.source).collect(),
            cells: None,
            has_eim: domain.has_eim,
        }
    }

    /// The highest bus number from which on so many are free; where nowhere are, how many there are in one piece at most.
    ///
    /// # Errors
    /// That number.
    pub(crate) fn first_bus(&self, need: usize) -> Result<u8, usize> {
        let next = self.ranges.iter().skip(1).map(|r| r.0).chain([BUSES]);
        let free: Vec<(u32, u32)> = self.ranges.iter().zip(next).map(|((_, last), next)| (last + 1, next)).collect();
        let fits = |(from, to): &&(u32, u32)| to.saturating_sub(*from) as usize >= need;
        let found = free.iter().rev().find(fits).and_then(|(_, to)| to.checked_sub(u32::try_from(need).ok()?));
        let most = || free.iter().map(|(from, to)| to.saturating_sub(*from) as usize).max().unwrap_or_default();
        found.and_then(|bus| u8::try_from(bus).ok()).ok_or_else(most)
    }
}

#[cfg(test)]
mod tests {
    use super::Taken;

    #[test]
    fn numbers_are_taken_from_the_highest_gap_that_holds_them() {
        let taken = |ranges: &[(u32, u32)]| Taken { ranges: ranges.to_vec(), ..Taken::default() };
        assert_eq!(Taken::default().first_bus(20), Ok(236));
        assert_eq!(Taken::default().first_bus(241), Err(240));
        assert_eq!(taken(&[(0, 15), (200, 203)]).first_bus(52), Ok(204));
        assert_eq!(taken(&[(0, 15), (200, 203)]).first_bus(53), Ok(147));
        assert_eq!(taken(&[(0, 15), (100, 110), (250, 253)]).first_bus(86), Ok(164));
    }
}
