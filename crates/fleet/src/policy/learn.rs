//! A policy from nodes that are right: what all of a class agree on, without what rules call wrong.

mod fold;

use super::{About, Class, Count, DEVICES, Match, Policy, roles};
use crate::record::Reads;
use crate::{Profile, State, Traits, Whose, class};
use linerate_facts::position::{Device, Path, Role};
use linerate_facts::{Compared, Def, Form, compared};
use linerate_rules::{Severity, Status};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Nodes, by what they are made of, and what each shows.
#[derive(Debug, Default)]
pub struct Lessons {
    by_traits: BTreeMap<Traits, Group>,
    /// Rules whose answers are accepted.
    accepted: BTreeSet<String>,
}

/// What was learnt.
#[derive(Debug, Clone)]
pub struct Learnt {
    /// The policy.
    pub policy: Policy,
    /// What is not in it, and why.
    pub left: Vec<Left>,
}

/// What was not learnt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Class.
    pub class: String,
    /// Whose: `rail 3 NIC`; empty for the node.
    pub at: String,
    /// The fact, and which of the owner's.
    pub fact: String,
    /// Why.
    pub why: Why,
}

/// Why something was not learnt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// A rule calls it wrong.
    Wrong {
        /// The rule.
        rule: &'static str,
        /// How bad it is.
        severity: Severity,
        /// On these nodes.
        nodes: Vec<String>,
    },
    /// Nodes differ: values with the nodes that show them, the most frequent first.
    Differ(Vec<(String, Vec<String>)>),
    /// Only these nodes have it.
    NotOnAll(Vec<String>),
    /// No node's source shows it.
    Unseen,
}

/// Nodes with the same traits.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) nodes: Vec<String>,
    /// How many devices, by node; `None`: its source does not tell.
    devices: BTreeMap<Device, Vec<Option<u64>>>,
    /// Ways to devices, by what each node calls them.
    seats: BTreeMap<Role, BTreeSet<Path>>,
    pub(super) facts: BTreeMap<Key, Seen>,
    /// Values that a rule passes somewhere: they are not what it calls wrong elsewhere.
    pub(super) innocent: HashSet<Innocent>,
}

/// A value of a fact of some kind of thing, and a rule that reads it and passes.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Innocent {
    pub(super) kind: String,
    pub(super) id: &'static str,
    pub(super) part: String,
    pub(super) value: String,
    pub(super) rule: &'static str,
}

/// Whose a fact is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Owner {
    Node,
    Device(Role),
    Named(String),
}

/// A fact of one thing of a node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) owner: Owner,
    pub(super) id: &'static str,
    pub(super) part: String,
}

/// What the nodes of a group show of a fact, by their numbers.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) def: &'static Def,
    /// Values; `None`: certainly not there.
    pub(super) values: BTreeMap<Option<String>, Vec<usize>>,
    pub(super) unreadable: Vec<usize>,
    pub(super) wrong: BTreeMap<&'static str, (Severity, Vec<usize>)>,
}

impl Lessons {
    /// With rules whose answers are accepted although they fail.
    #[must_use]
    pub fn accepting(rules: impl IntoIterator<Item = String>) -> Self {
        Lessons { accepted: rules.into_iter().collect(), ..Lessons::default() }
    }

    /// Adds a node, judged by all rules.
    pub fn add(&mut self, label: &str, profile: &Profile, traits: &Traits) {
        let group = self.by_traits.entry(traits.clone()).or_default();
        let number = group.nodes.len();
        group.nodes.push(label.to_owned());
        for (_, device) in DEVICES {
            let whole = profile.pci_is_whole || (device == Device::Gpu && profile.gpus_were_asked);
            let of = |r: &Role| matches!(r, Role::Device(d, _) if *d == device);
            let n = profile.positions.seats.iter().filter(|s| of(&s.role)).count() as u64;
            group.devices.entry(device).or_default().push(whole.then_some(n));
        }
        for seat in profile.positions.seats.iter().filter(|_| profile.pci_is_whole) {
            if let (Role::Device(device, _), Some(path)) = (&seat.role, &seat.path)
                && DEVICES.iter().any(|(_, d)| d == device)
            {
                group.seats.entry(seat.role.clone()).or_default().insert(path.clone());
            }
        }
        let reads = Reads::of(&profile.judged);
        for (thing, lines) in &profile.things {
            let Some(owner) = owner(profile, &thing.whose) else { continue };
            let mut ids: BTreeSet<&str> = BTreeSet::new();
            // A text that shows a thing twice shows its facts twice: the first counts.
            for line in lines.iter().filter(|l| ids.insert(l.def.id) && is_learnt(l.def)) {
                let key = Key { owner: owner.clone(), id: line.def.id, part: thing.part.clone() };
                let seen = group.facts.entry(key).or_insert_with(|| Seen {
                    def: line.def,
                    values: BTreeMap::new(),
                    unreadable: Vec::new(),
                    wrong: BTreeMap::new(),
                });
                match &line.state {
                    State::Known(v) => {
                        let v = seen.like(v);
                        seen.values.entry(Some(v)).or_default().push(number);
                    }
                    State::Absent => seen.values.entry(None).or_default().push(number),
                    State::Unreadable(_) => seen.unreadable.push(number),
                }
                let State::Known(value) = &line.state else { continue };
                let kind = |rule| Innocent {
                    kind: fold::kind(&owner),
                    id: line.def.id,
                    part: thing.part.clone(),
                    value: value.clone(),
                    rule,
                };
                let answers = reads.about(thing, line.place);
                let fails = |j: &&&crate::Judged| j.status == Status::Fail;
                let failing: BTreeSet<&str> = answers.iter().filter(fails).map(|j| j.rule.id).collect();
                let passing = answers.iter().filter(|j| j.status == Status::Pass && !failing.contains(j.rule.id));
                group.innocent.extend(passing.map(|j| kind(j.rule.id)));
                let counts = |j: &&&crate::Judged| j.severity > Severity::Info && !self.accepted.contains(j.rule.id);
                for j in answers.iter().filter(fails).filter(counts) {
                    let said = seen.wrong.entry(j.rule.id).or_insert((j.severity, Vec::new()));
                    if said.1.last() != Some(&number) {
                        said.1.push(number);
                    }
                }
            }
        }
    }

