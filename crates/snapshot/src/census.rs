//! How many devices a source shows. Rules look at each accelerator beside each network function, so that a tree of a few megabytes
//! with a hundred thousand of them would cost hours; no machine has as many.

use crate::{EntryId, EntryKind, Lookup, Snapshot};
use linerate_formats::bounds::{GPUS, NET_FUNCTIONS, PCI_FUNCTIONS};

/// Directories whose entries are counted as they are.
const LISTS: [(&str, &str, usize); 3] = [
    ("sys/bus/pci/devices", "PCI functions", PCI_FUNCTIONS),
    ("sys/class/infiniband", "RDMA devices", NET_FUNCTIONS),
    ("sys/class/net", "network interfaces", PCI_FUNCTIONS),
];

/// Why a source is not of one node: it shows too many devices.
pub(crate) fn too_many(s: &Snapshot) -> Option<String> {
    for (dir, what, most) in LISTS {
        let Lookup::Found(id) = s.resolve(dir) else { continue };
        let n = s.children(id).len();
        if n > most {
            return Some(format!("it shows {n} {what}, more than the {most} of any node"));
        }
    }
    let Lookup::Found(devices) = s.resolve("sys/bus/pci/devices") else { return None };
    let (mut accelerators, mut network) = (0, 0);
    let all = s.children(devices);
    if all.len() <= GPUS {
        return None;
    }
    for (_, id) in all {
        match class(s, id) {
            Some(0x03 | 0x12) => accelerators += 1,
            Some(0x02) => network += 1,
            _ => {}
        }
    }
    [(accelerators, "accelerators", GPUS), (network, "network functions", NET_FUNCTIONS)]
        .into_iter()
        .find(|(n, _, most)| n > most)
        .map(|(n, what, most)| format!("it shows {n} {what}, more than the {most} of any node"))
}

/// Base class, by the file or by the configuration space.
fn class(s: &Snapshot, device: EntryId) -> Option<u8> {
    let home = s.follow(device)?;
    let of = |leaf| s.child(home, leaf).filter(|id| *s.kind(*id) == EntryKind::File).map(|id| s.data(id));
    let text = of("class").and_then(|t| std::str::from_utf8(t).ok()).and_then(|t| t.trim().strip_prefix("0x"));
    match text.and_then(|t| u32::from_str_radix(t, 16).ok()) {
        Some(class) => u8::try_from(class >> 16).ok(),
        None => of("config").and_then(|c| c.get(11)).copied(),
    }
}
