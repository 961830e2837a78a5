//! What of a node can be compared with another one.

use crate::about::about;
use linerate_facts::position::{Positions, Seat};
use linerate_facts::{Compared, Def, Fact, NAMES_A_BOOT, Reading, Subject, Value, compared, each_subject};
use linerate_formats::bounds;
use linerate_formats::pci::Bdf;
use linerate_node::Node;
use linerate_node::context::Role;
use linerate_node::pci::Kind;
use linerate_rules::{Rule, Severity, Status, Verdict};
use linerate_snapshot::{Coverage, Place, Snapshot};
use std::collections::BTreeMap;

/// Whose a fact is, apart from names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Whose {
    /// The node's.
    Node,
    /// A device's, by its number in [`Profile::positions`].
    Device(usize),
    /// A thing's that has the same name everywhere: a NUMA node, an idle state, an interface without a device.
    Named(String),
}

impl Whose {
    /// Number of the device, where it is one's.
    pub(crate) fn device(&self) -> Option<usize> {
        match self {
            Whose::Device(i) => Some(*i),
            _ => None,
        }
    }
}

/// What a fact is about: the owner, the kind of thing, which of those.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Thing {
    /// Whose.
    pub whose: Whose,
    /// What the ids of its facts begin with.
    pub prefix: &'static str,
    /// Which of the owner's: a port, a setting, a word of a list. Empty: there is only one.
    pub part: String,
}

impl Thing {
    /// The node itself.
    pub(crate) fn node() -> Self {
        Thing { whose: Whose::Node, prefix: "", part: String::new() }
    }
}

/// What was seen of a fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Its value. Addresses are replaced by positions.
    Known(String),
    /// It is certainly not there.
    Absent,
    /// It could not be seen, and why.
    Unreadable(String),
}

/// A fact that can be compared.
#[derive(Debug, Clone)]
pub struct Line {
    /// What it is.
    pub def: &'static Def,
    /// What was seen.
    pub state: State,
    /// Where.
    pub place: Place,
}

/// An answer of a rule.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The rule.
    pub rule: &'static Rule,
    /// Its answer.
    pub status: Status,
    /// Severity of the answer.
    pub severity: Severity,
    /// Whose.
    pub whose: Whose,
    /// Which part of it, as the rule names it.
    pub part: String,
    /// In one line.
    pub message: String,
    /// Where it looked.
    pub places: Vec<Place>,
}

/// What of a node can be compared.
#[derive(Debug, Clone)]
pub struct Profile {
    /// How people call the node.
    pub label: String,
    /// Its devices.
    pub positions: Positions,
    /// Facts by what they are about.
    pub things: BTreeMap<Thing, Vec<Line>>,
    /// What rules say.
    pub judged: Vec<Judged>,
    /// A limit left part of the source out.
    pub incomplete: bool,
    /// The list of PCI functions is that of the whole machine: not an excerpt, as of `lspci -s`, which shows no bridge.
    pub pci_is_whole: bool,
    /// Key of the operator with which what identifies was hashed.
    pub redact_key: Option<String>,
    /// The driver of the GPUs was asked for them.
    pub gpus_were_asked: bool,
    /// What kind of node it is, where something tells.
    pub role: Option<Role>,
}

