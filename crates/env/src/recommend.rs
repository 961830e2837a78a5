//! What this node needs with this release: mostly nothing.

use crate::context::{Context, Fabric};
use crate::facts::{Distance, NodeFacts};
use crate::judge::Severity;
use serde::Serialize;

/// A variable to set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recommended {
    /// Name.
    pub name: &'static str,
    /// Value.
    pub value: String,
    /// Why.
    pub reason: String,
    /// On what condition; `None`: without one. What has a condition is printed as a comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Where that is written.
    pub sources: Vec<String>,
}

/// What a node needs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Recommendation {
    /// Variables; often none.
    pub set: Vec<Recommended>,
    /// What could not be decided, and what would decide it.
    pub open: Vec<String>,
    /// What was looked at and needs nothing.
    pub not_needed: Vec<String>,
}

/// The least that a node needs with a release.
#[must_use]
pub fn recommend(context: &Context) -> Recommendation {
    let mut out = Recommendation::default();
    if context.is_rccl() {
        out.open.push("AMD's RCCL reads these variables: linerate does not know what it needs".to_owned());
        return out;
    }
    let Some(node) = &context.node else {
        out.open.push("which NICs are for the job, and how far GPUs are from them: add --node SNAPSHOT".to_owned());
        if context.nccl.is_none() {
            out.open.push("which release of NCCL runs: add --nccl".to_owned());
        }
        out.not_needed.push("without a node nothing is recommended: NCCL's defaults are right on most".to_owned());
        return out;
    };
    devices(node, &mut out);
    level(context, node, &mut out);
    gid(context, node, &mut out);
    interface(node, &mut out);
    out
}

/// `a, b and c`; of long lists the beginning.
fn list_of(names: &[&str]) -> String {
    crate::judge::words(names)
}

fn cite(name: &str) -> Vec<String> {
    crate::lookup(name).map(crate::Variable::cited).unwrap_or_default()
}

fn devices(node: &NodeFacts, out: &mut Recommendation) {
    if node.nics.is_none() {
        out.open.push("RDMA devices are not in this source".to_owned());
        return;
    }
    if let Some(wanted) = node.wanted() {
        let others: Vec<&str> = node.active().filter(|n| n.compute == Some(false)).map(|n| n.name.as_str()).collect();
        // A device of which only some ports are active is the same to NCCL: it passes over the others.
        let list: Vec<&str> = wanted.iter().map(|n| n.name.as_str()).collect();
        out.set.push(Recommended {
            name: "NCCL_IB_HCA",
            value: format!("={}", list.join(",")),
            reason: format!("NCCL would also take {}: active, but near no GPU or much slower", list_of(&others)),
            condition: None,
            sources: cite("NCCL_IB_HCA"),
        });
    } else if node.active().any(|n| n.compute.is_none()) {
        let slow: Vec<&str> = node.active().filter(|n| n.compute.is_none()).map(|n| n.name.as_str()).collect();
        let why = if node.nearest.is_empty() || node.nearest.contains(&Distance::Unknown) {
            "the source does not show how GPUs and NICs are connected".to_owned()
        } else {
            format!("{}: lower rate than others of its kind near it, which is a fault or another use", list_of(&slow))
        };
        out.open.push(format!("which RDMA devices are for the job ({why})"));
    } else if node.active().next().is_some() {
        out.not_needed.push("NCCL_IB_HCA: all RDMA devices with active ports are near GPUs".to_owned());
    }
}

