//! The facts of a node, by what they are about, in words that mean the same on every machine.

use super::{Line, State, Thing, Whose, is_hash};
use linerate_facts::position::{Positions, Seat};
use linerate_facts::{Compared, Def, Fact, NAMES_A_BOOT, Reading, Subject, Value, each_subject, kinds};
use linerate_formats::bounds;
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use linerate_snapshot::{Snapshot, Why};
use std::cell::Cell;
use std::collections::BTreeMap;

/// The facts of a node that can be compared.
pub(crate) struct Facts {
    /// In the order in which they are listed: a thing that a text shows twice is there twice.
    pub(crate) list: Vec<(Thing, Vec<Line>)>,
    /// There were more than there is room for.
    pub(crate) left_out: bool,
}

impl Facts {
    /// Without those of devices that are not wanted.
    pub(crate) fn of(
        node: &Node<'_>,
        snapshot: &Snapshot,
        positions: &Positions,
        wanted: impl Fn(&Seat) -> bool,
    ) -> Self {
        let hashed = snapshot.manifest.redacted && snapshot.manifest.redact_key.is_none();
        let room = Room { facts: Cell::new(bounds::PROFILE_FACTS), left_out: Cell::new(false) };
        let wanted: Vec<bool> = positions.seats.iter().map(wanted).collect();
        let is_kept = |i: usize| wanted.get(i) == Some(&true);
        // Members of one function come one after the other.
        let mut last: Option<(Bdf, bool)> = None;
        let mut is_wanted = |subject: &Subject<'_>| {
            let Some(bdf) = subject.function() else {
                // A group is its first device's. It takes its room all the same.
                let group = if matches!(subject, Subject::IommuGroup(_)) { positions.find(subject) } else { None };
                let is = group.is_none_or(is_kept);
                if !is {
                    kinds(subject).iter().for_each(|_| _ = room.takes(0));
                }
                return is;
            };
            match last {
                Some((before, is)) if before == bdf => is,
                _ => {
                    let is = positions.at(bdf).is_none_or(is_kept);
                    last = Some((bdf, is));
                    is
                }
            }
        };
        let mut list = Vec::new();
        each_subject(node, &mut is_wanted, &mut |subject, facts| {
            add(positions, &mut list, (subject, facts), hashed, &room);
        });
        Facts { list, left_out: room.left_out.get() }
    }
}

/// Facts that there is still room for.
struct Room {
    facts: Cell<usize>,
    left_out: Cell<bool>,
}

impl Room {
    /// Whether there is room for a fact with so many words.
    fn takes(&self, words: usize) -> bool {
        let left = self.facts.get().checked_sub(1 + words).filter(|_| words <= bounds::PROFILE_WORDS);
        match left {
            Some(left) => self.facts.set(left),
            None => self.left_out.set(true),
        }
        left.is_some()
    }
}

/// The words of a fact that is a list of them.
fn words(fact: &Fact<'_>) -> usize {
    match &fact.reading {
        Reading::Known(Value::Texts(words), _) => words.len(),
        Reading::Known(Value::Arguments(all), _) => all.params.len(),
        _ => 0,
    }
}

