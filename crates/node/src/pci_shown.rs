//! What trees of `lspci -t` and values of `setpci` show of functions that sysfs or `lspci` list. They list no functions themselves: a tree
//! shows no class, so a GPU in it is not known as one.

use crate::cut::{self, Cut};
use crate::pci::{Parent, PciFunction};
use hashbrown::{HashMap, HashSet};
use linerate_formats::bounds::PCI_FUNCTIONS;
use linerate_formats::pci::Bdf;
use linerate_formats::pci::caps::{Acs, AcsBits};
use linerate_formats::pci::class::Class;
use linerate_formats::pci::lspci::tree::{self, Seat};
use linerate_formats::setpci;
use linerate_snapshot::{EntryId, OutputKind, Place, Reading, Snapshot, Why};

/// Class of a bridge between PCI buses.
const BRIDGE: Class = Class(0x06_0400);

/// Gives to the functions the bridges above them, where no source showed those, and adds the bridges on the way that no source listed. Both
/// lists are sorted, before and after.
pub(crate) fn trees(
    s: &Snapshot,
    functions: &mut Vec<PciFunction<'_>>,
    above: &mut Vec<(Bdf, Bdf)>,
    cuts: &mut Vec<Cut>,
) {
    let mut seats: HashMap<Bdf, (Seat, EntryId)> = HashMap::new();
    for o in s.outputs.iter().filter(|o| o.kind == OutputKind::LspciTree) {
        let listed = tree::read(s.data(o.entry));
        cut::note(cuts, o.entry, &listed.left_out);
        for seat in listed.items {
            seats.entry(seat.device.bdf).or_insert((seat, o.entry));
        }
    }
    if seats.is_empty() {
        return;
    }
    let listed: HashSet<Bdf> = functions.iter().map(|f| f.bdf).collect();
    let known: HashSet<Bdf> = above.iter().map(|(f, _)| *f).collect();
    let mut added: HashSet<Bdf> = HashSet::new();
    for bdf in &listed {
        // Each bridge is walked once.
        let mut next = seats.get(bdf).and_then(|(seat, _)| seat.above);
        while let Some(bridge) = next.filter(|b| !listed.contains(b) && added.insert(*b)) {
            next = seats.get(&bridge).and_then(|(seat, _)| seat.above);
        }
    }
    for bdf in added {
        let Some((seat, entry)) = seats.get(&bdf).filter(|_| functions.len() < PCI_FUNCTIONS) else { continue };
        let place = Place::of(*entry).line(seat.device.line);
        let mut f = PciFunction::unseen(bdf, *entry, place, &Why::NotCollected);
        f.class = Reading::Known(BRIDGE, place);
        functions.push(f);
    }
    functions.sort_by_key(|f| f.bdf);
    for f in functions.iter_mut().filter(|f| !f.in_sysfs) {
        let Some((seat, _)) = seats.get(&f.bdf) else { continue };
        f.buses = f.buses.or(seat.device.bus.map(|(_, secondary, subordinate)| (secondary, subordinate)));
        if f.name.is_empty() {
            f.name.clone_from(&seat.device.name);
        }
        match seat.above {
            Some(bridge) if !known.contains(&f.bdf) => above.push((f.bdf, bridge)),
            None if f.parent == Parent::Unknown => f.parent = Parent::RootComplex,
            _ => {}
        }
    }
    above.sort_unstable();
}

/// Gives to the functions the control registers of Access Control Services that `setpci` read, where no source showed them.
pub(crate) fn registers(s: &Snapshot, functions: &mut [PciFunction<'_>], cuts: &mut Vec<Cut>) {
    for o in s.outputs.iter().filter(|o| o.kind == OutputKind::Setpci) {
        let listed = setpci::read(s.data(o.entry));
        cut::note(cuts, o.entry, &listed.left_out);
        for (v, control) in listed.items.iter().filter_map(|v| Some((v, v.acs_control()?))) {
            let Ok(at) = functions.binary_search_by_key(&v.bdf, |f| f.bdf) else { continue };
            let Some(f) = functions.get_mut(at).filter(|f| f.acs.is_unreadable()) else { continue };
            let acs = Acs { capability: None, control: Some(AcsBits(control)), control_line: v.line };
            f.acs = Reading::Known(acs, Place::of(o.entry).line(v.line));
        }
    }
}
