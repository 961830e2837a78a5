//! Groups of all sources, as sets ask for them.

use super::found::Group;
use linerate_fleet::nodeset::{Budget, Groups, NodeSet, NodeSetError, parse_within};
use linerate_formats::bounds::{INVENTORY_MEMBERS, NODESET_WORK};
use std::collections::BTreeMap;

/// Groups by source and name. A group without a source is looked for in `linerate.toml`, then in ClusterShell's default source, then in the only source that has one.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    groups: BTreeMap<(String, String), (Group, NodeSet)>,
    default: Option<String>,
    /// All nodes that any source names, as one text.
    all: String,
}

impl Table {
    /// All groups, resolved; those that are wrong come with what is wrong. Beyond [`INVENTORY_MEMBERS`] groups are read only where a set names
    /// them: how many these are comes last.
    pub(super) fn new(
        groups: Vec<Group>,
        default: Option<String>,
        nodes: &NodeSet,
    ) -> (Table, Vec<(Group, NodeSetError)>, usize) {
        let all = nodes.to_string();
        let groups = groups.into_iter().map(|g| ((g.source.clone(), g.name.clone()), (g, NodeSet::new()))).collect();
        let mut table = Table { groups, default, all };
        let (mut wrong, mut done) = (Vec::new(), Vec::new());
        let mut budget = Budget { names: INVENTORY_MEMBERS, work: NODESET_WORK };
        let mut unread = 0;
        for (key, (group, _)) in &table.groups {
            let set = parse_within(&format!("@{}:{}", key.0, key.1), &table, &mut budget);
            if budget.names == 0 || budget.work == 0 {
                unread += 1;
                continue;
            }
            match set {
                Ok(set) => done.push((key.clone(), set)),
                Err(e) => wrong.push((group.clone(), e)),
            }
        }
        for (key, set) in done {
            if let Some((_, known)) = table.groups.get_mut(&key) {
                *known = set;
            }
        }
        (table, wrong, unread)
    }

    /// Known nodes are these.
    pub(super) fn know(&mut self, nodes: &NodeSet) {
        self.all = nodes.to_string();
    }

    /// With the nodes of each.
    pub(super) fn resolved(&self) -> impl Iterator<Item = (&Group, &NodeSet)> {
        self.groups.values().map(|(group, set)| (group, set))
    }

    fn find(&self, source: &str, name: &str) -> Option<&Group> {
        self.groups.get(&(source.to_owned(), name.to_owned())).map(|(group, _)| group)
    }
}

impl Groups for Table {
    fn group(&self, source: Option<&str>, name: &str) -> Option<Vec<String>> {
        let group = match source.filter(|s| !s.is_empty()) {
            Some(source) => self.find(source, name)?,
            None => {
                let default = self.default.as_deref().and_then(|d| self.find(d, name));
                self.find("", name).or(default).or_else(|| {
                    let mut having = self.groups.values().map(|(group, _)| group).filter(|g| g.name == name);
                    having.next().filter(|_| having.next().is_none())
                })?
            }
        };
        Some(group.sets.clone())
    }

    fn all(&self, source: Option<&str>) -> Option<Vec<String>> {
        let Some(source) = source.filter(|s| !s.is_empty()) else { return Some(vec![self.all.clone()]) };
        // ClusterShell's way: the group `all` of a source, or else all of its groups.
        if let Some(group) = self.find(source, "all") {
            return Some(group.sets.clone());
        }
        let of = self.groups.values().map(|(group, _)| group).filter(|g| g.source == source);
        let sets: Vec<String> = of.flat_map(|g| g.sets.iter().cloned()).collect();
        (!sets.is_empty()).then_some(sets)
    }
}
