//! Units of systemd that a source holds as texts: what services are started with, as written.

use crate::cut::{self, Cut};
use linerate_formats::systemd_unit::{self, Unit};
use linerate_snapshot::{OutputKind, Place, Snapshot};

/// A unit, and the text that it is in.
#[derive(Debug, Clone)]
pub struct UnitAt {
    /// What is written.
    pub unit: Unit,
    /// Its name: of the path above it, else of the file that was given (`slurmd.service`).
    pub name: Option<String>,
    /// The text.
    pub text: Place,
}

impl UnitAt {
    /// Where a line of it is.
    #[must_use]
    pub fn at(&self, line: u32) -> Place {
        self.text.line(line)
    }
}

pub(crate) fn decode(s: &Snapshot, cuts: &mut Vec<Cut>) -> Vec<UnitAt> {
    let mut all = Vec::new();
    for o in s.outputs.iter().filter(|o| o.kind == OutputKind::SystemdUnit) {
        let kept = systemd_unit::parse(s.data(o.entry));
        cut::note(cuts, o.entry, &kept.left_out);
        let of_file = Some(s.name(o.entry)).filter(|n| n.ends_with(".service"));
        all.extend(kept.items.into_iter().map(|unit| {
            let name = unit.name.clone().or_else(|| of_file.map(str::to_owned));
            UnitAt { unit, name, text: Place::of(o.entry) }
        }));
    }
    all
}
