//! Gives functions their buses, addresses and names while the layout is laid out.

use crate::DescribeError;
use crate::function::Function;
use crate::platform::{Platform, RootBus};
use crate::seed::Seed;
use std::collections::BTreeMap;

/// The PCI functions of a node, in the order of enumeration.
pub(crate) struct Builder {
    pub(crate) functions: Vec<Function>,
    platform: Platform,
    seed: Seed,
    /// The next free bus below each root bus.
    next_bus: BTreeMap<RootBus, u16>,
    /// Free root ports of each root bus: index into `Platform::ports`.
    next_port: BTreeMap<RootBus, usize>,
}

impl Builder {
    pub(crate) fn new(platform: Platform, seed: Seed) -> Self {
        Builder { functions: Vec::new(), platform, seed, next_bus: BTreeMap::new(), next_port: BTreeMap::new() }
    }

    /// A function on a root bus.
    pub(crate) fn on_root(&mut self, root: RootBus, socket: u32, device: u8, function: u8, mut f: Function) -> usize {
        f.bdf.domain = root.0;
        (f.bdf.bus, f.bdf.device, f.bdf.function) = (root.1, device, function);
        (f.root_bus, f.socket) = (root.1, socket);
        self.functions.push(f);
        self.functions.len() - 1
    }

    /// Makes a function a bridge by giving it the next bus.
    pub(crate) fn bridge(&mut self, index: usize) -> Result<(), DescribeError> {
        let Some(f) = self.functions.get_mut(index) else { return Ok(()) };
        let root = (f.bdf.domain, f.root_bus);
        let next = self.next_bus.entry(root).or_insert(u16::from(root.1) + 1);
        if *next > u16::from(self.platform.last_bus(root)) {
            return Err(DescribeError::impossible(
                format!("the layout needs more PCI buses below root bus {:04x}:{:02x} than there are", root.0, root.1),
                "fewer devices for each switch, or fewer switches for each socket",
            ));
        }
        f.buses = Some((*next as u8, *next as u8));
        *next += 1;
        Ok(())
    }

    /// A function below a bridge.
    pub(crate) fn below(&mut self, bridge: usize, device: u8, function: u8, mut f: Function) -> usize {
        if let Some(b) = self.functions.get(bridge) {
            f.bdf.domain = b.bdf.domain;
            f.bdf.bus = b.buses.map_or(0, |(secondary, _)| secondary);
            (f.root_bus, f.socket) = (b.root_bus, b.socket);
        }
        (f.bdf.device, f.bdf.function, f.parent) = (device, function, Some(bridge));
        self.functions.push(f);
        self.functions.len() - 1
    }

    /// The next free root port of a socket, on its `prefer`-th root bus or the first later one with a free port.
    pub(crate) fn root_port(&mut self, socket: u32, prefer: usize) -> Result<usize, DescribeError> {
        let buses = self.platform.root_buses(socket);
        for n in 0..buses.len() {
            let Some(root) = buses.get((prefer + n) % buses.len()) else { continue };
            let port = self.next_port.entry(*root).or_insert(0);
            let Some((device, function)) = self.platform.ports().get(*port) else { continue };
            *port += 1;
            let index = self.on_root(*root, socket, *device, *function, self.platform.root_port());
            self.bridge(index)?;
            let n = self.functions.iter().filter(|f| f.names.iter().any(|n| n.starts_with("rootport"))).count();
            self.name(index, format!("rootport{n}"));
            return Ok(index);
        }
        Err(DescribeError::impossible(
            format!("socket {socket} has no root port left for the layout"),
            "fewer devices, or put them behind switches",
        ))
    }

    pub(crate) fn seed(&self) -> Seed {
        self.seed
    }

    /// The `at`-th root bus of a socket.
    pub(crate) fn root_bus(&self, socket: u32, at: usize) -> Option<RootBus> {
        self.platform.root_buses(socket).get(at).copied()
    }

    /// Sets the ACS control register of a port.
    pub(crate) fn set_acs(&mut self, index: usize, control: u16) {
        if let Some(f) = self.functions.get_mut(index) {
            f.acs = Some((f.acs.map_or(0x5f, |(capability, _)| capability), control));
        }
    }

    /// How many functions there are: where the next one will be.
    pub(crate) fn mark(&self) -> usize {
        self.functions.len()
    }

    /// Puts a function, and all from `first` on, into one IOMMU group.
    pub(crate) fn group(&mut self, index: usize, first: usize, group: u32) {
        for (i, f) in self.functions.iter_mut().enumerate() {
            if i == index || i >= first {
                f.iommu_group = Some(group);
            }
        }
    }

    /// Vital Product Data of a function: what another function of the same card has in common with it.
    pub(crate) fn uuid_of(&self, name: &str) -> Option<crate::function::Vpd> {
        self.functions.iter().find(|f| f.names.iter().any(|n| n == name))?.vpd.clone()
    }

    pub(crate) fn name(&mut self, index: usize, name: String) {
        if let Some(f) = self.functions.get_mut(index) {
            f.names.push(name);
        }
    }

    /// Subordinate buses, NUMA nodes, link partners and addresses, once everything is there.
    pub(crate) fn finish(&mut self, numa_of: impl Fn(u32, u8) -> i32) {
        for i in (0..self.functions.len()).rev() {
            let Some((parent, last)) =
                self.functions.get(i).and_then(|f| Some((f.parent?, f.buses.map_or(f.bdf.bus, |(_, sub)| sub))))
            else {
                continue;
            };
            if let Some((_, subordinate)) = self.functions.get_mut(parent).and_then(|f| f.buses.as_mut()) {
                *subordinate = (*subordinate).max(last);
            }
        }
        for f in &mut self.functions {
            f.numa = numa_of(f.socket, f.root_bus);
        }
        self.train();
        self.addresses();
    }

    /// A link runs at what both of its ends can do.
    fn train(&mut self) {
        for i in 0..self.functions.len() {
            let Some((child, parent)) = self.functions.get(i).and_then(|f| Some((f.link?, f.parent?))) else {
                continue;
            };
            let Some(port) = self.functions.get(parent).and_then(|f| f.link) else { continue };
            let (speed, width) = (child.max_speed.min(port.max_speed), child.max_width.min(port.max_width));
            for at in [i, parent] {
                if let Some(link) = self.functions.get_mut(at).and_then(|f| f.link.as_mut()) {
                    (link.speed, link.width) = (speed, width);
                }
            }
        }
    }

    /// BAR addresses: 64-bit prefetchable ones in a terabyte-aligned window of each root bus, the others below 4 GiB.
    fn addresses(&mut self) {
        let mut low: u64 = 0x9000_0000;
        let mut high: BTreeMap<RootBus, u64> = BTreeMap::new();
        for f in &mut self.functions {
            let root = (f.bdf.domain, f.root_bus);
            let base = 0x2000_0000_0000 + ((u64::from(root.0 & 0xff) << 8) | u64::from(root.1)) * 0x100_0000_0000;
            for bar in f.bars.iter_mut().filter(|b| b.size > 0) {
                let next = if bar.wide && bar.prefetchable { high.entry(root).or_insert(base) } else { &mut low };
                // Windows of bridges start at a megabyte.
                let align = bar.size.next_power_of_two().max(1 << 20);
                bar.address = next.next_multiple_of(align);
                *next = bar.address + bar.size;
            }
        }
    }
}
