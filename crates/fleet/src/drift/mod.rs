//! Many nodes: per class of hardware and per fact what most of them show, and who does not.
//!
//! A [`Table`] takes records, or the runs of an index. [`drift`] merges the groups of a class (nodes that are built alike), by position, and
//! looks at each fact. What a node did not show never differs.

mod configurations;
mod members;
mod merged;
mod table;

pub use configurations::Configuration;
pub use members::Members;
pub use table::{CellNo, GroupNo, Head, NodeNo, Table};

use crate::class::{Traits, classes};
use crate::lost;
use crate::named::{Beside, FAR, NEAREST, beside, names_devices};
use crate::recorded::prefix;
use crate::{Owner, Said, Seen};
use linerate_facts::{Compared, Def, compared, defs};
use linerate_rules::Severity;
use merged::{Holders, Merged};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use table::{Judged, Key};

/// What many nodes show together.
#[derive(Debug, Clone)]
pub struct Drift {
    /// The largest class first.
    pub classes: Vec<Class>,
}

/// Nodes of one class of hardware.
#[derive(Debug, Clone)]
pub struct Class {
    /// What they are.
    pub traits: Traits,
    /// The nodes.
    pub members: Members,
    /// The one that is right by definition.
    pub reference: Option<NodeNo>,
    /// Facts in which some differ, the worst first.
    pub facts: Vec<Odd>,
    /// Whole configurations, the most frequent first.
    pub configurations: Vec<Configuration>,
    /// Facts that at least two nodes show.
    pub compared: usize,
    /// Facts that move by themselves, differ, and are judged alike.
    pub moved: usize,
    /// Facts that are another one on nearly every node, and say nothing about drift.
    pub own: Vec<(Owner, &'static str)>,
    /// Nodes that could not show something that others do, and how much.
    pub unseen: Vec<(NodeNo, usize)>,
    /// Some devices were paired by their number, because the ways to them differ or are not shown.
    pub by_number: bool,
    /// Nodes whose devices the index does not say: of them only the node's own facts were compared.
    pub broken: Members,
}

/// A fact in which nodes of a class differ.
#[derive(Debug, Clone)]
pub struct Odd {
    /// Whose.
    pub owner: Owner,
    /// Which of the owner's: a port, a setting, a word of a list.
    pub part: String,
    /// Id of the fact; where a thing is on some nodes only, what the ids of its facts begin with.
    pub id: &'static str,
    /// What is shown, the most frequent first; with a reference, its value first.
    pub values: Vec<Shown>,
    /// Whether the first value is that of more than half of the nodes that show any, or the reference's.
    pub has_norm: bool,
    /// How bad the worst of what fails on some of the values, but not on all, is; `info`: rules read it and see no difference; `None`: no rule
    /// reads it. Of a device that some nodes lack, how bad that is.
    pub severity: Option<Severity>,
}

/// A value, and who shows it.
#[derive(Debug, Clone)]
pub struct Shown {
    /// The value.
    pub value: Value,
    /// Who.
    pub members: Members,
    /// The worst that rules which read it say there.
    pub verdict: Option<Said>,
    /// How bad it is where it is best.
    least: Option<Severity>,
}

impl Shown {
    fn new(value: Value, members: Members, said: Judged) -> Self {
        Shown { value, members, verdict: said.worst, least: said.least.flatten() }
    }
}

/// What some nodes show.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// This.
    Known(String),
    /// The thing is there; its facts are others.
    Present,
    /// It is certainly not there.
    Absent,
    /// The list that it would be in was read, and it is not in it.
    NotListed,
}

/// What the caller wants to be compared with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Nodes that are right by definition; in classes without one the majority is.
    pub references: Vec<Reference>,
}

/// A node that is right by definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Which.
    pub node: NodeNo,
    /// For which nodes; `None`: for all of its class.
    pub of: Option<Members>,
}

