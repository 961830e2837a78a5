//! All ceilings of a node, and of a job on equal nodes.

use super::collective::{Algorithm, Collective, Shape, nvls_factor};
use super::cuts::{self, Cuts, merged, scaled};
use super::derive::{Derivation, Element, Quality, Range, Step, Unit};
use super::elements::Elements;
use super::extra::Extra;
use super::fabric::nvls_share;
use super::nic::{self, NicCeilings, NicTotal};
use super::pcie::Direction;
use super::words::Words;
use crate::analysis::Analysis;
use crate::open::{Open, words};
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
    /// Between equal nodes, or between the equal parts into which NCCL cuts a host: empty with one.
    pub inter: Vec<CollectiveCeiling>,
    /// What one has to know besides.
    pub notes: Vec<String>,
}

/// The best of the algorithms for a collective.
#[must_use]
pub fn best(list: &[CollectiveCeiling], collective: Collective) -> Option<&CollectiveCeiling> {
    list.iter().filter(|c| c.collective == collective).max_by(|a, b| a.bus.result.high.total_cmp(&b.bus.result.high))
}

/// What limits the node: the element that bounds all-reduce by its best algorithm, across nodes where there are several.
#[must_use]
pub fn bottleneck(c: &Ceilings) -> Option<&Element> {
    let all = if c.inter.is_empty() { &c.intra } else { &c.inter };
    best(all, Collective::AllReduce).map(|c| &c.bus.limiting)
}

/// Ceilings that follow from what the source shows: what hangs on an assumption is left out, and a note says so.
#[must_use]
pub fn known_ceilings(a: &Analysis, extra: &Extra) -> Ceilings {
    let mut c = node_ceilings(a, extra);
    let mut drop = |what: &str, open: Vec<Open>, list: &mut dyn FnMut()| {
        if !open.is_empty() {
            list();
            c.notes.push(format!("{what}: cannot tell, because this input does not show {}", words(&open)));
        }
    };
    let speed: Vec<Open> = a.open.iter().copied().filter(|o| *o == Open::NicSpeed).collect();
    let (nics, intra, inter) = (&mut c.nics, &mut c.intra, &mut c.inter);
    drop("ceilings of NICs", speed, &mut || nics.clear());
    drop("ceiling of the node", a.open_for_ceilings(false), &mut || intra.clear());
    if !inter.is_empty() {
        drop("ceiling across nodes", a.open_for_ceilings(true), &mut || inter.clear());
    }
    c
}

/// Ceilings of the node that an analysis is of, assumptions and all.
#[must_use]
pub fn node_ceilings(a: &Analysis, extra: &Extra) -> Ceilings {
    let e = Elements::new(&a.system, &a.tree, extra);
    let mut notes = e.notes.clone();
    let parts = u32::try_from(a.domains.len()).unwrap_or(u32::MAX).max(1);
    let equal = a.domains.iter().all(|d| Some(d.len()) == a.domains.first().map(Vec::len));
    if parts > 1 {
        notes.push(format!(
            "NCCL splits this host into {parts} parts that talk over the network: figures within the node are for the first part, and each part counts as a node{}",
            if equal { "" } else { "; the parts are not equal, so there are no figures for several" }
        ));
    }
    notes.push("host memory's own bandwidth is not in a topology, so it is not counted as a limit".to_owned());
    let mut ranks: Vec<i32> = a.system.gpus().map(|(_, g)| g.rank).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let gpus = u32::try_from(ranks.len()).unwrap_or(u32::MAX);
    let cuts = Cuts::of(&e, &a.paths);
    let intra = if gpus > 1 { intra(a, &e, &cuts, gpus) } else { Vec::new() };
    let nodes = if equal { extra.nodes.unwrap_or(1).checked_mul(parts).filter(|n| *n > 1) } else { None };
    let inter = match (nodes, nic::total(a, &e)) {
        (None, _) => Vec::new(),
        (Some(nodes), Some(total)) => {
            let no_gdr = a.local_nets.iter().any(|l| {
                l.channels.iter().any(|n| a.gdr.iter().any(|g| g.gpu == l.gpu && g.net == *n && g.recv.mode.is_none()))
            });
            if no_gdr {
                notes.push(
                    "without GPUDirect RDMA on some paths the data goes through host memory: the links to it are counted as limits, the memory itself is not"
                        .to_owned(),
                );
            }
            job(Shape { nodes, gpus }, &total, &intra, Some(&cuts))
        }
        (Some(_), None) => {
            notes.push("no NIC that a GPU could use: no figures for several nodes".to_owned());
            Vec::new()
        }
    };
    // NICs belong to the host as it is, before it is cut.
    let nics = match &a.whole {
        Some(w) => nic::ceilings(&Elements::new(&w.system, &a.tree, extra), &w.raw, &[]),
        None => nic::ceilings(&e, &a.raw, &a.local_nets),
    };
    Ceilings { nics, intra, inter, notes }
}

