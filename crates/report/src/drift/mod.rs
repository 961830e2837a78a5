//! What many nodes show together: one list for each class of hardware, in three forms.

mod json;
mod markdown;
mod text;

pub use json::SCHEMA;

use crate::diff::{NEXT, NOW};
use linerate_facts::position::{Device, Role, folded};
use linerate_fleet::drift::{Class, Drift, Head, Members, Odd, Shown, Value, def};
use linerate_fleet::identity::Remark;
use linerate_fleet::names;
use linerate_fleet::{Owner, Said};
use linerate_rules::Severity;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// What many nodes show together, for a reader.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Nodes that were compared.
    pub count: usize,
    /// Sources that could not be read, with the reason.
    pub unreadable: Vec<Unreadable>,
    /// The largest class first.
    pub classes: Vec<ClassOf>,
    /// What names and identities say together.
    pub remarks: Vec<String>,
    /// Nodes of which a limit left something out.
    pub incomplete: String,
    /// 0: no difference; 1: some; 2: none, but something could not be compared.
    pub exit_code: u8,
}

/// A source that could not be read.
#[derive(Debug, Clone, Serialize)]
pub struct Unreadable {
    /// Its name.
    pub source: String,
    /// Why.
    pub why: String,
}

/// Nodes of one class of hardware.
#[derive(Debug, Serialize)]
pub struct ClassOf {
    /// Vendor and product of the system.
    pub board: Option<String>,
    /// Model of the processors.
    pub cpu: Option<String>,
    /// Models of the GPUs.
    pub gpus: Option<String>,
    /// Models of the RDMA NICs.
    pub nics: Option<String>,
    /// The nodes, folded.
    pub nodes: String,
    /// How many they are.
    pub count: usize,
    /// The one that is right by definition; `null`: what most of them show is the norm.
    pub reference: Option<String>,
    /// Facts that at least two of them show.
    pub compared: usize,
    /// Facts that move by themselves, differ, and are judged alike: no drift.
    pub moved: usize,
    /// In what they differ, the worst first.
    pub facts: Vec<Row>,
    /// Whole configurations, the most frequent first.
    pub configurations: Vec<Alike>,
    /// Facts that are another one on nearly every node: `at`, id.
    pub own: Vec<(String, &'static str)>,
    /// Nodes that could not show what others do.
    pub unseen: Vec<Unseen>,
    /// Whether devices were paired by their number, because the ways to them differ or are not shown.
    pub paired_by_number: bool,
}

/// A fact in which nodes differ.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The worst that rules say of some values and not of all; `info`: rules read it, and see no difference; `null`: no rule reads it.
    pub severity: Option<Severity>,
    /// Whose: `rail 0-3 NIC`; empty for the node itself.
    pub at: String,
    /// Id of the fact; where a thing is on some nodes only, what the ids of its facts begin with.
    pub fact: &'static str,
    /// Which of the owner's: a setting, a port, an argument of the kernel.
    pub part: String,
    /// The fact in words.
    pub what: &'static str,
    /// Unit of the values.
    pub unit: &'static str,
    /// Whether the first value is the norm: of more than half of the nodes, or of the reference.
    pub has_norm: bool,
    /// The values, the norm first.
    pub values: Vec<Held>,
}

/// A value, and who shows it.
#[derive(Debug, Serialize)]
pub struct Held {
    /// The value.
    pub value: Option<String>,
    /// `known`, `present`, `absent` or `not-listed`.
    pub state: &'static str,
    /// The nodes, folded.
    pub nodes: String,
    /// How many.
    pub count: usize,
    /// The worst that a rule which reads it says there.
    pub verdict: Option<Saying>,
}

/// What a rule says.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Saying {
    /// Id of the rule.
    pub rule: &'static str,
    /// The answer.
    pub status: linerate_rules::Status,
    /// Its severity.
    pub severity: Severity,
}

/// Nodes that differ in the same way.
#[derive(Debug, Serialize)]
pub struct Alike {
    /// The nodes, folded.
    pub nodes: String,
    /// How many.
    pub count: usize,
    /// In how many facts of how many devices they are not as the norm. 0: as most.
    pub differs: usize,
}

/// A node that could not show what others do.
#[derive(Debug, Serialize)]
pub struct Unseen {
    /// Nodes for which it is as many, folded.
    pub nodes: String,
    /// Facts.
    pub facts: usize,
}

/// A form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For a terminal.
    Text(crate::Style),
    /// For programs, schema `linerate.drift/1`.
    Json,
    /// For a ticket.
    Markdown,
}

impl Report {
    /// Of what was found in a table with these nodes. `remarks`: what names and identities say, of earlier snapshots as well.
    #[must_use]
    pub fn of(heads: &[&Head], drift: &Drift, unreadable: Vec<Unreadable>, remarks: &[Remark]) -> Self {
        let classes: Vec<ClassOf> = drift.classes.iter().map(|c| class(heads, c)).collect();
        let remarks = crate::identity::words(remarks);
        let incomplete = names::folded(heads.iter().filter(|h| h.incomplete).map(|h| h.label.as_str()));
        let differences: usize = classes.iter().map(|c| c.facts.len()).sum();
        let compared = classes.iter().any(|c| c.compared > 0);
        let exit_code = match differences {
            1.. => 1,
            0 => 2 * u8::from(!compared || !incomplete.is_empty() || !unreadable.is_empty()),
        };
        Report { count: heads.len(), unreadable, classes, remarks, incomplete, exit_code }
    }

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
}

impl ClassOf {
    /// Whether no source shows what hardware it is.
    fn is_unknown(&self) -> bool {
        [&self.board, &self.cpu, &self.gpus, &self.nics].iter().all(|p| p.is_none())
    }

