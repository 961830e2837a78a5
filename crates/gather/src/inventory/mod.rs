//! Which nodes there are: names, groups and ways, of whatever sources a site has.
//!
//! Each reader takes text and gives what it [`Found`]; [`load`] finds the files and runs the programs; an [`Inventory`] is what all of them say
//! together. Where sources disagree, it is said ([`Remark`]), and the way that the user wrote counts.

mod clustershell;
pub mod config;
mod files;
mod found;
mod genders;
mod groups;
mod hosts;
mod kubernetes;
mod load;
mod merge;
mod slurm;
mod ssh_config;

use config::Carrier;
pub use config::{Config, ConfigError, DefaultOf};
pub use files::read;
pub use found::{Found, Group, Kind, Place, Seen, Wrong};
pub use load::{InventoryError, References, Request, Settings, load, references};
pub use merge::Remark;

use crate::Target;
use linerate_fleet::cluster::Lists;
use linerate_fleet::nodeset::{Budget, NodeSet, NodeSetError, parse, parse_within};
use linerate_transport::{HostError, HostSpec, Way};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The parsers, for the fuzz harness: any bytes, in any of the forms.
pub mod readers {
    pub use super::clustershell::{Conf, conf, flat, yaml};
    pub use super::genders::read as genders;
    pub use super::hosts::read as hosts;
    pub use super::kubernetes::read as kubernetes;
    pub use super::slurm::{COMMAND as SINFO, read as sinfo};
    pub use super::ssh_config::{Read, read as ssh_config};
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Its name, and the way to it.
    pub target: Target,
    /// Where it is named; the first is where it was met first.
    pub places: Vec<Place>,
    /// Groups that it is in: `name`, or `source:name`.
    pub groups: Vec<Arc<str>>,
}

/// All that is known of a site's nodes.
#[derive(Debug, Clone, Default)]
pub struct Inventory {
    /// By name.
    hosts: BTreeMap<String, Host>,
    groups: groups::Table,
    config: Config,
    /// `ssh` options of the command line, which hold for all.
    options: Vec<String>,
    sudo: bool,
    /// The node that others are compared with.
    pub reference: Option<String>,
    /// What was looked at.
    pub sources: Vec<Place>,
    /// What does not fit together, or was not read.
    pub remarks: Vec<Remark>,
    /// What schedulers say of each node, where it was asked for.
    pub lists: Lists,
}

/// Why a set is no list of nodes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// No set of nodes.
    #[error(transparent)]
    Set(#[from] NodeSetError),
    /// A name that is no host.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A set that is empty in the end.
    #[error("{0:?} names no node")]
    Empty(String),
}

impl Inventory {
    /// Its nodes, in order of their names as sets have it.
    pub fn hosts(&self) -> impl Iterator<Item = &Host> {
        let names: NodeSet = self.hosts.keys().collect();
        names.iter().filter_map(|n| self.hosts.get(&n)).collect::<Vec<_>>().into_iter()
    }

    /// A node by its name.
    #[must_use]
    pub fn host(&self, name: &str) -> Option<&Host> {
        self.hosts.get(name)
    }

    /// Groups, with the nodes of each.
    pub fn groups(&self) -> impl Iterator<Item = (&Group, &NodeSet)> {
        self.groups.resolved()
    }

    /// The set that a text is here, with groups and wildcards.
    ///
    /// # Errors
    /// It is none.
    pub fn set(&self, text: &str) -> Result<NodeSet, NodeSetError> {
        parse(text, &self.groups)
    }

    /// The same, within what is left of a budget for several.
    ///
    /// # Errors
    /// It is none.
    pub fn set_within(&self, text: &str, budget: &mut Budget) -> Result<NodeSet, NodeSetError> {
        parse_within(text, &self.groups, budget)
    }

    /// The nodes of a set, with the way to each. What no source names is a host by itself: `local`, `root@node1:2222`, `node1=10.0.0.1`.
    ///
    /// # Errors
    /// It is no set, it is empty, or it has a name that is no host.
    pub fn targets(&self, text: &str) -> Result<Vec<Target>, TargetError> {
        // An IPv6 address in brackets is no range.
        if text.split('[').skip(1).any(|t| t.split(']').next().is_some_and(|inside| inside.contains(':'))) {
            return HostSpec::list(text)?.into_iter().map(|spec| Ok(self.stranger(spec.to_string(), spec))).collect();
        }
        let set = self.set(text)?;
        if set.is_empty() {
            return Err(TargetError::Empty(text.to_owned()));
        }
        let target = |name: String| match self.hosts.get(&name) {
            Some(host) => Ok(host.target.clone()),
            None => self.named(&name).map(|spec| self.stranger(name, spec)).map_err(TargetError::from),
        };
        set.iter().map(target).collect()
    }

    /// The way to a name of which no source knows more: that of all, where it is no way by itself.
    fn named(&self, name: &str) -> Result<HostSpec, HostError> {
        let spec: HostSpec = name.parse()?;
        let plain =
            matches!(&spec.way, Way::Ssh { destination, port: None } if destination == name && !name.contains('@'));
        match self.config.way.transport {
            Some(Carrier::Srun | Carrier::Kubectl) if plain && spec.address.is_none() => {
                merge::spec(name, &self.config.way)
            }
            _ => Ok(spec),
        }
    }

    /// A host that no source names.
    fn stranger(&self, name: String, mut spec: HostSpec) -> Target {
        let way = &self.config.way;
        merge::widen(&mut spec, way);
        Target {
            name,
            spec,
            sudo: self.sudo || way.sudo == Some(true),
            ssh_options: merge::options(&self.options, way),
        }
    }
}
