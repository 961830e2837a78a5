//! Which nodes fail which rule, and where: sets of nodes by rule, severity and position.

use crate::Whose;
use crate::about::about;
use crate::drift::Members;
use linerate_facts::position::{Positions, Role, folded};
use linerate_formats::bounds;
use linerate_node::Node;
use linerate_rules::{Rule, Severity, Status, Subject};
use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Where on a node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum At {
    /// The node itself.
    Node,
    /// A device, and which part of it: a port, a setting. Empty: all of it.
    Device(Role, String),
    /// A thing that has the same name everywhere: a module, an argument of the kernel.
    Named(String),
    /// Things beyond [`bounds::AUDIT_SETS`].
    More,
}

impl At {
    /// The device's role; what a thing of the node is called; empty for the node itself.
    #[must_use]
    pub fn place(&self) -> String {
        match self {
            At::Node => String::new(),
            At::Device(role, _) => role.to_string(),
            At::Named(name) => name.clone(),
            At::More => "other subjects".to_owned(),
        }
    }

    /// Which part of a device; empty: all of it.
    #[must_use]
    pub fn part(&self) -> &str {
        match self {
            At::Device(_, part) => part,
            At::Node | At::Named(_) | At::More => "",
        }
    }
}

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            At::Node => f.write_str("node"),
            At::Device(role, part) if part.is_empty() => role.fmt(f),
            At::Device(role, part) => write!(f, "{role}, {part}"),
            At::Named(_) | At::More => f.write_str(&self.place()),
        }
    }
}

/// The positions on a node, found when the first device is asked for.
#[derive(Debug)]
pub struct Places<'n> {
    node: &'n Node<'n>,
    positions: OnceCell<Positions>,
}

impl<'n> Places<'n> {
    /// Of a node.
    #[must_use]
    pub fn of(node: &'n Node<'n>) -> Self {
        Places { node, positions: OnceCell::new() }
    }

    /// Where a subject is.
    #[must_use]
    pub fn at(&self, subject: &Subject) -> At {
        let named = |name: &str| At::Named(name.chars().take(bounds::AUDIT_NAME).collect());
        match subject {
            Subject::Node => return At::Node,
            Subject::KernelArg(name) | Subject::Module(name) => return named(name),
            _ => {}
        }
        // Roles alone are asked for: whether the ways to devices are known is not.
        let positions = self.positions.get_or_init(|| Positions::of(self.node, false));
        match about(positions, self.node, subject) {
            (Whose::Device(i), part) => match positions.seats.get(i) {
                Some(seat) => At::Device(seat.role.clone(), part.chars().take(bounds::AUDIT_NAME).collect()),
                None => named(&subject.to_string()),
            },
            (Whose::Named(name), _) | (Whose::Node, name) => named(&name),
        }
    }
}

/// An answer that fails or is unknown, and where.
#[derive(Debug, Clone)]
pub struct Spot {
    /// The rule.
    pub rule: &'static Rule,
    /// [`Status::Fail`] or [`Status::Unknown`].
    pub status: Status,
    /// Severity of the answer.
    pub severity: Severity,
    /// Where.
    pub at: At,
}

