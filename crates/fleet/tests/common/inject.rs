//! Changes of files on some of many nodes, what `diff` says of each, and what `drift` says of all. `diff` pairs two nodes and knows nothing of
//! tables.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)] // helpers of tests

use linerate_fleet::diff::{self, Shown as Side};
use linerate_fleet::drift::{Drift, Options, Table, Value, drift};
use linerate_fleet::{Line, Owner, Profile, Record, State, Thing, Whose};
use linerate_node::Node;
use linerate_snapshot::{EntryKind, Lookup, Pos, Snapshot};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

fn example(name: &str) -> Snapshot {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    linerate_snapshot::load_bytes(&std::fs::read(path).unwrap(), name).unwrap()
}

fn both(label: &str, s: &Snapshot) -> (Profile, Record) {
    let node = Node::decode(s);
    let profile = Profile::of(label, &node, s, linerate_rules::rules());
    let record = Record::of(profile.clone(), &node, s);
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

/// Where a fact of the base is read, or would be if it were there: file, and the bytes of it (none where there is no file).
struct Target {
    id: &'static str,
    path: String,
    from: usize,
    to: usize,
}

/// Where facts are read that records keep, by their ids.
fn targets(s: &Snapshot, profile: &Profile, kept: &BTreeSet<(String, &'static str)>) -> Vec<Vec<Target>> {
    let mut by_id: BTreeMap<&str, Vec<Target>> = BTreeMap::new();
    let is_kept = |thing: &Thing, line: &Line| match &thing.whose {
        Whose::Device(i) => kept.contains(&(profile.positions.seats[*i].role.to_string(), line.def.id)),
        _ => true,
    };
    let all = profile.things.iter().flat_map(|(thing, lines)| lines.iter().filter(move |l| is_kept(thing, l)));
    for line in all.filter(|l| !matches!(l.state, State::Unreadable(_))) {
        let home = s.path(line.place.base);
        let path = if line.place.leaf.is_empty() { home } else { format!("{home}/{}", line.place.leaf) };
        let data = match s.resolve(&path) {
            Lookup::Found(id) => s.data(id),
            Lookup::Missing => &[],
            Lookup::Blocked(..) => continue,
        };
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
        if to <= data.len() {
            by_id.entry(line.def.id).or_default().push(Target { id: line.def.id, path, from, to });
        }
    }
    by_id.into_values().collect()
}

/// Changes of a fact after which it is no longer tried first.
const TURNS: usize = 300;
/// Bytes of a file that is taken or changed as a whole.
const SMALL: usize = 512;

/// Contents of small files of the same name, anywhere in two nodes: values that such a file can have.
fn values(all: &[&Snapshot]) -> BTreeMap<String, Vec<Vec<u8>>> {
    let mut out: BTreeMap<String, BTreeSet<Vec<u8>>> = BTreeMap::new();
    for s in all {
        let mut dirs = vec![s.root()];
        while let Some(dir) = dirs.pop() {
            for (name, id) in s.children(dir) {
                match s.kind(id) {
                    EntryKind::Dir => dirs.push(id),
                    EntryKind::File if s.data(id).len() < SMALL => {
                        out.entry(name.to_owned()).or_default().insert(s.data(id).to_vec());
                    }
                    _ => {}
                }
            }
        }
    }
    out.into_iter().map(|(name, all)| (name, all.into_iter().collect())).collect()
}

/// Words that programs print of a setting, and others that they could.
const WORDS: &[(&str, &str)] = &[
    ("Enabled", "Disabled"),
    ("Yes", "No"),
    ("True(1)", "False(0)"),
    ("None", "All"),
    ("InfiniBand", "Ethernet"),
    ("[always] madvise", "always [madvise]"),
    ("[N/A]", "1"),
];

/// What becomes of the file there: another content (a bit of a binary, what such a file is elsewhere, a word, a digit or a letter), or none.
/// `turn`: how often this fact was changed before, so that each bit of a register has its turn.
fn changed(
    s: &Snapshot,
    values: &BTreeMap<String, Vec<Vec<u8>>>,
    (t, turn): (&Target, usize),
    random: &mut Random,
) -> Option<Option<Vec<u8>>> {
    let out = match s.resolve(&t.path) {
        Lookup::Found(id) => s.data(id).to_vec(),
        _ => Vec::new(),
    };
    if t.path.ends_with("/config") {
        let (mut out, bit) = (out, (turn * 37) % (8 * (t.to - t.from).max(1)));
        *out.get_mut(t.from + bit / 8)? ^= 1 << (bit % 8);
        return Some(Some(out));
    }
    let name = t.path.rsplit('/').next().unwrap_or_default();
    let way = random.below(4);
    if t.from == t.to || way == 0 {
        let elsewhere = values.get(name).filter(|_| out.len() < SMALL)?;
        return elsewhere.get(random.below(elsewhere.len())).filter(|v| **v != out).map(|v| Some(v.clone()));
    }
    if way == 1 && out.len() < SMALL {
        return Some(None);
    }
    let old = String::from_utf8(out.get(t.from..t.to)?.to_vec()).ok()?;
    let put = |new: String| Some(Some([&out[..t.from], new.as_bytes(), &out[t.to..]].concat()));
    let other = |(a, b): &(&str, &str)| [old.replacen(a, b, 1), old.replacen(b, a, 1)].into_iter().find(|n| *n != old);
    if way == 2
        && let Some(new) = WORDS.iter().find_map(other)
    {
        return put(new);
    }
    let can: Vec<usize> = (0..old.len()).filter(|i| old.as_bytes()[*i].is_ascii_alphanumeric()).collect();
    let at = *can.get(random.below(can.len()))?;
    let new = match old.as_bytes()[at] {
        d if d.is_ascii_digit() => b'0' + ((d - b'0') + 1 + random.below(8) as u8) % 10,
        b'z' | b'Z' => b'a',
        c => c + 1,
    };
    put([&old[..at], &char::from(new).to_string(), &old[at + 1..]].concat())
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
    /// Facts of the node that no change altered.
    pub(crate) untouched: Vec<&'static str>,
    /// What was not found, or found and not changed.
    pub(crate) wrong: Vec<String>,
}

fn put(s: &mut Snapshot, path: &str, content: Option<&[u8]>) {
    match content {
        Some(data) => _ = s.set_file(path, data),
        None => _ = s.remove(path),
    }
}

/// A fleet of equal nodes, some of which are changed in so many ways.
pub(crate) fn inject(nodes: u32, odd: u32, each: usize) -> Injected {
    let base = example("healthy-8gpu.tar.zst");
    let (profile, record) = both("base", &base);
    let kept: BTreeSet<_> = record.rows.iter().map(|r| (r.owner.to_string(), r.id)).collect();
    let values = values(&[&base, &example("sick-8gpu.tar.zst")]);
    let targets = targets(&base, &profile, &kept);
    let (mut random, mut turns) = (Random(18), vec![0; targets.len()]);
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
        while done < each && tries < each * 16 {
            tries += 1;
            // Facts that were not met yet come first.
            let fresh: Vec<usize> =
                (0..targets.len()).filter(|i| turns[*i] < TURNS && !facts.contains(targets[*i][0].id)).collect();
            let number = match random.below(8) {
                1.. if !fresh.is_empty() => fresh[random.below(fresh.len())],
                _ => random.below(targets.len()),
            };
            let (of_fact, turn) = (&targets[number], turns[number]);
            turns[number] += 1;
            let target = &of_fact[random.below(of_fact.len())];
            let Some(new) = changed(&s, &values, (target, turn), &mut random) else { continue };
            let old = match s.resolve(&target.path) {
                Lookup::Found(id) => Some(s.data(id).to_vec()),
                _ => None,
            };
            put(&mut s, &target.path, new.as_deref());
            let seen = both(&format!("node{node}"), &s);
            match expected(&profile, &seen.0, &kept) {
                Some(now) if now.len() > last.2.len() && seen.1.traits == record.traits => {
                    done += 1;
                    facts.extend(now.iter().map(|f| f.2));
                    last = (seen.0, seen.1, now);
                }
                _ => {
                    put(&mut s, &target.path, old.as_deref());
                }
            }
        }
        changes += done;
        wanted.insert(node, last.2);
        table.record(&last.1);
    }
    let got = found(&drift(&table, &Options::default()));
    let (mut wrong, empty) = (Vec::new(), BTreeSet::new());
    for node in 0..nodes {
        let (w, g) = (wanted.get(&node).unwrap_or(&empty), got.get(&node).unwrap_or(&empty));
        wrong.extend(w.difference(g).map(|x| format!("{node} missed {x:?}")));
        wrong.extend(g.difference(w).map(|x| format!("{node} not changed {x:?}")));
    }
    let untouched = targets.iter().map(|t| t[0].id).filter(|id| !facts.contains(id)).collect();
    Injected { changes, facts: facts.len(), untouched, wrong }
}
