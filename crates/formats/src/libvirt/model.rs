//! The parts of a domain.

use super::pci::{Controller, Device, Hostdev};
use crate::cpulist::CpuList;
use crate::text::At;

/// Where an element is in the text that was read: bytes `from..to`, and the line on which it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// First byte: its `<`.
    pub from: usize,
    /// The byte behind its last `>`.
    pub to: usize,
    /// 1-based line.
    pub line: u32,
}

/// What a virtual machine starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Firmware {
    /// UEFI: `firmware='efi'`, or a loader of type `pflash`.
    Uefi,
    /// A BIOS: nothing else is said, or `firmware='bios'`.
    Bios,
    /// A kernel that QEMU loads itself.
    Kernel,
}

/// A NUMA node of the guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// Its number; where none is given, its place among the cells.
    pub id: u32,
    /// The guest's CPUs in it; `None`: it has only memory, or they are not readable.
    pub cpus: Option<CpuList>,
    /// Its memory, KiB.
    pub memory_kib: Option<u64>,
    /// How far others are: number, distance (10 is itself).
    pub distances: Vec<(u32, u32)>,
    /// Where.
    pub span: Span,
}

/// From which nodes of the host memory comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryNode {
    /// Of which cell; `None`: of all of the guest.
    pub cell: Option<u32>,
    /// `strict`, `preferred`, `interleave`, `restrictive`.
    pub mode: String,
    /// The host's nodes; `None`: not said (`placement='auto'`), or not readable.
    pub nodes: Option<CpuList>,
    /// 1-based line.
    pub line: u32,
}

/// CPUs of the host on which something of the guest runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// Which of the guest's CPUs; `None`: the emulator's threads.
    pub vcpu: Option<u32>,
    /// The host's CPUs; `None`: not readable.
    pub cpus: Option<CpuList>,
    /// 1-based line.
    pub line: u32,
}

/// Huge pages that back the guest's memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HugePages {
    /// Size of a page, KiB; `None`: the host's default.
    pub size_kib: Option<u64>,
    /// Which of the guest's cells; `None`: all.
    pub cells: Option<CpuList>,
    /// 1-based line.
    pub line: u32,
}

/// A property that QEMU is given beside what libvirt knows (`<qemu:override>`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// Its name: `x-nv-gpudirect-clique`.
    pub name: String,
    /// Its value.
    pub value: String,
    /// 1-based line.
    pub line: u32,
}

/// Properties of one device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// The device's alias.
    pub alias: String,
    /// What is set.
    pub properties: Vec<Property>,
    /// Where.
    pub span: Span,
}

/// A virtual machine, as its domain says it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Domain {
    /// Its name.
    pub name: String,
    /// The hypervisor: `kvm`, `qemu`.
    pub kind: String,
    /// It is the XML of a running domain, with addresses that libvirt chose. To change one, take `virsh dumpxml --inactive`.
    pub is_running: bool,
    /// The whole `<domain>`.
    pub span: Span,
    /// End of its start tag: the byte of `>`.
    pub tag_end: usize,
    /// Machine type: `pc-q35-7.2`.
    pub machine: Option<At<String>>,
    /// Processor architecture: `x86_64`.
    pub arch: String,
    /// What it starts with.
    pub firmware: Option<Firmware>,
    /// ACPI is on.
    pub has_acpi: bool,
    /// The guest is not told that it runs under KVM (`<kvm><hidden state='on'/>`).
    pub hides_kvm: bool,
    /// Memory of the guest, KiB.
    pub memory_kib: Option<At<u64>>,
    /// Virtual CPUs.
    pub vcpus: Option<At<u32>>,
    /// NUMA nodes of the guest.
    pub cells: Vec<Cell>,
    /// From which nodes of the host its memory comes: of all (`<memory>`), and of single cells.
    pub memory_nodes: Vec<MemoryNode>,
    /// Where its CPUs and the emulator run.
    pub pins: Vec<Pin>,
    /// Huge pages.
    pub huge_pages: Vec<HugePages>,
    /// `<locked/>`: its memory is never swapped, and there is no limit on locked memory. The line.
    pub is_locked: Option<u32>,
    /// Limit on its memory, KiB.
    pub hard_limit_kib: Option<At<u64>>,
    /// `host-passthrough`, `host-model`, `custom`.
    pub cpu_mode: Option<At<String>>,
    /// Bits of a physical address, where they are said.
    pub address_bits: Option<At<u32>>,
    /// PCI controllers, in the order of the text.
    pub controllers: Vec<Controller>,
    /// PCI functions of the host that it is given.
    pub hostdevs: Vec<Hostdev>,
    /// Other devices.
    pub devices: Vec<Device>,
    /// `<devices>`.
    pub devices_span: Span,
    /// A virtual IOMMU: its model.
    pub iommu: Option<At<String>>,
    /// The virtual IOMMU has extended interrupt mode, which more than 255 CPUs need (`<driver eim='on'/>`).
    pub has_eim: bool,
    /// Properties for QEMU, by device.
    pub overrides: Vec<Override>,
    /// Arguments for QEMU (`<qemu:arg>`).
    pub arguments: Vec<At<String>>,
    /// Elements that are not allowed as they are, found while reading.
    pub(super) illegal: Vec<super::Illegal>,
}

impl Domain {
    /// Whether the machine is a PCI Express one: `q35` of x86, or Arm's `virt`.
    #[must_use]
    pub fn is_pcie(&self) -> bool {
        let machine = self.machine.as_ref().map_or("", |m| m.value.as_str());
        let named = |name: &str| machine == name || machine.strip_prefix(name).is_some_and(|r| r.starts_with('-'));
        named("q35")
            || machine.contains("-q35-")
            || (named("virt") && matches!(self.arch.as_str(), "aarch64" | "armv7l" | "riscv64"))
    }

    /// The PCI controller of a number: libvirt's index, which is the `bus` of addresses below it.
    #[must_use]
    pub fn controller(&self, index: u32) -> Option<&Controller> {
        self.controllers.iter().find(|c| c.index == index)
    }
}
