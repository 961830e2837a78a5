//! Rows of lists of a cluster's nodes, and of its pools of configurations.

use super::own::Who;
use crate::cut::{self, Cut};
use linerate_formats::machine_config_pools::{self, Pool};
use linerate_formats::node_list::{self, Row};
use linerate_snapshot::{OutputKind, Place, Snapshot};
use std::collections::HashSet;

/// A row, and where it is.
#[derive(Debug, Clone)]
pub struct RowAt {
    /// The row.
    pub row: Row,
    /// Whose list it is: `Slurm`, `Kubernetes`.
    pub of: &'static str,
    /// It names this node.
    pub is_own: bool,
    /// Its line.
    pub place: Place,
}

/// A pool, and where it is.
#[derive(Debug, Clone)]
pub struct PoolAt {
    /// The pool.
    pub pool: Pool,
    /// Its line.
    pub place: Place,
}

/// The node's own rows of a list; where none is, all: the list is of nodes that the source does not name.
pub(super) fn rows(s: &Snapshot, cuts: &mut Vec<Cut>) -> Vec<RowAt> {
    let mut out = Vec::new();
    let mut names: Option<Vec<String>> = None;
    for o in &s.outputs {
        let (kept, of) = match o.kind {
            OutputKind::Sinfo => (node_list::parse_sinfo(s.data(o.entry)), "Slurm"),
            OutputKind::KubectlNodes => (node_list::parse_kubectl(s.data(o.entry)), "Kubernetes"),
            _ => continue,
        };
        cut::note(cuts, o.entry, &kept.left_out);
        let names = names.get_or_insert_with(|| known_names(s));
        let is_own = |row: &Row| names.iter().any(|n| is_it(&row.nodes, n));
        let some_own = kept.items.iter().any(is_own);
        let rows = kept.items.into_iter().filter(|row| !some_own || is_own(row));
        out.extend(rows.map(|row| RowAt { place: Place::of(o.entry).line(row.line), row, of, is_own: some_own }));
    }
    out
}

/// Names of this node, without and with its domain.
fn known_names(s: &Snapshot) -> Vec<String> {
    let mut all = Who::of(s).names;
    let short: Vec<String> = all.iter().filter_map(|n| n.split_once('.')).map(|(n, _)| n.to_owned()).collect();
    all.extend(short.into_iter().filter(|n| !n.is_empty()));
    all
}

/// Whether a list holds a name. The one name of a row may have a domain that the node's does not have.
fn is_it(list: &str, name: &str) -> bool {
    let short = list.split('.').next().unwrap_or(list);
    node_list::holds(list, name) || node_list::is_one(list) && short.eq_ignore_ascii_case(name)
}

pub(super) fn pools(s: &Snapshot, cuts: &mut Vec<Cut>) -> Vec<PoolAt> {
    let (mut out, mut seen) = (Vec::new(), HashSet::new());
    for o in s.outputs.iter().rev().filter(|o| o.kind == OutputKind::MachineConfigPools) {
        let kept = machine_config_pools::parse(s.data(o.entry));
        cut::note(cuts, o.entry, &kept.left_out);
        // What was added later is newer; of a list that is printed again and again (`-w`) the last row counts.
        let new: Vec<Pool> = kept.items.into_iter().rev().filter(|p| seen.insert(p.name.clone())).collect();
        out.extend(new.into_iter().rev().map(|pool| PoolAt { place: Place::of(o.entry).line(pool.line), pool }));
    }
    out
}
