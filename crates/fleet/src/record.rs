//! What is kept of one snapshot for questions about many: who it is, what it is, and rows of facts and answers.
//!
//! A record holds no address but digests of the node's own, and nothing that moves by itself. It is made from a [`Profile`], and read back from an index.

mod owners;
pub(crate) mod reads;

use crate::profile::{Facts, judged, pci_is_whole};
use crate::{Addresses, Identity, Judged, Line, Profile, State, Thing, Traits};
use linerate_facts::position::{Positions, Seat};
use linerate_node::Node;
use linerate_node::pci::Kind;
use linerate_rules::{Depth, Severity, Status};
use linerate_snapshot::Snapshot;
use owners::Owners;
pub(crate) use reads::Reads;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// What is kept of one snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Who it is.
    pub identity: Identity,
    /// By which addresses it is reached.
    pub addresses: Addresses,
    /// Key of the operator with which what identifies was hashed.
    pub redact_key: Option<String>,
    /// How people call it.
    pub label: String,
    /// Unix time of the capture, seconds.
    pub time: u64,
    /// Which hardware it is.
    pub traits: Traits,
    /// Its devices, as [`linerate_facts::position::Positions::layout`] writes them.
    pub layout: String,
    /// A limit left something out.
    pub incomplete: bool,
    /// In the order of [`sort`]: facts by owner, part and id, each once; then answers of rules.
    pub rows: Vec<Row>,
}

/// Whose a row is. Names are those of this node's own layout; rows of one owner share its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The node's.
    Node,
    /// That of the device with this role in the layout.
    Device(Arc<str>),
    /// A thing's that has the same name everywhere.
    Named(Arc<str>),
}

impl Owner {
    /// Whether both are one. Rows of one owner share its name, so that mostly its address says it.
    #[must_use]
    pub fn is(&self, other: &Owner) -> bool {
        match (self, other) {
            (Owner::Device(a), Owner::Device(b)) | (Owner::Named(a), Owner::Named(b)) => Arc::ptr_eq(a, b) || a == b,
            (Owner::Node, Owner::Node) => true,
            _ => false,
        }
    }
}

impl fmt::Display for Owner {
    /// As the column `subject` of an index has it: empty for the node, `rail 3 NIC`, `=NUMA node 0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Owner::Node => Ok(()),
            Owner::Device(role) => f.write_str(role),
            Owner::Named(name) => write!(f, "={name}"),
        }
    }
}

impl From<&str> for Owner {
    fn from(text: &str) -> Self {
        match text.strip_prefix('=') {
            Some(name) => Owner::Named(name.into()),
            None if text.is_empty() => Owner::Node,
            None => Owner::Device(text.into()),
        }
    }
}

/// What was seen of a fact.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Seen {
    /// Its value; empty where only that it was read counts (a list whose words are rows of their own).
    Known(String),
    /// It is certainly not there.
    Absent,
    /// It could not be seen. Why is in the snapshot.
    Unreadable,
}

/// A fact, or an answer of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Whose.
    pub owner: Owner,
    /// Which of the owner's: a port, a setting, a word of a list. Empty: there is only one.
    pub part: String,
    /// Id of the fact, or of the rule; only rules have a `/`.
    pub id: &'static str,
    /// Of a fact what was seen; of an answer its message.
    pub seen: Seen,
    /// Of a fact the worst answer of the rules that read it, of an answer that. `None`: no rule reads it.
    pub verdict: Option<Said>,
}

/// What a rule says, the worst last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Said {
    /// The answer.
    pub status: Status,
    /// Its severity; info where it does not fail.
    pub severity: Severity,
    /// Id of the rule.
    pub rule: &'static str,
}

impl Said {
    /// Of an answer.
    pub(crate) fn of(j: &Judged) -> Self {
        let severity = if j.status == Status::Fail { j.severity } else { Severity::Info };
        Said { status: j.status, severity, rule: j.rule.id }
    }

    /// Its severity, where it fails.
    #[must_use]
    pub fn failing(&self) -> Option<Severity> {
        (self.status == Status::Fail).then_some(self.severity)
    }
}

impl Row {
    /// Whether it is an answer of a rule.
    #[must_use]
    pub fn is_answer(&self) -> bool {
        self.id.contains('/')
    }
}

impl Record {
    /// Of a snapshot, by all rules.
    #[must_use]
    pub fn read(label: &str, snapshot: &Snapshot) -> Self {
        Record::to(Depth::Said, label, snapshot)
    }

    /// The same without answers of rules, whose words cost more than the rules: for those who compare facts, and what is said of them.
    #[must_use]
    pub fn facts(label: &str, snapshot: &Snapshot) -> Self {
        Record::to(Depth::Placed, label, snapshot)
    }

    fn to(depth: Depth, label: &str, snapshot: &Snapshot) -> Self {
        let node = Node::decode(snapshot);
        let positions = Positions::of(&node, pci_is_whole(&node, snapshot));
        let Facts { list, left_out } = Facts::of(&node, snapshot, &positions, is_kept);
        let answers = linerate_rules::answers(&node, snapshot, linerate_rules::rules(), depth);
        let judged: Vec<Judged> = answers.verdicts.into_iter().map(|v| judged(&positions, &node, v)).collect();
        let mut owners = Owners::of(&positions);
        let mut rows = rows(&mut owners, list, &judged);
        if depth >= Depth::Said {
            rows.extend(said(&mut owners, judged));
        }
        Record {
            identity: Identity::of(snapshot),
            addresses: Addresses::of(snapshot),
            redact_key: snapshot.manifest.redact_key.clone(),
            label: label.to_owned(),
            time: snapshot.manifest.time,
            traits: Traits::of(&node),
            layout: layout(&positions),
            incomplete: answers.incomplete || left_out,
            rows,
        }
    }

