//! Nodes that are composed one by one, some of them with a patch of which is known what it changes; and what `drift` says of all.
//!
//! What must be found stands in [`TABLE`], beside the patch: neither `diff` nor `drift` is asked for it.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // helpers of tests

use super::{common, lost};
use linerate_fleet::drift::{Drift, Options, Table, drift};
use linerate_fleet::{Owner, Record};
use std::collections::{BTreeMap, BTreeSet};

/// A change, and what must differ after it and nothing else: `whose | part | fact`. `{}` is the number of a device, `{n}` another value each time.
pub(crate) struct Case {
    /// Of the description of the node; or `lose DEVICE`, `set FILE VALUE`, `swap FILE TEXT => TEXT`.
    pub(crate) patch: &'static str,
    /// What differs.
    pub(crate) rows: &'static [&'static str],
}

include!("inject_table.rs");

/// Devices of each kind that has a number.
const DEVICES: usize = 8;

/// One difference: whose, which part, which fact.
type Found = (String, String, String);

/// What came of it.
pub(crate) struct Injected {
    /// Changes that were made.
    pub(crate) changes: usize,
    /// Facts that they altered.
    pub(crate) facts: BTreeSet<String>,
    /// What was not found, or found and not changed.
    pub(crate) wrong: Vec<String>,
}

/// A node, with the change of a case of the device with this number.
pub(crate) fn node(seed: u32, change: Option<(&Case, usize)>) -> Record {
    let text = change.map(|(case, number)| {
        case.patch.replace("{}", &number.to_string()).replace("{n}", &(100 + seed % 800).to_string())
    });
    let text = text.unwrap_or_default();
    let mut tree = lost::tree(seed, if text.starts_with('[') { &text } else { "" });
    if let Some(device) = text.strip_prefix("lose ") {
        let kinds = [("gpu", "0x10de", "0x2330"), ("nic", "0x15b3", "0x1021")];
        let (head, vendor, id) = kinds.into_iter().find(|(head, ..)| device.starts_with(head)).unwrap();
        let number: usize = device[head.len()..].parse().unwrap();
        let address = lost::addresses(&tree, vendor, id)[number].clone();
        lost::lose(&mut tree, &address);
    } else if let Some((path, value)) = text.strip_prefix("set ").and_then(|t| t.split_once(' ')) {
        assert!(tree.get(path).is_some_and(|old| old != value.as_bytes()), "{path}");
        tree.file(path, format!("{value}\n"));
    } else if let Some((path, words)) = text.strip_prefix("swap ").and_then(|t| t.split_once(' ')) {
        let (from, to) = words.split_once(" => ").unwrap();
        let old = String::from_utf8(tree.get(path).unwrap().to_vec()).unwrap();
        let new = old.replace(from, to);
        assert_ne!(old, new, "{path}");
        tree.file(path, new);
    }
    let label = format!("n{seed:04}");
    Record::read(&label, &common::snapshot(&tree, &label))
}

fn wanted(case: &Case, number: usize) -> BTreeSet<Found> {
    let row = |row: &&str| {
        let row = row.replace("{}", &number.to_string());
        let mut parts = row.split(" | ").map(|p| p.trim().to_owned());
        let mut next = || parts.next().unwrap_or_default();
        (next(), next(), next())
    };
    case.rows.iter().map(row).collect()
}

/// What `drift` says, by node.
fn found(d: &Drift) -> BTreeMap<u32, BTreeSet<Found>> {
    let mut out: BTreeMap<u32, BTreeSet<Found>> = BTreeMap::new();
    for odd in d.classes.iter().flat_map(|c| &c.facts) {
        let owner = match &odd.owner {
            Owner::Node => "node".to_owned(),
            Owner::Device(name) | Owner::Named(name) => name.to_string(),
        };
        for node in odd.values.iter().skip(usize::from(odd.has_norm)).flat_map(|v| v.members.iter()) {
            out.entry(node).or_default().insert((owner.clone(), odd.part.clone(), odd.id.to_owned()));
        }
    }
    out
}

/// Which change the nodes have: `odd` of them one each, spread among the others.
pub(crate) fn plan(nodes: u32, odd: u32) -> Vec<Option<(&'static Case, usize)>> {
    let mut next = 0_usize;
    let is_odd = |n: u32| {
        u64::from(n + 1) * u64::from(odd) / u64::from(nodes) > u64::from(n) * u64::from(odd) / u64::from(nodes)
    };
    (0..nodes)
        .map(|n| {
            is_odd(n).then(|| {
                // The same change of another device the next time.
                let (case, round) = (next % TABLE.len(), next / TABLE.len());
                next += 1;
                (&TABLE[case], (case + round * 3) % DEVICES)
            })
        })
        .collect()
}

/// Holds what `drift` says of nodes to what was changed on them.
pub(crate) fn judge(plan: &[Option<(&Case, usize)>], d: &Drift) -> Injected {
    let (got, empty) = (found(d), BTreeSet::new());
    let mut out = Injected { changes: 0, facts: BTreeSet::new(), wrong: Vec::new() };
    for (change, node) in plan.iter().zip(0_u32..) {
        let w = change.map(|(case, number)| wanted(case, number)).unwrap_or_default();
        let g = got.get(&node).unwrap_or(&empty);
        out.changes += usize::from(change.is_some());
        out.facts.extend(w.intersection(g).map(|f| f.2.clone()));
        let patch = change.map_or("nothing", |(case, _)| case.patch).replace('\n', " ");
        out.wrong.extend(w.difference(g).map(|x| format!("n{node:04} {patch}: missed {x:?}")));
        out.wrong.extend(g.difference(&w).map(|x| format!("n{node:04} {patch}: not changed {x:?}")));
    }
    out
}

/// A fleet of nodes, each with serial numbers, GUIDs and addresses of its own, some of which have a change.
pub(crate) fn inject(nodes: u32, odd: u32) -> Injected {
    let plan = plan(nodes, odd);
    let mut table = Table::new();
    for (change, seed) in plan.iter().zip(1..) {
        table.record(&node(seed, *change));
    }
    judge(&plan, &drift(&table, &Options::default()))
}
