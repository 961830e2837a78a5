//! The PCI tree of a guest, from its domain: bus numbers as the firmware gives them.
//!
//! SeaBIOS and OVMF count depth first: from each root on, in the order of slots, a bridge gets the next number and then those below it. A root is bus 0, and each
//! expander bus with its `busNr`.

use linerate_formats::libvirt::{Address, Domain, Model};
use linerate_formats::pci::Bdf;
use linerate_node::pci::Distance;
use std::collections::BTreeMap;

/// A function of the guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Its address in the guest.
    pub bdf: Bdf,
    /// The bridge above: its place in the list; `None`: it is on a root bus.
    pub above: Option<usize>,
    /// What it is.
    pub what: What,
    /// The guest's NUMA node, by the expander bus that it is below; `None`: it has none.
    pub cell: Option<u32>,
    /// 1-based line of the domain.
    pub line: u32,
}

/// What a function is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A controller.
    Bridge(Model),
    /// A function of the host; `None`: which one is not readable.
    Host(Option<Bdf>),
    /// A device of QEMU.
    Emulated,
}

/// The tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Guest {
    /// Functions, each behind the one above it.
    pub functions: Vec<Function>,
    /// Lines of the domain whose address libvirt chooses: they are in no place here.
    pub unplaced: Vec<u32>,
    /// Lines of bridges that got no bus number, because there are none left.
    pub without_number: Vec<u32>,
    /// Numbers of a root: the first one, the last one used, and the last that it may use.
    pub ranges: Vec<(u32, u32, u32)>,
}

impl Guest {
    /// The function that is a host's.
    #[must_use]
    pub fn of_host(&self, host: Bdf) -> Option<usize> {
        self.functions.iter().position(|f| f.what == What::Host(Some(host)))
    }

    /// How near two functions are, as tools in the guest show it: by the bridges that they share, else by their root buses and NUMA nodes.
    /// Without a node both have -1, which NCCL takes for one CPU.
    #[must_use]
    pub fn distance(&self, a: usize, b: usize) -> Distance {
        let (Some(x), Some(y)) = (self.functions.get(a), self.functions.get(b)) else { return Distance::Unknown };
        let (up_a, up_b): (Vec<usize>, Vec<usize>) = (self.above(a).collect(), self.above(b).collect());
        let meet = up_a.iter().enumerate().find_map(|(i, p)| Some((i, up_b.iter().position(|q| q == p)?)));
        match meet {
            Some((i, j)) => Distance::below(i, j),
            None if x.cell == y.cell => Distance::Phb,
            None => Distance::Sys,
        }
    }

    /// Bridges above a function, nearest first.
    pub fn above(&self, of: usize) -> impl Iterator<Item = usize> {
        let mut at = self.functions.get(of).and_then(|f| f.above);
        std::iter::from_fn(move || {
            let here = at?;
            at = self.functions.get(here).and_then(|f| f.above);
            Some(here)
        })
    }
}

/// What is plugged into a controller.
struct Plugged {
    address: Address,
    what: What,
    /// Of a controller: its index.
    index: Option<u32>,
    line: u32,
}

/// The tree of a domain's guest. Controllers without an address are where libvirt puts them, which the domain does not say.
#[must_use]
pub fn guest(domain: &Domain) -> Guest {
    let mut out = Guest::default();
    let mut below: BTreeMap<u32, Vec<Plugged>> = BTreeMap::new();
    let mut add = |address: Option<Address>, what, index, line, out: &mut Guest| match address {
        Some(address) => below.entry(address.bus).or_default().push(Plugged { address, what, index, line }),
        None => out.unplaced.push(line),
    };
    let mut expanders = Vec::new();
    for c in &domain.controllers {
        match c.model {
            Some(m) if m.is_root() => {}
            Some(Model::PcieExpander | Model::PciExpander) => {
                expanders.push((c.bus_number, c.index, c.node, c.span.line))
            }
            Some(model) => add(c.address, What::Bridge(model), Some(c.index), c.span.line, &mut out),
            None => out.unplaced.push(c.span.line),
        }
    }
    domain.hostdevs.iter().for_each(|h| add(h.address, What::Host(h.source), None, h.span.line, &mut out));
    domain
        .devices
        .iter()
        .filter(|d| d.address.is_some())
        .for_each(|d| add(d.address, What::Emulated, None, d.span.line, &mut out));
    for all in below.values_mut() {
        all.sort_by_key(|p| (p.address.slot, p.address.function));
    }
    out.unplaced.extend(expanders.iter().filter(|e| e.0.is_none()).map(|e| e.3));
    let mut roots: Vec<(u32, u32, Option<u32>)> =
        expanders.iter().filter_map(|(bus, index, node, _)| Some(((*bus)?, *index, *node))).collect();
    roots.push((0, 0, None));
    roots.sort_unstable();
    let ends: Vec<u32> = roots.iter().skip(1).map(|r| r.0.saturating_sub(1)).chain([255]).collect();
    for ((bus, index, node), last) in roots.into_iter().zip(ends) {
        let mut walk = Walk { below: &mut below, next: bus + 1, last, cell: node, out: &mut out };
        walk.bus(index, bus, None);
        let used = walk.next - 1;
        out.ranges.push((bus, used, last));
    }
    out
}

struct Walk<'a> {
    below: &'a mut BTreeMap<u32, Vec<Plugged>>,
    next: u32,
    last: u32,
    cell: Option<u32>,
    out: &'a mut Guest,
}

impl Walk<'_> {
    /// Numbers what is plugged into a controller. Each is taken once, so a domain that plugs controllers into each other in a circle ends.
    fn bus(&mut self, index: u32, bus: u32, above: Option<usize>) {
        for p in self.below.remove(&index).unwrap_or_default() {
            let device = u8::try_from(p.address.slot).unwrap_or(u8::MAX) & 0x1f;
            let function = u8::try_from(p.address.function).unwrap_or(u8::MAX) & 7;
            let bdf = Bdf { domain: 0, bus: u8::try_from(bus).unwrap_or(u8::MAX), device, function };
            let at = self.out.functions.len();
            self.out.functions.push(Function { bdf, above, what: p.what, cell: self.cell, line: p.line });
            let Some(index) = p.index else { continue };
            if self.next > self.last {
                self.out.without_number.push(p.line);
                continue;
            }
            let number = self.next;
            self.next += 1;
            self.bus(index, number, Some(at));
        }
    }
}