impl Options {
    /// The node that these are compared with: one that is right for all of them. That of a group counts before that of all; of two of a kind none does.
    fn reference(&self, members: &Members) -> Option<NodeNo> {
        let pick = |is_group: bool| {
            let holds = |r: &&Reference| {
                let mut others = members.clone();
                r.of.iter().for_each(|of| others.remove(of));
                members.has(r.node) && r.of.is_some() == is_group && (r.of.is_none() || others.is_empty())
            };
            let mut all = self.references.iter().filter(holds).map(|r| r.node);
            let first = all.next();
            (first, all.all(|n| Some(n) == first))
        };
        match pick(true) {
            (Some(node), true) => Some(node),
            (Some(_), false) => None,
            (None, _) => Some(pick(false)).filter(|(_, is_one)| *is_one)?.0,
        }
    }
}

/// Looks at each fact of each class.
#[must_use]
pub fn drift(table: &Table, options: &Options) -> Drift {
    let traits: Vec<&Traits> = table.groups.iter().map(|(t, _)| t).collect();
    let mut sizes: HashMap<GroupNo, usize> = HashMap::new();
    table.nodes.iter().for_each(|(_, g)| *sizes.entry(*g).or_default() += 1);
    let mut by_class: BTreeMap<usize, Vec<GroupNo>> = BTreeMap::new();
    for (group, class) in classes(&traits).into_iter().enumerate() {
        by_class.entry(class).or_default().push(GroupNo(group as u32));
    }
    let mut out: Vec<Class> = Vec::new();
    for (first, mut groups) in by_class {
        groups.sort_by_key(|g| (Reverse(sizes.get(g).copied()), *g));
        let merged = Merged::of(table, &groups);
        let traits = traits.get(first).map(|t| (*t).clone()).unwrap_or_default();
        out.push(class(traits, merged, options));
    }
    out.sort_by_key(|c| (Reverse(c.members.len()), c.members.iter().next()));
    Drift { classes: out }
}

fn class(traits: Traits, merged: Merged<'_>, options: &Options) -> Class {
    let reference = options.reference(&merged.members);
    let mut look = Look {
        merged: &merged,
        reference,
        facts: Vec::new(),
        own: Vec::new(),
        unseen: HashMap::new(),
        compared: 0,
        moved: 0,
    };
    look.devices();
    look.things();
    let Look { mut facts, own, unseen, compared, moved, .. } = look;
    facts.sort_by(|a, b| rank(a).cmp(&rank(b)));
    let configurations = configurations::of(&merged.members, &facts);
    let mut unseen: Vec<(NodeNo, usize)> = unseen.into_iter().collect();
    unseen.sort_unstable();
    let (by_number, broken) = (merged.by_number, merged.broken.clone());
    let members = merged.members;
    Class { traits, members, reference, facts, configurations, compared, moved, own, unseen, by_number, broken }
}

/// The worst first, then the rarest.
fn rank(odd: &Odd) -> (Reverse<Option<Severity>>, usize, &Owner, &str, &str) {
    let rare = odd.values.iter().skip(1).map(|v| v.members.len()).sum();
    (Reverse(odd.severity), rare, &odd.owner, odd.id, &odd.part)
}

struct Look<'m> {
    merged: &'m Merged<'m>,
    reference: Option<NodeNo>,
    facts: Vec<Odd>,
    own: Vec<(Owner, &'static str)>,
    unseen: HashMap<NodeNo, usize>,
    compared: usize,
    moved: usize,
}

/// Facts of one thing: the same owner, part, and list that names it.
type Thing<'m> = (&'m Owner, &'m str, &'static str);

