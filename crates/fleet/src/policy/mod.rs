//! A policy: what nodes of a class of hardware are to be like, said by people or learnt from good nodes.
//!
//! [`read`] makes one of TOML, [`check()`] holds a [`crate::Profile`] to it, [`Lessons`] makes one of nodes that are right, [`diff`] compares two,
//! [`wish`] says what a plan could do about an answer that fails.

mod check;
mod claims;
mod class;
pub mod condition;
mod differs;
mod learn;
mod read;
mod roles;
mod said;
mod seats;
mod wish;
mod write;

pub use check::{Answer, Checked, Held, Owner, check};
pub use class::{Fit, Match, Unresolved};
pub use differs::{Change, diff};
pub use learn::{Learnt, Left, Lessons, Why};
pub use read::read;
pub use roles::Roles;
pub use said::{Mistake, Wrong};
pub use wish::wish;
pub use write::write;

use linerate_facts::position::{Device, Path, Role};
use linerate_facts::{Def, Want};
use linerate_rules::{Action, Rule, Severity};
use std::collections::BTreeMap;

/// Name and version of the format.
pub const SCHEMA: &str = "linerate.policy/1";

/// What nodes are to be like.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// How people call it.
    pub name: String,
    /// Classes of hardware, each with what it is to be like.
    pub classes: Vec<Class>,
    /// Sources that must pass or fail.
    pub tests: Vec<Test>,
}

/// What nodes of one class of hardware are to be like.
#[derive(Debug, Clone, PartialEq)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// Which nodes are of it.
    pub matches: Match,
    /// Where its devices are, so that they are called by their places: of a node that lacks one, the others keep their names.
    pub seats: BTreeMap<Role, Path>,
    /// Expected facts.
    pub rows: Vec<Row>,
    /// How many devices there are.
    pub devices: Vec<Count>,
    /// Conditions in CEL.
    pub conditions: Vec<Condition>,
    /// Claims of schedulers, and what each stands for.
    pub claims: Vec<Claim>,
    /// Labels of the node's object in Kubernetes; `None`: no such label.
    pub labels: BTreeMap<String, Option<String>>,
    /// Which nodes taught it; empty: people wrote it.
    pub learnt_from: Vec<String>,
}

/// What is said of every expectation.
#[derive(Debug, Clone, PartialEq)]
pub struct About {
    /// Its id, unique in the policy: `policy/h100.rail-nic.net.mtu`.
    pub id: String,
    /// How bad it is where it does not hold.
    pub severity: Severity,
    /// Why it is wanted; empty: nobody said.
    pub reason: String,
    /// Who answers for it; empty: nobody said.
    pub owner: String,
    /// Line of the policy, from 1; 0: it was not read from a file.
    pub line: u32,
}

/// An expected fact.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its id, severity, reason, owner.
    pub about: About,
    /// Whose fact.
    pub roles: Roles,
    /// Which fact.
    pub def: &'static Def,
    /// Which of the owner's: a port, a setting, a word of a list; `*` is any run of characters.
    pub part: String,
    /// What is wanted: all of these.
    pub wants: Vec<Want>,
    /// What would bring it about, where linerate does not know that by itself.
    pub fix: Option<Action>,
    /// How many of the nodes that taught the class showed it; `None`: all, or people wrote it.
    pub shown_by: Option<u32>,
}

/// An expected number of devices.
#[derive(Debug, Clone, PartialEq)]
pub struct Count {
    /// Its id, severity, reason, owner.
    pub about: About,
    /// Which devices.
    pub device: Device,
    /// How many at least.
    pub least: u64,
    /// How many at most.
    pub most: u64,
}

/// A condition in CEL over the published facts of the node, as `node` of `linerate.audit/2`.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// Its id, severity, reason, owner.
    pub about: About,
    /// What must be true.
    pub cel: condition::Program,
    /// What would bring it about.
    pub fix: Option<Action>,
}

/// A claim, and what it stands for. Where a node claims it and it is not so, the claim is a lie.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Its id, severity, reason, owner.
    pub about: About,
    /// What claims it, each with its text: all of these.
    pub when: Vec<(crate::condition::Condition, String)>,
    /// Facts that it stands for.
    pub rows: Vec<Row>,
    /// A condition that it stands for.
    pub cel: Option<condition::Program>,
    /// Rules that pass where it is true.
    pub passes: Vec<&'static Rule>,
    /// What would make it true.
    pub fix: Option<Action>,
}

