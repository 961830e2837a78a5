//! Which device of one machine is which device of another.

use super::{Device, Positions, Role, Seat};
use linerate_node::pci::Kind;
use std::collections::HashMap;
use std::hash::Hash;

/// The pairs of two machines' devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alignment {
    /// For each seat of the first machine the one of the second.
    pub pairs: Vec<Option<usize>>,
    /// Seats of the second machine that have none in the first.
    pub added: Vec<usize>,
    /// Whether some pair was made by number or name among devices of one kind, because the way to them differs or is not shown.
    pub by_number: bool,
}

impl Alignment {
    /// For each seat of the second machine that has a pair, the one of the first.
    #[must_use]
    pub fn back(&self) -> HashMap<usize, usize> {
        self.pairs.iter().enumerate().filter_map(|(a, b)| Some(((*b)?, a))).collect()
    }
}

/// Pairs the devices of two machines: by the way to them where it is the same and leads to the same kind of device; then by what they are
/// for, where both have equally many of that kind; then, where no way is known, by name.
#[must_use]
pub fn align(a: &Positions, b: &Positions) -> Alignment {
    let mut pairs = vec![None; a.seats.len()];
    let mut taken = vec![false; b.seats.len()];
    let by_path = |s: &Seat| s.path.clone().map(|path| (path, sort_of(s)));
    pair(a, b, &mut pairs, &mut taken, by_path);
    let made = pairs.iter().flatten().count();
    // A kind of which one machine has more: its numbers mean other places from the missing one on.
    let (in_a, in_b) = (counts(a), counts(b));
    let even = |s: &Seat| s.role.device().is_some_and(|d| in_a.get(&d) == in_b.get(&d));
    pair(a, b, &mut pairs, &mut taken, |s| even(s).then(|| s.role.clone()));
    // Without any way, an address is the only other thing that is known.
    pair(a, b, &mut pairs, &mut taken, |s| s.path.is_none().then(|| (s.name.clone(), sort_of(s))));
    let by_number = pairs.iter().flatten().count() > made;
    let added = (0..b.seats.len()).filter(|i| taken.get(*i) == Some(&false)).collect();
    Alignment { pairs, added, by_number }
}

/// What must be the same for two seats to be one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Sort {
    Gpu,
    Nic,
    Bridge,
    Kind(Kind),
}

fn sort_of(s: &Seat) -> Sort {
    match s.kind {
        Kind::Gpu | Kind::AmdGpu => Sort::Gpu,
        Kind::RdmaNic | Kind::Nic => Sort::Nic,
        Kind::Bridge => Sort::Bridge,
        other => Sort::Kind(other),
    }
}

/// How many of each kind there are.
fn counts(p: &Positions) -> HashMap<Device, usize> {
    let mut out = HashMap::new();
    for seat in &p.seats {
        if let Role::Device(device, _) = seat.role {
            *out.entry(device).or_default() += 1;
        }
    }
    out
}

fn pair<K: Hash + Eq>(
    a: &Positions,
    b: &Positions,
    pairs: &mut [Option<usize>],
    taken: &mut [bool],
    key: impl Fn(&Seat) -> Option<K>,
) {
    let free = b.seats.iter().enumerate().filter(|(i, _)| taken.get(*i) == Some(&false));
    let at: HashMap<K, usize> = free.filter_map(|(i, s)| Some((key(s)?, i))).collect();
    for (seat, to) in a.seats.iter().zip(pairs).filter(|(_, to)| to.is_none()) {
        let Some(i) = key(seat).and_then(|k| at.get(&k)).copied() else { continue };
        if let Some(taken) = taken.get_mut(i).filter(|t| !**t) {
            *taken = true;
            *to = Some(i);
        }
    }
}
