//! What of a node can be compared with another one.

mod facts;

use crate::about::about;
pub(crate) use facts::Facts;
use linerate_facts::Def;
use linerate_facts::position::Positions;
use linerate_node::Node;
use linerate_node::context::Role;
use linerate_node::pci::Kind;
use linerate_rules::{Rule, Severity, Status, Verdict};
use linerate_snapshot::{Coverage, Place, Snapshot, Why};
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
    Unreadable(Why),
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
    /// Which its id is of all ids in their order.
    pub(crate) number: u32,
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
        let pci_is_whole = pci_is_whole(node, snapshot);
        let positions = Positions::of(node, pci_is_whole);
        let Facts { list, left_out } = Facts::of(node, snapshot, &positions, |_| true);
        let mut things: BTreeMap<Thing, Vec<Line>> = BTreeMap::new();
        for (thing, mut lines) in list {
            things.entry(thing).or_default().append(&mut lines);
        }
        let audit = linerate_rules::audit(node, snapshot, rules);
        let judged = audit.verdicts.into_iter().map(|v| judged(&positions, node, v)).collect();
        Profile {
            label: label.to_owned(),
            positions,
            things,
            judged,
            incomplete: audit.incomplete || left_out,
            pci_is_whole,
            redact_key: snapshot.manifest.redact_key.clone(),
            gpus_were_asked: node.nvidia.asked.known().is_some(),
            role: node.context.role.value,
        }
    }

    /// One fact.
    #[must_use]
    pub fn line(&self, thing: &Thing, id: &str) -> Option<&Line> {
        self.things.get(thing)?.iter().find(|l| l.def.id == id)
    }
}

/// Whether the list of PCI functions is that of the whole machine.
pub(crate) fn pci_is_whole(node: &Node<'_>, snapshot: &Snapshot) -> bool {
    let whole =
        || matches!(snapshot.coverage, Coverage::Full { .. }) || node.pci.of_kind(Kind::Bridge).next().is_some();
    node.pci.seen.is_some() && whole()
}

/// What a hashed value begins with.
const HASHED: [&str; 2] = ["redacted-", "host-"];

/// Whether a value is one of another key or of none, and says nothing beside this one.
pub(crate) fn is_hash(state: &State) -> bool {
    matches!(state, State::Known(v) if HASHED.iter().any(|h| v.contains(h)))
}

/// An answer, by position.
pub(crate) fn judged(positions: &Positions, node: &Node<'_>, v: Verdict) -> Judged {
    let severity = v.severity();
    let (whose, part) = about(positions, node, &v.finding.subject);
    Judged {
        rule: v.rule,
        status: v.finding.status,
        severity,
        whose,
        part,
        message: v.finding.message.into_owned(),
        places: v.finding.evidence.iter().map(|e| e.place).collect(),
    }
}
