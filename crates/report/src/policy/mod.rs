//! Nodes held to a policy: what is not as wanted, and on which of them.

mod json;
mod learnt;
mod markdown;
mod text;

pub use json::SCHEMA as CHECK_SCHEMA;
pub use learnt::{DIFF_SCHEMA, LEARN_SCHEMA, Lesson, changes, changes_json, explain};

use linerate_facts::position::{Role, folded};
use linerate_fleet::Traits;
use linerate_fleet::policy::{Answer, Checked, Held, Kind, Owner, Policy};
use linerate_rules::{Severity, Status};
use linerate_snapshot::Snapshot;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Nodes held to a policy, for a reader.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Name of the policy.
    pub policy: String,
    /// Each node.
    pub nodes: Vec<NodeLine>,
    /// What is not as wanted, the worst first; alike answers of several devices and nodes are one.
    pub failing: Vec<Group>,
    /// What could not be told.
    pub unknown: Vec<Group>,
    /// Sources that could not be read.
    pub unreadable: Vec<Unread>,
    /// 0: all is as wanted; 1: something is not; 2: it cannot be told.
    pub exit_code: u8,
}

/// A node, in numbers.
#[derive(Debug, Serialize)]
pub struct NodeLine {
    /// How people call it.
    pub node: String,
    /// Classes of the policy that it was held to.
    pub classes: Vec<String>,
    /// Why those, where its source does not show all; or why none.
    pub note: String,
    /// Answers that are as wanted.
    pub pass: usize,
    /// Answers that are not.
    pub fail: usize,
    /// Answers that could not be told.
    pub unknown: usize,
    /// Expectations about devices that it does not have.
    pub not_applicable: usize,
    /// A limit left a part of its source out.
    pub incomplete: bool,
}

/// Alike answers.
#[derive(Debug, Serialize)]
pub struct Group {
    /// Id of the expectation.
    pub id: String,
    /// How bad it is.
    pub severity: Severity,
    /// Class of the policy.
    pub class: String,
    /// Which devices: `rail 0-3 NIC`; empty for the node itself.
    pub at: String,
    /// How their sources call these devices, where there are few.
    pub devices: Vec<String>,
    /// Id of the fact; of a condition its text.
    pub fact: String,
    /// Which of the owner's: a port, a setting, a word of a list.
    pub part: String,
    /// The fact in words.
    pub what: &'static str,
    /// Unit of the values.
    pub unit: &'static str,
    /// What is wanted.
    pub wanted: String,
    /// What was seen; why it could not be seen, where the answer is unknown.
    pub seen: String,
    /// Where, on the first of the nodes.
    pub place: String,
    /// Why it is wanted.
    pub reason: String,
    /// Who answers for it.
    pub owner: String,
    /// Line of the policy.
    pub line: u32,
    /// The nodes.
    pub nodes: Vec<String>,
}

/// A source that could not be read.
#[derive(Debug, Serialize)]
pub struct Unread {
    /// How people call it.
    pub node: String,
    /// Why.
    pub why: String,
}

/// A form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For a terminal.
    Text(crate::Style),
    /// For programs, schema `linerate.policy-check/1`.
    Json,
    /// For a ticket.
    Markdown,
}

/// What alike answers have in common: expectation, part, what was seen, devices; and whether it is a failure.
type Key = (String, String, Held, String);

/// Nodes that are held to a policy, one after the other.
#[derive(Debug, Default)]
pub struct Checks {
    name: String,
    nodes: Vec<NodeLine>,
    groups: [BTreeMap<Key, Group>; 2],
    unreadable: Vec<Unread>,
}

impl Checks {
    /// Of a policy.
    #[must_use]
    pub fn new(policy: &Policy) -> Self {
        Checks { name: policy.name.clone(), ..Checks::default() }
    }

    /// Adds a source that could not be read.
    pub fn unreadable(&mut self, label: &str, why: &str) {
        self.unreadable.push(Unread { node: label.to_owned(), why: why.to_owned() });
    }

    /// Adds a node.
    pub fn add(&mut self, label: &str, checked: &Checked<'_>, snapshot: &Snapshot) {
        let count = |status| checked.answers.iter().filter(|a| a.status == status).count();
        self.nodes.push(NodeLine {
            node: label.to_owned(),
            classes: checked.classes.iter().map(|(c, _)| c.name.clone()).collect(),
            note: note(checked),
            pass: count(Status::Pass),
            fail: count(Status::Fail),
            unknown: count(Status::Unknown),
            not_applicable: count(Status::NotApplicable),
            incomplete: checked.incomplete,
        });
        for (status, groups) in [Status::Fail, Status::Unknown].into_iter().zip(&mut self.groups) {
            let mut alike: BTreeMap<(&str, &str, &Held), Vec<&Answer<'_>>> = BTreeMap::new();
            for a in checked.answers.iter().filter(|a| a.status == status) {
                alike.entry((&a.kind.about().id, &a.part, &a.seen)).or_default().push(a);
            }
            for ((id, part, seen), answers) in alike {
                let Some(first) = answers.first() else { continue };
                let key = (id.to_owned(), part.to_owned(), seen.clone(), at(&answers));
                let group = groups.entry(key).or_insert_with_key(|(.., at)| group(first, at, &answers, snapshot));
                group.nodes.push(label.to_owned());
            }
        }
    }

