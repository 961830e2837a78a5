//! What one source says: nodes, groups, and what was wrong in it.

use linerate_fleet::nodeset::{NodeSet, NodeSetError, names_of};
use linerate_formats::bounds::{INVENTORY_GROUPS, INVENTORY_NAME, INVENTORY_NODES, INVENTORY_REMARKS, INVENTORY_SETS};
use std::collections::HashMap;
use std::fmt;

/// What kind of source it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The set that the user wrote.
    CommandLine,
    /// `linerate.toml`.
    Config,
    /// `Host` lines of `ssh`.
    SshConfig,
    /// ClusterShell's groups.
    ClusterShell,
    /// A genders file.
    Genders,
    /// Names, one on a line, or `/etc/hosts`.
    Hosts,
    /// `sinfo`.
    Slurm,
    /// `kubectl get nodes`.
    Kubernetes,
}

impl Kind {
    /// As it is written in options, files and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Kind::CommandLine => "command-line",
            Kind::Config => "linerate.toml",
            Kind::SshConfig => "ssh",
            Kind::ClusterShell => "clustershell",
            Kind::Genders => "genders",
            Kind::Hosts => "hosts",
            Kind::Slurm => "slurm",
            Kind::Kubernetes => "kubernetes",
        }
    }
}

/// Where something was read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The kind of source.
    pub kind: Kind,
    /// File or command.
    pub what: String,
    /// 1-based line; 0: there are no lines.
    pub line: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if self.line > 0 { write!(f, ":{}", self.line) } else { Ok(()) }
    }
}

/// A node as one source names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Its name.
    pub name: String,
    /// The address or other name that the source gives for it.
    pub address: Option<String>,
    /// Where.
    pub place: Place,
}

/// A group as one source names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// What is written before the colon in `@source:group`.
    pub source: String,
    /// Its name.
    pub name: String,
    /// Sets of nodes that make it up; they may name other groups.
    pub sets: Vec<String>,
    /// Where.
    pub place: Place,
}

/// What was wrong in a source, or is not read there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// No set of nodes.
    #[error(transparent)]
    Set(#[from] NodeSetError),
    /// A line that is not of this form.
    #[error("this line is not of the form {0}")]
    Form(&'static str),
    /// A program that a configuration of ClusterShell wants to be run by a shell.
    #[error("groups of the source {0:?} come from a command of a shell, which is not run: only files are read")]
    Upcall(String),
    /// A file that another one names.
    #[error("{what} cannot be read: {why}")]
    File {
        /// File.
        what: String,
        /// Why.
        why: String,
    },
    /// More than is kept.
    #[error("the limit {limit} ({value}) is reached: the rest is left out")]
    Limit {
        /// Name of the limit.
        limit: &'static str,
        /// Its value.
        value: usize,
    },
}

/// What a source says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Nodes, in the order in which they come.
    pub nodes: Vec<Seen>,
    /// Groups.
    pub groups: Vec<Group>,
    /// The source of groups that counts where none is written.
    pub default_groups: Option<String>,
    /// What was wrong.
    pub wrong: Vec<(Place, Wrong)>,
    /// Where in `groups` a group is, by source and name.
    index: HashMap<(String, String), usize>,
    /// Of all sets.
    bytes: usize,
}

impl Found {
    /// Whether there is no room for another node; then this is said.
    pub(super) fn is_full(&mut self, place: &Place) -> bool {
        let full = self.nodes.len() >= INVENTORY_NODES;
        if full {
            self.limit(place, "INVENTORY_NODES", INVENTORY_NODES);
        }
        full
    }

    fn limit(&mut self, place: &Place, limit: &'static str, value: usize) {
        self.wrong(place.clone(), Wrong::Limit { limit, value });
    }

    /// One more node.
    pub(super) fn node(&mut self, name: &str, address: Option<&str>, place: Place) {
        if name.len() > INVENTORY_NAME {
            return self.limit(&place, "INVENTORY_NAME", INVENTORY_NAME);
        }
        if self.is_full(&place) {
            return;
        }
        match names_of(name) {
            Ok(set) if set.len() == 1 && set.contains(name) => {}
            Ok(_) => return self.wrong(place, Wrong::Form("NAME")),
            Err(e) => return self.wrong(place, e.into()),
        }
        self.nodes.push(Seen { name: name.to_owned(), address: address.map(str::to_owned), place });
    }

    /// Nodes of a set that was read.
    pub(super) fn nodes_of(&mut self, set: &NodeSet, place: &Place) {
        for name in set.iter() {
            if name.len() > INVENTORY_NAME {
                self.limit(place, "INVENTORY_NAME", INVENTORY_NAME);
            } else if self.is_full(place) {
                return;
            } else {
                self.nodes.push(Seen { name, address: None, place: place.clone() });
            }
        }
    }

    /// All nodes of a set.
    pub(super) fn set(&mut self, text: &str, place: &Place) {
        if self.is_full(place) {
            return;
        }
        match names_of(text) {
            Ok(set) => self.nodes_of(&set, place),
            Err(e) => self.wrong(place.clone(), e.into()),
        }
    }

    /// A group, or more of one.
    pub(super) fn group(&mut self, source: &str, name: &str, set: &str, place: &Place) {
        self.bytes = self.bytes.saturating_add(set.len());
        if self.bytes > INVENTORY_SETS {
            return self.limit(place, "INVENTORY_SETS", INVENTORY_SETS);
        }
        let sets = set.split_whitespace().map(str::to_owned);
        let key = (source.to_owned(), name.to_owned());
        let at = self.index.get(&key).copied().unwrap_or(usize::MAX);
        let full = self.groups.len() >= INVENTORY_GROUPS;
        match self.groups.get_mut(at) {
            Some(known) => known.sets.extend(sets),
            None if full => {
                self.wrong(place.clone(), Wrong::Limit { limit: "INVENTORY_GROUPS", value: INVENTORY_GROUPS });
            }
            None => {
                let (source, name) = key.clone();
                self.index.insert(key, self.groups.len());
                self.groups.push(Group { source, name, sets: sets.collect(), place: place.clone() });
            }
        }
    }

    /// Something wrong. Of what a limit leaves out, the first is said.
    pub(super) fn wrong(&mut self, place: Place, wrong: Wrong) {
        let again =
            |w: &Wrong| matches!((w, &wrong), (Wrong::Limit { limit: a, .. }, Wrong::Limit { limit: b, .. }) if a == b);
        if self.wrong.len() < INVENTORY_REMARKS && !self.wrong.iter().any(|(_, w)| again(w)) {
            self.wrong.push((place, wrong));
        }
    }

    /// With what another source says.
    pub(super) fn and(&mut self, other: Found) {
        self.nodes.extend(other.nodes);
        for group in other.groups {
            let sets = group.sets.join(" ");
            self.group(&group.source, &group.name, &sets, &group.place);
        }
        self.default_groups = self.default_groups.take().or(other.default_groups);
        self.wrong.extend(other.wrong);
    }
}

/// Places in one text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a> {
    /// Kind of source.
    pub(super) kind: Kind,
    /// File or command.
    pub(super) what: &'a str,
}

impl Text<'_> {
    /// A place in it; lines from 0.
    pub(super) fn at(self, index: usize) -> Place {
        Place { kind: self.kind, what: self.what.to_owned(), line: u32::try_from(index + 1).unwrap_or(u32::MAX) }
    }

    /// All of it.
    pub(super) fn whole(self) -> Place {
        Place { kind: self.kind, what: self.what.to_owned(), line: 0 }
    }
}
