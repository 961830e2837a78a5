//! From the host's tree to the guest's: controllers with their numbers, cells, and the window for BARs.

use crate::clique::{self, Member};
use crate::host::{Branch, Port, Root};
use crate::taken::Taken;
use crate::window::{self, Window};
use crate::{Refusal, cells};
use linerate_formats::libvirt::{MOST_CPUS, Model};
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use linerate_node::pci::FnId;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What is wanted besides the devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wishes {
    /// Name of the guest.
    pub name: String,
    /// Its memory in MiB, in all; `None`: what its nodes have free.
    pub memory_mib: Option<u64>,
    /// Its CPUs; `None`: all of its nodes, but for one core of each that is left to the host.
    pub vcpus: Option<u32>,
    /// Size of its pages, KiB; `None`: not backed by huge pages.
    pub page_kib: Option<u64>,
    /// Whether GPUs get cliques for GPUDirect P2P.
    pub has_cliques: bool,
    /// Whether the guest gets a virtual IOMMU: for guests of its own, or for more than 255 CPUs.
    pub has_iommu: bool,
    /// What a domain has already.
    pub taken: Taken,
}

/// A controller of the guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Controller {
    /// libvirt's number, which addresses below it have as their bus.
    pub index: u32,
    /// Its model, in libvirt's word.
    #[serde(serialize_with = "model")]
    pub model: Model,
    /// The controller that it is plugged into.
    pub above: u32,
    /// The slot there.
    pub slot: u8,
    /// Of an expander bus: its bus number.
    pub bus_number: Option<u8>,
    /// Of an expander bus: the guest's node.
    pub cell: Option<u32>,
    /// Stable name, from the host's port.
    pub alias: String,
    /// The host's port; of an expander bus its root bus.
    pub of: String,
}

fn model<S: serde::Serializer>(m: &Model, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(m.name())
}

/// A device of the host in the guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Placed {
    /// The host's function.
    pub host: Bdf,
    /// Its address in the guest.
    pub guest: Bdf,
    /// The controller that it is plugged into.
    pub above: u32,
    /// Whether other functions share its slot.
    pub multifunction: bool,
    /// Stable name.
    pub alias: String,
}

/// Bus numbers of a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Range {
    /// Domain and root bus of the host.
    pub host: (u32, u8),
    /// First number in the guest.
    pub first: u8,
    /// Last.
    pub last: u8,
}

/// A guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Layout {
    /// Its name.
    pub name: String,
    /// Controllers, each behind the one that it is plugged into.
    pub controllers: Vec<Controller>,
    /// Devices, by the host's address.
    pub devices: Vec<Placed>,
    /// Bus numbers of each root.
    pub buses: Vec<Range>,
    /// Bus numbers that the root keeps for what else the guest has.
    pub left: u8,
    /// NUMA nodes.
    pub cells: Vec<cells::Cell>,
    /// The window for 64-bit BARs.
    pub window: Window,
    /// Size of a page, KiB.
    pub page_kib: Option<u64>,
    /// GPUs that may write to each other over PCIe.
    pub cliques: Vec<Member>,
    /// A virtual IOMMU.
    pub has_iommu: bool,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// Slots of the root that expander buses may have, the highest first: 0x1f is the chipset's, low ones are libvirt's own choice.
const SLOTS: std::ops::RangeInclusive<u8> = 2..=0x1e;

