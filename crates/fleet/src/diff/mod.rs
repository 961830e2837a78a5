//! Two nodes, or two times of one: what differs, and what rules say about it.
//!
//! What one side did not collect is never a difference. Devices are paired by [`linerate_facts::position::align`].

mod group;
mod truth;

pub use group::{Group, groups};
use truth::Spoken;
pub use truth::{Said, Truth};
pub(crate) use truth::{is_about, overlap, within};

use crate::lost;
use crate::named::{Beside, FAR, NEAREST, beside, names_devices, renamed};
use crate::profile::is_hash;
use crate::{Line, Profile, State, Thing, Whose};
use linerate_facts::position::{Alignment, Name, Role, Seat, align};
use linerate_facts::{Compared, Def, compared};
use linerate_rules::Severity;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// What one side shows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shown {
    /// A value.
    Value(String),
    /// It is certainly not there.
    Absent,
    /// The list that it would be in was read, and it is not in it.
    NotListed,
}

/// What differs.
#[derive(Debug, Clone, Copy)]
pub enum What {
    /// A fact.
    Fact(&'static Def),
    /// The thing itself is on one side only; its facts begin with this.
    Thing(&'static str),
}

/// One difference.
#[derive(Debug, Clone)]
pub struct Difference {
    /// What.
    pub what: What,
    /// Whose, by the numbers of the first side where it has it, else of the second's.
    pub whose: Whose,
    /// What the device is for, where it is a device's.
    pub role: Option<Role>,
    /// What each side calls the device.
    pub names: [Option<String>; 2],
    /// Which of the owner's: a port, a setting, an argument.
    pub part: String,
    /// What each side shows.
    pub sides: [Shown; 2],
    /// What rules say about it.
    pub truth: Truth,
    /// Why it may differ by itself.
    pub moves: Option<&'static str>,
}

/// An answer of a rule that is another one on the other side, about which no difference of facts was found.
#[derive(Debug, Clone)]
pub struct Verdicts {
    /// What the device is for, where it is about one.
    pub role: Option<Role>,
    /// What it is about, as each side names it.
    pub subject: String,
    /// What is said on each side.
    pub truth: Truth,
}

/// What differs between two nodes.
#[derive(Debug, Clone, Default)]
pub struct Diff {
    /// What differs, the worst first.
    pub differences: Vec<Difference>,
    /// Verdicts that differ beyond that.
    pub verdicts: Vec<Verdicts>,
    /// Facts that both sides show.
    pub compared: usize,
    /// Facts that one side shows and the other could not see: `[only the first shows it, only the second]`.
    pub unseen: [usize; 2],
    /// Facts that move by themselves, differ, and on which no rule's answer depends.
    pub moved: usize,
    /// Some devices were paired by their number among those of their kind.
    pub by_number: bool,
}

/// Compares two nodes.
#[must_use]
pub fn diff(a: &Profile, b: &Profile) -> Diff {
    let alignment = align(&a.positions, &b.positions);
    let mut pass = Pass {
        a,
        b,
        alignment: &alignment,
        spoken: [Spoken::of(a), Spoken::of(b)],
        alone: Default::default(),
        names: HashMap::new(),
        out: Vec::new(),
        compared: 0,
        unseen: [0, 0],
        moved: 0,
    };
    pass.devices();
    pass.name();
    pass.things();
    let Pass { spoken, mut out, compared, unseen, moved, .. } = pass;
    let verdicts = truth::further([a, b], &spoken, &alignment, &out);
    out.sort_by(|x, y| key(x).cmp(&key(y)));
    Diff { differences: out, verdicts, compared, unseen, moved, by_number: alignment.by_number }
}

/// The worst first; devices in the order of their roles; then by fact.
fn key(d: &Difference) -> (std::cmp::Reverse<Option<Severity>>, bool, Option<Role>, &'static str, &str) {
    (std::cmp::Reverse(d.severity()), d.role.is_none(), d.role.clone(), d.what.id(), d.part.as_str())
}

impl Difference {
    /// How bad it is: the worst of what fails on either side, or that one side lacks the device. `None`: no rule reads it.
    #[must_use]
    pub fn severity(&self) -> Option<Severity> {
        let lost = match (self.what, &self.role) {
            (What::Thing("pci" | "gpus" | "rdma"), Some(role)) if self.part.is_empty() => lost::severity(role),
            (What::Thing(list), role) => lost::of_part(role.as_ref(), list),
            _ => None,
        };
        self.truth.severity().max(lost)
    }
}

impl What {
    /// The id of the fact, or what the ids of the thing's facts begin with.
    #[must_use]
    pub fn id(&self) -> &'static str {
        match self {
            What::Fact(def) => def.id,
            What::Thing(prefix) => prefix,
        }
    }
}

struct Pass<'p> {
    a: &'p Profile,
    b: &'p Profile,
    alignment: &'p Alignment,
    /// What rules say about each side, by whose it is.
    spoken: [Spoken<'p>; 2],
    /// Devices that are differences themselves.
    alone: [BTreeSet<usize>; 2],
    /// What the first side calls the devices of the second, by what that one calls them.
    names: HashMap<String, String>,
    out: Vec<Difference>,
    compared: usize,
    unseen: [usize; 2],
    moved: usize,
}

impl Pass<'_> {
    /// Devices that one side lacks, where its list of devices was read.
    fn devices(&mut self) {
        let only_a = self.alignment.pairs.iter().enumerate().filter(|(_, to)| to.is_none()).map(|(i, _)| i);
        let only: [Vec<usize>; 2] = [only_a.collect(), self.alignment.added.clone()];
        for (side, all) in only.into_iter().enumerate() {
            let (from, to) = if side == 0 { (self.a, self.b) } else { (self.b, self.a) };
            let lost: BTreeSet<Role> =
                all.iter().filter_map(|i| from.positions.seats.get(*i)).map(|s| s.role.clone()).collect();
            for i in all {
                let is_shown = |s: &&Seat| would_list(to, s) && !is_silent(from, &Whose::Device(i));
                let Some(seat) = from.positions.seats.get(i).filter(is_shown) else { continue };
                self.alone[side].insert(i);
                // Its functions and the bridges above it go with it.
                if lost::whole(&seat.role).is_some_and(|whole| lost.contains(&whole)) {
                    continue;
                }
                let mut sides = [Shown::NotListed, Shown::NotListed];
                let mut names = [None, None];
                sides[side] = Shown::Value("present".to_owned());
                names[side] = Some(seat.name.to_string());
                self.out.push(Difference {
                    what: What::Thing(seat.list),
                    whose: Whose::Device(i),
                    role: Some(seat.role.clone()),
                    names,
                    part: String::new(),
                    sides,
                    truth: Truth::default(),
                    moves: None,
                });
            }
        }
    }

