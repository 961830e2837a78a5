//! The way from the root complex to a PCI function, without bus numbers.

use super::NotAPosition;
use linerate_formats::pci::Bdf;
use linerate_node::pci::{FnId, PciTree};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// Number of the root bus among those of the machine, then device and function of each step: `4/01.1/00.0`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    root: u16,
    steps: Vec<(u8, u8)>,
}

impl Path {
    /// The way to what is directly above; `None`: it is on a root bus.
    #[must_use]
    pub fn above(&self) -> Option<Path> {
        let (_, above) = self.steps.split_last()?;
        (!above.is_empty()).then(|| Path { root: self.root, steps: above.to_vec() })
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.root)?;
        self.steps.iter().try_for_each(|(device, function)| write!(f, "/{device:02x}.{function}"))
    }
}

impl FromStr for Path {
    type Err = NotAPosition;

    /// What [`fmt::Display`] writes.
    fn from_str(text: &str) -> Result<Self, NotAPosition> {
        let mut parts = text.split('/');
        let step = |part: &str| {
            let (device, function) = part.split_once('.')?;
            Some((u8::from_str_radix(device, 16).ok()?, function.parse().ok()?))
        };
        let root = parts.next().and_then(|r| r.parse().ok());
        let steps: Option<Vec<_>> = parts.map(step).collect();
        let path = root.zip(steps).map(|(root, steps)| Path { root, steps });
        path.ok_or_else(|| NotAPosition(text.to_owned()))
    }
}

/// The root buses of a machine. Firmware numbers buses anew when a card is added; the order of root buses is that of the board.
pub(super) struct Paths {
    roots: Vec<(u32, u8)>,
    /// The bridges above each function, nearest first, and whether the last of them is seen to be on a root bus.
    above: Vec<(Vec<FnId>, bool)>,
}

impl Paths {
    pub(super) fn of(pci: &PciTree<'_>) -> Self {
        let above: Vec<(Vec<FnId>, bool)> = pci.iter().map(|(id, _)| pci.ancestors(id)).collect();
        let tops = pci.iter().zip(&above).filter_map(|((id, _), way)| top(pci, id, way));
        let roots: BTreeSet<_> = tops.map(bus).collect();
        Paths { roots: roots.into_iter().collect(), above }
    }

    /// `None` where the source does not show what the function is below.
    pub(super) fn way(&self, pci: &PciTree<'_>, id: FnId) -> Option<Path> {
        let way = self.above.get(id.0 as usize)?;
        let root = self.roots.binary_search(&bus(top(pci, id, way)?)).ok()?;
        let all = way.0.iter().rev().chain([&id]);
        let steps = all.map(|step| (pci.get(*step).bdf.device, pci.get(*step).bdf.function)).collect();
        Some(Path { root: root as u16, steps })
    }
}

/// The function on the root bus that another one is below, or is.
fn top(pci: &PciTree<'_>, id: FnId, (above, is_complete): &(Vec<FnId>, bool)) -> Option<Bdf> {
    is_complete.then(|| pci.get(above.last().copied().unwrap_or(id)).bdf)
}

fn bus(bdf: Bdf) -> (u32, u8) {
    (bdf.domain, bdf.bus)
}
