//! What libvirt refuses of a domain, as far as the domain shows it: rules of libvirt 9.0 (`conf/domain_addr.c`, `qemu/qemu_domain.c`, `qemu/qemu_validate.c`,
//! `conf/domain_validate.c`). What depends on the emulator or the host (a model that QEMU was built without, a node that the host lacks) is not decided here.

use super::model::Domain;
use super::pci::{Address, Controller, Model, Plug};
use super::walk::{at, child, children};
use roxmltree::Node;
use std::collections::{BTreeMap, BTreeSet};

/// CPUs of an x86 guest without extended interrupt mode (libvirt, `QEMU_MAX_VCPUS_WITHOUT_EIM`).
pub const MOST_CPUS: u32 = 255;

/// Why libvirt refuses a domain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A number of an address beyond what there is.
    #[error("{field}={value:#x} of a PCI address: at most {most:#x}")]
    Number {
        /// `bus`, `slot` …
        field: &'static str,
        /// What it is.
        value: u32,
        /// The largest.
        most: u32,
    },
    /// A slot that the controller does not have.
    #[error("{address}: controller {bus} has slots {first} to {last}")]
    Slot {
        /// Where it is to be.
        address: Address,
        /// Index of the controller.
        bus: u32,
        /// Its first slot.
        first: u32,
        /// Its last.
        last: u32,
    },
    /// A thing that this controller does not take.
    #[error("{address}: a {what} does not plug into controller {bus}, a {into}")]
    Plug {
        /// Where it is to be.
        address: Address,
        /// `device`, or a controller's model.
        what: &'static str,
        /// Index of the controller.
        bus: u32,
        /// Its model.
        into: &'static str,
    },
    /// An address that something else has, and the line of that.
    #[error("{0}: this address is given twice (first in line {1})")]
    Clash(Address, u32),
    /// Two controllers of one number.
    #[error("two PCI controllers have index {0}")]
    IndexTwice(u32),
    /// The root is not this machine's.
    #[error("controller 0 of this machine is a {0}")]
    WrongRoot(&'static str),
    /// A root has no address.
    #[error("a root controller has no address")]
    RootAddress,
    /// A controller of another machine.
    #[error("{0} is not for this machine type")]
    Machine(&'static str),
    /// A NUMA node that the guest does not have.
    #[error("controller {index} is bound to node {node}; the guest has {cells} nodes")]
    Node {
        /// The controller.
        index: u32,
        /// The node.
        node: u32,
        /// How many there are.
        cells: usize,
    },
    /// No slot is left for controllers whose address libvirt chooses.
    #[error("{0} root ports have no slot on the root: 240 fit")]
    Full(usize),
    /// A device that must be on the root.
    #[error("{0} must be on bus 0")]
    NotOnRoot(&'static str),
    /// An IOMMU that this machine does not have.
    #[error("an IOMMU of model `{0}` needs another machine type")]
    IommuMachine(String),
    /// More CPUs than an interrupt controller without remapping numbers.
    #[error("{0} CPUs: more than 255 need machine type q35 and an IOMMU with <driver intremap='on' eim='on'/>")]
    Cpus(u32),
    /// A virtio IOMMU without ACPI.
    #[error("an IOMMU of model `virtio` needs <acpi/>")]
    IommuAcpi,
    /// A z/PCI address of another architecture.
    #[error("<zpci> is for s390x")]
    ZpciArch,
    /// A z/PCI number out of range.
    #[error("uid of <zpci> is 1 to 0xffff")]
    ZpciUid,
    /// Memory of a cell and of the guest in modes that do not go together.
    #[error("memory mode `restrictive` of the guest and another one of a cell exclude each other")]
    MemoryModes,
    /// A mediated device without its id.
    #[error("a mediated device without uuid")]
    NoUuid,
    /// An address of a kind that the device cannot have.
    #[error("an address of type `{0}` is not for this device")]
    AddressType(String),
    /// Booting from a device that cannot.
    #[error("this device cannot be booted from")]
    Boot,
    /// The same device twice.
    #[error("the same device of the host is given twice")]
    DeviceTwice,
    /// More than one display of a kind.
    #[error("only one device may have `ramfb`")]
    RamfbTwice,
    /// A tap device for a function that is passed through.
    #[error("an interface that is a function of the host has no tap device")]
    Tap,
}

/// A refusal, and the line of what is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {refusal}")]
pub struct Illegal {
    /// Why.
    pub refusal: Refusal,
    /// 1-based line.
    pub line: u32,
}

impl Refusal {
    /// What one device alone shows.
    pub(super) fn of_device(node: Node<'_, '_>) -> Option<Refusal> {
        let kind = node.attribute("type").unwrap_or_default();
        let address = child(node, "address").and_then(|a| a.attribute("type")).unwrap_or_default();
        let boots = child(node, "boot").is_some_and(|b| b.has_attribute("order"));
        let model = node.attribute("model").unwrap_or_default();
        match (node.tag_name().name(), kind) {
            ("hostdev", "mdev") => {
                let wanted = if model == "vfio-ccw" { "ccw" } else { "pci" };
                let source = at(node, &["source", "address"]);
                if source.is_some_and(|s| !s.has_attribute("uuid")) {
                    Some(Refusal::NoUuid)
                } else if !address.is_empty() && (model == "vfio-ap" || address != wanted) {
                    Some(Refusal::AddressType(address.to_owned()))
                } else {
                    (boots && model == "vfio-ap").then_some(Refusal::Boot)
                }
            }
            ("hostdev", "scsi_host") => boots.then_some(Refusal::Boot),
            _ => None,
        }
    }
}

impl Domain {
    /// The first thing that libvirt refuses; `None`: nothing that the domain shows.
    #[must_use]
    pub fn refusal(&self) -> Option<Illegal> {
        self.refusals().into_iter().next()
    }

    /// All of them, in the order of libvirt's checks.
    #[must_use]
    pub fn refusals(&self) -> Vec<Illegal> {
        let mut out = Vec::new();
        let mut add = |line: u32, refusal: Refusal| out.push(Illegal { refusal, line });
        self.ranges(&mut add);
        self.controllers_alone(&mut add);
        self.plugs(&mut add);
        self.iommu_alone(&mut add);
        if let Some(cpus) =
            self.vcpus.as_ref().filter(|v| v.value > MOST_CPUS && matches!(self.arch.as_str(), "x86_64" | "i686"))
            && !(self.is_pcie() && self.has_eim)
        {
            add(cpus.line, Refusal::Cpus(cpus.value));
        }
        let all = self.memory_nodes.iter().find(|m| m.cell.is_none()).is_some_and(|m| m.mode == "restrictive");
        let other = |m: &&super::MemoryNode| m.cell.is_some() && (m.mode == "restrictive") != all;
        if let Some(m) = self.memory_nodes.iter().find(other) {
            add(m.line, Refusal::MemoryModes);
        }
        out.extend(self.illegal.iter().cloned());
        out
    }

    /// Everything with an address: what it is, the address, and the line.
    fn addressed(&self) -> impl Iterator<Item = (Plug, &'static str, Address)> {
        let controllers = self.controllers.iter().filter_map(|c| {
            let model = c.model?;
            Some((Plug::Controller(model), model.name(), c.address?))
        });
        let passed = self.hostdevs.iter().filter_map(|h| Some((Plug::Endpoint, "device", h.address?)));
        let others = self.devices.iter().filter_map(|d| Some((Plug::Endpoint, "device", d.address?)));
        controllers.chain(passed).chain(others)
    }

    fn ranges(&self, add: &mut impl FnMut(u32, Refusal)) {
        for (.., a) in self.addressed() {
            let all = [
                ("domain", a.domain, 0xffff),
                ("bus", a.bus, 0xff),
                ("slot", a.slot, 0x1f),
                ("function", a.function, 7),
            ];
            for (field, value, most) in all.into_iter().filter(|(_, value, most)| value > most) {
                add(a.line, Refusal::Number { field, value, most });
            }
        }
    }

    fn controllers_alone(&self, add: &mut impl FnMut(u32, Refusal)) {
        let mut seen = BTreeSet::new();
        let root = if self.is_pcie() { Model::PcieRoot } else { Model::PciRoot };
        let is_x86 = matches!(self.arch.as_str(), "x86_64" | "i686");
        for c in &self.controllers {
            let line = c.span.line;
            if !seen.insert(c.index) {
                add(line, Refusal::IndexTwice(c.index));
            }
            let Some(model) = c.model else { continue };
            match model {
                _ if model.is_root() && c.address.is_some() => add(line, Refusal::RootAddress),
                _ if c.index == 0 && is_x86 && self.machine.is_some() && model != root => {
                    add(line, Refusal::WrongRoot(root.name()))
                }
                Model::PcieExpander if !self.is_pcie() => add(line, Refusal::Machine(model.name())),
                Model::PciExpander if self.is_pcie() => add(line, Refusal::Machine(model.name())),
                _ => {}
            }
            if let Some(node) = c.node.filter(|n| *n as usize >= self.cells.len()) {
                add(line, Refusal::Node { index: c.index, node, cells: self.cells.len() });
            }
        }
        let free = |c: &&Controller| c.model == Some(Model::RootPort) && c.address.is_none();
        let waiting = self.controllers.iter().filter(free).count();
        // Slot 0 is the root's, slot 0x1f the chipset's: 30 are left, of eight functions each.
        if waiting > 240 || waiting.div_ceil(8) > 30 - self.root_slots().min(30) {
            add(self.devices_span.line, Refusal::Full(waiting));
        }
    }

    /// Slots of the root that are taken.
    fn root_slots(&self) -> usize {
        let on_root = |(.., a): &(Plug, &str, Address)| a.bus == 0 && (1..0x1f).contains(&a.slot);
        self.addressed().filter(on_root).map(|(.., a)| a.slot).collect::<BTreeSet<_>>().len()
    }

    fn plugs(&self, add: &mut impl FnMut(u32, Refusal)) {
        let models: BTreeMap<u32, Model> = self.controllers.iter().filter_map(|c| Some((c.index, c.model?))).collect();
        let mut taken: BTreeMap<(u32, u32, u32), u32> = BTreeMap::new();
        for (plug, what, a) in self.addressed() {
            // A root's address is refused as such; what libvirt would add for a missing controller is not known here.
            let is_root = matches!(plug, Plug::Controller(m) if m.is_root());
            if let Some(into) = models.get(&a.bus).filter(|_| !is_root) {
                let accepts = into.accepts();
                if !accepts.takes(plug) {
                    add(a.line, Refusal::Plug { address: a, what, bus: a.bus, into: into.name() });
                } else if a.slot <= 0x1f && !(accepts.first..=accepts.last).contains(&a.slot) {
                    let (first, last) = (accepts.first, accepts.last);
                    add(a.line, Refusal::Slot { address: a, bus: a.bus, first, last });
                }
            }
            if let Some(first) = taken.insert((a.bus, a.slot, a.function), a.line).filter(|_| !is_root) {
                add(a.line, Refusal::Clash(a, first));
            }
        }
    }

    fn iommu_alone(&self, add: &mut impl FnMut(u32, Refusal)) {
        let Some(iommu) = &self.iommu else { return };
        let model = iommu.value.as_str();
        let is_x86 = matches!(self.arch.as_str(), "x86_64" | "i686");
        if model == "intel" && !(is_x86 && self.is_pcie())
            || model == "smmuv3" && is_x86
            || model == "virtio" && !self.is_pcie()
        {
            add(iommu.line, Refusal::IommuMachine(model.to_owned()));
        }
        if model == "virtio" && is_x86 && !self.has_acpi {
            add(iommu.line, Refusal::IommuAcpi);
        }
        let elsewhere = self.devices.iter().find(|d| d.element == "iommu" && d.address.is_some_and(|a| a.bus != 0));
        if let Some(d) = elsewhere {
            add(d.span.line, Refusal::NotOnRoot("a virtio IOMMU"));
        }
    }

    /// What the devices of a domain show together.
    pub(super) fn together(devices: Node<'_, '_>, arch: &str, line: impl Fn(Node<'_, '_>) -> u32) -> Vec<Illegal> {
        let mut out = Vec::new();
        let mut add = |node, refusal| out.push(Illegal { refusal, line: line(node) });
        let mut ramfb = 0;
        let (mut sources, mut places) = (BTreeSet::new(), BTreeSet::new());
        for node in children(devices, "hostdev") {
            ramfb += usize::from(node.attribute("ramfb") == Some("on"));
            if ramfb == 2 && node.attribute("ramfb") == Some("on") {
                add(node, Refusal::RamfbTwice);
            }
            let words = |n: Option<Node<'_, '_>>, names: &[&str]| {
                n.map(|n| names.iter().map(|a| n.attribute(*a).unwrap_or_default().to_owned()).collect::<Vec<_>>())
            };
            if node.attribute("type") == Some("scsi") {
                let adapter = words(at(node, &["source", "adapter"]), &["name"]);
                let source = words(at(node, &["source", "address"]), &["bus", "target", "unit"]);
                let place = words(child(node, "address"), &["controller", "bus", "target", "unit"]);
                let is_there = adapter.zip(source).is_some_and(|key| !sources.insert(key));
                if is_there || place.is_some_and(|p| !places.insert(p)) {
                    add(node, Refusal::DeviceTwice);
                }
            }
        }
        for node in children(devices, "interface").filter(|n| n.attribute("type") == Some("hostdev")) {
            if child(node, "backend").is_some_and(|b| b.has_attribute("tap")) {
                add(node, Refusal::Tap);
            }
        }
        for zpci in devices.descendants().filter(|n| n.has_tag_name("zpci")) {
            if arch != "s390x" {
                add(zpci, Refusal::ZpciArch);
            } else if zpci.attribute("uid").and_then(super::walk::number).is_some_and(|uid| uid == 0 || uid > 0xffff) {
                add(zpci, Refusal::ZpciUid);
            }
        }
        out
    }
}
