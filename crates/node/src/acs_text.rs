//! Controls of Access Control Services without their ports, from `lspci -vvv | grep ACSCtl`.

use crate::cut::{self, Cut};
use linerate_formats::pci::caps::AcsBits;
use linerate_formats::pci::lspci::acs_alone;
use linerate_snapshot::{OutputKind, Place, Snapshot};

pub(crate) fn decode(s: &Snapshot, cuts: &mut Vec<Cut>) -> Vec<(AcsBits, Place)> {
    let mut out = Vec::new();
    for o in s.outputs.iter().filter(|o| o.kind == OutputKind::AcsControls) {
        let listed = acs_alone::read(s.data(o.entry));
        cut::note(cuts, o.entry, &listed.left_out);
        out.extend(listed.items.into_iter().map(|a| (a.value, Place::of(o.entry).line(a.line))));
    }
    out
}