    /// `Dell XE9680, Intel …, GPUs 10de:2330, NICs 15b3:1021`.
    fn hardware(&self) -> String {
        let parts = [("", &self.board), ("", &self.cpu), ("GPUs ", &self.gpus), ("NICs ", &self.nics)];
        let known: Vec<String> = parts.iter().filter_map(|(h, p)| Some(format!("{h}{}", p.as_deref()?))).collect();
        if self.is_unknown() { "unknown hardware".to_owned() } else { known.join(", ") }
    }
}

impl Row {
    /// `rail 0-3 NIC: PCI_WR_ORDERING`, or what the fact is in words.
    fn title(&self) -> String {
        crate::diff::title(&self.at, self.fact, self.what, &self.part)
    }
}

impl Held {
    fn words(&self, unit: &str) -> String {
        match (&self.value, self.state) {
            (Some(v), _) => crate::diff::with_unit(v, unit),
            (None, "not-listed") => "not listed".to_owned(),
            (None, state) => state.to_owned(),
        }
    }
}

fn class(heads: &[&Head], c: &Class) -> ClassOf {
    let set = |m: &Members| names_of(heads, m);
    let mut unseen: BTreeMap<usize, Members> = BTreeMap::new();
    c.unseen.iter().for_each(|(node, facts)| unseen.entry(*facts).or_default().insert(*node));
    ClassOf {
        board: c.traits.board.clone(),
        cpu: c.traits.cpu.clone(),
        gpus: c.traits.gpus.clone(),
        nics: c.traits.nics.clone(),
        nodes: set(&c.members),
        count: c.members.len(),
        reference: c.reference.and_then(|n| heads.get(n as usize)).map(|h| h.label.clone()),
        compared: c.compared,
        moved: c.moved,
        facts: rows(heads, &c.facts),
        configurations: c
            .configurations
            .iter()
            .map(|x| Alike { nodes: set(&x.members), count: x.members.len(), differs: x.differs.len() })
            .collect(),
        own: c.own.iter().map(|(owner, id)| (at(owner), *id)).collect(),
        unseen: unseen.into_iter().rev().map(|(facts, m)| Unseen { nodes: set(&m), facts }).collect(),
        paired_by_number: c.by_number,
    }
}

fn names_of(heads: &[&Head], m: &Members) -> String {
    names::folded(m.iter().filter_map(|n| heads.get(n as usize)).map(|h| h.label.as_str()))
}

/// What makes differences of several devices alike.
type Alikeness<'c> = (&'static str, &'c str, Vec<(&'c Value, Vec<u32>, Option<Said>)>, Device);

/// The same difference of several devices is one row.
fn rows(heads: &[&Head], facts: &[Odd]) -> Vec<Row> {
    let mut out: Vec<(Row, Vec<Role>)> = Vec::new();
    let mut known: BTreeMap<Alikeness<'_>, usize> = BTreeMap::new();
    let shows = |odd: &Odd| {
        odd.values.iter().map(|v| (v.value.clone(), v.members.iter().collect::<Vec<_>>())).collect::<Vec<_>>()
    };
    let now: BTreeSet<_> =
        facts.iter().filter(|o| o.id == NOW).map(|o| (&o.owner, o.part.as_str(), shows(o))).collect();
    // What holds after the next reset differs as what holds now does.
    let is_said = |o: &Odd| o.id == NEXT && now.contains(&(&o.owner, o.part.as_str(), shows(o)));
    for odd in facts.iter().filter(|o| !is_said(o)) {
        let role: Option<Role> = match &odd.owner {
            Owner::Device(role) => role.parse().ok(),
            _ => None,
        };
        let device = role.as_ref().and_then(Role::device);
        if let (Some(role), Some(device)) = (&role, device) {
            let values = odd.values.iter().map(|v| (&v.value, v.members.iter().collect(), v.verdict)).collect();
            let key = (odd.id, odd.part.as_str(), values, device);
            if let Some((_, roles)) = known.get(&key).and_then(|i| out.get_mut(*i)) {
                roles.push(role.clone());
                continue;
            }
            known.insert(key, out.len());
        }
        out.push((row(heads, odd), role.into_iter().collect()));
    }
    let folded = |(mut row, roles): (Row, Vec<Role>)| {
        if roles.len() > 1 {
            row.at = folded(&roles.iter().collect::<Vec<_>>());
        }
        row
    };
    out.into_iter().map(folded).collect()
}

fn row(heads: &[&Head], odd: &Odd) -> Row {
    let def = def(odd.id);
    let is_thing = odd.values.iter().any(|v| v.value == Value::Present);
    Row {
        severity: odd.severity,
        at: at(&odd.owner),
        fact: odd.id,
        part: odd.part.clone(),
        what: if is_thing { "" } else { def.map_or("", |d| d.what) },
        unit: def.map_or("", |d| d.unit.symbol()),
        has_norm: odd.has_norm,
        values: odd.values.iter().map(|v| held(heads, v)).collect(),
    }
}

fn held(heads: &[&Head], v: &Shown) -> Held {
    let (value, state) = match &v.value {
        Value::Known(text) => (Some(text.clone()), "known"),
        Value::Present => (None, "present"),
        Value::Absent => (None, "absent"),
        Value::NotListed => (None, "not-listed"),
    };
    let verdict = v.verdict.map(|s| Saying { rule: s.rule, status: s.status, severity: s.severity });
    Held { value, state, nodes: names_of(heads, &v.members), count: v.members.len(), verdict }
}

fn at(owner: &Owner) -> String {
    match owner {
        Owner::Node => String::new(),
        Owner::Device(name) | Owner::Named(name) => name.to_string(),
    }
}