    /// Names of the second side's devices as the first one has them. What the first lacks is marked.
    fn name(&mut self) {
        let role = |p: &Profile, i: usize| p.positions.seats.get(i).map(|s| s.role.to_string()).unwrap_or_default();
        let pairs = self.alignment.pairs.iter().enumerate();
        self.names = pairs.filter_map(|(a, b)| Some((role(self.b, (*b)?), role(self.a, a)))).collect();
        for i in &self.alignment.added {
            let own = role(self.b, *i);
            let marked = format!("{own}{ONLY_THERE}");
            self.names.insert(own, marked);
        }
    }

    /// Whether a device, by the name that a value has for it, is on one side only, and was said to be.
    fn is_alone(&self, name: &str) -> bool {
        let (side, p, name) = match name.strip_suffix(ONLY_THERE) {
            Some(own) => (1, self.b, own),
            None => (0, self.a, name),
        };
        self.alone[side].iter().filter_map(|i| p.positions.seats.get(*i)).any(|s| s.role.to_string() == name)
    }

    /// Whether all NICs that are nearest to a GPU are lacking on one side: how far the next ones are follows from that.
    fn is_robbed(&self, thing: &Thing, other: &Thing) -> bool {
        let value = |p: &Profile, t: &Thing| match p.line(t, NEAREST).map(|l| &l.state) {
            Some(State::Known(v)) => Some(v.clone()),
            _ => None,
        };
        let (Some(a), Some(b)) = (value(self.a, thing), value(self.b, other)) else { return false };
        let b = renamed(&b, |role| self.names.get(role).map(String::as_str));
        beside(&a, &b, |device| self.is_alone(device)) == Beside::Robbed
    }