    /// All of it.
    #[must_use]
    pub fn finish(self) -> Report {
        let [failing, unknown] = self.groups;
        let sorted = |groups: BTreeMap<Key, Group>| {
            let mut all: Vec<Group> = groups.into_values().collect();
            // The worst first; then what most nodes have, in the policy's order.
            all.sort_by(|a, b| {
                (std::cmp::Reverse(a.severity), std::cmp::Reverse(a.nodes.len()), a.line, &a.at).cmp(&(
                    std::cmp::Reverse(b.severity),
                    std::cmp::Reverse(b.nodes.len()),
                    b.line,
                    &b.at,
                ))
            });
            all
        };
        let (failing, unknown) = (sorted(failing), sorted(unknown));
        let fails = failing.iter().any(|g| g.severity > Severity::Info);
        let open = self.nodes.iter().any(|n| n.unknown > 0 || n.incomplete || n.classes.is_empty());
        let open = open || !self.unreadable.is_empty() || self.nodes.is_empty();
        let exit_code = if fails { 1 } else { 2 * u8::from(open) };
        Report { policy: self.name, nodes: self.nodes, failing, unknown, unreadable: self.unreadable, exit_code }
    }
}

/// Why a node was held to its classes, or to none.
fn note(checked: &Checked<'_>) -> String {
    let unseen = |all: &[&str]| all.join(", ");
    if let Some((_, traits)) = checked.classes.iter().find(|(_, t)| !t.is_empty()) {
        return format!("its class is assumed: the source does not show {}", unseen(traits));
    }
    if !checked.undecided.is_empty() {
        let of = |(c, t): &(&linerate_fleet::policy::Class, Vec<&str>)| format!("{} ({} not shown)", c.name, unseen(t));
        let all: Vec<String> = checked.undecided.iter().map(of).collect();
        return format!("not checked: it may belong to several classes: {}", all.join("; "));
    }
    match checked.classes.is_empty() {
        true => format!("not checked: no class of the policy matches this node ({})", hardware(&checked.traits)),
        false => String::new(),
    }
}

/// What a node is made of, as a policy's `match` has it.
fn hardware(traits: &Traits) -> String {
    let parts = [("board", &traits.board), ("cpu", &traits.cpu), ("gpus", &traits.gpus), ("nics", &traits.nics)];
    let of = |(name, value): (&str, &Option<String>)| value.as_ref().map(|v| format!("{name} {v}"));
    let all: Vec<String> = parts.into_iter().filter_map(of).collect();
    if all.is_empty() { "not shown by its source".to_owned() } else { all.join(", ") }
}

/// Whose answers are, in few words.
fn at(answers: &[&Answer<'_>]) -> String {
    let mut roles: Vec<&Role> = Vec::new();
    let mut others: Vec<&str> = Vec::new();
    for a in answers {
        match &a.owner {
            Owner::Node => {}
            Owner::Device { role, .. } => roles.push(role),
            Owner::Named(name) | Owner::Missing(name) => others.push(name),
        }
    }
    let mut out = if roles.is_empty() { String::new() } else { folded(&roles) };
    if !others.is_empty() {
        let more = others.len().saturating_sub(DEVICES);
        let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
        let head = others.into_iter().take(DEVICES).collect::<Vec<_>>().join(", ");
        out = if out.is_empty() { format!("{head}{tail}") } else { format!("{out}, {head}{tail}") };
    }
    out
}

/// Devices that are named one by one.
const DEVICES: usize = 8;

fn group(first: &Answer<'_>, at: &str, answers: &[&Answer<'_>], snapshot: &Snapshot) -> Group {
    let about = first.kind.about();
    let (fact, what, unit) = match first.kind {
        Kind::Row(r) => (r.def.id.to_owned(), r.def.what, r.def.unit.symbol()),
        Kind::Count(_) => (first.kind.subject(), "", ""),
        Kind::Condition(_) | Kind::Claim(_) => (about.id.clone(), "", ""),
    };
    let names = answers.iter().filter_map(|a| match &a.owner {
        Owner::Device { name, .. } => Some(name.clone()),
        _ => None,
    });
    Group {
        id: about.id.clone(),
        severity: about.severity,
        class: first.class.name.clone(),
        at: at.to_owned(),
        devices: names.take(DEVICES).collect(),
        fact,
        part: first.part.clone(),
        what,
        unit,
        wanted: match first.kind {
            Kind::Condition(c) => c.cel.source().to_owned(),
            Kind::Claim(_) => format!("{} is true: {}", first.kind.subject(), first.kind.wanted()),
            other => other.wanted(),
        },
        seen: seen(&first.seen),
        place: first.place.map(|p| snapshot.describe(p)).unwrap_or_default(),
        reason: about.reason.clone(),
        owner: about.owner.clone(),
        line: about.line,
        nodes: Vec::new(),
    }
}

