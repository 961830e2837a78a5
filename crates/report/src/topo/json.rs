//! A topology for programs, schema `linerate.topo/1` (docs/schema/topo-1.json). Bandwidths are in GB/s, one way.

use super::Topo;
use super::names::name;
use super::tables::{idle_nets, uses};
use linerate_topology::ceiling::Ceilings;
use linerate_topology::gdr::{Flush, GdrDecision};
use linerate_topology::search::{Channel, Graph, Pattern};
use linerate_topology::system::{NodeId, NodeKind};
use linerate_topology::{Open, PathType};
use serde::Serialize;
use std::io::{self, Write};

/// Name and version of the format.
pub const SCHEMA: &str = "linerate.topo/1";

#[derive(Serialize)]
struct Document<'a> {
    source: &'a str,
    nccl: String,
    nodes: u32,
    gpus: Vec<GpuOut<'a>>,
    nics: Vec<NicOut<'a>>,
    paths: Vec<PathOut>,
    gdr: Vec<GdrOut>,
    p2p: Vec<P2pOut>,
    local: Vec<LocalOut>,
    unused_nics: Vec<String>,
    domains: &'a [Vec<i32>],
    #[serde(skip_serializing_if = "Option::is_none")]
    graphs: Option<GraphsOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ceilings: Option<&'a Ceilings>,
    /// What the source does not show and conclusions hang on: each names its own.
    #[serde(skip_serializing_if = "<[Open]>::is_empty")]
    open: &'a [Open],
    notes: Vec<&'a str>,
}

#[derive(Serialize)]
struct GpuOut<'a> {
    name: String,
    busid: &'a str,
    dev: i32,
    rank: i32,
    sm: i32,
    gdr: bool,
    numa: Option<i32>,
}

#[derive(Serialize)]
struct NicOut<'a> {
    name: String,
    busid: Option<&'a str>,
    dev: i32,
    port: i32,
    bandwidth: f64,
    gdr: bool,
}

#[derive(Serialize)]
struct PathOut {
    from: String,
    to: String,
    /// As the hardware has it.
    #[serde(rename = "type")]
    kind: PathType,
    /// As NCCL uses it.
    nccl_type: PathType,
    bandwidth: f64,
    hops: u32,
    /// What it hangs on and the source does not show.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open: Vec<Open>,
}

#[derive(Serialize)]
struct GdrOut {
    gpu: String,
    nic: String,
    send: bool,
    recv: bool,
    #[serde(rename = "type")]
    kind: PathType,
    bandwidth: f64,
    reason: String,
    send_decision: GdrDecision,
    recv_decision: GdrDecision,
    proxy_rank: i32,
    flush: Flush,
    /// What it hangs on and the source does not show.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open: Vec<Open>,
}

#[derive(Serialize)]
struct P2pOut {
    from: String,
    to: String,
    allowed: bool,
    read: bool,
    transport: &'static str,
    reason: String,
}

#[derive(Serialize)]
struct LocalOut {
    gpu: String,
    rank: i32,
    nics: Vec<String>,
    #[serde(rename = "type")]
    kind: PathType,
    shared_with: Vec<String>,
    /// What it hangs on and the source does not show.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open: Vec<Open>,
}

#[derive(Serialize)]
struct GraphsOut {
    ring: GraphOut,
    tree: GraphOut,
    /// Channels of the communicator.
    channels: usize,
    across_nodes: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open: Vec<Open>,
}

#[derive(Serialize)]
struct GraphOut {
    pattern: Pattern,
    bandwidth_intra: f64,
    bandwidth_inter: f64,
    type_intra: PathType,
    type_inter: PathType,
    cross_nic: u8,
    fallback: bool,
    channels: Vec<ChannelOut>,
}

#[derive(Serialize)]
struct ChannelOut {
    ranks: Vec<i32>,
    nics: Option<[String; 2]>,
}

fn graph(g: &Graph, say: &impl Fn(NodeId) -> String) -> GraphOut {
    let channel = |c: &Channel| ChannelOut { ranks: c.ranks.clone(), nics: c.nets.map(|(a, b)| [say(a), say(b)]) };
    GraphOut {
        pattern: g.pattern,
        bandwidth_intra: gb(g.bw_intra),
        bandwidth_inter: gb(g.bw_inter),
        type_intra: g.type_intra,
        type_inter: g.type_inter,
        cross_nic: g.cross_nic,
        fallback: g.fallback,
        channels: g.channels.iter().map(channel).collect(),
    }
}

