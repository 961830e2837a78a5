//! IOMMU groups and units.

use crate::Tree;
use crate::compose::Plan;
use crate::description::{Description, Iommu, IommuGroups, Role};
use crate::function::Function;
use std::collections::BTreeMap;

/// Group of each function; none without an IOMMU in use.
pub(crate) fn groups(d: &Description, functions: &[Function]) -> Vec<Option<u32>> {
    if matches!(d.node.iommu, Iommu::Off | Iommu::NoFirmwareTable) {
        return vec![None; functions.len()];
    }
    let mut of_key: BTreeMap<String, u32> = BTreeMap::new();
    let mut used: Vec<u32> = functions.iter().filter_map(|f| f.iommu_group).collect();
    used.sort_unstable();
    let mut next = 0;
    let mut out = Vec::with_capacity(functions.len());
    for f in functions {
        let key = match d.node.iommu_groups {
            IommuGroups::PerFunction => f.bdf.to_string(),
            IommuGroups::PerRootPort => {
                let mut top = f;
                while let Some(above) = top.parent.and_then(|p| functions.get(p)) {
                    top = above;
                }
                top.bdf.to_string()
            }
        };
        let group = f.iommu_group.unwrap_or_else(|| {
            *of_key.entry(key).or_insert_with(|| {
                while used.binary_search(&next).is_ok() {
                    next += 1;
                }
                next += 1;
                next - 1
            })
        });
        out.push(Some(group));
    }
    out
}

pub(crate) fn write(plan: &Plan, tree: &mut Tree) {
    let kind = match plan.d.node.iommu {
        Iommu::Dma => "DMA",
        Iommu::DmaFq => "DMA-FQ",
        _ => "identity",
    };
    let unit = match plan.d.node.cpu {
        cpu if cpu.is_amd() && plan.d.node.role != Role::Guest => "ivhd",
        cpu if cpu.is_arm() => "smmu3.",
        _ => "dmar",
    };
    let mut units: BTreeMap<(u32, u8), usize> = BTreeMap::new();
    for (i, f, path) in plan.each() {
        let Some(group) = plan.groups.get(i).copied().flatten() else { continue };
        let home = format!("sys/kernel/iommu_groups/{group}");
        tree.value(format!("{home}/type"), kind);
        tree.value(format!("{home}/reserved_regions"), "0x00000000fee00000 0x00000000feefffff msi");
        tree.link_to(format!("{home}/devices/{}", f.bdf), path);
        let count = units.len();
        let number = *units.entry((f.bdf.domain, f.root_bus)).or_insert(count);
        let home = format!("sys/devices/virtual/iommu/{unit}{number}");
        tree.link_to(format!("{home}/devices/{}", f.bdf), path);
        tree.link_to(format!("sys/class/iommu/{unit}{number}"), &home);
        tree.link_to(format!("{path}/iommu"), &home);
        if unit == "dmar" {
            tree.value(
                format!("{home}/intel-iommu/address"),
                format!("{:x}", 0xd0ff_c000_u64 + number as u64 * 0x100_0000),
            );
            tree.value(format!("{home}/intel-iommu/version"), "4:0");
        }
    }
}
