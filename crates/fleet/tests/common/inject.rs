//! Changes of files on some of many nodes, what `diff` says of each, and what `drift` says of all. `diff` pairs two nodes and knows nothing of
//! tables.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // helpers of tests

use linerate_fleet::diff::{self, Shown as Side};
use linerate_fleet::drift::{Drift, Options, Table, Value, drift};
use linerate_fleet::{Owner, Profile, Record, State, Whose};
use linerate_node::Node;
use linerate_snapshot::{Lookup, Pos, Snapshot};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn example(name: &str) -> Snapshot {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    linerate_snapshot::load_bytes(&std::fs::read(path).unwrap(), name).unwrap()
}

fn both(label: &str, s: &Snapshot) -> (Profile, Record) {
    let node = Node::decode(s);
    let profile = Profile::of(label, &node, s, linerate_rules::rules());
    let record = Record::of(&profile, &node, s);
    (profile, record)
}

/// The same numbers in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % most.max(1)
    }
}

/// Where a fact of the base is read: file, and the bytes of it.
struct Target {
    id: &'static str,
    path: String,
    from: usize,
    to: usize,
}

/// Where facts are read that can be compared, by their ids.
fn targets(s: &Snapshot, profile: &Profile) -> Vec<Vec<Target>> {
    let mut by_id: BTreeMap<&str, Vec<Target>> = BTreeMap::new();
    for line in profile.things.values().flatten().filter(|l| matches!(l.state, State::Known(_))) {
        let home = s.path(line.place.base);
        let path = if line.place.leaf.is_empty() { home } else { format!("{home}/{}", line.place.leaf) };
        let Lookup::Found(id) = s.resolve(&path) else { continue };
        let data = s.data(id);
        let (from, to) = match line.place.pos {
            Pos::Bytes { offset, len } => (usize::from(offset), usize::from(offset) + usize::from(len)),
            Pos::Line(n) => {
                let starts: Vec<usize> = std::iter::once(0)
                    .chain(data.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1))
                    .collect();
                let from = starts.get(n as usize - 1).copied().unwrap_or(0);
                (from, starts.get(n as usize).copied().unwrap_or(data.len()))
            }
            _ => (0, data.len()),
        };
        if from < to && to <= data.len() {
            by_id.entry(line.def.id).or_default().push(Target { id: line.def.id, path, from, to });
        }
    }
    by_id.into_values().collect()
}

/// Another content there: a bit of a binary, what another node has, or a digit or letter of a text.
fn changed(s: &Snapshot, other: &Snapshot, t: &Target, random: &mut Random) -> Option<Vec<u8>> {
    let Lookup::Found(id) = s.resolve(&t.path) else { return None };
    let mut out = s.data(id).to_vec();
    let at = t.from + random.below(t.to - t.from);
    if t.path.ends_with("/config") {
        *out.get_mut(at)? ^= 1 << random.below(8);
        return Some(out);
    }
    if let Lookup::Found(theirs) = other.resolve(&t.path)
        && other.data(theirs) != out
        && out.len() < 4096
        && random.below(2) == 0
    {
        return Some(other.data(theirs).to_vec());
    }
    let can: Vec<usize> = (t.from..t.to.min(out.len())).filter(|i| out[*i].is_ascii_alphanumeric()).collect();
    let at = *can.get(random.below(can.len()))?;
    out[at] = match out[at] {
        d if d.is_ascii_digit() => b'0' + ((d - b'0') + 1 + random.below(8) as u8) % 10,
        b'z' | b'Z' => b'a',
        c => c + 1,
    };
    Some(out)
}

