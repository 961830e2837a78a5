//! Nodes that are composed one by one, some of them with a patch of which is known what it changes; and what `drift` says of all.
//!
//! What must be found stands in the table, beside the patch: neither `diff` nor `drift` is asked for it.

#![allow(dead_code)] // each user uses a part
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // helpers of tests

use super::{common, lost};
use linerate_fleet::drift::{Drift, Options, Table, drift};
use linerate_fleet::{Owner, Record};
use std::collections::{BTreeMap, BTreeSet};

/// A change, and what must differ after it and nothing else: `whose | part | fact`. `{}` is the number of a device, `{n}` another value each time.
pub(crate) struct Case {
    /// Tables of the description of the node (`[pci.gpu{}]`), words of it (`base TEXT => TEXT`), or what is changed in what the node shows:
    /// `lose DEVICE`, `set FILE VALUE`, `swap FILE TEXT => TEXT`, `drop PATH`, `at DEVICE FILE VALUE`, `rename INTERFACE NAME`, `bond NAME MEMBERS`,
    /// `tell COMMAND: TEXT => TEXT`, `gpu NUMBER TEXT => TEXT` (in its driver's report), `gpu NUMBER gone`, `group DEVICE TYPE`,
    /// `unassign DEVICE BAR`, `bits DEVICE CAPABILITY OFFSET MASK`, `hide DEVICE CAPABILITY`. A device: `gpu{}`, `nic{}`, the port above it `nic{}.port`.
    pub(crate) patch: &'static str,
    /// What differs; nothing, where what moves by itself has moved.
    pub(crate) rows: &'static [&'static str],
}

#[path = "inject_dress.rs"]
mod dress;
#[path = "inject_node.rs"]
mod node_table;
#[path = "inject_patch.rs"]
mod patch;
#[path = "inject_table.rs"]
mod table;

/// All changes.
pub(crate) fn cases() -> Vec<&'static Case> {
    [table::FUNCTIONS, table::DEVICES, node_table::NODE, node_table::SCHEDULERS].into_iter().flatten().collect()
}

/// Devices of each kind that has a number.
const DEVICES: usize = 8;

/// One difference: whose, which part, which fact.
type Found = (String, String, String);

/// What came of it.
pub(crate) struct Injected {
    /// Changes that were made and are drift.
    pub(crate) changes: usize,
    /// Changes that were made and are none: of what moves by itself.
    pub(crate) moved: usize,
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
    let (described, made) = if text.starts_with('[') { (text.as_str(), "") } else { ("", text.as_str()) };
    let edits: Vec<(&str, &str)> = made.strip_prefix("base ").and_then(|t| t.split_once(" => ")).into_iter().collect();
    let mut tree = lost::tree_of(seed, &edits, described);
    dress::dress(&mut tree, &format!("n{seed}"));
    if edits.is_empty() && !made.is_empty() {
        patch::apply(&mut tree, made);
    }
    let label = label(seed);
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

/// What `drift` says of the nodes of a table, by their labels.
fn found(table: &Table, d: &Drift) -> BTreeMap<String, BTreeSet<Found>> {
    let labels: Vec<&String> = table.heads().map(|h| &h.label).collect();
    let mut out: BTreeMap<String, BTreeSet<Found>> = BTreeMap::new();
    for odd in d.classes.iter().flat_map(|c| &c.facts) {
        let owner = match &odd.owner {
            Owner::Node => "node".to_owned(),
            Owner::Device(name) | Owner::Named(name) => name.to_string(),
        };
        for node in odd.values.iter().skip(usize::from(odd.has_norm)).flat_map(|v| v.members.iter()) {
            let label = labels[node as usize].clone();
            out.entry(label).or_default().insert((owner.clone(), odd.part.clone(), odd.id.to_owned()));
        }
    }
    out
}

/// Which change the nodes have: `odd` of them one each, spread among the others.
pub(crate) fn plan(nodes: u32, odd: u32) -> Vec<Option<(&'static Case, usize)>> {
    let (cases, mut next) = (cases(), 0_usize);
    let is_odd = |n: u32| {
        u64::from(n + 1) * u64::from(odd) / u64::from(nodes) > u64::from(n) * u64::from(odd) / u64::from(nodes)
    };
    (0..nodes)
        .map(|n| {
            is_odd(n).then(|| {
                // The same change of another device the next time.
                let (case, round) = (next % cases.len(), next / cases.len());
                next += 1;
                (cases[case], (case + round * 3) % DEVICES)
            })
        })
        .collect()
}

/// How the node of a seed is called.
fn label(seed: u32) -> String {
    format!("n{seed:04}")
}

/// Holds what `drift` says of nodes to what was changed on them.
pub(crate) fn judge(plan: &[Option<(&Case, usize)>], table: &Table) -> Injected {
    let (got, empty) = (found(table, &drift(table, &Options::default())), BTreeSet::new());
    let mut out = Injected { changes: 0, moved: 0, facts: BTreeSet::new(), wrong: Vec::new() };
    for (change, node) in plan.iter().zip((1..).map(label)) {
        let w = change.map(|(case, number)| wanted(case, number)).unwrap_or_default();
        let g = got.get(&node).unwrap_or(&empty);
        out.changes += usize::from(!w.is_empty());
        out.moved += usize::from(change.is_some() && w.is_empty());
        out.facts.extend(w.intersection(g).map(|f| f.2.clone()));
        let patch = change.map_or("nothing", |(case, _)| case.patch).replace('\n', " ");
        out.wrong.extend(w.difference(g).map(|x| format!("{node} {patch}: missed {x:?}")));
        out.wrong.extend(g.difference(&w).map(|x| format!("{node} {patch}: not changed {x:?}")));
    }
    out
}

/// A fleet of nodes, each with serial numbers, GUIDs and addresses of its own, some of which have a change.
pub(crate) fn inject(nodes: u32, odd: u32) -> Injected {
    made(&plan(nodes, odd))
}

/// The fleet of a plan.
pub(crate) fn made(plan: &[Option<(&Case, usize)>]) -> Injected {
    let mut table = Table::new();
    for (change, seed) in plan.iter().zip(1..) {
        table.record(&node(seed, *change));
    }
    judge(plan, &table)
}