/// The layout of a guest with these roots.
///
/// # Errors
/// See [`Refusal`].
pub fn layout(node: &Node<'_>, roots: &[Root], wishes: &Wishes) -> Result<Layout, Refusal> {
    let need: usize = roots.iter().map(|r| 1 + r.ports.iter().map(Branch::ports).sum::<usize>()).sum();
    let bus = wishes.taken.first_bus(need).map_err(|have| Refusal::Buses { need, have })?;
    let slots: Vec<u8> = SLOTS.rev().filter(|s| !wishes.taken.slots.contains(s)).take(roots.len()).collect();
    if slots.len() < roots.len() {
        return Err(Refusal::Slots { need: roots.len(), have: slots.len() });
    }
    // A domain with cells of its own keeps them.
    let (cells, of_node) = match &wishes.taken.cells {
        Some(of_node) => (Vec::new(), of_node.clone()),
        None => {
            let cells = cells::cells(node, roots, wishes)?;
            let of_node: BTreeMap<u32, u32> = cells.iter().filter_map(|c| Some((c.host?, c.id))).collect();
            (cells, of_node)
        }
    };
    let mut build =
        Build { node, taken: &wishes.taken.indexes, next: 1, bus, controllers: Vec::new(), devices: Vec::new() };
    let mut buses = Vec::new();
    // In the order of the host's addresses, so that GPUs and NICs are numbered in the guest as on the host.
    for (root, slot) in roots.iter().zip(slots.into_iter().rev()) {
        let first = build.bus;
        let cell = root.node.and_then(|n| of_node.get(&n)).copied();
        build.root(root, slot, cell);
        buses.push(Range { host: root.bus, first, last: build.bus.wrapping_sub(1) });
    }
    build.devices.sort_by_key(|d| d.host);
    let functions = build.devices.iter().map(|d| d.host).chain(wishes.taken.others.iter().copied());
    let window = window::window(node, functions)?;
    let cliques = if wishes.has_cliques { clique::cliques(node, roots)? } else { Vec::new() };
    let mut notes = Vec::new();
    if !cliques.is_empty() {
        notes.push("GPUDirect P2P cliques join GPUs below one root port of the host; the guest's driver does not check that the host lets them reach each other (ACS)".to_owned());
    }
    let given: u32 = cells.iter().map(|c| c.cpus.1 - c.cpus.0 + 1).sum();
    let of_cells = node.numa.known().into_iter().flatten().filter(|n| cells.iter().any(|c| c.host == Some(n.id)));
    let available = cells::available(of_cells);
    if wishes.vcpus.is_none() && given < available {
        notes.push(format!(
            "the guest has {given} of {available} CPUs: more than {MOST_CPUS} need a virtual IOMMU (--viommu), for extended interrupt mode"
        ));
    }
    if wishes.has_iommu {
        notes.push(
            "a virtual IOMMU: boot the guest with iommu=pt (intel_iommu=on), else its devices are in translated domains and GPUDirect is slow or fails".to_owned(),
        );
    }
    if roots.iter().any(|r| r.node.is_none()) && (!cells.is_empty() || !of_node.is_empty()) {
        notes.push(match node.numa.known() {
            Some(_) => "the host has one NUMA node: expander buses are bound to none".to_owned(),
            None => {
                "the source does not show the host's NUMA nodes: expander buses are bound to none; collect on the host"
                    .to_owned()
            }
        });
    }
    Ok(Layout {
        name: wishes.name.clone(),
        controllers: build.controllers,
        devices: build.devices,
        buses,
        left: bus.saturating_sub(1),
        cells,
        window,
        page_kib: wishes.page_kib,
        cliques,
        has_iommu: wishes.has_iommu,
        notes,
    })
}

struct Build<'a, 's> {
    node: &'a Node<'s>,
    taken: &'a BTreeSet<u32>,
    next: u32,
    bus: u8,
    controllers: Vec<Controller>,
    devices: Vec<Placed>,
}

impl Build<'_, '_> {
    fn take(&mut self) -> (u32, u8) {
        // The lowest free ones: libvirt makes a root port of each index that is left out.
        while self.taken.contains(&self.next) {
            self.next += 1;
        }
        let taken = (self.next, self.bus);
        self.next += 1;
        self.bus = self.bus.wrapping_add(1);
        taken
    }

    fn root(&mut self, root: &Root, slot: u8, cell: Option<u32>) {
        let (index, bus) = self.take();
        let (domain, number) = root.bus;
        self.controllers.push(Controller {
            index,
            model: Model::PcieExpander,
            above: 0,
            slot,
            bus_number: Some(bus),
            cell,
            alias: format!("ua-linerate-root-{domain:04x}-{number:02x}"),
            of: format!("pci{domain:04x}:{number:02x}"),
        });
        for (slot, port) in (0..).zip(&root.ports) {
            self.port(port, index, slot);
        }
    }

    fn port(&mut self, branch: &Branch, above: u32, slot: u8) {
        let (index, bus) = self.take();
        let bdf = self.node.pci.get(branch.port).bdf;
        let model = match branch.kind {
            Port::Root => Model::RootPort,
            Port::Upstream => Model::UpstreamPort,
            Port::Downstream => Model::DownstreamPort,
        };
        let alias = format!("ua-linerate-port-{}", dashed(bdf));
        self.controllers.push(Controller {
            index,
            model,
            above,
            slot,
            bus_number: None,
            cell: None,
            alias,
            of: bdf.to_string(),
        });
        for (slot, port) in (0..).zip(&branch.below) {
            self.port(port, index, slot);
        }
        self.functions(&branch.functions, index, bus);
    }

    /// Functions of one slot keep their numbers, where the first is 0; else they are counted.
    fn functions(&mut self, all: &[FnId], above: u32, bus: u8) {
        let bdfs: Vec<Bdf> = all.iter().map(|f| self.node.pci.get(*f).bdf).collect();
        let one_slot = bdfs.iter().all(|b| Some((b.bus, b.device)) == bdfs.first().map(|f| (f.bus, f.device)));
        let keeps = one_slot && bdfs.first().is_some_and(|b| b.function == 0);
        for (n, host) in (0..).zip(&bdfs) {
            let function = if keeps { host.function } else { n };
            let guest = Bdf { domain: 0, bus, device: 0, function };
            let alias = format!("ua-linerate-{}", dashed(*host));
            self.devices.push(Placed { host: *host, guest, above, multifunction: bdfs.len() > 1, alias });
        }
    }
}

/// An address as a part of a name: `0000-3b-00-0`.
fn dashed(bdf: Bdf) -> String {
    format!("{:04x}-{:02x}-{:02x}-{:x}", bdf.domain, bdf.bus, bdf.device, bdf.function)
}
