//! Who a node is: not its name.

use crate::addresses::{Addresses, Others, changes};
use linerate_snapshot::{Reading, Snapshot};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::hash::Hash;

/// What a node is known by. Each id is a digest, or its hash with the fleet's key; where it was hashed with a key that nobody kept it is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// Of the installed system: `/etc/machine-id`.
    pub machine: Option<String>,
    /// Of the board: UUID of SMBIOS.
    pub system: Option<String>,
}

impl Identity {
    /// Of a snapshot.
    #[must_use]
    pub fn of(s: &Snapshot) -> Self {
        if s.manifest.redacted && s.manifest.redact_key.is_none() {
            return Identity::default();
        }
        // What was taken out, by whoever wrote the snapshot, is the same on all nodes and nobody's id.
        let is_id = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        let text = |path| match s.text(s.root(), path) {
            Reading::Known(text, _) if is_id(text.trim()) => Some(text.trim().to_owned()),
            _ => None,
        };
        Identity { machine: text("etc/machine-id"), system: text("sys/class/dmi/id/product_uuid") }
    }

    /// Whether both ids are known. One of them alone tells no nodes apart: a copied image keeps the machine's id, and a board's UUID may be a
    /// maker's default.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.machine.is_some() && self.system.is_some()
    }

    /// What tells nodes apart: the identity where both ids are known, else the label.
    #[must_use]
    pub fn node(&self, label: &str) -> String {
        if self.is_whole() { self.to_string() } else { label.to_owned() }
    }
}

impl fmt::Display for Identity {
    /// Both ids with a `+` between, `?` where one is not known. [`Identity::from`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |p: &Option<String>| p.clone().unwrap_or_else(|| "?".to_owned());
        write!(f, "{}+{}", part(&self.machine), part(&self.system))
    }
}

impl From<&str> for Identity {
    fn from(text: &str) -> Self {
        let part = |p: &str| (p != "?" && !p.is_empty()).then(|| p.to_owned());
        let (machine, system) = text.split_once('+').unwrap_or((text, "?"));
        Identity { machine: part(machine), system: part(system) }
    }
}

/// Something about names and identities that an operator should know.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Remark {
    /// One node, both of whose ids are known, under several names.
    SeveralNames {
        /// The names, in the order of time.
        names: Vec<String>,
        /// It was seen under several of them at one time, or under an earlier one again: it was not renamed, but has all of them.
        at_once: bool,
    },
    /// One name, several nodes.
    SharedName {
        /// The name.
        name: String,
        /// How many nodes have it.
        nodes: usize,
    },
    /// Nodes with one machine id on different boards: an image was copied with its id.
    CopiedMachineId {
        /// Their names.
        names: Vec<String>,
    },
    /// One board with several machine ids: installed anew, or boards that a maker gave one UUID.
    SeveralInstalls {
        /// Their names.
        names: Vec<String>,
        /// The captures overlap in time, so it cannot be one board that was installed anew.
        at_once: bool,
    },
    /// One node, both of whose ids are known, with other addresses than before: NICs were replaced, or it was moved to another network.
    OtherAddresses {
        /// Its newest name.
        name: String,
        /// Where.
        of: Others,
        /// Earlier ones came back, so it may be several machines with the same ids.
        came_back: bool,
    },
}

/// A node as one snapshot shows it.
#[derive(Debug, Clone, Copy)]
pub struct Sighting<'a> {
    /// Its name.
    pub label: &'a str,
    /// Who it is.
    pub identity: &'a Identity,
    /// By which addresses it is reached.
    pub addresses: &'a Addresses,
    /// Unix time, seconds: what the snapshot's name says, which is the collecting side's clock, else the node's own.
    pub time: u64,
    /// Which snapshot: of two of one time the later one by this counts.
    pub snapshot: &'a str,
}

