//! `linerate.toml`: names, groups, the node that is the reference, and the ways.

use super::found::{Found, Kind, Text};
use crate::suppress::{AuditOf, SuppressOf};
use linerate_fleet::nodeset::NodeSetError;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;

/// The file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// All nodes; they may come from the sources, too.
    #[serde(default)]
    nodes: Sets,
    /// The node that others are compared with.
    pub reference: Option<String>,
    /// Further sources: `ssh`, `clustershell`, `slurm`, `kubernetes`, files.
    #[serde(default)]
    pub sources: Vec<String>,
    /// The way, where nothing else says it.
    #[serde(default)]
    pub way: WayOf,
    /// Groups: a set, or a table with `nodes` and the way.
    #[serde(default)]
    groups: BTreeMap<String, GroupOf>,
    /// Single nodes, by name, with the way to each.
    #[serde(default)]
    pub hosts: BTreeMap<String, WayOf>,
    /// What options of commands are where they are not given.
    #[serde(default)]
    pub defaults: BTreeMap<String, DefaultOf>,
    /// How audits count.
    #[serde(default)]
    pub audit: AuditOf,
    /// Answers of audits that the site accepts.
    #[serde(default)]
    pub suppress: Vec<toml::Spanned<SuppressOf>>,
}

/// A value in `[defaults]`, or what is meant for one command (`[defaults.audit]`).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum DefaultOf {
    /// Of an option without a value.
    Switch(bool),
    /// Of one with a number.
    Number(u64),
    /// Of one with another value.
    Text(String),
    /// Of one that may be repeated.
    List(Vec<String>),
    /// Of one command, by the names of its options.
    Command(BTreeMap<String, DefaultOf>),
}

/// How nodes are reached. What is not said comes from the next wider place: the node, its groups, all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WayOf {
    /// `ssh`, `local`, `srun` or `kubectl`.
    pub transport: Option<Carrier>,
    /// Address or name for `ssh`, name for `srun` and `kubectl`, where it is not the node's name. For single nodes.
    pub address: Option<String>,
    /// User there.
    pub user: Option<String>,
    /// Port of its `sshd`.
    pub port: Option<u16>,
    /// Whether `sudo -n` is tried.
    pub sudo: Option<bool>,
    /// Arguments of `ssh`.
    pub ssh_options: Option<Vec<String>>,
    /// Options of `srun`, each in one word.
    pub srun_options: Option<Vec<String>>,
    /// The pods that stand for nodes.
    pub kubectl: Option<PodsOf>,
}

/// The pods that stand for nodes: one on each, found by its labels.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PodsOf {
    /// Context of kubectl's configuration.
    pub context: Option<String>,
    /// Namespace; `default` where none is said.
    pub namespace: Option<String>,
    /// Selector of labels.
    pub selector: String,
    /// Container.
    pub container: Option<String>,
    /// Where the node's file system is in it.
    pub root: Option<String>,
}

/// What carries commands to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Carrier {
    /// The user's `ssh`.
    Ssh,
    /// It is this machine.
    Local,
    /// Slurm's `srun`.
    Srun,
    /// A pod on the node, by `kubectl exec`.
    Kubectl,
}

/// One set, or several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Sets(Vec<String>);

/// A group: sets, or a table with `nodes` and the way.
#[derive(Debug, Clone, PartialEq, Eq)]
struct GroupOf {
    nodes: Vec<String>,
    /// The node that the others of the group are compared with.
    reference: Option<String>,
    way: Option<WayOf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    nodes: Sets,
    reference: Option<String>,
    transport: Option<Carrier>,
    user: Option<String>,
    port: Option<u16>,
    sudo: Option<bool>,
    ssh_options: Option<Vec<String>>,
    srun_options: Option<Vec<String>>,
    kubectl: Option<PodsOf>,
}

impl<'de> Deserialize<'de> for Sets {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let group = from.deserialize_any(Form { table: false })?;
        Ok(Sets(group.nodes))
    }
}

impl<'de> Deserialize<'de> for GroupOf {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Form { table: true })
    }
}

/// By hand, so that an error says what is wrong in a table.
struct Form {
    table: bool,
}

impl<'de> Visitor<'de> for Form {
    type Value = GroupOf;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.table {
            "a set of nodes, a list of sets, or a table with nodes"
        } else {
            "a set of nodes, or a list of sets"
        })
    }

    fn visit_str<E: Error>(self, set: &str) -> Result<GroupOf, E> {
        Ok(GroupOf { nodes: vec![set.to_owned()], reference: None, way: None })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<GroupOf, A::Error> {
        let mut nodes = Vec::new();
        while let Some(set) = seq.next_element()? {
            nodes.push(set);
        }
        Ok(GroupOf { nodes, reference: None, way: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<GroupOf, A::Error> {
        if !self.table {
            return Err(A::Error::invalid_type(Unexpected::Map, &self));
        }
        let Table { nodes, reference, transport, user, port, sudo, ssh_options, srun_options, kubectl } =
            Table::deserialize(MapAccessDeserializer::new(map))?;
        let way = WayOf { transport, address: None, user, port, sudo, ssh_options, srun_options, kubectl };
        Ok(GroupOf { nodes: nodes.0, reference, way: Some(way) })
    }
}

/// Why the file does not count.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// Broken TOML, or a key that does not exist.
    #[error("{0}")]
    Toml(String),
    /// A set of nodes that is none.
    #[error(transparent)]
    Set(#[from] NodeSetError),
}

impl Config {
    /// Reads the file.
    ///
    /// # Errors
    /// It is no TOML of this form.
    pub fn read(text: &str) -> Result<Config, ConfigError> {
        toml::from_str(text).map_err(|e| ConfigError::Toml(e.to_string()))
    }

    /// Its sets of all nodes, which may name groups of its sources.
    #[must_use]
    pub fn nodes(&self) -> &[String] {
        &self.nodes.0
    }

    /// Groups, whose source has no name; nodes with a way of their own.
    #[must_use]
    pub fn found(&self, what: &str) -> Found {
        let place = Text { kind: Kind::Config, what }.whole();
        let mut found = Found::default();
        for (name, group) in &self.groups {
            // A blank is allowed in a set, and separates sets elsewhere.
            let sets: Vec<String> = group.nodes.iter().map(|set| set.replace(char::is_whitespace, "")).collect();
            found.group("", name, &sets.join(" "), &place);
        }
        self.hosts.iter().for_each(|(name, way)| found.node(name, way.address.as_deref(), place.clone()));
        found
    }

    /// Groups that have a reference of their own, and which.
    pub fn references(&self) -> impl Iterator<Item = (&str, &str)> {
        self.groups.iter().filter_map(|(name, group)| Some((name.as_str(), group.reference.as_deref()?)))
    }

    /// Groups that say a way.
    pub fn ways(&self) -> impl Iterator<Item = (&str, &WayOf)> {
        self.groups.iter().filter_map(|(name, group)| Some((name.as_str(), group.way.as_ref()?)))
    }
}
