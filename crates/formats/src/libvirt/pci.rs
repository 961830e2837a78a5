//! PCI in a domain: controllers, addresses, and what can be plugged into what.

use super::Span;
use crate::pci::Bdf;
use std::fmt;

/// An address in the guest, as the domain says it: its numbers may be out of range. `bus` is the index of a controller, not a bus number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// PCI domain; libvirt knows only 0.
    pub domain: u32,
    /// Index of the controller.
    pub bus: u32,
    /// Slot of the controller.
    pub slot: u32,
    /// Function.
    pub function: u32,
    /// `multifunction='on'`.
    pub multifunction: bool,
    /// 1-based line.
    pub line: u32,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:02x}:{:02x}.{:x}", self.domain, self.bus, self.slot, self.function)
    }
}

/// Model of a PCI controller. What each accepts: libvirt 9.0, `virDomainPCIAddressBusSetModel`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Model {
    /// `pci-root`
    PciRoot,
    /// `pcie-root`
    PcieRoot,
    /// `pci-bridge`
    PciBridge,
    /// `dmi-to-pci-bridge`
    DmiToPciBridge,
    /// `pcie-to-pci-bridge`
    PcieToPciBridge,
    /// `pcie-root-port`
    RootPort,
    /// `pcie-switch-upstream-port`
    UpstreamPort,
    /// `pcie-switch-downstream-port`
    DownstreamPort,
    /// `pci-expander-bus`
    PciExpander,
    /// `pcie-expander-bus`
    PcieExpander,
}

/// What plugs into a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plug {
    /// A device: libvirt lets people put a conventional one where an express one belongs, and the other way round.
    Endpoint,
    /// A controller of this model.
    Controller(Model),
}

/// Slots of a controller, and what plugs into them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepts {
    /// First slot.
    pub first: u32,
    /// Last slot.
    pub last: u32,
    /// Whether devices do.
    pub endpoints: bool,
    /// Controllers that do.
    pub controllers: &'static [Model],
}

impl Model {
    const ALL: [(Model, &'static str); 10] = [
        (Model::PciRoot, "pci-root"),
        (Model::PcieRoot, "pcie-root"),
        (Model::PciBridge, "pci-bridge"),
        (Model::DmiToPciBridge, "dmi-to-pci-bridge"),
        (Model::PcieToPciBridge, "pcie-to-pci-bridge"),
        (Model::RootPort, "pcie-root-port"),
        (Model::UpstreamPort, "pcie-switch-upstream-port"),
        (Model::DownstreamPort, "pcie-switch-downstream-port"),
        (Model::PciExpander, "pci-expander-bus"),
        (Model::PcieExpander, "pcie-expander-bus"),
    ];

    /// The model of a word.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Model> {
        Model::ALL.iter().find(|(_, n)| *n == name).map(|(m, _)| *m)
    }

    /// Its word.
    #[must_use]
    pub fn name(self) -> &'static str {
        Model::ALL.iter().find(|(m, _)| *m == self).map_or("", |(_, n)| n)
    }

    /// Whether it is the root of a domain's PCI devices: it has no address.
    #[must_use]
    pub fn is_root(self) -> bool {
        matches!(self, Model::PciRoot | Model::PcieRoot)
    }

    /// What plugs into it.
    #[must_use]
    pub fn accepts(self) -> Accepts {
        use Model::*;
        let (first, last, endpoints, controllers): (_, _, _, &[Model]) = match self {
            PciRoot => (1, 31, true, &[PciBridge, PciExpander]),
            PciBridge | PcieToPciBridge => (1, 31, true, &[PciBridge]),
            DmiToPciBridge | PciExpander => (0, 31, true, &[PciBridge]),
            PcieRoot => (1, 31, true, &[RootPort, DmiToPciBridge, PcieExpander]),
            RootPort | DownstreamPort => (0, 0, true, &[UpstreamPort, PcieToPciBridge]),
            UpstreamPort => (0, 31, false, &[DownstreamPort]),
            PcieExpander => (0, 31, false, &[RootPort, DmiToPciBridge]),
        };
        Accepts { first, last, endpoints, controllers }
    }
}

impl Accepts {
    /// Whether this does.
    #[must_use]
    pub fn takes(&self, plug: Plug) -> bool {
        match plug {
            Plug::Endpoint => self.endpoints,
            Plug::Controller(model) => self.controllers.contains(&model),
        }
    }
}

/// A PCI controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Controller {
    /// Its number.
    pub index: u32,
    /// Its model; `None`: libvirt chooses one, or the word is not known.
    pub model: Option<Model>,
    /// The number of the chassis.
    pub chassis: Option<u32>,
    /// The number of the port.
    pub port: Option<u32>,
    /// Of an expander bus: its bus number in the guest.
    pub bus_number: Option<u32>,
    /// Of an expander bus: the guest's NUMA node.
    pub node: Option<u32>,
    /// Whether devices can be plugged in while the guest runs.
    pub hotplug: Option<bool>,
    /// Of the root: size of the window for 64-bit BARs, KiB.
    pub hole64_kib: Option<u64>,
    /// Where it is plugged in; `None`: libvirt chooses, or it is a root.
    pub address: Option<Address>,
    /// Its alias.
    pub alias: Option<String>,
    /// Where.
    pub span: Span,
}

/// A PCI function of the host that the guest is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hostdev {
    /// The host's function.
    pub source: Option<Bdf>,
    /// Element: `hostdev`, or `interface` of type `hostdev`.
    pub element: &'static str,
    /// libvirt binds it to vfio-pci and gives it back.
    pub is_managed: bool,
    /// Address in the guest; `None`: libvirt chooses.
    pub address: Option<Address>,
    /// Its alias.
    pub alias: Option<String>,
    /// Where.
    pub span: Span,
}

/// Another device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Name of the element: `disk`, `video`.
    pub element: String,
    /// Address in the guest, where one is given.
    pub address: Option<Address>,
    /// Where.
    pub span: Span,
}