/// The sightings that count where each node counts once, by their places in `all`: of each name the newest, and of those that are one node, both of
/// whose ids are known, the newest.
#[must_use]
pub fn newest(all: &[Sighting<'_>]) -> BTreeSet<usize> {
    let by_name = newest_by(all, 0..all.len(), |s| Some(s.label));
    newest_by(all, by_name.into_iter(), |s| s.identity.is_whole().then_some(s.identity))
}

/// Of those with one key the newest, and all that have none.
fn newest_by<'a, K: Hash + Eq>(
    all: &'a [Sighting<'a>],
    of: impl Iterator<Item = usize>,
    key: impl Fn(&'a Sighting<'a>) -> Option<K>,
) -> BTreeSet<usize> {
    let (mut best, mut out) = (HashMap::new(), BTreeSet::new());
    for (at, seen) in of.filter_map(|at| Some((at, all.get(at)?))) {
        let Some(key) = key(seen) else {
            out.insert(at);
            continue;
        };
        let when = (seen.time, seen.snapshot, at);
        let known = best.entry(key).or_insert(when);
        *known = when.max(*known);
    }
    out.extend(best.into_values().map(|(.., at)| at));
    out
}

/// What names and identities of many snapshots say together. What is not known says nothing.
#[must_use]
pub fn remarks(all: &[Sighting<'_>]) -> Vec<Remark> {
    let mut sorted: Vec<&Sighting<'_>> = all.iter().collect();
    sorted.sort_by_key(|s| (s.time, s.label));
    let whole = |s: &&Sighting<'_>| s.identity.is_whole();
    let mut by_node: BTreeMap<&Identity, Vec<&Sighting<'_>>> = BTreeMap::new();
    let mut by_name: BTreeMap<&str, Vec<&Sighting<'_>>> = BTreeMap::new();
    let mut by_machine: BTreeMap<&str, Vec<&Sighting<'_>>> = BTreeMap::new();
    let mut by_system: BTreeMap<&str, Vec<&Sighting<'_>>> = BTreeMap::new();
    for s in &sorted {
        by_name.entry(s.label).or_default().push(s);
        if whole(s) {
            by_node.entry(s.identity).or_default().push(s);
            by_machine.entry(s.identity.machine.as_deref().unwrap_or_default()).or_default().push(s);
            by_system.entry(s.identity.system.as_deref().unwrap_or_default()).or_default().push(s);
        }
    }
    let mut out = Vec::new();
    for seen in by_node.values() {
        let names = names(seen);
        if names.len() > 1 {
            let runs = seen.chunk_by(|a, b| a.label == b.label).count();
            let same_time = seen.windows(2).any(|w| matches!(w, [a, b] if a.time == b.time && a.label != b.label));
            out.push(Remark::SeveralNames { at_once: same_time || runs > names.len(), names });
        }
    }
    out.extend(by_node.values().filter_map(|seen| other_addresses(seen)));
    for seen in by_machine.values().filter(|seen| differ(seen, |i| &i.system)) {
        out.push(Remark::CopiedMachineId { names: names(seen) });
    }
    for seen in by_system.values().filter(|seen| differ(seen, |i| &i.machine)) {
        // The old install was seen again after the new one: both are there.
        let runs = seen.chunk_by(|a, b| a.identity.machine == b.identity.machine).count();
        let installs = seen.iter().map(|s| &s.identity.machine).collect::<BTreeSet<_>>().len();
        out.push(Remark::SeveralInstalls { names: names(seen), at_once: runs > installs });
    }
    for (name, seen) in by_name {
        let boards: BTreeSet<_> = seen.iter().filter(|s| whole(s)).map(|s| &s.identity.system).collect();
        if boards.len() > 1 {
            out.push(Remark::SharedName { name: name.to_owned(), nodes: boards.len() });
        }
    }
    out
}

fn other_addresses(seen: &[&Sighting<'_>]) -> Option<Remark> {
    let all: Vec<&Addresses> = seen.iter().map(|s| s.addresses).collect();
    let (of, came_back) = changes(&all);
    let name = seen.last().map(|s| s.label.to_owned()).unwrap_or_default();
    (!of.is_empty()).then_some(Remark::OtherAddresses { name, of, came_back })
}

fn differ(seen: &[&Sighting<'_>], part: impl Fn(&Identity) -> &Option<String>) -> bool {
    seen.windows(2).any(|w| matches!(w, [a, b] if part(a.identity) != part(b.identity)))
}

fn names(seen: &[&Sighting<'_>]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for s in seen.iter().filter(|s| !s.label.is_empty()) {
        if !out.iter().any(|n| n == s.label) {
            out.push(s.label.to_owned());
        }
    }
    out
}
