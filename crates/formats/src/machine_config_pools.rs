//! `oc get mcp`: pools of OpenShift's machine configurations, and whether their nodes have what is asked for.

use crate::bounds::{CONFIG_POOLS, Kept, Limit, leave_out};
use crate::text::{decode, lines};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use serde::Serialize;

/// `oc get mcp`.
pub const TOOL: Tool = Tool {
    name: "machine-config-pools",
    called: "oc get mcp",
    run: "oc get mcp",
    gives: Gives::Facts,
    marks: &[Mark::line(is_head).begins(&["NAME "])],
    commands: &[
        Command::with("oc", &["get", "mcp"]),
        Command::with("oc", &["get", "machineconfigpool"]),
        Command::with("oc", &["get", "machineconfigpools"]),
    ],
    of_cluster: true,
    read: Some(|b| seen(parse(b))),
    samples: &[
        "NAME     CONFIG               UPDATED   UPDATING   DEGRADED   MACHINECOUNT   READYMACHINECOUNT\nworker   rendered-worker-1    False     True       False      8              5\n",
    ],
    ..Tool::NONE
};

/// A pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pool {
    /// 1-based line.
    pub line: u32,
    /// Its name: `worker`.
    pub name: String,
    /// All of its nodes have its configuration.
    pub updated: bool,
    /// Nodes are on their way to it.
    pub updating: bool,
    /// A node could not take it.
    pub degraded: bool,
    /// Nodes of the pool.
    pub machines: Option<u64>,
    /// Nodes that have its configuration.
    pub updated_machines: Option<u64>,
}

fn is_head(line: &str) -> bool {
    line.starts_with("NAME ") && line.contains(" DEGRADED") && line.contains(" MACHINECOUNT")
}

/// The pools of a list.
#[must_use]
pub fn parse(bytes: &[u8]) -> Kept<Pool> {
    let text = decode(bytes);
    let (mut out, mut head) = (Kept::default(), Vec::new());
    for (line, raw) in lines(&text) {
        let raw = raw.trim_start();
        if raw.starts_with("NAME ") {
            head = if is_head(raw) { raw.split_whitespace().take(32).map(str::to_owned).collect() } else { Vec::new() };
        } else if let Some(pool) = row(&head, raw, line) {
            if out.items.len() < CONFIG_POOLS {
                out.items.push(pool);
            } else {
                leave_out(&mut out.left_out, Limit::CONFIG_POOLS, line);
            }
        }
    }
    out
}

fn row(head: &[String], raw: &str, line: u32) -> Option<Pool> {
    let all: Vec<&str> = raw.split_whitespace().take(32).collect();
    // A pool that is new has no configuration yet; behind it all columns have values.
    let word = |name: &str| {
        let from_end = head.len() - head.iter().position(|h| h == name)?;
        all.get(all.len().checked_sub(from_end)?).copied()
    };
    let flag = |name: &str| word(name).and_then(|w| crate::text::flag(w, "True", "False"));
    let number = |name: &str| word(name).and_then(|w| w.parse().ok());
    Some(Pool {
        line,
        name: (*all.first()?).to_owned(),
        updated: flag("UPDATED")?,
        updating: flag("UPDATING")?,
        degraded: flag("DEGRADED")?,
        machines: number("MACHINECOUNT"),
        updated_machines: number("UPDATEDMACHINECOUNT"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pools() {
        let text = "\
NAME     CONFIG                    UPDATED   UPDATING   DEGRADED   MACHINECOUNT   READYMACHINECOUNT   UPDATEDMACHINECOUNT   DEGRADEDMACHINECOUNT   AGE
master   rendered-master-0a1b2c    True      False      False      3              3                   3                     0                      57d
worker   rendered-worker-3d4e5f    False     True       True       8              5                   5                     1                      57d
gpu                                False     True       False      2              0                   0                     0                      1m
x is neither False nor True
NAME   READY   STATUS
a      False   False   False   1   1   1   1   1d
";
        let all = parse(text.as_bytes()).items;
        let got: Vec<_> = all.iter().map(|p| (p.line, p.name.as_str(), p.updated, p.updating, p.degraded)).collect();
        let want =
            [(2, "master", true, false, false), (3, "worker", false, true, true), (4, "gpu", false, true, false)];
        assert_eq!(got, want);
        assert_eq!((all[1].machines, all[1].updated_machines), (Some(8), Some(5)));
        assert!(parse(b"NAME DEGRADED MACHINECOUNT\na\n").items.is_empty());
    }
}
