//! The plans that this operator applied, and on which nodes: what `apply --resume` and `rollback` go by. Nodes are never asked what a plan is.
//!
//! ```text
//! DIR/DIGEST.plan            as it was read, byte for byte
//! DIR/DIGEST.sig             its signature, where it has one
//! DIR/DIGEST.NODE.run        when it was begun on this node, with which steps, what was there before acts beside the node, and how it ended
//! DIR/lock                   held by the one that writes
//! ```
//!
//! Who can write there can have anything undone: the directory is the operator's alone (0700, files 0600), and no link is followed.

mod file;
mod prune;
mod record;

pub use prune::Pruned;
pub use record::{How, Record};

use file::Dir;
use linerate_remedy::{NodeId, Plan, sha256};
use std::path::{Path, PathBuf};

/// Longest plan.
const MOST: u64 = 64 << 20;
/// Files of the store that are looked at.
const FILES: usize = 100_000;

/// Why the store cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Somebody else could have written there.
    #[error(
        "{path} is not trusted as the place of this operator's plans: {why}. Check who made it; then correct owner and permissions (0700, files 0600), or move it away"
    )]
    Foreign {
        /// Path.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// It cannot be read or written.
    #[error("{path}: {why}")]
    Io {
        /// Path.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Its content is not what its name says.
    #[error("{path} is damaged ({why}): remove it, and name the plan's own file")]
    Damaged {
        /// Path.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Another process holds it.
    #[error(
        "{path} is locked by another linerate, which is writing or was stopped: find it with `fuser {path}`, and try again"
    )]
    Busy {
        /// The file that is locked.
        path: PathBuf,
    },
    /// More than one plan begins so.
    #[error("more than one plan stored here begins with {0}: give more of its digest")]
    Ambiguous(String),
}

type Stored<T> = Result<T, StoreError>;

/// The store.
#[derive(Debug)]
pub struct Plans {
    dir: Dir,
}

impl Plans {
    /// Opens the store in a directory, which is made where it is not there.
    ///
    /// # Errors
    /// It belongs to somebody else, or is open to others.
    pub fn open(dir: &Path) -> Stored<Plans> {
        Ok(Plans { dir: Dir::open(dir)? })
    }

    /// Keeps a plan, as it was read, with its signature.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(&self, plan: &Plan, bytes: &[u8], signature: Option<&[u8]>) -> Stored<()> {
        self.dir.write(&format!("{}.plan", plan.hash), bytes)?;
        signature.map_or(Ok(()), |s| self.dir.write(&format!("{}.sig", plan.hash), s))
    }

    /// The plan of a digest, with the bytes that it was read from and its signature. `None`: it was never applied from here.
    ///
    /// # Errors
    /// It cannot be read, or is not the plan of that digest.
    pub fn plan(&self, hash: &str) -> Stored<Option<Held>> {
        if hash.len() != 64 || !hash.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Ok(None);
        }
        let name = format!("{hash}.plan");
        let Some(bytes) = self.dir.read(&name, MOST)? else { return Ok(None) };
        let damaged = |why: String| StoreError::Damaged { path: self.dir.path(&name), why };
        let plan = Plan::read(&bytes).map_err(|e| damaged(e.to_string()))?;
        if plan.hash != hash {
            return Err(damaged(format!("it holds plan {}", plan.hash)));
        }
        let signature = self.dir.read(&format!("{hash}.sig"), 1 << 20)?;
        Ok(Some(Held { plan, bytes, signature }))
    }

    /// The plan whose digest begins so.
    ///
    /// # Errors
    /// As [`Plans::plan`]; or there is more than one.
    pub fn plan_like(&self, prefix: &str) -> Stored<Option<Held>> {
        let names = self.dir.names(FILES)?;
        let mut hashes = names.iter().filter_map(|n| n.strip_suffix(".plan")).filter(|h| h.starts_with(prefix));
        match (hashes.next(), hashes.next()) {
            (Some(hash), None) => self.plan(hash),
            (Some(_), Some(_)) => Err(StoreError::Ambiguous(prefix.to_owned())),
            (None, _) => Ok(None),
        }
    }

    /// The operator's record of a plan on a node; `None`: it was never applied to that node from here.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn record(&self, node: &str, hash: &str) -> Stored<Option<Record>> {
        Record::read(&self.dir, &run(node, hash))
    }

    /// The record of the plan that was applied to a node last.
    ///
    /// # Errors
    /// One of its records cannot be read.
    pub fn last(&self, node: &str) -> Stored<Option<Record>> {
        let end = format!(".{}.run", key(node));
        let mut last: Option<Record> = None;
        for name in self.dir.names(FILES)?.iter().filter(|n| n.ends_with(&end)) {
            if let Some(record) = Record::read(&self.dir, name)?.filter(|r| r.node() == node)
                && last.as_ref().is_none_or(|l| l.since() <= record.since())
            {
                last = Some(record);
            }
        }
        Ok(last)
    }

    /// Records of the machine that answers as `node` now, under other names: of plans that were made of a machine with this id, and with this host key
    /// where both are known. The last begun first. A record that cannot be read is left out: it is refused where it is used.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn other_names(&self, node: &str, id: &NodeId) -> Stored<Vec<Record>> {
        let is_same = |plan: &NodeId| {
            let other_key = plan.host_key.is_some() && id.host_key.is_some() && plan.host_key != id.host_key;
            plan.machine.is_some() && plan.machine == id.machine && !other_key
        };
        let of_it = |r: &Record| matches!(self.plan(&r.plan()), Ok(Some(held)) if is_same(&held.plan.node));
        self.records(|r| r.node() != node && of_it(r))
    }

    /// Records of a plan under other names than this one. The last begun first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn other_names_of(&self, node: &str, hash: &str) -> Stored<Vec<Record>> {
        self.records(|r| r.node() != node && r.plan() == hash)
    }

    fn records(&self, wanted: impl Fn(&Record) -> bool) -> Stored<Vec<Record>> {
        let names = self.dir.names(FILES)?;
        let read = |name: &String| Record::read(&self.dir, name).ok().flatten();
        let mut found: Vec<Record> =
            names.iter().filter(|n| n.ends_with(".run")).filter_map(read).filter(wanted).collect();
        found.sort_by_key(|r| std::cmp::Reverse(r.since()));
        Ok(found)
    }

    /// A record of a plan on a node, with these steps (none: all, or those of an earlier record). The driver writes it when it begins.
    ///
    /// # Errors
    /// An earlier one cannot be read.
    pub fn prepare(&self, node: &str, plan: &Plan, steps: &[String], who: &str) -> Stored<Record> {
        Record::prepared(&self.dir, &run(node, &plan.hash), node, plan, steps, who)
    }
}

/// A plan that is held here.
#[derive(Debug)]
pub struct Held {
    /// The plan.
    pub plan: Plan,
    /// As it was read.
    pub bytes: Vec<u8>,
    /// Its detached signature.
    pub signature: Option<Vec<u8>>,
}

fn run(node: &str, hash: &str) -> String {
    format!("{hash}.{}.run", key(node))
}

/// A node's name in a file's name: readable, and never another node's.
fn key(node: &str) -> String {
    let plain: String =
        node.chars().map(|c| if c.is_ascii_alphanumeric() || "-_@".contains(c) { c } else { '_' }).collect();
    let tail: String = plain.chars().rev().take(40).collect::<Vec<_>>().into_iter().rev().collect();
    format!("{tail}-{}", sha256(node.as_bytes()).get(..16).unwrap_or_default())
}

#[cfg(test)]
mod tests;
