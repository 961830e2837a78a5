//! What a kernel message can say to this tool.

use super::driver::Requester;
use crate::nvidia_proc::Flavour;
use crate::pci::Bdf;
use crate::xid::Detail;
use serde::Serialize;

/// The default IOMMU domain type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum DomainKind {
    /// Addresses of devices are translated.
    Translated,
    /// Identity.
    Passthrough,
}

/// Lines of the AMD IOMMU driver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum AmdVi {
    /// An IOMMU was found, at this address in recent kernels.
    Found(Option<Bdf>),
    /// Its feature list: the driver initialises it.
    ExtendedFeatures,
    /// Interrupt remapping is on.
    InterruptRemapping,
    /// A feature line; it does not say that the IOMMU is enabled.
    PerformanceCounters,
    /// `Unknown option - 'on'`: a value of `amd_iommu=` that does not exist.
    UnknownOption(String),
    /// The driver gave up or was set not to start.
    Disabled,
}

/// How bad a PCIe error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum AerSeverity {
    /// Corrected by the link.
    Corrected,
    /// Uncorrected, the link still works.
    NonFatal,
    /// Uncorrected, the link does not.
    Fatal,
}

/// Where the bandwidth of a device's path is limited.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LimitedBy {
    /// The port above the slow link.
    pub at: Option<Bdf>,
    /// What the device could use, Gb/s.
    pub capable_gbps: Option<f64>,
    /// The device's own speed in GT/s.
    pub capable_gts: Option<f64>,
    /// The device's own width.
    pub capable_width: Option<u8>,
}

/// Lines of the mlx5 driver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum Mlx5Event {
    /// Health poll or fatal sensor: the firmware, or the hardware, does not work.
    Health(String),
    /// Carrier came.
    LinkUp,
    /// Carrier went.
    LinkDown,
    /// Cable or module: plugged, unplugged, error.
    Module(String),
    /// The slot advertises less power than the card asks for. Machines whose slot is a part of the board print it, and work.
    InsufficientPower(String),
    /// A firmware command failed or timed out.
    CommandFailed(String),
    /// A firmware command was answered, and its interrupt did not come: the driver found the answer when it looked.
    CommandLate(String),
}

impl Mlx5Event {
    /// Whether the card or its firmware reports a fault of its own (drivers/net/ethernet/mellanox/mlx5/core/health.c, cmd.c). A command that is answered
    /// `failed, status bad parameter` asks for what this firmware has not: frequent, and harmless.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        match self {
            Mlx5Event::Health(_) => true,
            Mlx5Event::CommandFailed(text) => text.contains("timeout"),
            _ => false,
        }
    }
}

/// Why the NVIDIA driver does not start a GPU; what says most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartFault {
    /// The open kernel modules alone support it.
    NeedsOpenModules,
    /// The open kernel modules do not support it.
    NeedsClosedModules,
    /// An older branch of the driver supports it, this one no longer.
    Legacy,
    /// This release does not know it.
    OtherRelease,
    /// The firmware in its VBIOS did not end its start.
    GpuFirmware,
    /// The driver's firmware file for its GSP is not there.
    FirmwareFile,
    /// It has no interrupt.
    Interrupt,
    /// Another driver has it, or the kernel did not hand it over.
    OtherDriver,
}

/// What a driver says of a GPU, without a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GpuFault {
    /// It answers no read.
    Lost,
    /// An error of its hardware or memory was not corrected.
    Uncorrected,
    /// Work on it does not end.
    Hung,
    /// The driver resets it.
    Reset,
    /// Its firmware (GSP) does not answer; the driver's number of the GPU.
    Firmware(Option<u32>),
    /// A program used an address that is not mapped, or not so.
    Page,
}

