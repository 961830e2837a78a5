//! What Slurm's controller says of nodes: `scontrol show node`, as text, in one line each (`--oneliner`), or as JSON.
//!
//! Forms: `slurm_sprint_node_table` of Slurm's `src/api/node_info.c` (17.02 to 25.05), and the objects of `scontrol show node --json`.

pub mod gres;
mod json;
mod lines;
mod state;

pub use state::{state_words, used};

use crate::bounds::{Kept, Limit};
use crate::text::{At, decode};
use crate::tool::{Command, Gives, Mark, Tool, seen};
use gres::Gres;
use serde::Serialize;
use std::fmt::Write;

/// `scontrol show node`.
pub const TOOL: Tool = Tool {
    name: "slurm-nodes",
    called: "scontrol show node",
    run: "scontrol show node $(hostname -s)",
    gives: Gives::Facts,
    marks: &[
        Mark::line(|l| l.starts_with("NodeName=") && (l.contains(" Arch=") || l.contains(" CoresPerSocket=")))
            .begins(&["NodeName="]),
        Mark::line_with(|l| l.starts_with("NodeName="), "AvailableFeatures=").begins(&["NodeName="]),
        Mark::json(|text| text.contains("\"gres\"") && text.contains("\"active_features\"")),
    ],
    commands: &[Command::with("scontrol", &["show", "node"]), Command::with("scontrol", &["show", "nodes"])],
    files: &["scontrol_show_node", "scontrol-show-node"],
    read: Some(|b| seen(read(b))),
    samples: &[
        "NodeName=gpu7 Arch=x86_64 CoresPerSocket=56 \n   CPUAlloc=0 CPUEfctv=224 CPUTot=224 CPULoad=0.02\n   AvailableFeatures=h100,ib\n   ActiveFeatures=h100,ib\n   Gres=gpu:h100:8(S:0-1)\n   State=IDLE ThreadsPerCore=2 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A\n\n",
        "Node data as of 2026-11-20T10:00:00, record count 1\nNodeName=gpu7 CoresPerSocket=1    CPUAlloc=0 CPUTot=1 CPULoad=N/A    AvailableFeatures=(null)    ActiveFeatures=(null)    Gres=gpu:8    State=DOWN*+DRAIN \n",
        "{\n  \"nodes\": [ { \"name\": \"gpu7\", \"gres\": \"gpu:8\", \"active_features\": [\"ib\"], \"state\": [\"IDLE\", \"DRAIN\"] } ]\n}\n",
    ],
    ..Tool::NONE
};

/// A node as the controller knows it. A line of 0: the text has no lines of its own for it (JSON).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Node {
    /// 1-based line on which it begins.
    pub line: u32,
    /// Its name in Slurm.
    pub name: String,
    /// Its host name, where it is said.
    pub hostname: Option<String>,
    /// Base state and flags: `IDLE`, `DRAIN`, `NOT_RESPONDING`.
    pub state: Option<At<Vec<String>>>,
    /// Features that it can have.
    pub available: Option<At<Vec<String>>>,
    /// Features that it has now.
    pub active: Option<At<Vec<String>>>,
    /// Generic resources that are configured.
    pub gres: Option<At<Vec<Gres>>>,
    /// Of those the ones that jobs use.
    pub used: Option<At<Vec<Gres>>>,
    /// Why it is in its state, without who said it.
    pub reason: Option<At<String>>,
    /// Unix-like time at which that was said, as Slurm prints it.
    pub reason_time: Option<String>,
    /// `RealMemory`, MiB.
    pub memory_mib: Option<At<u64>>,
    /// `CPUTot`.
    pub cpus: Option<At<u64>>,
    /// `Sockets`.
    pub sockets: Option<At<u64>>,
    /// `Boards`.
    pub boards: Option<At<u64>>,
}

/// The nodes of a text. Of a node that it shows twice both are listed; what is no node is passed over.
#[must_use]
pub fn read(bytes: &[u8]) -> Kept<Node> {
    let text = decode(bytes);
    let mut out = match text.trim_start().as_bytes() {
        [b'{' | b'[', ..] => json::read(&text),
        _ => lines::read(&text),
    };
    out.left_out.retain(|l| l.count > 0);
    out
}

/// Adds a node, or counts it as left out.
fn keep(out: &mut Kept<Node>, node: Node) {
    if out.items.len() < Limit::CLUSTER_NODES.value() as usize {
        out.items.push(node);
    } else {
        crate::bounds::leave_out(&mut out.left_out, Limit::CLUSTER_NODES, node.line);
    }
}

impl Node {
    /// What is read of it, as `scontrol` writes it: [`read`] gives the same node again. Who gave the reason is not in it.
    #[must_use]
    pub fn write(&self) -> String {
        let list = |all: &[String]| if all.is_empty() { "(null)".to_owned() } else { all.join(",") };
        let gres = |all: &[Gres]| match all {
            [] => "(null)".to_owned(),
            all => all.iter().map(|g| format!("{}:{}", g.key(), g.count)).collect::<Vec<_>>().join(","),
        };
        let number = |n: &Option<At<u64>>| n.as_ref().map(|n| n.value.to_string());
        let mut out = format!("NodeName={} ", self.name);
        let fields = [
            ("CPUTot", number(&self.cpus)),
            ("AvailableFeatures", self.available.as_ref().map(|f| list(&f.value))),
            ("ActiveFeatures", self.active.as_ref().map(|f| list(&f.value))),
            ("Gres", self.gres.as_ref().map(|g| gres(&g.value))),
            ("GresUsed", self.used.as_ref().map(|g| gres(&g.value))),
            ("NodeHostName", self.hostname.clone()),
            ("RealMemory", number(&self.memory_mib)),
            ("Sockets", number(&self.sockets)),
            ("Boards", number(&self.boards)),
            ("State", self.state.as_ref().map(|s| s.value.join("+"))),
        ];
        for (key, value) in fields {
            if let Some(value) = value {
                let _ = write!(out, "\n   {key}={value}");
            }
        }
        if let Some(reason) = &self.reason {
            let time = self.reason_time.as_ref().map_or_else(String::new, |t| format!(" [@{t}]"));
            let _ = write!(out, "\n   Reason={}{time}", reason.value);
        }
        // The mark by which it is recognised.
        if self.available.is_none() {
            out.push_str("\n   AvailableFeatures=(null)");
        }
        out.push_str("\n\n");
        out
    }
}

#[cfg(test)]
mod tests;