    fn things(&mut self) {
        let back = self.alignment.back();
        let mut reported: BTreeSet<Thing> = BTreeSet::new();
        for (thing, lines) in &self.a.things {
            let Some(other) = self.other(thing) else {
                self.without_device(0, &thing.whose, lines.len());
                continue;
            };
            match self.b.things.get(&other) {
                Some(theirs) => self.both(thing, &other, lines, theirs),
                None if is_listed(self.b, &other) && !is_silent(self.b, &other.whose) => {
                    self.one(0, thing, &other, &mut reported);
                }
                None => self.unseen[0] += lines.len(),
            }
        }
        reported.clear();
        for (other, lines) in &self.b.things {
            let whose = match &other.whose {
                Whose::Device(i) => back.get(i).map(|a| Whose::Device(*a)),
                same => Some(same.clone()),
            };
            let Some(whose) = whose else {
                self.without_device(1, &other.whose, lines.len());
                continue;
            };
            let thing = Thing { whose, ..other.clone() };
            if self.a.things.contains_key(&thing) {
                continue;
            }
            if is_listed(self.a, &thing) && !is_silent(self.a, &thing.whose) {
                self.one(1, &thing, other, &mut reported);
            } else {
                self.unseen[1] += lines.len();
            }
        }
    }

    /// Facts of a device that has no pair: said by the device, or not comparable.
    fn without_device(&mut self, side: usize, whose: &Whose, facts: usize) {
        if !matches!(whose, Whose::Device(i) if self.alone[side].contains(i)) {
            self.unseen[side] += facts;
        }
    }

    /// The same thing on the other side; `None`: its device is not there.
    fn other(&self, thing: &Thing) -> Option<Thing> {
        match thing.whose {
            Whose::Device(i) => {
                let to = (*self.alignment.pairs.get(i)?)?;
                Some(Thing { whose: Whose::Device(to), ..thing.clone() })
            }
            _ => Some(thing.clone()),
        }
    }

    /// A thing that one side lacks.
    fn one(&mut self, side: usize, thing: &Thing, other: &Thing, reported: &mut BTreeSet<Thing>) {
        // What it is part of is missing as a whole: a port of a device that is not there.
        if wholes(thing).any(|whole| reported.contains(&whole)) {
            return;
        }
        reported.insert(thing.clone());
        let (from, at) = if side == 0 { (self.a, thing) } else { (self.b, other) };
        let lines = from.things.get(at).map_or(&[][..], Vec::as_slice);
        let value = lines.iter().find_map(|l| match &l.state {
            State::Known(v) if !v.is_empty() => Some(v.clone()),
            _ => None,
        });
        let mut sides = [Shown::NotListed, Shown::NotListed];
        sides[side] = Shown::Value(value.unwrap_or_else(|| "present".to_owned()));
        let places: Vec<_> = lines.iter().map(|l| l.place).collect();
        let mut empty: [&[_]; 2] = [&[], &[]];
        empty[side] = &places;
        self.push(What::Thing(thing.prefix), thing, other, sides, empty, None);
    }

    fn both(&mut self, thing: &Thing, other: &Thing, ours: &[Line], theirs: &[Line]) {
        let mut differing: Vec<&str> = Vec::new();
        // A device or a setting that a text shows twice has each fact twice: the first belongs to the first.
        let mut waiting: BTreeMap<&str, VecDeque<&Line>> = BTreeMap::new();
        theirs.iter().for_each(|l| waiting.entry(l.def.id).or_default().push_back(l));
        for line in ours {
            let Some(their) = waiting.get_mut(line.def.id).and_then(VecDeque::pop_front) else { continue };
            if self.a.redact_key != self.b.redact_key && (is_hash(&line.state) || is_hash(&their.state)) {
                self.unseen = self.unseen.map(|n| n + 1);
                continue;
            }
            let theirs = match &their.state {
                State::Known(v) if names_devices(line.def.id) => {
                    Cow::Owned(State::Known(renamed(v, |role| self.names.get(role).map(String::as_str))))
                }
                state => Cow::Borrowed(state),
            };
            match (&line.state, &*theirs) {
                (State::Unreadable(_), State::Unreadable(_)) => {}
                (_, State::Unreadable(_)) => self.unseen[0] += 1,
                (State::Unreadable(_), _) => self.unseen[1] += 1,
                (a, b) => {
                    self.compared += 1;
                    let within =
                        differing.iter().any(|id| line.def.id.strip_prefix(id).is_some_and(|r| r.starts_with('.')));
                    let follows = match (a, b) {
                        (State::Known(a), State::Known(b)) if names_devices(line.def.id) => {
                            beside(a, b, |device| self.is_alone(device)) != Beside::Other
                        }
                        _ => line.def.id == FAR && a != b && self.is_robbed(thing, other),
                    };
                    if !follows && !same(line.def.id, a, b) && !within {
                        differing.push(line.def.id);
                        let moves = match compared(line.def.id) {
                            Compared::State(reason) => Some(reason),
                            _ => None,
                        };
                        let places: [&[_]; 2] = [&[line.place], &[their.place]];
                        self.push(What::Fact(line.def), thing, other, [shown(a), shown(b)], places, moves);
                    }
                }
            }
        }
    }

