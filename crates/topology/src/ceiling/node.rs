//! All ceilings of a node, and of a job on equal nodes.

use super::collective::{Algorithm, Collective, Shape, nvls_factor};
use super::cuts;
use super::derive::{Derivation, Element, ElementKind, Quality, Range, Step, Unit};
use super::elements::{Elements, together};
use super::extra::Extra;
use super::fabric::nvls_share;
use super::nic::{self, NicCeilings, NicTotal};
use super::pcie::Direction;
use crate::analysis::Analysis;
use crate::path::PathType;
use crate::system::{LinkKind, NodeData, NodeKind};
use std::collections::BTreeMap;

/// The ceiling of a collective done one way.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct CollectiveCeiling {
    /// Which.
    pub collective: Collective,
    /// How.
    pub algorithm: Algorithm,
    /// Bus bandwidth in GB/s, as nccl-tests counts it.
    pub bus: Derivation,
}

/// Ceilings of a node.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Ceilings {
    /// Each NIC by itself.
    pub nics: Vec<NicCeilings>,
    /// Within the node: empty with one GPU.
    pub intra: Vec<CollectiveCeiling>,
    /// Between equal nodes: empty without a number of nodes.
    pub inter: Vec<CollectiveCeiling>,
    /// What one has to know besides.
    pub notes: Vec<String>,
}

/// The best of the algorithms for a collective.
#[must_use]
pub fn best(list: &[CollectiveCeiling], collective: Collective) -> Option<&CollectiveCeiling> {
    list.iter().filter(|c| c.collective == collective).max_by(|a, b| a.bus.result.high.total_cmp(&b.bus.result.high))
}

/// Ceilings of the node that an analysis is of.
#[must_use]
pub fn node_ceilings(a: &Analysis, extra: &Extra) -> Ceilings {
    let e = Elements::new(&a.system, &a.fused(), extra);
    let mut notes = e.notes.clone();
    if a.domains.len() > 1 {
        notes.push(format!(
            "NCCL cuts this host into {} parts that talk over the network: these are the ceilings of the first part",
            a.domains.len()
        ));
    }
    notes.push("host memory's own bandwidth is not in a topology, so it is not counted as a limit".to_owned());
    let mut ranks: Vec<i32> = a.system.gpus().map(|(_, g)| g.rank).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let gpus = u32::try_from(ranks.len()).unwrap_or(u32::MAX);
    let intra = if gpus > 1 { intra(a, &e, gpus) } else { Vec::new() };
    let inter = match (extra.nodes.filter(|n| *n > 1), nic::total(a, &e)) {
        (None, _) => Vec::new(),
        (Some(nodes), Some(total)) => {
            let no_gdr = a.local_nets.iter().any(|l| {
                l.channels.iter().any(|n| a.gdr.iter().any(|g| g.gpu == l.gpu && g.net == *n && g.recv.mode.is_none()))
            });
            if no_gdr {
                notes.push(
                    "without GPUDirect RDMA on some paths: the data goes through host memory, which the links are counted for, the \
                     memory is not"
                        .to_owned(),
                );
            }
            between(Shape { nodes, gpus }, &total, &intra)
        }
        (Some(_), None) => {
            notes.push("no NIC that a GPU could use: nothing is said about several nodes".to_owned());
            Vec::new()
        }
    };
    Ceilings { nics: nic::ceilings(a, &e), intra, inter, notes }
}

fn intra(a: &Analysis, e: &Elements, gpus: u32) -> Vec<CollectiveCeiling> {
    let mut all = Vec::new();
    let (elements, steps) = cuts::ring(e, &a.paths);
    for collective in [Collective::AllReduce, Collective::AllGather, Collective::ReduceScatter] {
        let mut steps = steps.clone();
        steps.push(Step {
            what: format!("{collective} by rings"),
            formula: "what leaves a GPU, a switch, a CPU: every ring crosses there at least once".to_owned(),
            value: elements.iter().map(|e| e.limit).reduce(Range::min).unwrap_or(Range::exact(0.0)),
            unit: Unit::Gigabytes,
            source: "nccl-tests doc/PERFORMANCE.md (bus bandwidth of a ring is that of its links)",
            quality: Quality::Exact,
        });
        let bus = Derivation::of(Unit::Gigabytes, elements.clone(), steps);
        all.extend(bus.map(|bus| CollectiveCeiling { collective, algorithm: Algorithm::Ring, bus }));
    }
    all.extend(nvls(e, gpus));
    all.extend(pairwise(a, e, gpus));
    all
}

/// All-reduce in the NVLink switch.
fn nvls(e: &Elements, gpus: u32) -> Option<CollectiveCeiling> {
    let s = e.system;
    s.of(NodeKind::Nvs).first()?;
    let mut elements = Vec::new();
    let mut steps = Vec::new();
    for dev in cuts::gpu_devices(s) {
        let NodeData::Dev { sm, .. } = s.node(dev)?.data else { return None };
        // NVLink SHARP came with Hopper's switches.
        if sm < 90 {
            return None;
        }
        let to_switch =
            |l: &&crate::system::Link| l.kind == LinkKind::Nvl && s.node(l.to).is_some_and(|n| n.kind == NodeKind::Nvs);
        let info = e.of(s.links_of(dev).iter().find(to_switch)?)?;
        let (share, factor) = (nvls_share(sm), nvls_factor(gpus));
        let limit = info.write.times(share).map(|v| v * factor);
        if steps.is_empty() {
            steps.extend(info.steps(Direction::Write).iter().cloned());
            steps.push(Step {
                what: "all-reduce in the switch".to_owned(),
                formula: format!("{} GB/s × {share} × 2({gpus} − 1)/({gpus} + 1)", info.write),
                value: limit,
                unit: Unit::Gigabytes,
                source: "what multimem reads and writes put on a GPU's links; share: NCCL tuning.cc",
                quality: Quality::Estimate,
            });
        }
        elements.push(Element { name: info.name.clone(), kind: ElementKind::NvLink, limit });
    }
    let bus = Derivation::of(Unit::Gigabytes, elements, steps)?;
    Some(CollectiveCeiling { collective: Collective::AllReduce, algorithm: Algorithm::Nvls, bus })
}

