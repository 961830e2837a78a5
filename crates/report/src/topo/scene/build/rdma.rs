//! Which network devices GPUs use, and whether directly.

use super::super::{DirectRdma, Scene};
use linerate_topology::Analysis;
use linerate_topology::gdr::Gdr;
use linerate_topology::system::{NodeId, NodeKind, System};
use std::collections::HashMap;

/// Fills in [`super::super::Gpu::nics`] and what goes with it. `shown` may be another graph than the one that was judged, where
/// NCCL cuts a host: nodes are known by their identity then.
pub(super) fn decide(
    scene: &mut Scene,
    analysis: &Analysis,
    shown: &System,
    gpus: &HashMap<NodeId, usize>,
    nets: &HashMap<NodeId, usize>,
) {
    let ids = |kind| shown.of(kind).iter().filter_map(|id| Some((shown.node(*id)?.id, *id)));
    let net_by_id: HashMap<i64, usize> = ids(NodeKind::Net).filter_map(|(n, id)| Some((n, *nets.get(&id)?))).collect();
    let place = |net: NodeId| net_by_id.get(&analysis.system.node(net)?.id).copied();
    let mut gpu_by_rank: HashMap<i32, usize> = HashMap::new();
    for (_, g) in shown.gpus() {
        if let Some(at) = gpus.get(&g.parent) {
            gpu_by_rank.entry(g.rank).or_insert(*at);
        }
    }
    let mut decisions: HashMap<(i32, NodeId), &Gdr> = HashMap::new();
    for g in &analysis.gdr {
        decisions.entry((g.rank, g.net)).or_insert(g);
    }
    for local in &analysis.local_nets {
        let Some(gpu) = gpu_by_rank.get(&local.rank).and_then(|at| scene.gpus.get_mut(*at)) else { continue };
        // Nothing is drawn that hangs on an assumption.
        if !analysis.open_for_local(local).is_empty() {
            continue;
        }
        let own: Vec<&Gdr> = local.channels.iter().filter_map(|n| decisions.get(&(local.rank, *n)).copied()).collect();
        for net in local.channels.iter().filter_map(|n| place(*n)) {
            if !gpu.nics.contains(&net) {
                gpu.nics.push(net);
            }
        }
        if !own.is_empty() && gpu.distance.is_none() {
            gpu.distance = Some(local.kind.name());
            if own.iter().all(|g| analysis.open_for_gdr(g).is_empty()) {
                gpu.direct_rdma = judge(&own);
            }
        }
    }
}

fn judge(own: &[&Gdr]) -> DirectRdma {
    let ways = || own.iter().flat_map(|g| [&g.recv, &g.send]);
    let why = ways().find(|d| d.mode.is_none()).map(|d| d.reason.to_string());
    match why {
        None => DirectRdma::Yes,
        Some(why) if ways().all(|d| d.mode.is_none()) => DirectRdma::No(why),
        Some(why) => DirectRdma::Partly(why),
    }
}
