//! Whose a message is: the driver and the address with which the kernel begins it (`dev_printk`), and what the driver's name says of the device.

use crate::pci::Bdf;
use serde::Serialize;

/// What a device is, as far as the name of its driver tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DriverClass {
    /// NVIDIA GPU.
    Gpu,
    /// NVSwitch.
    NvSwitch,
    /// One of both: NVIDIA's, and no port.
    GpuOrNvSwitch,
    /// NIC that does RDMA.
    RdmaNic,
    /// Other NIC.
    Nic,
    /// PCI Express port: a root port, or one of a switch.
    Port,
    /// Port of the switch within an RDMA NIC.
    NicPort,
    /// Display of the host: integrated graphics, a BMC's.
    Display,
    /// NVMe.
    Nvme,
    /// Other storage.
    Storage,
    /// USB.
    Usb,
    /// Sound.
    Sound,
    /// Something that is neither GPU, NIC nor port: a DMA engine, a management controller.
    Other,
    /// The name of the driver says nothing: none is bound, the device is handed to a guest, or the driver is not known here.
    Unknown,
}

/// Drivers by what they drive.
const DRIVERS: &[(&str, DriverClass)] = &[
    ("nvidia", DriverClass::Gpu),
    ("nouveau", DriverClass::Gpu),
    ("nvidia-nvswitch", DriverClass::NvSwitch),
    ("mlx5_core", DriverClass::RdmaNic),
    ("mlx5_ib", DriverClass::RdmaNic),
    ("mlx4_core", DriverClass::RdmaNic),
    ("bnxt_en", DriverClass::RdmaNic),
    ("bnxt_re", DriverClass::RdmaNic),
    ("efa", DriverClass::RdmaNic),
    ("ionic", DriverClass::RdmaNic),
    ("ionic_rdma", DriverClass::RdmaNic),
    ("ice", DriverClass::RdmaNic),
    ("irdma", DriverClass::RdmaNic),
    ("hns3", DriverClass::RdmaNic),
    ("erdma", DriverClass::RdmaNic),
    ("qede", DriverClass::RdmaNic),
    ("e1000e", DriverClass::Nic),
    ("ena", DriverClass::Nic),
    ("gve", DriverClass::Nic),
    ("i40e", DriverClass::Nic),
    ("iavf", DriverClass::Nic),
    ("igb", DriverClass::Nic),
    ("igc", DriverClass::Nic),
    ("ixgbe", DriverClass::Nic),
    ("r8169", DriverClass::Nic),
    ("tg3", DriverClass::Nic),
    ("pcieport", DriverClass::Port),
    ("ast", DriverClass::Display),
    ("i915", DriverClass::Display),
    ("mgag200", DriverClass::Display),
    ("radeon", DriverClass::Display),
    ("nvme", DriverClass::Nvme),
    ("ahci", DriverClass::Storage),
    ("aacraid", DriverClass::Storage),
    ("hpsa", DriverClass::Storage),
    ("megaraid_sas", DriverClass::Storage),
    ("mpi3mr", DriverClass::Storage),
    ("mpt3sas", DriverClass::Storage),
    ("smartpqi", DriverClass::Storage),
    ("ehci-pci", DriverClass::Usb),
    ("ohci-pci", DriverClass::Usb),
    ("uhci_hcd", DriverClass::Usb),
    ("xhci_hcd", DriverClass::Usb),
    ("snd_hda_intel", DriverClass::Sound),
    ("ccp", DriverClass::Other),
    ("i801_smbus", DriverClass::Other),
    ("idxd", DriverClass::Other),
    ("ioatdma", DriverClass::Other),
    ("lpc_ich", DriverClass::Other),
    ("mei_me", DriverClass::Other),
    ("piix4_smbus", DriverClass::Other),
    ("ptdma", DriverClass::Other),
    ("qat_4xxx", DriverClass::Other),
];

impl DriverClass {
    /// What two lines say of one device, where they do not contradict each other.
    #[must_use]
    pub fn with(self, other: Self) -> Option<Self> {
        use DriverClass::{Gpu, GpuOrNvSwitch, NicPort, NvSwitch, Port};
        match (self, other) {
            (a, b) if a == b => Some(a),
            (GpuOrNvSwitch, exact @ (Gpu | NvSwitch)) | (exact @ (Gpu | NvSwitch), GpuOrNvSwitch) => Some(exact),
            (NicPort, Port) | (Port, NicPort) => Some(NicPort),
            _ => None,
        }
    }

    /// Of a driver's name.
    #[must_use]
    pub fn of(driver: &str) -> Self {
        DRIVERS.iter().find(|(name, _)| *name == driver).map_or(DriverClass::Unknown, |(_, class)| *class)
    }

    /// In words, with its article.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            DriverClass::Gpu => "a GPU",
            DriverClass::NvSwitch => "an NVSwitch",
            DriverClass::GpuOrNvSwitch => "a GPU or an NVSwitch",
            DriverClass::RdmaNic => "an RDMA NIC",
            DriverClass::Nic => "a NIC without RDMA",
            DriverClass::Port => "a PCIe port",
            DriverClass::NicPort => "a port of the PCIe switch in an RDMA NIC",
            DriverClass::Display => "a display controller of the host",
            DriverClass::Nvme => "an NVMe drive",
            DriverClass::Storage => "a storage controller",
            DriverClass::Usb => "a USB controller",
            DriverClass::Sound => "a sound device",
            DriverClass::Other => "a device of the platform",
            DriverClass::Unknown => "an unknown device",
        }
    }
}

/// Whose a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Requester {
    /// Address, where the line has it.
    pub bdf: Option<Bdf>,
    /// What the driver's name says.
    pub class: DriverClass,
}

impl Requester {
    /// Nobody whom the line names.
    pub const UNNAMED: Requester = Requester { bdf: None, class: DriverClass::Unknown };

    /// A device of which only the address is known.
    #[must_use]
    pub fn at(bdf: Bdf) -> Self {
        Requester { bdf: Some(bdf), class: DriverClass::Unknown }
    }

    /// Of a line `driver BDF: message`. Without a driver the kernel writes the bus: `pci BDF: message`.
    #[must_use]
    pub fn of_line(message: &str) -> Self {
        let head = message.split_once(": ").map_or(message, |(head, _)| head);
        let mut words = head.split(' ');
        let (driver, address) = (words.next(), words.next());
        // `dpc 0000:00:03.2:pcie008: …` is a port's service.
        if let Some(port) = address.and_then(|a| a.split_once(":pcie")?.0.parse().ok()) {
            return Requester { bdf: Some(port), class: DriverClass::Port };
        }
        match (driver, address.and_then(|a| a.parse().ok())) {
            (Some(driver), Some(bdf)) => Requester { bdf: Some(bdf), class: DriverClass::of(driver) },
            _ => first_bdf(message).map_or(Requester::UNNAMED, Requester::at),
        }
    }
}

/// The first PCI address with a domain, as devices are printed.
pub(super) fn first_bdf(text: &str) -> Option<Bdf> {
    text.split([' ', '(', ')', '[', ']', ','])
        .map(|w| w.trim_end_matches([':', '.']))
        .map(|w| w.strip_prefix("PCI:").unwrap_or(w))
        .filter(|w| w.len() >= 12 && w.matches(':').count() == 2)
        .find_map(|w| w.parse().ok())
}
