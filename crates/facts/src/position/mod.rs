//! Where things are in a machine, so that machines are compared by place, never by address or name alone.
//!
//! A [`Seat`] is a PCI function, or a device that a text names without its address. It has a [`Path`], the steps from the root complex, which is
//! the same in machines that are built alike whatever their bus numbers are; and a [`Role`] for people, as `rail 3 NIC`.

mod align;
mod layout;
mod path;
mod role;

pub use align::{Alignment, align};
pub use layout::MANY;
pub use path::Path;
pub use role::{Device, NotAPosition, Role, folded};

use crate::Subject;
use hashbrown::HashMap;
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use linerate_node::pci::Kind;
use std::collections::BTreeMap;

/// A device of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seat {
    /// How this source names it.
    pub name: Name,
    /// What it is.
    pub kind: Kind,
    /// What it is for.
    pub role: Role,
    /// The way to it; `None` where the source does not show what it is below.
    pub path: Option<Path>,
    /// Id of the list of facts that names it first.
    pub list: &'static str,
}

/// How a source names a device.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Name {
    /// By its PCI address.
    Address(Bdf),
    /// By a name: `mlx5_0`, `/dev/mst/mt4129_pciconf0`.
    Word(String),
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Name::Address(bdf) => bdf.fmt(f),
            Name::Word(word) => f.write_str(word),
        }
    }
}

/// The devices of a machine, GPUs first, then NICs by rail, then the rest.
#[derive(Debug, Clone, Default)]
pub struct Positions {
    /// In the order of their roles.
    pub seats: Vec<Seat>,
    by_name: HashMap<Name, usize>,
}

impl Positions {
    /// Of a node. Where its list of PCI functions is an excerpt, nothing says what a function is below: there are no paths.
    #[must_use]
    pub fn of(node: &Node<'_>, pci_is_whole: bool) -> Self {
        let paths = path::Paths::of(&node.pci);
        let roles = role::roles(node);
        let mut seats: Vec<Seat> = node
            .pci
            .iter()
            .map(|(id, f)| Seat {
                name: Name::Address(f.bdf),
                kind: f.kind,
                role: roles.of(id),
                path: paths.way(&node.pci, id).filter(|_| pci_is_whole),
                list: "pci",
            })
            .collect();
        let mut named: BTreeMap<Name, &'static str> = BTreeMap::new();
        let mut add = |name, list| {
            named.entry(name).or_insert(list);
        };
        node.nvidia.gpus.iter().for_each(|g| add(Name::Address(g.bdf), "gpus"));
        node.nic_firmware.iter().for_each(|n| add(firmware_name(n), "nic_firmware"));
        let rdma = node.rdma.known().into_iter().flatten();
        rdma.for_each(|d| add(d.pci.map_or_else(|| Name::Word(d.name.clone()), Name::Address), "rdma"));
        named.retain(|name, _| !matches!(name, Name::Address(bdf) if node.pci.find(*bdf).is_some()));
        let (mut gpus, mut nics) = (roles.gpus, roles.nics);
        seats.extend(named.into_iter().map(|(name, list)| {
            let (kind, device, next) = match list {
                "gpus" => (Kind::Gpu, Device::Gpu, &mut gpus),
                _ => (Kind::RdmaNic, Device::Nic, &mut nics),
            };
            let number = *next;
            *next = next.saturating_add(1);
            Seat { name, kind, role: Role::Device(device, number), path: None, list }
        }));
        seats.sort_by(|a, b| (&a.role, &a.name).cmp(&(&b.role, &b.name)));
        let by_name = seats.iter().enumerate().map(|(i, s)| (s.name.clone(), i)).collect();
        Positions { seats, by_name }
    }

    /// Number of the seat of what a fact is about; `None`: it is about no device.
    #[must_use]
    pub fn find(&self, subject: &Subject<'_>) -> Option<usize> {
        let name = match subject {
            Subject::NicFirmware(n) | Subject::Setting(n, _) => firmware_name(n),
            Subject::RdmaDevice(d) | Subject::Port(d, _) | Subject::Gid(d, ..) if d.pci.is_none() => {
                Name::Word(d.name.clone())
            }
            // A group has no number that means anything on another machine: it is its first device's.
            Subject::IommuGroup(g) => {
                return g.devices.iter().filter_map(|d| self.at(*d)).min();
            }
            other => Name::Address(other.function()?),
        };
        self.by_name.get(&name).copied()
    }

    /// Number of the seat of a PCI function.
    #[must_use]
    pub fn at(&self, function: Bdf) -> Option<usize> {
        self.by_name.get(&Name::Address(function)).copied()
    }
}

fn firmware_name(n: &linerate_node::nicfw::NicFirmware) -> Name {
    n.bdf.map_or_else(|| Name::Word(n.name.clone()), Name::Address)
}