/// What was seen, in words.
fn seen(held: &Held) -> String {
    match held {
        Held::Value(v) if v.is_empty() => "empty".to_owned(),
        Held::Value(v) => v.clone(),
        Held::Absent => "absent".to_owned(),
        Held::NoDevice => "the device is absent".to_owned(),
        Held::Unseen(why) => why.clone(),
        Held::Says(holds, read) if read.is_empty() => holds.to_string(),
        Held::Says(holds, read) => format!("{holds}: {}", read.join(", ")),
    }
}

/// Nodes, as one text: the only place that writes them.
#[must_use]
pub fn node_set(nodes: &[String]) -> String {
    linerate_fleet::names::folded(nodes.iter().map(String::as_str))
}

impl Report {
    /// Writes it.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, format: Format, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Text(style) => text::render(self, style, out),
            Format::Json => json::render(self, out),
            Format::Markdown => markdown::render(self, out),
        }
    }

    /// `2 of 3 nodes are as the policy h100 wants; 1 is not`.
    fn headline(&self) -> String {
        let n = self.nodes.len();
        let wrong = self.nodes.iter().filter(|n| n.fail > 0).count();
        let is_open = |n: &&NodeLine| n.fail == 0 && (n.unknown > 0 || n.incomplete || n.classes.is_empty());
        let open = self.nodes.iter().filter(is_open).count();
        let right = n - wrong - open;
        let policy =
            if self.policy.is_empty() { "the policy".to_owned() } else { format!("the policy {}", self.policy) };
        if n == 1 {
            let line = self.nodes.first();
            if line.is_some_and(|l| l.classes.is_empty()) {
                return format!("the node was not checked against {policy}");
            }
            let counts = line.map(|l| format!(": {} hold, {} do not, {} unknown", l.pass, l.fail, l.unknown));
            let counts = counts.unwrap_or_default();
            return match (wrong, open) {
                (1, _) => format!("the node does not comply with {policy}{counts}"),
                (_, 1) => format!("unknown whether the node complies with {policy}{counts}"),
                _ => format!("the node complies with {policy}{counts}"),
            };
        }
        let mut parts = Vec::new();
        let mut part = |n: usize, words: [&str; 2]| {
            if n > 0 {
                parts.push(format!("{n} {}", if n == 1 { words[0] } else { words[1] }));
            }
        };
        part(wrong, ["does not", "do not"]);
        part(open, ["unknown", "unknown"]);
        part(self.unreadable.len(), ["could not be read", "could not be read"]);
        let head = format!("{right} of {} comply with {policy}", crate::doctor::words::counted(n, "node", "nodes"));
        if parts.is_empty() { head } else { format!("{head}; {}", parts.join(", ")) }
    }

    /// Nodes by what was noted about them.
    fn notes(&self) -> BTreeMap<&str, Vec<String>> {
        let mut out: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for n in self.nodes.iter().filter(|n| !n.note.is_empty()) {
            out.entry(&n.note).or_default().push(n.node.clone());
        }
        for n in self.nodes.iter().filter(|n| n.incomplete) {
            out.entry("a limit left out part of the source").or_default().push(n.node.clone());
        }
        out
    }
}

impl Group {
    /// `rail 0-3 NIC: net.mtu`, `kernel.cmdline iommu`.
    fn title(&self) -> String {
        let fact = if self.part.is_empty() { self.fact.clone() } else { format!("{} {}", self.fact, self.part) };
        if self.at.is_empty() { fact } else { format!("{}: {fact}", self.at) }
    }

    fn with_unit(&self, value: &str) -> String {
        let last = value.rsplit(' ').next().unwrap_or_default();
        let number = last.starts_with(|c: char| c.is_ascii_digit()) && last.parse::<f64>().is_ok();
        if self.unit.is_empty() || !number { value.to_owned() } else { format!("{value} {}", self.unit) }
    }
}
