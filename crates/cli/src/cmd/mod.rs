//! One file per command.

pub(crate) mod audit;
pub(crate) mod bench;
pub(crate) mod collect;
mod collect_on;
pub(crate) mod diff;
pub(crate) mod doctor;
mod doctor_feed;
mod doctor_walk;
pub(crate) mod drift;
mod drift_since;
pub(crate) mod env;
pub(crate) mod explain;
pub(crate) mod fleet;
pub(crate) mod index;
pub(crate) mod located;
pub(crate) mod nodes;
pub(crate) mod pages;
pub(crate) mod policy;
pub(crate) mod redact;
pub(crate) mod remedy;
pub(crate) mod rules;
pub(crate) mod shell;
pub(crate) mod topo;
mod topo_node;
mod topo_source;
pub(crate) mod vm;
pub(crate) mod watch;

/// Refuses a `--root` that is no root of a system: a directory of other things would be read as something else.
fn must_be_root(root: Option<&std::path::Path>) -> Result<(), crate::Failure> {
    let Some(root) = root.filter(|r| r.is_dir() && !linerate_snapshot::is_snapshot_dir(r)) else { return Ok(()) };
    let why = format!("{} is not the root of a system: it has neither sys/ nor proc/", root.display());
    Err(crate::Failure::new(why).hint("without --root, a directory of snapshots, trees or texts is read"))
}