/// GB/s as a program wants it: 20.6, not 20.600000381.
fn gb(value: f32) -> f64 {
    (f64::from(value) * 1000.0).round() / 1000.0
}

/// Writes it.
///
/// # Errors
/// Those of the writer.
pub fn render(topo: &Topo<'_>, out: &mut dyn Write) -> io::Result<()> {
    let a = topo.analysis;
    let say = |id: NodeId| name(&a.system, id);
    let numa = |gpu: NodeId| {
        let at = a.system.of(NodeKind::Gpu).iter().position(|g| *g == gpu)?;
        let cpu = a.local_cpus.get(at).copied().flatten()?;
        a.system.node(cpu)?.cpu().map(|c| c.numa)
    };
    let ends = || a.system.of(NodeKind::Gpu).iter().chain(a.system.of(NodeKind::Net)).copied();
    let used = uses(a);
    let mut paths = Vec::new();
    for from in ends() {
        for to in ends().filter(|to| *to != from) {
            let (Some(raw), Some(p)) = (a.raw.get(from, to), a.paths.get(from, to)) else { continue };
            paths.push(PathOut {
                from: say(from),
                to: say(to),
                kind: raw.kind,
                nccl_type: p.kind,
                bandwidth: gb(p.bandwidth),
                hops: p.hops,
                open: a.open_for_bandwidth(from, to),
            });
        }
    }
    let reason = |s: &GdrDecision, r: &GdrDecision| {
        if s.reason == r.reason { r.reason.to_string() } else { format!("send: {}; receive: {}", s.reason, r.reason) }
    };
    let document = Document {
        source: topo.label,
        nccl: topo.config.version.to_string(),
        nodes: topo.config.nodes,
        gpus: (a.system.gpus())
            .map(|(id, g)| GpuOut {
                name: say(id),
                busid: &g.busid,
                dev: g.dev,
                rank: g.rank,
                sm: g.sm,
                gdr: g.gdr,
                numa: numa(id),
            })
            .collect(),
        nics: (a.system.nets())
            .map(|(id, n)| NicOut {
                name: say(id),
                busid: n.busid.as_deref(),
                dev: n.dev,
                port: n.port,
                bandwidth: gb(n.bandwidth),
                gdr: n.gdr,
            })
            .collect(),
        paths,
        gdr: (a.gdr.iter())
            .map(|g| GdrOut {
                gpu: say(g.gpu),
                nic: say(g.net),
                send: g.send.mode.is_some(),
                recv: g.recv.mode.is_some(),
                kind: g.kind,
                bandwidth: gb(g.bandwidth),
                reason: reason(&g.send, &g.recv),
                send_decision: g.send,
                recv_decision: g.recv,
                proxy_rank: g.proxy_rank,
                flush: g.flush,
                open: a.open_for_gdr(g),
            })
            .collect(),
        p2p: (a.p2p.iter())
            .map(|p| P2pOut {
                from: say(p.gpus.0),
                to: say(p.gpus.1),
                allowed: p.allowed,
                read: p.read,
                transport: p.transport.name(),
                reason: p.reason.to_string(),
            })
            .collect(),
        local: (used.iter())
            .map(|u| LocalOut {
                gpu: say(u.gpu),
                rank: u.rank,
                nics: u.nets.iter().map(|n| say(*n)).collect(),
                kind: u.kind,
                shared_with: u.shared_with.iter().map(|g| say(*g)).collect(),
                open: u.open.clone(),
            })
            .collect(),
        unused_nics: idle_nets(a, &used).into_iter().map(say).collect(),
        domains: &a.domains,
        graphs: topo.search.map(|s| GraphsOut {
            ring: graph(&s.ring, &say),
            tree: graph(&s.tree, &say),
            channels: s.channels,
            across_nodes: s.inter,
            open: a.open_for_search(s),
        }),
        ceilings: topo.ceilings,
        open: &a.open,
        notes: topo.notes.iter().map(String::as_str).chain(a.notes()).collect(),
    };
    crate::json::write_document(SCHEMA, &document, out)
}
