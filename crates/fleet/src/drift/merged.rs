//! The groups of a class as one, with the names that the most frequent layout has.

use super::Members;
use super::table::{GroupNo, Key, Table};
use crate::{Owner, Said, Seen};
use linerate_facts::position::{Positions, align};
use std::collections::{BTreeMap, HashMap};

/// Nodes with one value, and the worst that rules say about it there.
#[derive(Debug, Clone, Default)]
pub(super) struct Holders {
    pub(super) members: Members,
    pub(super) verdict: Option<Said>,
}

/// A class of hardware.
pub(super) struct Merged<'t> {
    pub(super) members: Members,
    /// Who shows what, by the owners of the reference's layout.
    pub(super) keys: BTreeMap<Key, HashMap<&'t Seen, Holders>>,
    /// Devices that some nodes lack or that only some have, by role: those that certainly lack it. A source that shows no whole list of devices
    /// says nothing.
    pub(super) lacking: BTreeMap<String, Members>,
    /// Devices whose facts were paired by number, not by place.
    pub(super) by_number: bool,
    /// Nodes whose layout could not be read.
    pub(super) broken: Members,
}

/// What of a group's devices the reference has.
struct Seats {
    /// Roles of the reference by those of the group. A device that the reference lacks keeps its role, with a mark.
    names: HashMap<String, String>,
    /// Roles of the reference that the group certainly lacks.
    lacks: Vec<String>,
    by_number: bool,
}

impl<'t> Merged<'t> {
    /// Of these groups of a table, the first of which is the reference.
    pub(super) fn of(table: &'t Table, groups: &[GroupNo]) -> Self {
        let layout = |g: &GroupNo| table.groups.get(g.0 as usize).map(|(_, l)| l.as_str()).unwrap_or_default();
        let nodes = |g: &GroupNo| {
            let of = table.nodes.iter().zip(0..).filter(|((_, at), _)| at == g);
            of.map(|(_, n)| n).collect::<Members>()
        };
        let reference = groups.first().map(layout).and_then(|l| Positions::from_layout(l).ok()).unwrap_or_default();
        let mut out = Merged {
            members: Members::default(),
            keys: BTreeMap::new(),
            lacking: BTreeMap::new(),
            by_number: false,
            broken: Members::default(),
        };
        let mut names: HashMap<GroupNo, HashMap<String, String>> = HashMap::new();
        let mut with: BTreeMap<String, Members> = BTreeMap::new();
        for (i, group) in groups.iter().enumerate() {
            let members = nodes(group);
            out.members.add(&members);
            if i == 0 {
                continue;
            }
            let Ok(other) = Positions::from_layout(layout(group)) else {
                out.broken.add(&members);
                continue;
            };
            let seats = seats(&reference, &other);
            out.by_number |= seats.by_number;
            for role in seats.lacks {
                out.lacking.entry(role).or_default().add(&members);
            }
            for role in seats.names.values().filter(|n| n.ends_with(ONLY_HERE)) {
                with.entry(role.clone()).or_default().add(&members);
            }
            names.insert(*group, seats.names);
        }
        for (role, have) in with {
            let mut lack = out.members.clone();
            lack.remove(&have);
            out.lacking.entry(role).or_default().add(&lack);
        }
        out.rows(table, groups, &names);
        out
    }

    fn rows(&mut self, table: &'t Table, groups: &[GroupNo], names: &HashMap<GroupNo, HashMap<String, String>>) {
        for cell in table.cells.iter().filter(|c| groups.contains(&c.group)) {
            let (Some(key), Some(value)) = (table.keys.get(cell.key as usize), table.values.get(cell.value as usize))
            else {
                continue;
            };
            let owner = match (&key.owner, names.get(&cell.group)) {
                (Owner::Device(role), Some(names)) => match names.get(role) {
                    Some(name) => Owner::Device(name.clone()),
                    // A row of a device that its own layout lacks.
                    None => continue,
                },
                (owner, _) => owner.clone(),
            };
            let key = Key { owner, part: key.part.clone(), id: key.id };
            let holders = self.keys.entry(key).or_default().entry(value).or_default();
            holders.members.add(&cell.members);
            holders.verdict = holders.verdict.max(cell.verdict);
        }
    }
}

/// What a device is marked with that the most frequent layout lacks.
const ONLY_HERE: &str = " (not in most)";

fn seats(reference: &Positions, other: &Positions) -> Seats {
    let alignment = align(reference, other);
    let role = |p: &Positions, i: usize| p.seats.get(i).map(|s| s.role.to_string()).unwrap_or_default();
    let mut names = HashMap::new();
    let mut lacks = Vec::new();
    // Without any way, the source shows no list of all devices.
    let whole = other.seats.iter().any(|s| s.path.is_some());
    for (i, to) in alignment.pairs.iter().enumerate() {
        match to {
            Some(to) => _ = names.insert(role(other, *to), role(reference, i)),
            None if whole => lacks.push(role(reference, i)),
            None => {}
        }
    }
    let mut taken: Vec<String> = names.values().cloned().collect();
    taken.extend(lacks.iter().cloned());
    for i in alignment.added {
        let own = role(other, i);
        names.insert(own.clone(), format!("{own}{ONLY_HERE}"));
    }
    Seats { names, lacks, by_number: alignment.by_number }
}