fn level(context: &Context, node: &NodeFacts, out: &mut Recommendation) {
    if matches!(context.fabric(), Some(Fabric::None)) {
        return;
    }
    match node.behind_root_ports() {
        Some(true) if node.c2c == Some(true) => {}
        Some(true) if node.no_gpudirect => {
            out.not_needed.push("NCCL_NET_GDR_LEVEL: no GPUDirect RDMA here at any distance".to_owned());
        }
        Some(true) => out.set.push(Recommended {
            name: "NCCL_NET_GDR_LEVEL",
            value: "PHB".to_owned(),
            reason: format!(
                "{}GPUs and their nearest NICs are in one NUMA node, but below different root ports (PHB), which NCCL's default (PXB) \
                     leaves without GPUDirect RDMA",
                if node.by_file { "by the topology file " } else { "" }
            ),
            condition: Some("only if all_reduce_perf across nodes is faster with it than without".to_owned()),
            sources: cite("NCCL_NET_GDR_LEVEL"),
        }),
        Some(false) if node.nearest.contains(&Distance::Sys) => out.open.push(
            "the nearest NIC of some GPU is across the CPUs' interconnect: a level would rarely help; see `linerate topo`".to_owned(),
        ),
        Some(false) => {
            let by = if node.by_file { " by the topology file" } else { "" };
            out.not_needed.push(format!("NCCL_NET_GDR_LEVEL: the default reaches the NICs nearest to each GPU{by}"));
        }
        None => out.open.push("how far GPUs are from NICs is not in this source".to_owned()),
    }
}

fn gid(context: &Context, node: &NodeFacts, out: &mut Recommendation) {
    if !matches!(context.fabric(), Some(Fabric::Roce | Fabric::Mixed)) {
        return;
    }
    match context.since(2, 21) {
        Some(true) => {
            out.not_needed.push("NCCL_IB_GID_INDEX: since 2.21 NCCL finds the RoCE v2 entry by itself".to_owned())
        }
        None => {
            out.open.push("NCCL_IB_GID_INDEX is needed up to 2.20 only: which release runs is not known".to_owned())
        }
        Some(false) => {
            let ports = node
                .active()
                .filter(|n| n.compute != Some(false))
                .flat_map(|n| &n.ports)
                .filter(|p| p.active == Some(true));
            let tables: Option<Vec<&Vec<u32>>> = ports.map(|p| p.roce_v2_ipv4.as_ref()).collect();
            let common = tables.as_ref().and_then(|t| {
                let (first, rest) = t.split_first()?;
                first.iter().find(|i| rest.iter().all(|r| r.contains(i)))
            });
            match common {
                Some(i) => out.set.push(Recommended {
                    name: "NCCL_IB_GID_INDEX",
                    value: i.to_string(),
                    reason: "up to 2.20 NCCL takes entry 0, mostly RoCE v1; this is a RoCE v2 entry with an IPv4 address on every port of the job".to_owned(),
                    condition: Some("only where show_gids has it on every node".to_owned()),
                    sources: cite("NCCL_IB_GID_INDEX"),
                }),
                None if tables.is_none() => out.open.push("GID tables are not in this source: NCCL up to 2.20 needs NCCL_IB_GID_INDEX on RoCE".to_owned()),
                None => out.open.push("no index is RoCE v2 with an IPv4 address on every port: use NCCL 2.21 or later, which looks for each port".to_owned()),
            }
        }
    }
}

fn interface(node: &NodeFacts, out: &mut Recommendation) {
    let Some(all) = &node.interfaces else {
        out.open.push("network interfaces are not in this source".to_owned());
        return;
    };
    let candidates: Vec<&str> = all
        .iter()
        .filter(|i| i.up == Some(true) && !i.enslaved && !i.is_last_resort())
        .map(|i| i.name.as_str())
        .collect();
    // NCCL takes ib* first, and else all that have an address, in the system's order.
    let first: Vec<&str> = candidates.iter().copied().filter(|n| n.starts_with("ib")).collect();
    match (first.as_slice(), candidates.as_slice()) {
        ([], []) => out.open.push("no network interface is up in this source".to_owned()),
        ([_], _) | (_, [_]) => out.not_needed.push("NCCL_SOCKET_IFNAME: there is one interface that NCCL would take".to_owned()),
        _ => out.open.push(format!(
            "NCCL_SOCKET_IFNAME: {} are up, and which of them reaches the other nodes is not visible from here; if the log's `OOB` interface is the \
             wrong one, set NCCL_SOCKET_IFNAME==NAME",
            list_of(&candidates)
        )),
    }
}

impl Recommendation {
    /// Variables to set without a condition.
    pub fn certain(&self) -> impl Iterator<Item = &Recommended> {
        self.set.iter().filter(|r| r.condition.is_none())
    }

    /// How much a missing one weighs.
    #[must_use]
    pub fn severity(&self) -> Severity {
        if self.certain().next().is_some() { Severity::Medium } else { Severity::Info }
    }
}
