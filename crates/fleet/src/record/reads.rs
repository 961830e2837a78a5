//! Which rules read which fact, and what the worst of them says.

use super::Said;
use crate::diff::{is_about, overlap, within};
use crate::{Judged, Thing, Whose};
use hashbrown::HashMap;
use linerate_rules::Status;
use linerate_snapshot::{EntryId, Place, Pos};

/// The answers of a node by the file that they read.
pub(crate) struct Reads<'p>(HashMap<EntryId, Vec<(Place, &'p Judged)>>);

impl<'p> Reads<'p> {
    pub(crate) fn of(judged: &'p [Judged]) -> Self {
        let mut by: HashMap<_, Vec<_>> = HashMap::new();
        for j in judged.iter().filter(|j| j.status != Status::NotApplicable) {
            for place in &j.places {
                by.entry(place.base).or_default().push((*place, j));
            }
        }
        Reads(by)
    }

    /// The answers about a thing of the rules that read this very place; where none reads it, of those that read the whole text. An answer that
    /// names the thing itself (an argument of the kernel) counts wherever in the text it looked.
    pub(crate) fn about(&self, thing: &Thing, place: Place) -> Vec<&'p Judged> {
        let near = self.near(thing, place);
        let names =
            |j: &Judged| !thing.part.is_empty() && j.whose == thing.whose && !matches!(j.part.as_str(), "" | "node");
        // A rule that reads a whole configuration space says nothing of each register.
        let text = |a: Place, b: Place| {
            within(a, b) && !matches!((a.pos, b.pos), (Pos::Bytes { .. }, _) | (_, Pos::Bytes { .. }))
        };
        let exact = near.clone().any(|(p, _)| overlap(*p, place));
        let touches = |p: Place, j: &Judged| overlap(p, place) || (text(p, place) && (!exact || names(j)));
        near.filter(|(p, j)| touches(*p, j)).map(|(_, j)| *j).collect()
    }

    /// The worst answer about a thing of the rules that read this very place.
    pub(crate) fn worst(&self, thing: &Thing, place: Place) -> Option<Said> {
        // Of the many answers about a configuration space, few looked at these bytes.
        let at_place = self.at(place).iter().filter(|(p, _)| overlap(*p, place));
        at_place.filter(|(_, j)| is_near(j, thing)).map(|(_, j)| Said::of(j)).max()
    }

    /// The answers about a thing, or about the whole node, of rules that read the same file.
    fn near<'r>(&'r self, thing: &'r Thing, place: Place) -> impl Iterator<Item = &'r (Place, &'p Judged)> + Clone {
        self.at(place).iter().filter(move |(_, j)| is_near(j, thing))
    }

    /// The answers of rules that read the same file, or another one that is missing in the same directory.
    fn at(&self, place: Place) -> &[(Place, &'p Judged)] {
        self.0.get(&place.base).map_or(&[], Vec::as_slice)
    }
}

/// Whether an answer is about a thing, or about the whole node.
fn is_near(j: &Judged, thing: &Thing) -> bool {
    (j.whose == thing.whose || j.whose == Whose::Node) && is_about(j, thing)
}
