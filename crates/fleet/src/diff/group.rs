//! The same difference of several devices, once.

use super::{Difference, Shown};
use linerate_facts::position::{Device, Role};
use linerate_rules::{Severity, Status};
use std::collections::{BTreeMap, BTreeSet};

/// Differences that are alike.
#[derive(Debug, Clone)]
pub struct Group<'d> {
    /// The first of them: what, its sides, what rules say.
    pub first: &'d Difference,
    /// The roles of all.
    pub roles: Vec<&'d Role>,
    /// What each side calls them.
    pub names: Vec<&'d [Option<String>; 2]>,
}

/// What alike differences have in common.
type Key<'d> = (&'static str, &'d str, &'d [Shown; 2], Vec<(&'static str, Status, Severity)>, Option<Device>);

/// In the order of the differences, those of equal facts, sides and answers together.
#[must_use]
pub fn groups(differences: &[Difference]) -> Vec<Group<'_>> {
    let current = |d: &&Difference| d.what.id() == "nic_firmware.settings.current";
    let now: BTreeSet<_> = differences.iter().filter(current).map(|d| (&d.whose, &d.part, &d.sides)).collect();
    // What holds after the next reset differs as what holds now does.
    let is_said =
        |d: &Difference| d.what.id() == "nic_firmware.settings.next" && now.contains(&(&d.whose, &d.part, &d.sides));
    let mut out: Vec<Group<'_>> = Vec::new();
    let mut at: BTreeMap<Key<'_>, usize> = BTreeMap::new();
    for d in differences.iter().filter(|d| !is_said(d)) {
        let rules = d.truth.sides.iter().flatten().map(|s| (s.rule, s.status, s.severity)).collect();
        let key = (d.what.id(), d.part.as_str(), &d.sides, rules, d.role.as_ref().and_then(Role::device));
        let known = at.get(&key).copied().filter(|_| d.role.is_some());
        match known.and_then(|i| out.get_mut(i)) {
            Some(g) => {
                g.roles.extend(&d.role);
                g.names.push(&d.names);
            }
            None => {
                at.insert(key, out.len());
                out.push(Group { first: d, roles: d.role.iter().collect(), names: vec![&d.names] });
            }
        }
    }
    out
}