impl Look<'_> {
    /// Devices that some nodes lack.
    fn devices(&mut self) {
        for (role, lacking) in &self.merged.lacking {
            let mut with = self.merged.members.clone();
            with.remove(lacking);
            with.remove(&self.merged.broken);
            let values = [(Value::Present, with), (Value::NotListed, lacking.clone())];
            self.odd(
                &Owner::Device(role.as_str().into()),
                "",
                "pci",
                values.map(|(v, members)| Shown::new(v, members, Judged::default())).into(),
                merged::role_of(role).and_then(|role| lost::severity(&role)),
            );
        }
    }

    fn things(&mut self) {
        let mut things: BTreeMap<Thing<'_>, Vec<&Key>> = BTreeMap::new();
        for key in self.merged.keys.keys() {
            things.entry((&key.owner, &key.part, list_of(key))).or_default().push(key);
        }
        for (thing, keys) in &things {
            self.thing(*thing, keys);
        }
    }

    fn thing(&mut self, (owner, part, list): Thing<'_>, keys: &[&Key]) {
        let merged = self.merged;
        let mut there = Members::default();
        let all = keys.iter().filter_map(|k| merged.keys.get(*k));
        all.flat_map(|values| values.values()).for_each(|h| there.add(&h.members));
        let mut missing = merged.members.clone();
        missing.remove(&there);
        if let Owner::Device(role) = owner
            && let Some(lacking) = merged.lacking.get(&**role)
        {
            missing.remove(lacking);
        }
        if let Owner::Device(role) = owner
            && let Some(silent) = merged.silent.get(&**role)
        {
            missing.remove(silent);
        }
        let mut not_listed = self.listed(owner, part, list);
        not_listed.keep(&missing);
        missing.remove(&not_listed);
        // Where there is no such list, that says all.
        not_listed.remove(&self.absent(owner, "", list));
        let is_shown = |k: &&&Key| merged.keys.get(**k).into_iter().flatten().any(|(s, _)| **s != Seen::Unreadable);
        let shown_keys = keys.iter().filter(is_shown).count();
        missing.iter().for_each(|n| *self.unseen.entry(n).or_default() += shown_keys);
        let is_word = keys.len() == 1 && keys.iter().all(|k| k.id == list) && !part.is_empty();
        for key in keys {
            let Some(values) = merged.keys.get(*key) else { continue };
            let robbed = if key.id == FAR { self.robbed(owner, part) } else { Members::default() };
            let mut shown: Vec<Shown> = Vec::new();
            let mut blind = there.clone();
            for (seen, Holders { members, said }) in values {
                let value = match &**seen {
                    Seen::Known(v) => Value::Known(v.clone()),
                    Seen::Absent => Value::Absent,
                    Seen::Unreadable => continue,
                };
                blind.remove(members);
                let mut members = members.clone();
                members.remove(&robbed);
                if value == Value::Absent {
                    // What it would be in is absent: that says all.
                    wholes(key.id).for_each(|id| members.remove(&self.absent(owner, part, id)));
                }
                shown.push(Shown::new(value, members, *said));
            }
            if shown.is_empty() {
                continue;
            }
            blind.iter().for_each(|n| *self.unseen.entry(n).or_default() += 1);
            if names_devices(key.id) {
                self.without_lost(&mut shown);
            }
            if is_word && !not_listed.is_empty() {
                shown.push(Shown::new(Value::NotListed, not_listed.clone(), Judged::default()));
            }
            let nodes: usize = shown.iter().map(|s| s.members.len()).sum();
            self.compared += usize::from(nodes > 1);
            shown.retain(|s| !s.members.is_empty());
            if shown.len() > 1 {
                self.odd(owner, part, key.id, shown, None);
            }
        }
        if !is_word && !not_listed.is_empty() && !there.is_empty() && !self.is_part_of_missing(owner, part, list) {
            // What rules say of the thing is what they say of its facts.
            let all = keys.iter().filter_map(|k| merged.keys.get(*k)).flat_map(|values| values.values());
            let said = all.map(|h| h.said).reduce(Judged::and).unwrap_or_default();
            let values = [(Value::Present, there, said), (Value::NotListed, not_listed, Judged::default())];
            self.odd(
                owner,
                part,
                list,
                values.map(|(value, members, said)| Shown::new(value, members, said)).into(),
                lost::part_severity(owner, list),
            );
        }
    }

    /// Whether what the thing is a part of is missing on some nodes as a whole, and so was said: a GID of a port that is not there.
    fn is_part_of_missing(&self, owner: &Owner, part: &str, list: &str) -> bool {
        let whole = |o: &&Odd| {
            o.owner == *owner
                && o.values.iter().any(|v| v.value == Value::NotListed)
                && list.strip_prefix(o.id).is_some_and(|rest| rest.starts_with('.'))
                && (o.part.is_empty() || part.starts_with(o.part.as_str()))
        };
        self.facts.iter().any(|o| whole(&o))
    }

    /// Nodes where the list that would name a thing was read: one of the node, of the owner, or of a port of it.
    fn listed(&self, owner: &Owner, part: &str, list: &'static str) -> Members {
        let port = part.match_indices(' ').nth(1).map_or(part, |(at, _)| part.get(..at).unwrap_or(part));
        let mut out = Members::default();
        let places = [(&Owner::Node, ""), (owner, ""), (owner, port)];
        for (owner, part) in places {
            let key = Key { owner: owner.clone(), part: part.to_owned(), id: list };
            let seen = self.merged.keys.get(&key).into_iter().flatten();
            seen.filter(|(s, _)| ***s != Seen::Unreadable).for_each(|(_, h)| out.add(&h.members));
        }
        out
    }

    /// Nodes where a fact is certainly not there.
    fn absent(&self, owner: &Owner, part: &str, id: &'static str) -> Members {
        let key = Key { owner: owner.clone(), part: part.to_owned(), id };
        let holders = self.merged.keys.get(&key).and_then(|values| values.get(&Seen::Absent));
        holders.map(|h| h.members.clone()).unwrap_or_default()
    }

    /// Of values that name devices: a node that shows what the norm shows, but for a device that it lacks, shows the norm.
    fn without_lost(&self, shown: &mut Vec<Shown>) {
        let Some(norm) = self.norm(shown) else { return };
        let mut back = Members::default();
        for v in shown.iter_mut().skip(1) {
            let same: Members =
                v.members.iter().filter(|n| self.is_beside(&norm, &v.value, *n) != Beside::Other).collect();
            v.members.remove(&same);
            back.add(&same);
        }
        if let Some(first) = shown.first_mut() {
            first.members.add(&back);
        }
        shown.retain(|v| !v.members.is_empty());
    }

    /// Puts the value that the others are compared with first: that of the reference, or of most. The value, and a node that shows it.
    fn norm(&self, shown: &mut [Shown]) -> Option<(Value, NodeNo)> {
        shown.sort_by_key(|v| {
            (Reverse(self.reference.is_some_and(|n| v.members.has(n))), Reverse(v.members.len()), v.value.clone())
        });
        let first = shown.first()?;
        let node = self.reference.filter(|n| first.members.has(*n)).or_else(|| first.members.iter().next())?;
        Some((first.value.clone(), node))
    }

    fn is_beside(&self, (norm, of): &(Value, NodeNo), value: &Value, node: NodeNo) -> Beside {
        let text = |v: &Value| match v {
            Value::Known(text) => Some(text.clone()),
            Value::Absent => Some(String::new()),
            _ => None,
        };
        let (Some(norm), Some(value)) = (text(norm), text(value)) else { return Beside::Other };
        let lacking = &self.merged.lacking;
        let is_lacking = |device: &str| lacking.get(device).is_some_and(|m| m.has(node) || m.has(*of));
        beside(&norm, &value, is_lacking)
    }

    /// Nodes where all NICs are lacking that are nearest to a GPU elsewhere: how far the next ones are follows from that.
    fn robbed(&self, owner: &Owner, part: &str) -> Members {
        let key = Key { owner: owner.clone(), part: part.to_owned(), id: NEAREST };
        let known = |seen: &Seen| matches!(seen, Seen::Known(_));
        let values = self.merged.keys.get(&key).into_iter().flatten().filter(|(seen, _)| known(seen));
        let mut shown: Vec<Shown> = values
            .map(|(seen, holders)| {
                let text = if let Seen::Known(v) = &**seen { v.clone() } else { String::new() };
                Shown::new(Value::Known(text), holders.members.clone(), Judged::default())
            })
            .collect();
        let Some(norm) = self.norm(&mut shown) else { return Members::default() };
        let of = shown.iter().skip(1);
        of.flat_map(|v| v.members.iter().filter(|n| self.is_beside(&norm, &v.value, *n) == Beside::Robbed)).collect()
    }

    fn odd(&mut self, owner: &Owner, part: &str, id: &'static str, mut values: Vec<Shown>, lost: Option<Severity>) {
        values.retain(|v| !v.members.is_empty());
        if values.len() < 2 {
            return;
        }
        let is_reference = |v: &Shown| self.reference.is_some_and(|n| v.members.has(n));
        values.sort_by(|a, b| {
            (Reverse(is_reference(a)), Reverse(a.members.len()), &a.value).cmp(&(
                Reverse(is_reference(b)),
                Reverse(b.members.len()),
                &b.value,
            ))
        });
        if let Compared::Within(share) = compared(id) {
            near(&mut values, share);
            if values.len() < 2 {
                return;
            }
        }
        let nodes: usize = values.iter().map(|v| v.members.len()).sum();
        let Some(first) = values.first() else { return };
        let referred = is_reference(first);
        if !referred && values.len() > 2 && values.len() * 2 > nodes {
            self.own.push((owner.clone(), id));
            return;
        }
        let has_norm = referred || first.members.len() * 2 > nodes;
        // What most nodes lack and few have is not lost.
        let lost = lost.filter(|_| !has_norm || first.value == Value::Present);
        let severity = severity(&values).max(lost);
        // What moves by itself is drift only where rules judge the values differently.
        if matches!(compared(id), Compared::State(_)) && severity <= Some(Severity::Info) {
            self.moved += 1;
            return;
        }
        self.facts.push(Odd { owner: owner.clone(), part: part.to_owned(), id, values, has_norm, severity });
    }
}

