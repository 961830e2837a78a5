//! The groups of a class as one, with the names that the most frequent layout has.

use super::Members;
use super::table::{GroupNo, Judged, Key, Table};
use crate::lost;
use crate::named::{names_devices, renamed};
use crate::{Owner, Seen};
use linerate_facts::position::{Positions, Role, align};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// Nodes with one value, and what rules say about it there.
#[derive(Debug, Clone, Default)]
pub(super) struct Holders {
    pub(super) members: Members,
    pub(super) said: Judged,
}

/// A class of hardware.
pub(super) struct Merged<'t> {
    pub(super) members: Members,
    /// Who shows what, by the owners of the reference's layout.
    pub(super) keys: BTreeMap<Key, HashMap<Cow<'t, Seen>, Holders>>,
    /// Devices that some nodes lack or that only some have, by role: those that certainly lack it. A source that shows no whole list of devices
    /// says nothing.
    pub(super) lacking: BTreeMap<String, Members>,
    /// Nodes where a device of the reference is there and no facts of it are kept: a bridge with nothing below it.
    pub(super) silent: BTreeMap<String, Members>,
    /// Devices whose facts were paired by number, not by place.
    pub(super) by_number: bool,
    /// Nodes whose layout could not be read.
    pub(super) broken: Members,
}

/// What of a group's devices the reference has.
struct Seats {
    /// Roles of the reference by those of the group. A device that the reference lacks keeps its role, with a mark.
    names: HashMap<String, String>,
    /// Roles of the reference of which one of both has no facts.
    silent: Vec<String>,
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
            silent: BTreeMap::new(),
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
            for role in seats.silent {
                out.silent.entry(role).or_default().add(&members);
            }
            for role in seats.names.values().filter(|n| n.ends_with(ONLY_HERE) && !is_empty_bridge(n)) {
                with.entry(role.clone()).or_default().add(&members);
            }
            names.insert(*group, seats.names);
        }
        for (role, have) in with {
            let mut lack = out.members.clone();
            lack.remove(&have);
            out.lacking.entry(role).or_default().add(&lack);
        }
        out.whole_devices(&reference);
        out.rows(table, groups, &names);
        out
    }

    /// Of a device that is missing, its functions and the bridges above it are no differences of their own. Where they are there all the same,
    /// nothing is below them.
    fn whole_devices(&mut self, reference: &Positions) {
        let part_of = |role: &str| {
            let mark = if role.ends_with(ONLY_HERE) { ONLY_HERE } else { "" };
            role_of(role).as_ref().and_then(lost::whole).map(|whole| format!("{whole}{mark}"))
        };
        let mut parts: Vec<(String, Members)> = Vec::new();
        for role in reference.seats.iter().map(|s| s.role.to_string()).chain(self.lacking.keys().cloned()) {
            if let Some(without) = part_of(&role).and_then(|whole| self.lacking.get(&whole)) {
                parts.push((role, without.clone()));
            }
        }
        for (role, without) in parts {
            if let Some(lacking) = self.lacking.get_mut(&role) {
                lacking.remove(&without);
            }
            self.silent.entry(role).or_default().add(&without);
        }
        self.lacking.retain(|_, members| !members.is_empty());
    }

    fn rows(&mut self, table: &'t Table, groups: &[GroupNo], names: &HashMap<GroupNo, HashMap<String, String>>) {
        for cell in table.cells.iter().filter(|c| groups.contains(&c.group)) {
            let (Some(key), Some(value)) = (table.keys.get(cell.key as usize), table.values.get(cell.value as usize))
            else {
                continue;
            };
            let names = names.get(&cell.group);
            let owner = match (&key.owner, names) {
                (Owner::Device(role), Some(names)) => match names.get(&**role) {
                    // Of a bridge that has nothing below it in most nodes no facts are compared.
                    Some(name) if is_empty_bridge(name) => continue,
                    Some(name) => Owner::Device(name.as_str().into()),
                    // A row of a device that its own layout lacks.
                    None => continue,
                },
                (Owner::Device(_), None) if groups.first() != Some(&cell.group) => continue,
                (owner, _) => owner.clone(),
            };
            // Values name devices as their own node does.
            let value = match (value, names) {
                (Seen::Known(v), Some(names)) if names_devices(key.id) => {
                    let new = renamed(v, |role| names.get(role).map(String::as_str));
                    if new == *v { Cow::Borrowed(value) } else { Cow::Owned(Seen::Known(new)) }
                }
                _ => Cow::Borrowed(value),
            };
            let key = Key { owner, part: key.part.clone(), id: key.id };
            let holders = self.keys.entry(key).or_default().entry(value).or_default();
            holders.members.add(&cell.members);
            holders.said = holders.said.and(cell.said);
        }
    }
}

/// What a device is marked with that the most frequent layout lacks.
const ONLY_HERE: &str = " (not in most)";

/// A role, without the mark of a device that most nodes lack.
pub(super) fn role_of(name: &str) -> Option<Role> {
    name.strip_suffix(ONLY_HERE).unwrap_or(name).parse().ok()
}

fn is_empty_bridge(name: &str) -> bool {
    matches!(role_of(name), Some(Role::Bridge(_)))
}

fn seats(reference: &Positions, other: &Positions) -> Seats {
    let alignment = align(reference, other);
    let role = |p: &Positions, i: usize| p.seats.get(i).map(|s| s.role.to_string()).unwrap_or_default();
    let mut names = HashMap::new();
    let (mut lacks, mut silent) = (Vec::new(), Vec::new());
    let is_silent = |p: &Positions, i: usize| matches!(p.seats.get(i).map(|s| &s.role), Some(Role::Bridge(_)));
    // Without any way, the source shows no list of all devices.
    let whole = other.seats.iter().any(|s| s.path.is_some());
    for (i, to) in alignment.pairs.iter().enumerate() {
        match to {
            Some(to) => {
                silent.extend(is_silent(other, *to).then(|| role(reference, i)));
                names.insert(role(other, *to), role(reference, i));
            }
            None if whole && !is_silent(reference, i) => lacks.push(role(reference, i)),
            None => {}
        }
    }
    for i in alignment.added {
        let own = role(other, i);
        names.insert(own.clone(), format!("{own}{ONLY_HERE}"));
    }
    Seats { names, silent, lacks, by_number: alignment.by_number }
}