    fn push(
        &mut self,
        what: What,
        thing: &Thing,
        other: &Thing,
        sides: [Shown; 2],
        places: [&[linerate_snapshot::Place]; 2],
        moves: Option<&'static str>,
    ) {
        let truth = Truth::of(&self.spoken, [thing, other], places);
        if moves.is_some() && !truth.differs() {
            self.moved += 1;
            return;
        }
        let device = |p: &Profile, t: &Thing| match t.whose {
            Whose::Device(i) => p.positions.seats.get(i).cloned(),
            _ => None,
        };
        let (a, b) = (device(self.a, thing), device(self.b, other));
        let names = [a.as_ref().map(|s| s.name.to_string()), b.as_ref().map(|s| s.name.to_string())];
        let role = a.or(b).map(|s| s.role);
        let (whose, part) = (thing.whose.clone(), thing.part.clone());
        self.out.push(Difference { what, whose, role, names, part, sides, truth, moves });
    }
}

/// What a device is marked with that the first side lacks.
const ONLY_THERE: &str = " (not on the other)";

/// Whether a node would show such a device: the list that names it was read there, and whole.
fn would_list(p: &Profile, seat: &Seat) -> bool {
    // A device that had an address is called by its role in a layout.
    let has_address = |s: &Seat| matches!(&s.name, Name::Address(_)) || s.name == Name::Word(s.role.to_string());
    let same_form = |s: &Seat| has_address(s) == has_address(seat);
    p.line(&Thing::node(), seat.list).is_some_and(was_seen)
        && match seat.list {
            "pci" => p.pci_is_whole,
            "gpus" => p.pci_is_whole || p.gpus_were_asked,
            // Names cannot be looked for among addresses.
            list => p.positions.seats.iter().all(|s| s.list != list || same_form(s)),
        }
}

/// A bridge with nothing below it, of which a record keeps its place and no facts.
fn is_silent(p: &Profile, whose: &Whose) -> bool {
    let seat = whose.device().and_then(|i| p.positions.seats.get(i));
    let function = || Thing { whose: whose.clone(), prefix: "pci", part: String::new() };
    seat.is_some_and(|s| matches!(s.role, Role::Bridge(_))) && !p.things.contains_key(&function())
}

fn was_seen(line: &Line) -> bool {
    !matches!(line.state, State::Unreadable(_))
}

/// What a thing is a part of: the same owner's, with a shorter id or part. `port 1 GID 3` is of `port 1`.
fn wholes(thing: &Thing) -> impl Iterator<Item = Thing> {
    let ends = thing.prefix.match_indices('.').map(|(at, _)| at).chain([thing.prefix.len()]);
    let port = thing.part.match_indices(' ').nth(1).map_or(thing.part.as_str(), |(at, _)| &thing.part[..at]);
    let of = |end: usize, part: &str| Thing {
        whose: thing.whose.clone(),
        prefix: &thing.prefix[..end],
        part: part.to_owned(),
    };
    ends.flat_map(move |end| [of(end, ""), of(end, port)]).filter(move |whole| whole != thing)
}

/// Whether the list that a thing would be in was read: a list of the node, of the device, or of a port of it.
fn is_listed(p: &Profile, thing: &Thing) -> bool {
    let holds = |t: &Thing| p.line(t, thing.prefix).is_some_and(was_seen);
    holds(&Thing::node()) || wholes(thing).any(|t| holds(&t))
}

fn shown(state: &State) -> Shown {
    match state {
        State::Known(v) => Shown::Value(v.clone()),
        _ => Shown::Absent,
    }
}

fn same(id: &str, a: &State, b: &State) -> bool {
    if let (Compared::Within(share), State::Known(x), State::Known(y)) = (compared(id), a, b)
        && let (Ok(x), Ok(y)) = (x.parse::<f64>(), y.parse::<f64>())
    {
        return (x - y).abs() <= share * x.abs().max(y.abs());
    }
    a == b
}