const WITHIN: [Collective; 3] = [Collective::AllReduce, Collective::AllGather, Collective::ReduceScatter];

fn intra(a: &Analysis, e: &Elements, cuts: &Cuts, gpus: u32) -> Vec<CollectiveCeiling> {
    let mut all = Vec::new();
    for collective in WITHIN {
        for (algorithm, elements, formula) in [
            (
                Algorithm::Ring,
                cuts.ring(),
                "what leaves a GPU, a switch, a CPU: every ring crosses there at least once",
            ),
            (
                Algorithm::Hierarchical,
                cuts.any(collective),
                "what must leave a GPU, a switch, a CPU, whatever the algorithm",
            ),
        ] {
            // Where single GPUs are the only borders, nothing does better than rings.
            if algorithm == Algorithm::Hierarchical && cuts.groups.is_empty() {
                continue;
            }
            let mut steps = cuts.steps();
            steps.push(Step {
                what: Words::of(move |f| write!(f, "{collective}, {algorithm}")),
                formula: formula.into(),
                value: elements.iter().map(|e| e.limit).reduce(Range::min).unwrap_or(Range::exact(0.0)),
                unit: Unit::Gigabytes,
                source: "bytes that cross a border; bus bandwidth as in nccl-tests doc/PERFORMANCE.md",
                quality: Quality::Exact,
            });
            let bus = Derivation::of(Unit::Gigabytes, elements, steps);
            all.extend(bus.map(|bus| CollectiveCeiling { collective, algorithm, bus }));
        }
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
                what: "all-reduce in the switch".into(),
                formula: {
                    let write = info.write;
                    Words::of(move |f| write!(f, "{write} GB/s × {share} × 2({gpus} − 1)/({gpus} + 1)"))
                },
                value: limit,
                unit: Unit::Gigabytes,
                source: "what multimem reads and writes put on a GPU's links; share: NCCL tuning.cc",
                quality: Quality::Estimate,
            });
        }
        elements.push(info.element(limit));
    }
    let bus = Derivation::of(Unit::Gigabytes, merged(elements), steps)?;
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
            what: "all-to-all".into(),
            formula: {
                let (write, n, name) = (info.write, *n, info.name.clone());
                Words::of(move |f| write!(f, "{write} GB/s × ({gpus} − 1) / {n} pairs of GPUs through {name}"))
            },
            value: limit,
            unit: Unit::Gigabytes,
            source: "arithmetic on NCCL's paths",
            quality: Quality::Exact,
        });
        elements.push((info.element(limit), steps));
    }
    elements.sort_by(|a, b| a.0.limit.low.total_cmp(&b.0.limit.low));
    let steps = elements.first()?.1.clone();
    let bus = Derivation::of(Unit::Gigabytes, merged(elements.into_iter().map(|e| e.0)), steps)?;
    Some(CollectiveCeiling { collective: Collective::AllToAll, algorithm: Algorithm::Pairwise, bus })
}

/// Ceilings between equal nodes that share nothing but the network, of which only the NICs are known: NICs alone limit then.
#[must_use]
pub fn between(shape: Shape, nics: &NicTotal) -> Vec<CollectiveCeiling> {
    job(shape, nics, &[], None)
}