/// The facts of one subject.
fn add(
    positions: &Positions,
    list: &mut Vec<(Thing, Vec<Line>)>,
    (subject, facts): (&Subject<'_>, &[Fact<'_>]),
    hashed: bool,
    room: &Room,
) {
    let Some(thing) = thing(positions, subject) else { return };
    let mut lines = Vec::with_capacity(facts.len());
    for (fact, kind) in facts.iter().zip(kinds(subject)) {
        if !room.takes(words(fact)) || matches!(kind.how, Compared::Not(_)) {
            continue;
        }
        let line = |mut state| {
            // Without a key that the operator keeps, equal names have other hashes in each snapshot.
            if hashed && is_hash(&state) {
                state = State::Unreadable(Why::Failed("hashed in this snapshot".into()));
            }
            Line { def: fact.def, state, place: fact.reading.place(), number: kind.number }
        };
        let mut word = |word: &str, value: String| {
            list.push((word_of(fact.def, word), vec![line(State::Known(value))]));
        };
        lines.push(line(match &fact.reading {
            // Word by word: one argument more is not another line of arguments.
            Reading::Known(Value::Texts(words), _) => {
                words.iter().for_each(|w| word(w.split('=').next().unwrap_or(w), w.clone()));
                State::Known(String::new())
            }
            Reading::Known(Value::Arguments(all), _) => {
                let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
                for p in &all.params {
                    by_name.entry(p.raw.split('=').next().unwrap_or_default()).or_default().push(&p.raw);
                }
                for (name, values) in by_name.into_iter().filter(|(name, _)| !NAMES_A_BOOT.contains(name)) {
                    word(name, values.join(" "));
                }
                State::Known(String::new())
            }
            // How many members there are is said by the members.
            Reading::Known(Value::Members(_), _) => State::Known(String::new()),
            Reading::Known(value, _) => State::Known(text(positions, value)),
            Reading::Absent(_) => State::Absent,
            Reading::Unreadable(_, why) => State::Unreadable(why.clone()),
        }));
    }
    list.push((thing, lines));
}

fn word_of(def: &'static Def, word: &str) -> Thing {
    Thing { whose: Whose::Node, prefix: def.id, part: word.to_owned() }
}

/// `None`: it belongs to a device that the source does not show.
fn thing(positions: &Positions, subject: &Subject<'_>) -> Option<Thing> {
    let at = |whose, part: String| Some(Thing { whose, prefix: subject.prefix(), part });
    let device = || positions.find(subject).map(Whose::Device);
    match subject {
        Subject::Node => at(Whose::Node, String::new()),
        Subject::NumaNode(n) => at(Whose::Named(format!("NUMA node {}", n.id)), String::new()),
        Subject::IdleState(i) => at(Whose::Named(format!("idle state {}", i.name)), String::new()),
        Subject::Sysctl(c) => at(Whose::Node, c.name.clone()),
        // A text rarely shows all interfaces: one that is missing is no difference.
        Subject::InterfaceShown(_) | Subject::InterfaceWritten(_) => None,
        Subject::Interface(n) if n.pci.is_none() => at(Whose::Named(format!("interface {}", n.name)), String::new()),
        Subject::Setting(_, p) => at(device()?, p.name.to_string()),
        Subject::Port(_, p) => at(device()?, format!("port {}", p.number)),
        Subject::Gid(_, p, g) => at(device()?, format!("port {} GID {}", p.number, g.index)),
        Subject::Bar(_, b) => at(device()?, format!("BAR {}", b.index)),
        Subject::ResizableBar(_, b) => at(device()?, format!("BAR {}", b.bar)),
        Subject::Label(p) | Subject::Annotation(p) => at(Whose::Node, p.name.clone()),
        Subject::Taint(t) => at(Whose::Node, t.name.clone()),
        Subject::Resource(r) => at(Whose::Node, r.name.clone()),
        Subject::NodeCondition(c) => at(Whose::Node, c.name.clone()),
        Subject::Gres(g) => at(Whose::Node, g.key()),
        // Ports of a card, and representors of its virtual functions, are interfaces of one function.
        Subject::Interface(_)
        | Subject::IommuGroup(_)
        | Subject::Gpu(_)
        | Subject::NicFirmware(_)
        | Subject::RdmaDevice(_)
        | Subject::Function(_) => at(device()?, String::new()),
    }
}

/// A value in words that mean the same on every machine.
fn text(positions: &Positions, value: &Value<'_>) -> String {
    let role = |bdf: Bdf| positions.at(bdf).and_then(|i| positions.seats.get(i)).map(|s| s.role.to_string());
    match value {
        Value::Address(bdf) => role(*bdf).unwrap_or_else(|| bdf.to_string()),
        Value::Addresses(all) => {
            let mut roles: Vec<String> = all.iter().map(|b| role(*b).unwrap_or_else(|| b.to_string())).collect();
            roles.sort_unstable();
            roles.join(", ")
        }
        // Most values, as they are written anyway.
        Value::Text(text) => text.to_string(),
        Value::Word(word) => (*word).to_owned(),
        Value::Flag(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        other => other.to_string(),
    }
}
