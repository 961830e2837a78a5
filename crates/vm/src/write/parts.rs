//! Elements of a domain, each as lines with the indent of its place: two spaces a level.

use crate::cells::Cell;
use crate::clique::PROPERTY;
use linerate_formats::ranges::ranges;

/// Argument for OVMF: the size of the window, MiB, follows.
pub(crate) const WINDOW: &str = "name=opt/ovmf/X-PciMmio64Mb,string=";
pub(crate) const LOCKED: &str = "    <locked/>\n";
pub(crate) const ACPI: &str = "    <acpi/>\n";
pub(super) const MODES: &str = "mode='host-passthrough' check='none' migratable='off'";
pub(crate) const FEATURES: &str = "  <features>\n    <acpi/>\n    <apic/>\n  </features>\n";
/// The same with interrupts that a virtual IOMMU can remap.
pub(super) const FEATURES_REMAPPED: &str =
    "  <features>\n    <acpi/>\n    <apic/>\n    <ioapic driver='qemu'/>\n  </features>\n";
/// A virtual IOMMU: remapping of interrupts with 32-bit CPU numbers; `caching_mode` is what vfio needs, `iotlb` lets devices use ATS.
pub(super) const IOMMU: &str =
    "    <iommu model='intel'>\n      <driver intremap='on' caching_mode='on' eim='on' iotlb='on'/>\n    </iommu>\n";

/// Memory of all cells.
pub(crate) fn memory_mib(cells: &[Cell]) -> u64 {
    cells.iter().map(|c| c.memory_mib).fold(0, u64::saturating_add)
}

/// CPUs of all cells.
pub(crate) fn vcpus(cells: &[Cell]) -> u32 {
    cells.iter().map(|c| c.cpus.1 - c.cpus.0 + 1).sum()
}

pub(crate) fn memory(mib: u64) -> String {
    format!("  <memory unit='MiB'>{mib}</memory>\n")
}

pub(crate) fn vcpu(count: u32) -> String {
    format!("  <vcpu placement='static'>{count}</vcpu>\n")
}

pub(crate) fn huge_pages(size_kib: u64) -> String {
    format!("    <hugepages>\n      <page size='{size_kib}' unit='KiB'/>\n    </hugepages>\n")
}

pub(crate) fn backing(page_kib: Option<u64>, is_locked: bool) -> String {
    let locked = if is_locked { LOCKED } else { "" };
    format!("  <memoryBacking>\n{}{locked}  </memoryBacking>\n", page_kib.map_or_else(String::new, huge_pages))
}

/// Where CPUs run: `<vcpupin>`, one for each.
pub(crate) fn pins(cells: &[Cell]) -> String {
    let of_cell = |c: &Cell| (c.cpus.0..).zip(c.pins.clone()).collect::<Vec<_>>();
    let pin = |(vcpu, host)| format!("    <vcpupin vcpu='{vcpu}' cpuset='{host}'/>\n");
    cells.iter().flat_map(of_cell).map(pin).collect()
}

/// Where the emulator runs.
pub(crate) fn emulator(cells: &[Cell]) -> String {
    let all: Vec<u32> = cells.iter().flat_map(|c| c.emulator.iter().copied()).collect();
    if all.is_empty() { String::new() } else { format!("    <emulatorpin cpuset='{}'/>\n", ranges(all)) }
}

/// Empty: nothing is pinned.
pub(crate) fn cputune(cells: &[Cell]) -> String {
    let pins = pins(cells);
    if pins.is_empty() { pins } else { format!("  <cputune>\n{pins}{}  </cputune>\n", emulator(cells)) }
}

/// Memory of each cell from its node.
pub(crate) fn memory_nodes<'c>(cells: impl IntoIterator<Item = &'c Cell>, mode: &str) -> String {
    let node = |c: &Cell| {
        let host = c.host?;
        Some(format!("    <memnode cellid='{}' mode='{mode}' nodeset='{host}'/>\n", c.id))
    };
    cells.into_iter().filter_map(node).collect()
}

/// Empty: the cells are of no node of the host.
pub(crate) fn numatune(cells: &[Cell]) -> String {
    let hosts: Vec<u32> = cells.iter().filter_map(|c| c.host).collect();
    if hosts.is_empty() || cells.iter().all(|c| c.pins.is_empty()) {
        return String::new();
    }
    let each = memory_nodes(cells, "strict");
    format!("  <numatune>\n    <memory mode='strict' nodeset='{}'/>\n{each}  </numatune>\n", ranges(hosts))
}

/// `<cpu>` with its cells.
pub(crate) fn cpu(cells: &[Cell]) -> String {
    format!("  <cpu {MODES}>\n    <maxphysaddr mode='passthrough'/>\n{}  </cpu>\n", numa(cells))
}

pub(crate) fn numa(cells: &[Cell]) -> String {
    let all: String = cells.iter().map(|c| cell(c, cells.len())).collect();
    format!("    <numa>\n{all}    </numa>\n")
}

fn cell(c: &Cell, of: usize) -> String {
    let (first, last) = c.cpus;
    let cpus = if first == last { first.to_string() } else { format!("{first}-{last}") };
    let head = format!("      <cell id='{}' cpus='{cpus}' memory='{}' unit='MiB'", c.id, c.memory_mib);
    if of < 2 {
        return format!("{head}/>\n");
    }
    let distance = |(id, value): (u32, &u32)| format!("          <sibling id='{id}' value='{value}'/>\n");
    let distances: String = (0..).zip(&c.distances).map(distance).collect();
    format!("{head}>\n        <distances>\n{distances}        </distances>\n      </cell>\n")
}

/// The root's window for 64-bit BARs.
pub(crate) fn hole(size: u64) -> String {
    format!("      <pcihole64 unit='KiB'>{}</pcihole64>\n", size >> 10)
}

/// The root.
pub(crate) fn root(size: u64) -> String {
    format!("    <controller type='pci' index='0' model='pcie-root'>\n{}    </controller>\n", hole(size))
}

/// The window for OVMF, as arguments for QEMU.
pub(crate) fn arguments(prefix: &str, size: u64) -> String {
    format!("    <{prefix}arg value='-fw_cfg'/>\n    <{prefix}arg value='{WINDOW}{}'/>\n", size >> 20)
}

/// Properties of GPUs in cliques, by alias. Empty: there are none.
pub(crate) fn cliques(prefix: &str, all: &[(&str, u8)]) -> String {
    let members = members(prefix, all);
    if members.is_empty() { members } else { format!("  <{prefix}override>\n{members}  </{prefix}override>\n") }
}

/// The same without what is around them.
pub(crate) fn members(prefix: &str, all: &[(&str, u8)]) -> String {
    let member = |(alias, id): &(&str, u8)| {
        let alias = linerate_out::markup::xml(alias);
        format!(
            "    <{prefix}device alias='{alias}'>\n      <{prefix}frontend>\n        <{prefix}property name='{PROPERTY}' type='unsigned' value='{id}'/>\n      </{prefix}frontend>\n    </{prefix}device>\n"
        )
    };
    all.iter().map(member).collect()
}