/// Numbers that are no further from the first than this share are the first.
fn near(values: &mut Vec<Shown>, share: f64) {
    let number = |v: &Shown| match &v.value {
        Value::Known(text) => text.parse::<f64>().ok(),
        _ => None,
    };
    let Some((first, rest)) = values.split_first_mut() else { return };
    let Some(norm) = number(first) else { return };
    let is_near = |v: &Shown| number(v).is_some_and(|n| (n - norm).abs() <= share * norm.abs());
    for v in rest.iter().filter(|v| is_near(v)) {
        first.members.add(&v.members);
        first.verdict = first.verdict.max(v.verdict);
        first.least = first.least.min(v.least);
    }
    let mut at = 0;
    values.retain(|v| {
        at += 1;
        at == 1 || !is_near(v)
    });
}

/// The worst of what fails on some values, but not on all. Of the first it is what fails wherever it is shown: a node with something else that is
/// wrong shows it, too.
fn severity(values: &[Shown]) -> Option<Severity> {
    let first = values.first().map(|v| v.least);
    let others = values.iter().skip(1).map(|v| v.verdict.and_then(|s| s.failing()));
    let all: Vec<Option<Severity>> = first.into_iter().chain(others).collect();
    let (worst, least) = (*all.iter().max()?, *all.iter().min()?);
    match (worst > least, values.iter().any(|v| v.verdict.is_some())) {
        (true, _) => worst,
        (false, true) => Some(Severity::Info),
        (false, false) => None,
    }
}

/// Id of the list that names the thing of a fact. A word of a list is named by the list itself, a PCI function by the layout.
fn list_of(key: &Key) -> &'static str {
    match prefix(&key.owner, &key.part, key.id) {
        "pci" => "",
        list => list,
    }
}

/// Ids of the facts that a fact is a part of: `pci.express` of `pci.express.max_payload`.
fn wholes(id: &'static str) -> impl Iterator<Item = &'static str> {
    id.match_indices('.').filter_map(move |(at, _)| id.get(..at))
}

/// What is known of a fact, by its id; `None`: what is only on some nodes is a thing.
#[must_use]
pub fn def(id: &str) -> Option<&'static Def> {
    defs().find(|d| d.id == id)
}