impl Profile {
    /// Of a node, judged by these rules.
    #[must_use]
    pub fn of(label: &str, node: &Node<'_>, snapshot: &Snapshot, rules: &[&'static Rule]) -> Self {
        Profile::with(label, node, snapshot, rules, |_| true)
    }

    /// The same, without facts of devices that are not wanted.
    pub(crate) fn with(
        label: &str,
        node: &Node<'_>,
        snapshot: &Snapshot,
        rules: &[&'static Rule],
        wanted: impl Fn(&Seat) -> bool,
    ) -> Self {
        let pci_is_whole = node.pci.seen.is_some()
            && (matches!(snapshot.coverage, Coverage::Full { .. }) || node.pci.of_kind(Kind::Bridge).next().is_some());
        let positions = Positions::of(node, pci_is_whole);
        let mut things: BTreeMap<Thing, Vec<Line>> = BTreeMap::new();
        let hashed = snapshot.manifest.redacted && snapshot.manifest.redact_key.is_none();
        let mut room = Room { facts: bounds::PROFILE_FACTS, left_out: false };
        let wanted: Vec<bool> = positions.seats.iter().map(wanted).collect();
        // Members of one function come one after the other.
        let mut last: Option<(Bdf, bool)> = None;
        let mut is_wanted = |subject: &Subject<'_>| {
            let Some(bdf) = subject.function() else { return true };
            match last {
                Some((before, is)) if before == bdf => is,
                _ => {
                    let is = positions.at(bdf).is_none_or(|i| wanted.get(i) == Some(&true));
                    last = Some((bdf, is));
                    is
                }
            }
        };
        each_subject(node, &mut is_wanted, &mut |subject, facts| {
            add(&positions, &mut things, (subject, facts), hashed, &mut room);
        });
        let audit = linerate_rules::audit(node, snapshot, rules);
        let judged = audit.verdicts.iter().map(|v| judged(&positions, node, v)).collect();
        let gpus_were_asked = node.nvidia.asked.known().is_some();
        Profile {
            label: label.to_owned(),
            positions,
            things,
            judged,
            incomplete: audit.incomplete || room.left_out,
            pci_is_whole,
            redact_key: snapshot.manifest.redact_key.clone(),
            gpus_were_asked,
            role: node.context.role.value,
        }
    }

    /// One fact.
    #[must_use]
    pub fn line(&self, thing: &Thing, id: &str) -> Option<&Line> {
        self.things.get(thing)?.iter().find(|l| l.def.id == id)
    }
}

/// Facts that there is still room for.
struct Room {
    facts: usize,
    left_out: bool,
}

impl Room {
    /// Whether there is room for a fact with its words.
    fn takes(&mut self, fact: &Fact<'_>) -> bool {
        let words = match &fact.reading {
            Reading::Known(Value::Texts(words), _) => words.len(),
            Reading::Known(Value::Arguments(all), _) => all.params.len(),
            _ => 0,
        };
        let left = self.facts.checked_sub(1 + words).filter(|_| words <= bounds::PROFILE_WORDS);
        self.left_out |= left.is_none();
        self.facts = left.unwrap_or(self.facts);
        left.is_some()
    }
}

/// The facts of one subject.
fn add(
    positions: &Positions,
    things: &mut BTreeMap<Thing, Vec<Line>>,
    (subject, facts): (&Subject<'_>, &[Fact<'_>]),
    hashed: bool,
    room: &mut Room,
) {
    let Some(thing) = thing(positions, subject) else { return };
    let mut lines = Vec::with_capacity(facts.len());
    for fact in facts {
        if !room.takes(fact) || matches!(compared(fact.def.id), Compared::Not(_)) {
            continue;
        }
        let line = |mut state| {
            // Without a key that the operator keeps, equal names have other hashes in each snapshot.
            if hashed && is_hash(&state) {
                state = State::Unreadable("hashed in this snapshot".to_owned());
            }
            Line { def: fact.def, state, place: fact.reading.place() }
        };
        let mut word = |word: &str, value: String| {
            things.entry(word_of(fact.def, word)).or_default().push(line(State::Known(value)));
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
            Reading::Unreadable(_, why) => State::Unreadable(why.to_string()),
        }));
    }
    things.entry(thing).or_default().append(&mut lines);
}

/// What a hashed value begins with.
const HASHED: [&str; 2] = ["redacted-", "host-"];

/// Whether a value is one of another key or of none, and says nothing beside this one.
pub(crate) fn is_hash(state: &State) -> bool {
    matches!(state, State::Known(v) if HASHED.iter().any(|h| v.contains(h)))
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

fn judged(positions: &Positions, node: &Node<'_>, v: &Verdict) -> Judged {
    let (whose, part) = about(positions, node, &v.finding.subject);
    Judged {
        rule: v.rule,
        status: v.finding.status,
        severity: v.severity(),
        whose,
        part,
        message: v.finding.message.to_string(),
        places: v.finding.evidence.iter().map(|e| e.place).collect(),
    }
}