    /// The policy of all nodes that were added.
    #[must_use]
    pub fn learn(self, name: &str) -> Learnt {
        let mut out = Learnt {
            policy: Policy { name: name.to_owned(), classes: Vec::new(), tests: Vec::new() },
            left: Vec::new(),
        };
        for (traits, group) in self.classes() {
            let class = class_name(&traits, &out.policy);
            let (rows, mut left) = fold::rows(&class, &group);
            let devices = devices(&class, &group, &mut left);
            let [board, cpu, gpus, nics] =
                [traits.board, traits.cpu, traits.gpus, traits.nics].map(Option::unwrap_or_default);
            out.policy.classes.push(Class {
                claims: Vec::new(),
                name: class,
                matches: Match { board, cpu, gpus, nics, ..Match::default() },
                seats: seats(&group),
                rows,
                devices,
                conditions: Vec::new(),
                labels: BTreeMap::new(),
                learnt_from: group.nodes,
            });
            out.left.append(&mut left);
        }
        out
    }

    /// Nodes of which less is known join the class that they fit.
    fn classes(self) -> Vec<(Traits, Group)> {
        let (all, mut groups): (Vec<Traits>, Vec<Option<Group>>) =
            self.by_traits.into_iter().map(|(t, g)| (t, Some(g))).unzip();
        let class = class::classes(&all.iter().collect::<Vec<_>>());
        let mut out: Vec<(Traits, Group)> = Vec::new();
        for (i, traits) in all.iter().enumerate().filter(|(i, _)| class.get(*i) == Some(i)) {
            let Some(mut group) = groups.get_mut(i).and_then(Option::take) else { continue };
            for (j, _) in all.iter().enumerate().filter(|(j, _)| *j != i && class.get(*j) == Some(&i)) {
                if let Some(other) = groups.get_mut(j).and_then(Option::take) {
                    group.join(other);
                }
            }
            out.push((traits.clone(), group));
        }
        out
    }
}

impl Group {
    fn join(&mut self, other: Group) {
        let first = self.nodes.len();
        let moved = |all: Vec<usize>| all.into_iter().map(|n| n + first).collect::<Vec<_>>();
        self.nodes.extend(other.nodes);
        self.innocent.extend(other.innocent);
        for (device, mut counts) in other.devices {
            self.devices.entry(device).or_default().append(&mut counts);
        }
        for (role, ways) in other.seats {
            self.seats.entry(role).or_default().extend(ways);
        }
        for (key, theirs) in other.facts {
            match self.facts.get_mut(&key) {
                Some(ours) => {
                    for (v, nodes) in theirs.values {
                        let v = v.map(|v| ours.like(&v));
                        ours.values.entry(v).or_default().extend(moved(nodes));
                    }
                    ours.unreadable.extend(moved(theirs.unreadable));
                    for (rule, (severity, nodes)) in theirs.wrong {
                        ours.wrong.entry(rule).or_insert((severity, Vec::new())).1.extend(moved(nodes));
                    }
                }
                None => {
                    let values = theirs.values.into_iter().map(|(v, n)| (v, moved(n))).collect();
                    let wrong = theirs.wrong.into_iter().map(|(r, (s, n))| (r, (s, moved(n)))).collect();
                    self.facts
                        .insert(key, Seen { values, unreadable: moved(theirs.unreadable), wrong, def: theirs.def });
                }
            }
        }
    }

