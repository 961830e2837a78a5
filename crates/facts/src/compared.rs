//! How a fact is compared between two machines, or two times of one.

use crate::list::{table, tables};
use crate::{Def, Subject, moves};
use hashbrown::HashMap;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// What a difference of a fact says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Compared {
    /// Another value is a difference.
    Exactly,
    /// A value that is further off than this share is one.
    Within(f64),
    /// It moves by itself: a difference says something only where a rule's answer differs, too.
    State(&'static str),
    /// It names a place, or one machine: never compared.
    Not(&'static str),
}

const PLACE: &str = "each machine assigns its own addresses and numbers; devices are compared by position";
const READER: &str = "it depends on how the source was read";
const NAME: &str = "which pci.ids the reader had; vendor and device id say it";
const NODE: &str = "it names one node";
const LISTED: &str = "its members are compared";
/// Firmware and the kernel keep a part of the memory, which differs by the machine and the boot.
const MEMORY: f64 = 0.01;

/// Facts that are not compared exactly.
const TABLE: &[(&str, Compared)] = &[
    ("pci.bdf", Compared::Not(PLACE)),
    ("pci.name", Compared::Not(NAME)),
    ("pci.parent", Compared::Not(PLACE)),
    ("pci.physfn", Compared::Not(PLACE)),
    ("pci.buses", Compared::Not(PLACE)),
    ("pci.iommu_group", Compared::Not(PLACE)),
    ("pci.config_bytes", Compared::Not(READER)),
    ("pci.bars.index", Compared::Not(LISTED)),
    ("pci.resizable_bars.bar", Compared::Not(LISTED)),
    ("gpus.bdf", Compared::Not(PLACE)),
    ("gpus.name", Compared::Not(NAME)),
    ("gpus.numa_node", Compared::Not("pci.numa_node says it")),
    ("iommu.groups.id", Compared::Not(PLACE)),
    ("nic_firmware.name", Compared::Not(PLACE)),
    ("nic_firmware.pci", Compared::Not(PLACE)),
    ("nic_firmware.settings.name", Compared::Not(LISTED)),
    ("rdma.pci", Compared::Not(PLACE)),
    ("rdma.ports.number", Compared::Not(LISTED)),
    ("net.pci", Compared::Not(PLACE)),
    ("numa.id", Compared::Not(LISTED)),
    ("cpu.idle_states.name", Compared::Not(LISTED)),
    ("sysctl.name", Compared::Not(LISTED)),
    ("kubernetes.name", Compared::Not(NODE)),
    ("kubernetes.labels.name", Compared::Not(LISTED)),
    ("kubernetes.annotations.name", Compared::Not(LISTED)),
    ("kubernetes.taints.name", Compared::Not(LISTED)),
    ("kubernetes.resources.name", Compared::Not(LISTED)),
    ("kubernetes.conditions.name", Compared::Not(LISTED)),
    ("slurm.name", Compared::Not(NODE)),
    ("slurm.gres.name", Compared::Not(LISTED)),
    ("memory.total_kib", Compared::Within(MEMORY)),
    ("memory.shm_bytes", Compared::Within(MEMORY)),
];

/// Arguments of the kernel that name a boot or a disk, not a setting.
pub const NAMES_A_BOOT: [&str; 6] = ["BOOT_IMAGE", "root", "initrd", "resume", "rd.lvm.lv", "ostree"];

/// Counters, LIDs and GIDs differ between any two machines.
const NEVER: [&str; 3] = [moves::COUNTS, moves::LIDS, moves::GIDS];

/// How each fact is compared, by its id.
static KNOWN: LazyLock<HashMap<&str, Compared>> =
    LazyLock::new(|| crate::defs().map(|d| (d.id, looked_up(d.id))).collect());

/// How a fact is compared.
#[must_use]
pub fn compared(id: &str) -> Compared {
    KNOWN.get(id).copied().unwrap_or_else(|| looked_up(id))
}

/// What is the same for a fact on all nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kind {
    /// How it is compared.
    pub how: Compared,
    /// Which its id is of all ids in their order.
    pub number: u32,
}

/// The kinds of each table. A node has tens of thousands of facts: to look for each of their ids would be half of the work.
static KINDS: LazyLock<Vec<Vec<Kind>>> = LazyLock::new(|| {
    let ids: BTreeSet<&str> = crate::defs().map(|d| d.id).collect();
    let number: HashMap<&str, u32> = ids.into_iter().zip(0..).collect();
    let kind = |d: &&Def| Kind { how: compared(d.id), number: number.get(d.id).copied().unwrap_or(u32::MAX) };
    tables().iter().map(|t| t.iter().map(kind).collect()).collect()
});

/// The kinds of a subject's facts, in the order of [`crate::of`].
#[must_use]
pub fn kinds(subject: &Subject<'_>) -> &'static [Kind] {
    KINDS.get(table(subject)).map_or(&[], Vec::as_slice)
}

fn looked_up(id: &str) -> Compared {
    if let Some(reason) = moves::why(id) {
        return if NEVER.contains(&reason) { Compared::Not(reason) } else { Compared::State(reason) };
    }
    TABLE.iter().find(|(i, _)| *i == id).map_or(Compared::Exactly, |(_, how)| *how)
}