impl PartialEq for Claim {
    fn eq(&self, other: &Self) -> bool {
        let ids = |c: &Claim| c.passes.iter().map(|r| r.id).collect::<Vec<_>>();
        (&self.about, &self.when, &self.rows, &self.cel, &self.fix, ids(self))
            == (&other.about, &other.when, &other.rows, &other.cel, &other.fix, ids(other))
    }
}

/// A source that must pass, or fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// Path, from the policy's directory.
    pub source: String,
    /// Ids of the expectations that must fail, and no others; empty: none.
    pub fails: Vec<String>,
    /// Ids that may be unknown; empty: any may.
    pub unknown: Option<Vec<String>>,
    /// Line of the policy, from 1.
    pub line: u32,
}

impl Policy {
    /// An expectation by its id, with the name of its class.
    #[must_use]
    pub fn find(&self, id: &str) -> Vec<(&Class, Kind<'_>)> {
        let of = |c| Class::all(c).filter(|k| k.about().id == id).map(move |k| (c, k));
        self.classes.iter().flat_map(of).collect()
    }

    /// All expectations.
    pub fn all(&self) -> impl Iterator<Item = (&Class, Kind<'_>)> {
        self.classes.iter().flat_map(|c| c.all().map(move |k| (c, k)))
    }
}

impl Class {
    /// All its expectations.
    pub fn all(&self) -> impl Iterator<Item = Kind<'_>> {
        let counts = self.devices.iter().map(Kind::Count);
        let conditions = self.conditions.iter().map(Kind::Condition);
        counts.chain(self.rows.iter().map(Kind::Row)).chain(conditions).chain(self.claims.iter().map(Kind::Claim))
    }
}

/// An expectation of any kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind<'p> {
    /// A fact.
    Row(&'p Row),
    /// A number of devices.
    Count(&'p Count),
    /// A condition in CEL.
    Condition(&'p Condition),
    /// A claim.
    Claim(&'p Claim),
}

impl<'p> Kind<'p> {
    /// What is said of it.
    #[must_use]
    pub fn about(self) -> &'p About {
        match self {
            Kind::Row(r) => &r.about,
            Kind::Count(c) => &c.about,
            Kind::Condition(c) => &c.about,
            Kind::Claim(c) => &c.about,
        }
    }

    /// The fact, or the condition, in the policy's words: `net.mtu`, `kernel.cmdline iommu`.
    #[must_use]
    pub fn subject(self) -> String {
        match self {
            Kind::Row(r) if r.part.is_empty() => r.def.id.to_owned(),
            Kind::Row(r) => format!("{} {}", r.def.id, r.part),
            Kind::Count(c) => format!("number of {}", class_word(c.device)),
            Kind::Condition(c) => c.cel.source().to_owned(),
            Kind::Claim(c) => c.when.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(" and "),
        }
    }

    /// What is wanted, in words.
    #[must_use]
    pub fn wanted(self) -> String {
        match self {
            Kind::Row(r) => r.wants.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
            Kind::Count(c) => match (c.least, c.most) {
                (a, b) if a == b => a.to_string(),
                (a, u64::MAX) => format!("at least {a}"),
                (0, b) => format!("at most {b}"),
                (a, b) => format!("{a} to {b}"),
            },
            Kind::Condition(_) => "true".to_owned(),
            Kind::Claim(c) => {
                let row = |r: &Row| format!("{} {}", Kind::Row(r).subject(), Kind::Row(r).wanted());
                let whose = |r: &Row| if r.roles.is_node() { row(r) } else { format!("{}: {}", r.roles, row(r)) };
                let mut all: Vec<String> = c.rows.iter().map(whose).collect();
                all.extend(c.cel.iter().map(|p| p.source().to_owned()));
                all.extend(c.passes.iter().map(|r| format!("{} passes", r.id)));
                all.join(", ")
            }
        }
    }

    /// Whose: `rail * NIC`; empty for the node.
    #[must_use]
    pub fn whose(self) -> &'p str {
        match self {
            Kind::Row(r) if !r.roles.is_node() => r.roles.text(),
            _ => "",
        }
    }
}

/// The kinds of devices that are counted, as a policy names them.
pub(crate) const DEVICES: [(&str, Device); 5] = [
    ("GPU", Device::Gpu),
    ("rail NIC", Device::RailNic),
    ("NIC", Device::Nic),
    ("NVSwitch", Device::NvSwitch),
    ("NVMe", Device::Nvme),
];

/// A kind of device, as a policy names it.
pub(crate) fn class_word(device: Device) -> &'static str {
    DEVICES.iter().find(|(_, d)| *d == device).map_or("device", |(word, _)| word)
}
