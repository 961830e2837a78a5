//! Lists of a cluster's nodes, one in a line: `sinfo` and `kubectl get nodes`. Of each whether its scheduler uses it, and why not.

mod hostlist;
mod kubectl;
mod sinfo;

pub use hostlist::{holds, is_one, names, parts};
pub use kubectl::{TOOL as KUBECTL, parse as parse_kubectl, shown as shown_kubectl};
pub use sinfo::{TOOL as SINFO, parse as parse_sinfo, shown as shown_sinfo};

use crate::bounds::{Kept, Limit, leave_out};
use serde::Serialize;

/// A row: one node, or nodes that Slurm lists together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// 1-based line.
    pub line: u32,
    /// Its name, or a list as Slurm writes it: `gpu[001-030]`.
    pub nodes: String,
    /// Its state, as it is written: `drain*`, `Ready,SchedulingDisabled`. Empty: the list is of nodes that are out of use, and does not say how.
    pub state: String,
    /// Whether new jobs or pods start there; `None`: the state does not say.
    pub used: Option<bool>,
    /// Why it is in its state, as somebody wrote it, where that is shown. Short lists cut it.
    pub reason: Option<String>,
}

/// Adds a row, or counts it as left out. A node is in each of its partitions: a row that says nothing new is dropped.
fn keep(out: &mut Kept<Row>, row: Row, most: usize) {
    let is_same = |r: &Row| r.nodes == row.nodes && r.state == row.state && r.reason == row.reason;
    if out.items.last().is_some_and(is_same) {
        return;
    }
    if out.items.len() < most {
        out.items.push(row);
    } else {
        leave_out(&mut out.left_out, Limit::CLUSTER_NODES, row.line);
    }
}

/// Rows at their lines, below a head.
fn write(rows: &[Row], count: u32, head: &dyn Fn(&Row) -> &'static str, each: &dyn Fn(&Row) -> String) -> String {
    let mut out = String::new();
    let mut at = 0;
    let mut last = "";
    for row in rows {
        // A head is on the line above; rows that follow each other have one.
        let head = head(row);
        while at + 1 < row.line {
            at += 1;
            if at + 1 == row.line && head != last {
                out.push_str(head);
                last = head;
            }
            out.push('\n');
        }
        out.push_str(&each(row));
        out.push('\n');
        at = row.line;
    }
    while at < count {
        out.push('\n');
        at += 1;
    }
    out
}
