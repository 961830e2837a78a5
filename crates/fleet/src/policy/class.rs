//! Which nodes a class of a policy is about.

use super::Policy;
use crate::Traits;
use crate::nodeset::{Budget, NodeSet, NodeSetError};
use linerate_formats::bounds::{NODESET_NODES, NODESET_WORK};
use linerate_formats::wildcard;
use linerate_node::context::Role;

/// Patterns of what hardware is made of, by [`Traits`]; `*` is any run of characters, letters of either case are the same. Empty: any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Match {
    /// Vendor and product of the system.
    pub board: String,
    /// Model of the processors.
    pub cpu: String,
    /// Models of the GPUs.
    pub gpus: String,
    /// Models of the RDMA NICs.
    pub nics: String,
    /// What kind of node it is; `None`: any.
    pub role: Option<Role>,
    /// Which nodes, as a set of names and groups: `gpu[001-064]!@login`. Empty: any.
    pub nodes: String,
    /// The names that this comes to; `None` where groups have a part in it and nobody has said yet which nodes they are.
    pub members: Option<NodeSet>,
}

/// A set of nodes of a class that comes to none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    /// It cannot be read, or names a group that nobody knows.
    #[error("class {class}: {why}")]
    Set {
        /// The class.
        class: String,
        /// What is wrong.
        #[source]
        why: NodeSetError,
    },
    /// It is empty in the end.
    #[error("class {class}: {nodes:?} names no node")]
    Empty {
        /// The class.
        class: String,
        /// The set.
        nodes: String,
    },
}

impl Policy {
    /// Whether it names groups of nodes, and nobody has said yet which nodes they are.
    #[must_use]
    pub fn needs_groups(&self) -> bool {
        self.classes.iter().any(|c| c.matches.needs_groups())
    }

    /// Learns which nodes its classes are about. `read` reads a set with groups, within a budget for all of them.
    ///
    /// # Errors
    /// What is wrong with the set of the first class that has none.
    pub fn resolve(
        &mut self,
        read: impl Fn(&str, &mut Budget) -> Result<NodeSet, NodeSetError>,
    ) -> Result<(), Unresolved> {
        let mut budget = Budget { names: NODESET_NODES, work: NODESET_WORK };
        for class in self.classes.iter_mut().filter(|c| c.matches.needs_groups()) {
            let nodes = &class.matches.nodes;
            let name = || class.name.clone();
            let set = read(nodes, &mut budget).map_err(|why| Unresolved::Set { class: name(), why })?;
            if set.is_empty() {
                return Err(Unresolved::Empty { class: name(), nodes: nodes.clone() });
            }
            class.matches.members = Some(set);
        }
        Ok(())
    }
}

/// Kinds of nodes, as a policy names them.
pub(super) const ROLES: [(&str, Role); 3] =
    [("bare-metal", Role::BareMetal), ("vm-host", Role::VmHost), ("vm-guest", Role::VmGuest)];

/// Whether a node is of a class.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// It is of another one, by this trait.
    No(&'static str),
    /// What its source shows fits; these it does not show.
    Perhaps(Vec<&'static str>),
    /// It is.
    Yes,
}

impl Match {
    /// Names and patterns.
    pub fn parts(&self) -> [(&'static str, &str); 6] {
        let role = ROLES.iter().find(|(_, r)| Some(*r) == self.role).map_or("", |(word, _)| word);
        [
            ("board", &self.board),
            ("cpu", &self.cpu),
            ("gpus", &self.gpus),
            ("nics", &self.nics),
            ("role", role),
            ("nodes", &self.nodes),
        ]
    }

    fn needs_groups(&self) -> bool {
        !self.nodes.is_empty() && self.members.is_none()
    }

    /// Whether a node of this name, hardware and kind fits.
    #[must_use]
    pub fn fits(&self, name: &str, traits: &Traits, role: Option<Role>) -> Fit {
        let has = [&traits.board, &traits.cpu, &traits.gpus, &traits.nics];
        let mut unseen = Vec::new();
        match &self.members {
            Some(set) if set.contains(name) => {}
            None if self.nodes.is_empty() => {}
            // Nor is a node of groups that nobody knows.
            _ => return Fit::No("nodes"),
        }
        match (self.role, role) {
            (Some(wanted), Some(seen)) if wanted != seen => return Fit::No("role"),
            (Some(_), None) => unseen.push("role"),
            _ => {}
        }
        for ((name, pattern), seen) in self.parts().into_iter().zip(has) {
            match seen {
                _ if pattern.is_empty() => {}
                None => unseen.push(name),
                Some(seen) => {
                    let (pattern, seen) = (pattern.to_lowercase(), seen.to_lowercase());
                    if !wildcard::star(pattern.as_bytes(), seen.as_bytes()) {
                        return Fit::No(name);
                    }
                }
            }
        }
        if unseen.is_empty() { Fit::Yes } else { Fit::Perhaps(unseen) }
    }
}
