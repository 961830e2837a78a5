//! One device of the listing.

use super::super::Bdf;
use super::super::caps::Capabilities;
use super::super::class::Class;
use serde::Serialize;

/// How much the listing shows of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Default)]
pub enum Verbosity {
    /// Names, numbers, drivers: no look at the registers.
    #[default]
    Names,
    /// `-v`: flags, regions, the names of the capabilities.
    Verbose,
    /// `-vv` and above: registers.
    VeryVerbose,
}

/// A device as the listing shows it. Lines are 1-based; what the text did not show is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Device {
    /// Address.
    pub bdf: Bdf,
    /// The text wrote the domain; otherwise `bdf.domain` is 0 because `lspci` leaves domain 0 out.
    pub has_domain: bool,
    /// Line of the device.
    pub line: u32,
    /// Class code, from its number or from the class name. The programming interface is 0 unless `prog_if` is known.
    pub class: Option<Class>,
    /// Class name as written; where only the number was printed, the usual name.
    pub class_name: String,
    /// Vendor id, from its number or from a well-known vendor name.
    pub vendor: Option<u16>,
    /// Device id, from its number or from a name that ends in `Device 2330`.
    pub device: Option<u16>,
    /// Vendor and device name, without the numbers, revision and programming interface that follow it.
    pub name: String,
    /// Subsystem as written, without numbers in brackets.
    pub subsystem: Option<String>,
    /// Subsystem vendor id.
    pub subsystem_vendor: Option<u16>,
    /// Subsystem id.
    pub subsystem_device: Option<u16>,
    /// Revision id. 0xff is what a device reads that fell off the bus.
    pub revision: Option<u8>,
    /// Programming interface.
    pub prog_if: Option<u8>,
    /// `Physical Slot`.
    pub physical_slot: Option<String>,
    /// NUMA node.
    pub numa_node: Option<i32>,
    /// Line of the NUMA node; 0 if not shown.
    pub numa_node_line: u32,
    /// IOMMU group.
    pub iommu_group: Option<u32>,
    /// Line of the IOMMU group; 0 if not shown.
    pub iommu_group_line: u32,
    /// Driver bound (`Kernel driver in use`).
    pub driver: Option<String>,
    /// Line of the driver; 0 if not shown.
    pub driver_line: u32,
    /// Modules that claim the device (`Kernel modules`).
    pub modules: Vec<String>,
    /// Primary, secondary and subordinate bus of a bridge.
    pub bus: Option<(u8, u8, u8)>,
    /// Base address registers; those of virtual functions are not among them.
    pub regions: Vec<Region>,
    /// Capabilities.
    pub caps: Capabilities,
    /// How much was shown.
    pub verbosity: Verbosity,
    /// Line of `!!! Unknown header type 7f`: the device does not answer.
    pub unknown_header_line: Option<u32>,
    /// Configuration space of a hex dump. Capabilities that the text did not show are decoded from it.
    pub config: Option<Vec<u8>>,
}

/// What a region maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum RegionKind {
    /// Memory.
    Memory,
    /// I/O ports.
    Io,
}

/// A base address register.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Region {
    /// Number of the BAR; `-v` does not print it.
    pub index: Option<u8>,
    /// Memory or I/O.
    pub kind: RegionKind,
    /// Address; `None` for `<ignored>`, `<unassigned>` and the like.
    pub address: Option<u64>,
    /// Size in bytes; `lspci` prints it where the kernel knows it.
    pub size_bytes: Option<u64>,
    /// Prefetchable memory.
    pub prefetchable: bool,
    /// 64-bit BAR.
    pub is_64bit: bool,
    /// Printed with `[disabled]`.
    pub disabled: bool,
    /// 1-based line.
    pub line: u32,
}

impl Device {
    /// A device of which only the address is known.
    pub(super) fn new(bdf: Bdf, has_domain: bool, line: u32) -> Self {
        Self { bdf, has_domain, line, ..Self::default() }
    }

    /// A device of which only the address and the IOMMU group are known.
    pub(super) fn of_group(bdf: Bdf, group: u32, line: u32) -> Self {
        Self { iommu_group: Some(group), iommu_group_line: line, ..Self::new(bdf, true, line) }
    }
}