/// What a line says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum Event {
    /// The kernel's command line.
    CommandLine(String),
    /// `Linux version …`: the release of the kernel that boots.
    KernelRelease(String),
    /// `DMI: …`: vendor and product of the machine, its board and its BIOS (drivers/firmware/dmi_scan.c, `dmi_format_ids`).
    Machine(String),
    /// `Hypervisor detected: …` (arch/x86/kernel/cpu/hypervisor.c): the kernel is a guest's.
    Hypervisor(String),
    /// Printed by every kernel with IOMMU support, also where there is no IOMMU: it shows the default, not that one exists.
    DefaultDomain {
        /// Type.
        kind: DomainKind,
        /// Set on the command line.
        via_cmdline: bool,
    },
    /// TLB invalidation policy, printed only with translated domains.
    TlbPolicy {
        /// Lazy (`DMA-FQ`) rather than strict.
        lazy: bool,
        /// Set on the command line.
        via_cmdline: bool,
    },
    /// Memory encryption turned the default from passthrough to translated.
    PassthroughDisabledByEncryption,
    /// Active memory encryption features, e.g. `AMD SME`.
    MemoryEncryption(String),
    /// A device joined a group: an IOMMU is in use.
    IommuGroup {
        /// Device.
        bdf: Bdf,
        /// Group number.
        group: u32,
    },
    /// `DMAR: IOMMU enabled`: the option was on the command line.
    DmarEnabledByOption,
    /// `DMAR: IOMMU disabled`.
    DmarDisabled,
    /// Firmware asks for protection of external ports; the IOMMU is on without an option.
    DmarForcedByPlatform,
    /// VT-d is initialised.
    DmarInitialised,
    /// AMD IOMMU driver.
    AmdVi(AmdVi),
    /// A page fault of the AMD IOMMU.
    IoPageFault {
        /// Requester.
        of: Requester,
        /// Domain id.
        domain: Option<u64>,
        /// Address that was not mapped.
        address: Option<u64>,
    },
    /// A fault of the Intel IOMMU.
    DmarFault {
        /// Requester. The line has no PCI segment and no driver.
        of: Requester,
        /// A write, else a read.
        write: bool,
        /// Address, as far as printed.
        address: Option<u64>,
        /// Reason code.
        reason: Option<u8>,
    },
    /// More Intel faults than the log shows.
    DmarFaultsSuppressed(u64),
    /// An Arm SMMU found at boot.
    SmmuInitialised,
    /// An event of an Arm SMMU: 0x10 is a translation fault.
    SmmuEvent {
        /// Number or name of the event, e.g. `0x10`, `F_TRANSLATION`.
        event: String,
        /// Requester, in recent kernels.
        of: Requester,
        /// Stream id, where the same line has it. What device it is, only the firmware's tables say.
        sid: Option<u32>,
    },
    /// The firmware offers SEV-SNP and the kernel leaves it off, as the IOMMU is off or in passthrough mode. Any EPYC with SNP on in its firmware
    /// says so, whether anybody wants it or not.
    SnpNeedsTranslation,
    /// DMA goes through bounce buffers.
    BounceBuffers,
    /// A DMA mapping failed for want of bounce buffer.
    DmaMapFailed {
        /// Device.
        bdf: Option<Bdf>,
    },
    /// The kernel could not parse `pci=config_acs=` or `disable_acs_redir=`.
    AcsParameterRejected,
    /// An option of `pci=` that does not exist.
    PciUnknownOption(String),
    /// Bandwidth of a device's path to the root.
    AvailableBandwidth {
        /// Device.
        bdf: Option<Bdf>,
        /// Gb/s.
        gbps: f64,
        /// Speed of the limiting link, GT/s.
        gts: Option<f64>,
        /// Width of the limiting link.
        width: Option<u8>,
        /// Present where another link than the device's own limits.
        limited_by: Option<LimitedBy>,
    },
    /// A driver finds the PCIe link too slow for its card (drivers/net/ethernet/intel: ixgbe, i40e).
    InsufficientBandwidth {
        /// Device.
        bdf: Option<Bdf>,
    },
    /// A resource got no address.
    BarNotAssigned {
        /// Device or bridge.
        bdf: Option<Bdf>,
        /// BAR number; `None` for a bridge window.
        bar: Option<u8>,
    },
    /// A resource is held by someone else (vfio, a framebuffer).
    BarNotReserved {
        /// Device.
        bdf: Option<Bdf>,
        /// BAR number.
        bar: Option<u8>,
    },
    /// The NVIDIA driver found a BAR without an address.
    NvidiaBarInvalid {
        /// GPU; on the line after the message in current drivers.
        bdf: Option<Bdf>,
    },
    /// What a device is: by the name of the driver that starts it, or by the numbers that the PCI core prints.
    Bound(Requester),
    /// A PCIe error.
    Aer {
        /// Source of the error.
        of: Requester,
        /// Severity.
        severity: AerSeverity,
        /// Layer, e.g. `Physical Layer`.
        layer: Option<String>,
    },
    /// Link of a hot-plug slot.
    PciLink {
        /// Port.
        of: Requester,
        /// Up, else down.
        up: bool,
    },
    /// A message of nvidia-peermem or nv_peer_mem.
    Peermem {
        /// Whether it reports an error.
        error: bool,
        /// Message.
        text: String,
    },
    /// A module was built against another version of a symbol.
    SymbolMismatch {
        /// Module.
        module: String,
        /// Symbol.
        symbol: String,
    },
    /// A module needs a symbol that no one exports.
    UnknownSymbol {
        /// Module.
        module: String,
        /// Symbol.
        symbol: String,
        /// The loader's error: -2 where nobody exports it, -22 where what is exported is of another build.
        error: Option<i32>,
    },
    /// The GPU driver refused a dma-buf attachment.
    DmabufAttachFailed(String),
    /// The NVIDIA driver loads.
    NvidiaDriver {
        /// Version.
        version: String,
        /// Open or proprietary.
        flavour: Flavour,
    },
    /// GPU error report.
    Xid {
        /// GPU (function 0: the line has no function number).
        bdf: Option<Bdf>,
        /// Xid number.
        number: u32,
        /// What else the line says.
        detail: Detail,
    },
    /// Error report of an NVSwitch.
    SXid {
        /// NVSwitch.
        bdf: Option<Bdf>,
        /// SXid number.
        number: u32,
        /// The driver's own word; `None` where it has none of the two.
        fatal: Option<bool>,
    },
    /// A driver did not start its device: the driver core's line (drivers/base/dd.c, `call_driver_probe`), or the driver's own.
    NotStarted {
        /// Device. One on a bus without PCI addresses has none.
        of: Requester,
        /// The error, where the line has one.
        error: Option<i32>,
    },
    /// `RmInitAdapter failed`, `rm_init_adapter failed`.
    NvidiaInitFailed {
        /// GPU.
        bdf: Option<Bdf>,
    },
    /// `The NVIDIA GPU 0000:01:00.0 (PCI ID: …)`: the GPU of which the lines behind it speak.
    NvidiaNames(Bdf),
    /// Why the NVIDIA driver does not start a GPU.
    NvidiaRefused {
        /// GPU; mostly on the line before, which is [`Event::NvidiaNames`].
        bdf: Option<Bdf>,
        /// Why.
        why: StartFault,
    },
    /// amdgpu gave a GPU up: `Fatal error during GPU init`.
    AmdInitFailed {
        /// GPU.
        bdf: Option<Bdf>,
    },
    /// What a driver says of a GPU in trouble, without a number.
    GpuFault {
        /// GPU; that of the NVIDIA driver's last line is on the line before it.
        of: Requester,
        /// What.
        fault: GpuFault,
    },
    /// A device answers no read of its configuration.
    Inaccessible(Requester),
    /// User-space and kernel parts of the NVIDIA driver differ.
    NvidiaVersionMismatch,
    /// A module parameter that does not exist.
    UnknownModuleParameter {
        /// Module.
        module: String,
        /// Parameter.
        parameter: String,
    },
    /// mlx5 driver.
    Mlx5 {
        /// Device.
        bdf: Option<Bdf>,
        /// What.
        event: Mlx5Event,
    },
    /// The firmware of a card of mlx4 ended (drivers/net/ethernet/mellanox/mlx4/catas.c).
    Mlx4Fault {
        /// Device.
        bdf: Option<Bdf>,
    },
    /// A transmit queue of a NIC has not moved for seconds: the kernel's watchdog, or the driver below it.
    TransmitTimeout {
        /// NIC.
        of: Requester,
    },
    /// The kernel is locked down, by e.g. `EFI Secure Boot`.
    LockedDown(String),
    /// Lockdown denied something.
    LockdownDenied(String),
}

impl Event {
    /// The card, where an RDMA NIC reports a fault of its own; `Some(None)`: the line names no card.
    #[must_use]
    pub fn nic_fault(&self) -> Option<Option<Bdf>> {
        match self {
            Event::Mlx5 { bdf, event } => event.is_fault().then_some(*bdf),
            Event::Mlx4Fault { bdf } => Some(*bdf),
            _ => None,
        }
    }
}
