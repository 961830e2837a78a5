//! `--nodes SET`: some of the nodes that sources hold.

use crate::output::Failure;
use crate::sources::Member;
use clap::Args;
use linerate_fleet::NodeSet;
use linerate_fleet::nodeset::names_of;
use linerate_snapshot::dated;
use std::sync::{Mutex, PoisonError};

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct NodesArg {
    /// Only these nodes of the sources: gpu[001-128,130].
    ///
    /// In ClusterShell's syntax, such as 'gpu[1-8]!gpu7'.
    #[arg(long, value_name = "SET", conflicts_with = "on")]
    pub(crate) nodes: Option<String>,
}

/// Which nodes count, and which of them were met.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    /// `None`: all.
    set: Option<NodeSet>,
    met: Mutex<NodeSet>,
}

/// Why a node that was asked for says nothing.
pub(crate) const NO_SOURCE: &str = "no source has a node of this name";

impl NodesArg {
    pub(crate) fn read(&self) -> Result<Chosen, Failure> {
        let Some(text) = &self.nodes else { return Ok(Chosen::default()) };
        let set = names_of(text).map_err(|e| Failure::new(format!("--nodes {text}: {e}")))?;
        if set.is_empty() {
            return Err(Failure::new(format!("--nodes {text} names no node")));
        }
        Ok(Chosen { set: Some(set), met: Mutex::default() })
    }
}

impl Chosen {
    /// The set, where there is one.
    pub(crate) fn set(&self) -> Option<&NodeSet> {
        self.set.as_ref()
    }

    /// Whether a node of this name counts.
    pub(crate) fn takes(&self, name: &str) -> bool {
        let Some(set) = &self.set else { return true };
        let takes = set.contains(name);
        if takes {
            self.met.lock().unwrap_or_else(PoisonError::into_inner).insert(name);
        }
        takes
    }

    /// Without sources that are certainly of other nodes. An archive may hold nodes of other names than its own.
    pub(crate) fn of(&self, members: Vec<Member>) -> Vec<Member> {
        let may_hold = |m: &Member| !m.path.is_dir() && dated(&m.path.to_string_lossy()).is_none();
        members.into_iter().filter(|m| self.takes(&m.label) || may_hold(m)).collect()
    }

    /// Nodes that were asked for and not met.
    ///
    /// # Errors
    /// None of them was.
    pub(crate) fn missing(&self) -> Result<Vec<String>, Failure> {
        let Some(set) = &self.set else { return Ok(Vec::new()) };
        let met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        let rest = set.clone().difference(&met);
        if met.is_empty() {
            return Err(Failure::new(format!("--nodes: {NO_SOURCE}: {rest}"))
                .hint("a node is called by its directory or file; `linerate drift SOURCE --format json` names all"));
        }
        Ok(rest.iter().collect())
    }
}
