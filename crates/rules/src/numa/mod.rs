//! Distance of GPUs and NICs, and NUMA nodes.

mod balancing;
mod cross_socket_nic;
mod no_shared_switch;
mod node_unknown;
mod nps;

use crate::rule::{Rule, Source};

pub(crate) static RULES: &[&Rule] =
    &[&node_unknown::RULE, &cross_socket_nic::RULE, &no_shared_switch::RULE, &balancing::RULE, &nps::RULE];

const NCCL_PATHS: Source = Source {
    title: "NCCL src/graph/paths.cc: ncclTopoSetPaths, ncclTopoCheckGdr (default level PXB; P2C since 2.29)",
    at: "https://github.com/NVIDIA/nccl/blob/master/src/graph/paths.cc",
};

/// Names of functions for a message, at most three.
fn names(cx: &crate::Cx<'_>, ids: &[linerate_node::pci::FnId]) -> String {
    let pci = &cx.node.pci;
    let mut out: Vec<String> = ids
        .iter()
        .take(3)
        .map(|id| {
            let f = pci.get(*id);
            match cx.node.rdma_of(f) {
                Some(d) => format!("{} ({})", f.bdf, d.name),
                None => f.bdf.to_string(),
            }
        })
        .collect();
    if ids.len() > 3 {
        out.push(format!("{} more", ids.len() - 3));
    }
    out.join(", ")
}