fn job(shape: Shape, nics: &NicTotal, intra: &[CollectiveCeiling], cuts: Option<&Cuts>) -> Vec<CollectiveCeiling> {
    let mut all = Vec::new();
    for collective in Collective::ALL {
        for algorithm in [Algorithm::Ring, Algorithm::Tree, Algorithm::Hierarchical, Algorithm::Pairwise] {
            let Some((factor, formula)) = shape.per_nic(collective, algorithm) else { continue };
            let outside = [Some(&nics.limiting), nics.next.as_ref()];
            let mut elements: Vec<Element> = outside.into_iter().flatten().map(|e| scaled(e, factor)).collect();
            let mut steps = nics.steps.clone();
            steps.push(Step {
                what: Words::of(move |f| {
                    write!(f, "{collective}, {algorithm}, {} nodes of {} GPUs", shape.nodes, shape.gpus)
                }),
                formula: {
                    let total = nics.total;
                    Words::of(move |f| write!(f, "{total} GB/s × {formula}"))
                },
                value: nics.total.map(|v| v * factor),
                unit: Unit::Gigabytes,
                source: "bytes that a node must send: nccl-tests doc/PERFORMANCE.md, and arithmetic",
                quality: Quality::Exact,
            });
            let (inside, how) = within(shape, collective, algorithm, intra, cuts);
            if let Some(value) = inside.iter().map(|e| e.limit).reduce(Range::min) {
                steps.push(Step {
                    what: "the part within a node".into(),
                    formula: how,
                    value,
                    unit: Unit::Gigabytes,
                    source: "bytes that cross a border within the node, its NICs equally loaded",
                    quality: Quality::Estimate,
                });
            }
            elements.extend(inside);
            let bus = Derivation::of(Unit::Gigabytes, elements, steps);
            all.extend(bus.map(|bus| CollectiveCeiling { collective, algorithm, bus }));
        }
    }
    all
}

/// What the part within a node allows the whole, in bus bandwidth of the whole; and how that is written.
fn within(
    shape: Shape,
    collective: Collective,
    algorithm: Algorithm,
    intra: &[CollectiveCeiling],
    cuts: Option<&Cuts>,
) -> (Vec<Element>, Words) {
    let none = (Vec::new(), Words::from(""));
    if shape.gpus < 2 {
        return none;
    }
    if algorithm == Algorithm::Ring {
        return cuts.map_or(none, |c| (c.ring_of_many(), "what a ring needs between the GPUs of a node".into()));
    }
    let pick = |algorithm| intra.iter().find(|c| (c.collective, c.algorithm) == (collective, algorithm));
    let both = |bus: &Derivation, factor: f64| -> Vec<Element> {
        [Some(&bus.limiting), bus.next.as_ref()].into_iter().flatten().map(|e| scaled(e, factor)).collect()
    };
    let alone = |c: &CollectiveCeiling, factor: f64| {
        let (result, by, factor) = (c.bus.result, c.algorithm, Range::exact(factor));
        Words::of(move |f| write!(f, "{result} GB/s of a node alone, by {by} × {factor}"))
    };
    if algorithm == Algorithm::Pairwise {
        // To peers in the node goes a smaller part of a larger job.
        let factor = f64::from(shape.ranks().saturating_sub(1)) / f64::from(shape.gpus - 1);
        return pick(Algorithm::Pairwise).map_or(none, |c| (both(&c.bus, factor), alone(c, factor)));
    }
    let gpus = cuts.map(|c| c.any_of_many(collective, shape)).unwrap_or_default();
    let most = |list: &[Element]| list.iter().map(|e| e.limit.high).fold(f64::INFINITY, f64::min);
    if let (Some(c), Some(factor)) = (pick(Algorithm::Nvls), shape.of_intra(collective)) {
        let switch = both(&c.bus, factor);
        if gpus.is_empty() || most(&switch) > most(&gpus) {
            return (switch, alone(c, factor));
        }
    }
    (gpus, "what must cross between the GPUs of a node".into())
}