    /// Labels of nodes.
    pub(super) fn labels(&self, numbers: &[usize]) -> Vec<String> {
        numbers.iter().filter_map(|n| self.nodes.get(*n)).cloned().collect()
    }
}

impl Seen {
    /// Whether every node that shows it shows that it is not there.
    pub(super) fn is_absent(&self) -> bool {
        self.values.len() == 1 && self.values.contains_key(&None)
    }

    /// A value, or the one among those that were seen that it is no further from than such values are.
    fn like(&self, value: &str) -> String {
        if let Compared::Within(share) = compared(self.def.id)
            && let Ok(x) = value.parse::<f64>()
        {
            let near = |v: &&String| v.parse::<f64>().is_ok_and(|y| (x - y).abs() <= share * x.abs().max(y.abs()));
            if let Some(known) = self.values.keys().flatten().find(near) {
                return known.clone();
            }
        }
        value.to_owned()
    }
}

/// Names that the kernel deals out: of one device they follow from what others there are.
const NAMES: [&str; 5] = ["net.name", "net.master", "net.bond_slaves", "rdma.name", "rdma.ports.netdev"];

/// Whether a fact can be a standard: not what moves by itself, nor that a list was read.
fn is_learnt(def: &'static Def) -> bool {
    match compared(def.id) {
        Compared::Not(_) | Compared::State(_) => false,
        // What a scheduler claims of a node is not what the node is.
        _ if ["kubernetes", "slurm"].contains(&def.id.split('.').next().unwrap_or_default()) => false,
        _ => def.form != Form::Members && !NAMES.contains(&def.id),
    }
}

/// `None`: virtual functions, which come and go, and devices that data does not pass.
fn owner(profile: &Profile, whose: &Whose) -> Option<Owner> {
    match whose {
        Whose::Node => Some(Owner::Node),
        Whose::Named(name) => Some(Owner::Named(name.clone())),
        Whose::Device(i) => {
            let seat = profile.positions.seats.get(*i).filter(|s| crate::record::is_kept(s))?;
            (!matches!(seat.role, Role::Virtual(..))).then(|| Owner::Device(seat.role.clone()))
        }
    }
}

/// Where devices are, of which all nodes say the same. Where one is elsewhere on some, places say nothing of its kind.
fn seats(group: &Group) -> BTreeMap<Role, Path> {
    let differ: BTreeSet<Device> =
        group.seats.iter().filter(|(_, ways)| ways.len() > 1).filter_map(|(role, _)| role.device()).collect();
    let alike = group.seats.iter().filter(|(role, _)| role.device().is_some_and(|d| !differ.contains(&d)));
    alike.filter_map(|(role, ways)| Some((role.clone(), ways.first()?.clone()))).collect()
}

fn devices(class: &str, group: &Group, left: &mut Vec<Left>) -> Vec<Count> {
    let mut out = Vec::new();
    for (word, device) in DEVICES {
        let counts = group.devices.get(&device).map_or(&[][..], Vec::as_slice);
        let known: BTreeSet<u64> = counts.iter().flatten().copied().collect();
        match known.iter().copied().collect::<Vec<_>>().as_slice() {
            [] => {}
            [n] if *n > 0 => {
                let id = format!("policy/{class}.{}.number", roles::slug(word));
                let mut about = About::learnt(id);
                let lost = crate::lost::severity(&Role::Device(device, 0));
                about.severity = lost.map_or(about.severity, |s| s.max(about.severity));
                out.push(Count { about, device, least: *n, most: *n });
            }
            [_] => {}
            several => {
                let of = |n: &u64| {
                    let at = counts.iter().enumerate().filter(|(_, c)| **c == Some(*n)).map(|(i, _)| i);
                    (n.to_string(), group.labels(&at.collect::<Vec<_>>()))
                };
                let why = Why::Differ(several.iter().map(of).collect());
                left.push(Left { class: class.to_owned(), at: String::new(), fact: format!("number of {word}"), why });
            }
        }
    }
    out
}

impl About {
    /// Of an expectation that nodes taught.
    pub(super) fn learnt(id: String) -> Self {
        About { id, severity: Severity::Medium, reason: String::new(), owner: String::new(), line: 0 }
    }
}

/// A name from the board, or what else is known.
fn class_name(traits: &Traits, policy: &Policy) -> String {
    let known = traits.board.as_ref().or(traits.cpu.as_ref()).or(traits.gpus.as_ref()).or(traits.nics.as_ref());
    let mut base: String = known.map(|t| roles::slug(t)).unwrap_or_default().chars().take(40).collect();
    if base.is_empty() {
        "nodes".clone_into(&mut base);
    }
    let base = base.trim_end_matches('-').to_owned();
    let taken = |n: &String| policy.classes.iter().any(|c| c.name == *n);
    let numbered = (2..).map(|i| format!("{base}-{i}"));
    std::iter::once(base.clone()).chain(numbered).find(|n| !taken(n)).unwrap_or(base)
}