/// A difference in few words: whose, which part, which fact, and what is shown.
type Found = (String, String, &'static str, String);

/// What `diff` says of the second node, of the facts that records keep.
fn expected(a: &Profile, b: &Profile, kept: &BTreeSet<(String, &'static str)>) -> Option<BTreeSet<Found>> {
    let d = diff::diff(a, b);
    // Where a device comes or goes, or a bridge leads elsewhere, more than one value was changed.
    if d.by_number || d.differences.iter().any(|x| matches!(x.what, diff::What::Thing(_)) && x.part.is_empty()) {
        return None;
    }
    let mut out = BTreeSet::new();
    for x in d.differences.iter().filter(|x| x.moves.is_none()) {
        let owner = match (&x.whose, &x.role) {
            (_, Some(role)) => role.to_string(),
            (Whose::Named(name), _) => name.clone(),
            _ => String::new(),
        };
        // A thing that some nodes lack is there or not; a word of a list is its own value.
        let is_thing = matches!(x.what, diff::What::Thing(prefix) if !prefix.starts_with("kernel."));
        let value = match &x.sides[1] {
            Side::Value(_) if is_thing => "present".to_owned(),
            Side::Value(v) => v.clone(),
            Side::Absent => "absent".to_owned(),
            Side::NotListed => "not listed".to_owned(),
        };
        if kept.contains(&(owner.clone(), x.what.id())) || x.role.is_none() {
            out.insert((owner, x.part.clone(), x.what.id(), value));
        }
    }
    Some(out)
}

/// What `drift` says, by node.
fn found(d: &Drift) -> BTreeMap<u32, BTreeSet<Found>> {
    let mut out: BTreeMap<u32, BTreeSet<Found>> = BTreeMap::new();
    for odd in d.classes.iter().flat_map(|c| &c.facts) {
        assert!(odd.has_norm);
        let owner = match &odd.owner {
            Owner::Node => String::new(),
            Owner::Device(name) | Owner::Named(name) => name.clone(),
        };
        for v in odd.values.iter().skip(1) {
            let value = match &v.value {
                Value::Known(v) => v.clone(),
                Value::Present => "present".to_owned(),
                Value::Absent => "absent".to_owned(),
                Value::NotListed => "not listed".to_owned(),
            };
            for node in v.members.iter() {
                out.entry(node).or_default().insert((owner.clone(), odd.part.clone(), odd.id, value.clone()));
            }
        }
    }
    out
}

/// What came of it.
pub(crate) struct Injected {
    /// Changes that alter a fact.
    pub(crate) changes: usize,
    /// Facts that were altered.
    pub(crate) facts: usize,
    /// What was not found, or found and not changed.
    pub(crate) wrong: Vec<String>,
}

/// A fleet of equal nodes, some of which are changed in so many ways.
pub(crate) fn inject(nodes: u32, odd: u32, each: usize) -> Injected {
    let base = example("healthy-8gpu.tar.zst");
    let (profile, record) = both("base", &base);
    let kept = record.rows.iter().map(|r| (r.owner.to_string(), r.id)).collect();
    let other = example("sick-8gpu.tar.zst");
    let targets = targets(&base, &profile);
    let mut random = Random(18);
    let mut table = Table::new();
    let (mut wanted, mut facts, mut changes) = (BTreeMap::new(), BTreeSet::new(), 0);
    for node in 0..nodes {
        if node % (nodes / odd) != 0 {
            table.record(&record);
            continue;
        }
        // Changed one after the other, as long as each is seen.
        let mut s = example("healthy-8gpu.tar.zst");
        let (mut done, mut last, mut tries) = (0, (profile.clone(), record.clone(), BTreeSet::new()), 0);
        while done < each && tries < each * 8 {
            tries += 1;
            // Facts that were not met yet come first.
            let fresh: Vec<&Vec<Target>> = targets.iter().filter(|t| !facts.contains(t[0].id)).collect();
            let of_fact = match random.below(2) {
                0 if !fresh.is_empty() => fresh[random.below(fresh.len())],
                _ => &targets[random.below(targets.len())],
            };
            let target = &of_fact[random.below(of_fact.len())];
            let (Some(new), Lookup::Found(id)) = (changed(&s, &other, target, &mut random), s.resolve(&target.path))
            else {
                continue;
            };
            let old = s.data(id).to_vec();
            s.set_file(&target.path, &new);
            let seen = both(&format!("node{node}"), &s);
            match expected(&profile, &seen.0, &kept) {
                Some(now) if now.len() > last.2.len() && seen.1.traits == record.traits => {
                    done += 1;
                    last = (seen.0, seen.1, now);
                }
                _ => {
                    s.set_file(&target.path, &old);
                }
            }
        }
        changes += done;
        facts.extend(last.2.iter().map(|f| f.2));
        wanted.insert(node, last.2);
        table.record(&last.1);
    }
    let got = found(&drift(&table, Options::default()));
    let (mut wrong, empty) = (Vec::new(), BTreeSet::new());
    for node in 0..nodes {
        let (w, g) = (wanted.get(&node).unwrap_or(&empty), got.get(&node).unwrap_or(&empty));
        wrong.extend(w.difference(g).map(|x| format!("{node} missed {x:?}")));
        wrong.extend(g.difference(w).map(|x| format!("{node} not changed {x:?}")));
    }
    Injected { changes, facts: facts.len(), wrong }
}
