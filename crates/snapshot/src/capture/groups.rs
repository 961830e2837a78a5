//! IOMMU groups, for an audit. The kernel links a device and its group to each other in one step, so what the devices say need
//! not be read again below every group, of which there are hundreds; and of groups that hold bystanders only, the type is not
//! read.

use super::pci_devices;
use crate::{EntryId, EntryKind, Lookup, Snapshot};
use std::collections::HashSet;

pub(super) const HOME: &str = "sys/kernel/iommu_groups";

/// Number of the group that a function names.
fn number(s: &Snapshot, device: EntryId) -> Option<&str> {
    let link = s.child(device, "iommu_group").filter(|l| *s.kind(*l) == EntryKind::Link)?;
    std::str::from_utf8(s.data(link)).ok()?.rsplit('/').next()
}

/// Groups of the functions that are no bystanders. `None` where no function names a group: then all are of interest.
pub(super) fn wanted(s: &Snapshot) -> Option<HashSet<String>> {
    let functions = pci_devices(s).into_iter().filter(|(_, device)| !s.is_bystander(*device));
    let wanted: HashSet<String> = functions.filter_map(|(_, device)| number(s, device).map(str::to_owned)).collect();
    (!wanted.is_empty()).then_some(wanted)
}

/// Adds `sys/kernel/iommu_groups/N/devices/BDF` of every PCI function that names a group which is there.
pub(super) fn members(s: &mut Snapshot) {
    let Lookup::Found(groups) = s.resolve(HOME) else { return };
    let found: Vec<(EntryId, String, String)> = pci_devices(s)
        .into_iter()
        .filter_map(|(bdf, device)| {
            let group = s.child(groups, number(s, device)?).filter(|g| *s.kind(*g) == EntryKind::Dir)?;
            Some((group, bdf, format!("/{}", s.path(device))))
        })
        .collect();
    for (group, bdf, target) in found {
        if let Some(devices) = s.add_at(group, "devices", EntryKind::Dir, &[]) {
            s.add_at(devices, &bdf, EntryKind::Link, target.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_in_the_groups_that_they_name() {
        let mut s = Snapshot::new("t");
        for (bdf, group) in [("0000:01:00.0", "7"), ("0000:01:00.1", "7"), ("0000:02:00.0", "8"), ("0000:03:00.0", "x")]
        {
            let home = format!("sys/devices/pci0000:00/{bdf}");
            s.add_link(&format!("sys/bus/pci/devices/{bdf}"), format!("../../../devices/pci0000:00/{bdf}").as_bytes());
            s.add_link(&format!("{home}/iommu_group"), format!("../../../kernel/iommu_groups/{group}").as_bytes());
        }
        s.add_dir("sys/kernel/iommu_groups/7");
        s.add_dir("sys/kernel/iommu_groups/8");
        let Lookup::Found(other) = s.resolve("sys/devices/pci0000:00/0000:02:00.0") else { panic!() };
        s.mark_bystander(other);
        assert_eq!(wanted(&s), Some(["7", "x"].map(str::to_owned).into()));
        members(&mut s);
        let names = |p: &str| match s.resolve(p) {
            Lookup::Found(d) => s.children(d).iter().map(|(n, _)| (*n).to_owned()).collect::<Vec<_>>(),
            _ => Vec::new(),
        };
        assert_eq!(names("sys/kernel/iommu_groups/7/devices"), ["0000:01:00.0", "0000:01:00.1"]);
        assert_eq!(names("sys/kernel/iommu_groups/8/devices"), ["0000:02:00.0"]);
        assert!(matches!(s.resolve("sys/kernel/iommu_groups/7/devices/0000:01:00.1"), Lookup::Found(_)));
        assert!(matches!(s.resolve("sys/kernel/iommu_groups/x"), Lookup::Missing), "no group is made up");
    }
}