    /// Of a node, by its profile, whose values it takes.
    #[must_use]
    pub fn of(profile: Profile, node: &Node<'_>, snapshot: &Snapshot) -> Self {
        let Profile { label, positions, things, judged, incomplete, redact_key, .. } = profile;
        let mut owners = Owners::of(&positions);
        let mut rows = rows(&mut owners, things.into_iter().collect(), &judged);
        rows.extend(said(&mut owners, judged));
        Record {
            identity: Identity::of(snapshot),
            addresses: Addresses::of(snapshot),
            redact_key,
            label,
            time: snapshot.manifest.time,
            traits: Traits::of(node),
            layout: layout(&positions),
            incomplete,
            rows,
        }
    }
}

fn layout(positions: &Positions) -> String {
    positions.layout(|s| is_kept(s) || is_empty_bridge(s))
}

/// Facts in the order of [`sort`], each with the worst answer of the rules that read it.
fn rows(owners: &mut Owners, list: Vec<(Thing, Vec<Line>)>, judged: &[Judged]) -> Vec<Row> {
    let reads = Reads::of(judged);
    // Owners are compared as numbers: thousands of rows have a few hundred of them. Things of one owner mostly come together.
    let mut things: Vec<(usize, Thing, Vec<Line>)> = Vec::with_capacity(list.len());
    for (thing, lines) in list {
        let number = match things.last() {
            Some((number, last, _)) if last.whose == thing.whose => Some(*number),
            _ => owners.number(&thing.whose),
        };
        things.extend(number.map(|number| (number, thing, lines)));
    }
    let ranks = owners.ranks();
    let rank = |(number, ..): &(usize, Thing, Vec<Line>)| ranks.get(*number);
    things.sort_by(|a, b| {
        let same = || by_text(&a.1.part, &b.1.part).then_with(|| a.1.prefix.cmp(b.1.prefix));
        rank(a).cmp(&rank(b)).then_with(same)
    });
    // With room for the answers, which come behind: to move the rows once more would cost as much as to make some hundred.
    let facts: usize = things.iter().map(|(.., lines)| lines.len()).sum();
    let mut rows: Vec<Row> = Vec::with_capacity(facts + judged.len());
    let is_same = |a: &str, b: &str| by_text(a, b).is_eq();
    for same in things.chunk_by_mut(|a, b| rank(a) == rank(b) && is_same(&a.1.part, &b.1.part)) {
        let Some(owner) = same.first().and_then(|(number, ..)| owners.get(*number)) else { continue };
        let mut facts: Vec<(&Thing, &mut Line)> = Vec::with_capacity(same.iter().map(|(.., l)| l.len()).sum());
        facts.extend(same.iter_mut().flat_map(|(_, thing, lines)| lines.iter_mut().map(|l| (&*thing, l))));
        // A text that shows a thing twice shows its facts twice: the first counts.
        facts.sort_by_key(|(_, l)| l.number);
        facts.dedup_by_key(|(_, l)| l.number);
        rows.extend(facts.into_iter().map(|(thing, line)| Row {
            owner: owner.clone(),
            part: thing.part.clone(),
            id: line.def.id,
            seen: match &mut line.state {
                State::Known(v) => Seen::Known(std::mem::take(v)),
                State::Absent => Seen::Absent,
                State::Unreadable(_) => Seen::Unreadable,
            },
            verdict: reads.worst(thing, line.place),
        }));
    }
    rows
}

/// Answers in the order of [`sort`].
fn said(owners: &mut Owners, judged: Vec<Judged>) -> impl Iterator<Item = Row> {
    let mut answers: Vec<(usize, Row)> = Vec::with_capacity(judged.len());
    for j in judged {
        let Some(number) = owners.number(&j.whose) else { continue };
        let Some(owner) = owners.get(number).cloned() else { continue };
        let verdict = Some(Said::of(&j));
        answers.push((number, Row { owner, part: j.part, id: j.rule.id, seen: Seen::Known(j.message), verdict }));
    }
    let ranks = owners.ranks();
    answers.sort_unstable_by(|(m, a), (n, b)| ranks.get(*m).cmp(&ranks.get(*n)).then_with(|| of_one_owner(a, b)));
    answers.into_iter().map(|(_, row)| row)
}

/// The one order of rows, so that a record read back is the one that was written.
pub fn sort(rows: &mut [Row]) {
    rows.sort_unstable_by(|a, b| a.is_answer().cmp(&b.is_answer()).then_with(|| in_order(a, b)));
}

/// Of facts, or of answers.
fn in_order(a: &Row, b: &Row) -> Ordering {
    a.owner.cmp(&b.owner).then_with(|| of_one_owner(a, b))
}

fn of_one_owner(a: &Row, b: &Row) -> Ordering {
    let rest = || (a.id, &a.seen, a.verdict).cmp(&(b.id, &b.seen, b.verdict));
    by_text(&a.part, &b.part).then_with(rest)
}

/// Order of texts of which most are empty. Those are not compared: the address of one may be none, and the C library reads it under a mask,
/// which is slow.
fn by_text(a: &str, b: &str) -> Ordering {
    if a.is_empty() || b.is_empty() { b.is_empty().cmp(&a.is_empty()) } else { a.cmp(b) }
}

/// A bridge with nothing below it. No facts are kept of it, but its place: on another node a device may be below it, and groups name it.
fn is_empty_bridge(seat: &Seat) -> bool {
    matches!(seat.role, linerate_facts::position::Role::Bridge(_))
}

/// Devices of which facts are kept: no others but those that data passes.
pub(crate) fn is_kept(seat: &Seat) -> bool {
    use linerate_facts::position::Device;
    seat.kind != Kind::Other && seat.role.device().is_some_and(|d| d != Device::Other)
}