/// What sets are kept by.
type Key = (&'static str, Status, Severity);

/// Nodes by what fails on them. Memory grows with what differs between nodes, and by one bit a node for each of it.
#[derive(Debug, Default)]
pub struct Sets {
    labels: Vec<String>,
    by: HashMap<Key, HashMap<At, Members>>,
    count: usize,
}

/// A rule that fails, or cannot tell, on some nodes.
#[derive(Debug)]
pub struct Failing {
    /// Id of the rule.
    pub rule: &'static str,
    /// [`Status::Fail`] or [`Status::Unknown`].
    pub status: Status,
    /// Severity of these answers.
    pub severity: Severity,
    /// The nodes.
    pub nodes: Members,
    /// Where, the most frequent first.
    pub sets: Vec<Set>,
}

/// Positions at which the same nodes have the same answer.
#[derive(Debug)]
pub struct Set {
    /// The positions, in their order.
    pub at: Vec<At>,
    /// The nodes.
    pub nodes: Members,
}

impl Sets {
    /// Takes a node in.
    pub fn node(&mut self, label: &str, spots: impl IntoIterator<Item = Spot>) {
        let node = u32::try_from(self.labels.len()).unwrap_or(u32::MAX);
        self.labels.push(label.to_owned());
        for spot in spots {
            let sets = self.by.entry((spot.rule.id, spot.status, spot.severity)).or_default();
            if let Some(members) = sets.get_mut(&spot.at) {
                members.insert(node);
                continue;
            }
            // Names come from nodes: there may be any number of them.
            let at = if self.count < bounds::AUDIT_SETS { spot.at } else { At::More };
            self.count += 1;
            sets.entry(at).or_default().insert(node);
        }
    }

    /// How many nodes were taken in.
    #[must_use]
    pub fn count(&self) -> usize {
        self.labels.len()
    }

    /// The names of nodes, as one text to paste.
    #[must_use]
    pub fn names(&self, nodes: &Members) -> String {
        crate::names::folded(nodes.iter().filter_map(|n| self.labels.get(n as usize)).map(String::as_str))
    }

    /// The nodes that are not among these.
    #[must_use]
    pub fn others(&self, nodes: &Members) -> Members {
        (0..).take(self.labels.len()).filter(|n| !nodes.has(*n)).collect()
    }

    /// Whether nearly all nodes are among these: nine of ten.
    #[must_use]
    pub fn is_common(&self, nodes: &Members) -> bool {
        self.labels.len() > 1 && nodes.len().saturating_mul(10) >= self.labels.len().saturating_mul(9)
    }

    /// Rules with answers of one status: what nearly all nodes have in common first, then by severity, then by the number of nodes.
    #[must_use]
    pub fn failing(&self, status: Status) -> Vec<Failing> {
        let of = self.by.iter().filter(|((_, s, _), _)| *s == status);
        let mut all: Vec<Failing> = of.map(|(key, sets)| failing(*key, sets)).collect();
        all.sort_by_cached_key(|f| {
            (Reverse(self.is_common(&f.nodes)), Reverse(f.severity), Reverse(f.nodes.len()), f.rule)
        });
        all
    }
}

/// The same nodes at several positions are one set.
fn failing((rule, status, severity): Key, sets: &HashMap<At, Members>) -> Failing {
    let mut nodes = Members::default();
    let mut by: BTreeMap<Vec<u32>, Vec<At>> = BTreeMap::new();
    for (at, members) in sets {
        nodes.add(members);
        by.entry(members.iter().collect()).or_default().push(at.clone());
    }
    let mut sets: Vec<Set> = by
        .into_iter()
        .map(|(members, mut at)| {
            at.sort_unstable();
            Set { at, nodes: members.into_iter().collect() }
        })
        .collect();
    sets.sort_by(|a, b| (Reverse(a.nodes.len()), &a.at).cmp(&(Reverse(b.nodes.len()), &b.at)));
    Failing { rule, status, severity, nodes, sets }
}

impl Set {
    /// The positions in few words: `rail 0-3 NIC, port 1`; `node`.
    #[must_use]
    pub fn place(&self) -> String {
        let mut devices: BTreeMap<&str, Vec<&Role>> = BTreeMap::new();
        let mut out: Vec<String> = Vec::new();
        for at in &self.at {
            match at {
                At::Device(role, part) => devices.entry(part).or_default().push(role),
                other => out.push(other.to_string()),
            }
        }
        // What is wrong with the same devices is one text, too.
        let mut parts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (part, roles) in devices {
            parts.entry(folded(&roles)).or_default().push(part);
        }
        for (roles, parts) in parts {
            let named: Vec<&str> = parts.iter().filter(|p| !p.is_empty()).copied().collect();
            if named.len() < parts.len() {
                out.push(roles.clone());
            }
            if !named.is_empty() {
                out.push(format!("{roles}, {}", named.join(", ")));
            }
        }
        out.join("; ")
    }
}