/// Each GPU with each, by NCCL's paths.
fn pairwise(a: &Analysis, e: &Elements, gpus: u32) -> Option<CollectiveCeiling> {
    let s = e.system;
    let ids = s.of(NodeKind::Gpu);
    let mut flows: BTreeMap<usize, u32> = BTreeMap::new();
    for from in ids {
        for to in ids.iter().filter(|t| *t != from) {
            let path = a.paths.get(*from, *to)?;
            if path.kind >= PathType::Net {
                return None;
            }
            for l in a.paths.hops(s, *from, *to) {
                if let Some(i) = e.index(l).filter(|i| e.info(*i).is_some()) {
                    *flows.entry(i).or_default() += 1;
                }
            }
        }
    }
    let peers = f64::from(gpus.saturating_sub(1));
    let mut elements: Vec<(Element, Vec<Step>)> = Vec::new();
    for (i, n) in &flows {
        let info = e.info(*i)?;
        let limit = info.write.map(|v| v * peers / f64::from(*n));
        let mut steps: Vec<Step> = info.steps(Direction::Write).to_vec();
        steps.push(Step {
            what: "all-to-all".to_owned(),
            formula: format!("{} GB/s × ({gpus} − 1) / {n} pairs of GPUs through {}", info.write, info.name),
            value: limit,
            unit: Unit::Gigabytes,
            source: "arithmetic on NCCL's paths",
            quality: Quality::Exact,
        });
        let (name, kind) = together(&[info])?;
        elements.push((Element { name, kind, limit }, steps));
    }
    elements.sort_by(|a, b| a.0.limit.low.total_cmp(&b.0.limit.low));
    let steps = elements.first()?.1.clone();
    let bus = Derivation::of(Unit::Gigabytes, elements.into_iter().map(|e| e.0).collect(), steps)?;
    Some(CollectiveCeiling { collective: Collective::AllToAll, algorithm: Algorithm::Pairwise, bus })
}

/// Ceilings between equal nodes: what NICs allow, and what the part within a node allows.
///
/// `intra` are the ceilings within a node; empty where nothing is known of it (or it has one GPU): NICs alone limit then.
#[must_use]
pub fn between(shape: Shape, nics: &NicTotal, intra: &[CollectiveCeiling]) -> Vec<CollectiveCeiling> {
    let mut all = Vec::new();
    for collective in Collective::ALL {
        for algorithm in [Algorithm::Ring, Algorithm::Tree, Algorithm::Hierarchical, Algorithm::Pairwise] {
            let Some((factor, formula)) = shape.per_nic(collective, algorithm) else { continue };
            let scaled = |e: &Element| Element { limit: e.limit.map(|v| v * factor), ..e.clone() };
            let mut elements: Vec<Element> =
                [Some(&nics.limiting), nics.next.as_ref()].into_iter().flatten().map(scaled).collect();
            let mut steps = nics.steps.clone();
            steps.push(Step {
                what: format!("{collective}, {algorithm}, {} nodes of {} GPUs", shape.nodes, shape.gpus),
                formula: format!("{} GB/s × {formula}", nics.total),
                value: nics.total.map(|v| v * factor),
                unit: Unit::Gigabytes,
                source: "bytes that a node must send (see the table of this module)",
                quality: Quality::Exact,
            });
            elements.extend(within(shape, collective, algorithm, intra, &mut steps));
            let bus = Derivation::of(Unit::Gigabytes, elements, steps);
            all.extend(bus.map(|bus| CollectiveCeiling { collective, algorithm, bus }));
        }
    }
    all
}

/// What the part within a node allows the whole.
fn within(
    shape: Shape,
    collective: Collective,
    algorithm: Algorithm,
    intra: &[CollectiveCeiling],
    steps: &mut Vec<Step>,
) -> Vec<Element> {
    let (inside, factor) = match algorithm {
        // The ring runs through all GPUs of the node, at its own speed.
        Algorithm::Ring => {
            (intra.iter().find(|c| (c.collective, c.algorithm) == (collective, Algorithm::Ring)), Some(1.0))
        }
        // A node's part of all pairs is a few of them: not a limit before the NICs are, and not counted.
        Algorithm::Pairwise => (None, None),
        // A chain, or the switch: data passes a GPU once each way.
        _ => (best(intra, collective), shape.from_intra(collective)),
    };
    let (Some(inside), Some(factor)) = (inside, factor) else { return Vec::new() };
    let bus = &inside.bus;
    let scaled = |e: &Element| Element { limit: e.limit.map(|v| v * factor), ..e.clone() };
    steps.push(Step {
        what: format!("within a node, by {}", inside.algorithm),
        formula: format!("{} GB/s × {}", bus.result, Range::exact(factor)),
        value: bus.result.map(|v| v * factor),
        unit: Unit::Gigabytes,
        source: "ratio of the bus bandwidth factors of all ranks and of a node's",
        quality: Quality::Estimate,
    });
    [Some(&bus.limiting), bus.next.as_ref()].into_iter().flatten().map(scaled).collect()
}
