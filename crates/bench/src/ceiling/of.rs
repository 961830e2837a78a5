//! The ceiling of a run's metric.

use super::{Ceiling, Links};
use crate::model::{Kind, Metric, Param, Run, Unit};
use linerate_formats::nccl_tests::Collective as Tests;
use linerate_topology::ceiling::{
    Algorithm, Ceilings, Collective, CollectiveCeiling, Derivation, Extra, NicTotal, Port, Shape, between,
    node_ceilings,
};
use linerate_topology::{Analysis, Config};

/// What is known of the nodes that were measured.
#[derive(Debug, Default)]
pub struct Known {
    /// Their topology, with what was seen beside it; one node stands for all.
    node: Option<(Analysis, Extra)>,
    /// Links that were named.
    links: Option<Links>,
    /// Nodes and GPUs of each, where the user gave them; otherwise from the run.
    shape: (Option<u32>, Option<u32>),
}

impl Known {
    /// From a node. Without GPUs in it nothing follows.
    #[must_use]
    pub fn of_node(node: &linerate_node::Node<'_>) -> Known {
        let found = linerate_topology::from_node::from_node(node).ok();
        let analysis = found.and_then(|f| Analysis::new(&f.document, &Config::default()).ok());
        Known { node: analysis.map(|a| (a, linerate_topology::from_node::extra(node))), ..Known::default() }
    }

    /// Also by links that were named: they hold where the node tells nothing.
    #[must_use]
    pub fn links(mut self, links: Option<Links>) -> Known {
        self.links = links;
        self
    }

    /// Also by a shape that was given: nodes of a job, GPUs of a node.
    #[must_use]
    pub fn shape(mut self, nodes: Option<u32>, gpus: Option<u32>) -> Known {
        self.shape = (nodes, gpus);
        self
    }
}

/// The ceiling of a metric; `None` where nothing is known that limits it.
#[must_use]
pub fn ceiling(run: &Run, metric: &Metric, known: &Known) -> Option<Ceiling> {
    match (run.kind, metric.name.as_str()) {
        (Kind::NcclTests, "busbw") => collective(run.tool.as_deref(), run, known),
        // A table of another maker says in its name what was run, if anything.
        (Kind::Series, "busbw" | "allreduce" | "all_reduce") => collective(Some("all_reduce_perf"), run, known),
        (Kind::Perftest, "bandwidth") => rdma(run, known),
        (Kind::Iperf3 | Kind::Iperf2, "bandwidth") => tcp(known),
        _ => None,
    }
}

fn number(run: &Run, key: &str) -> Option<u32> {
    match run.params.get(key) {
        Some(Param::Int(n)) => u32::try_from(*n).ok(),
        _ => None,
    }
}

/// A collective's bus bandwidth: the ring's bound, and what other algorithms could do, in GB/s.
fn collective(tool: Option<&str>, run: &Run, known: &Known) -> Option<Ceiling> {
    let collective = match Tests::from_name(tool?)? {
        Tests::AllReduce => Collective::AllReduce,
        Tests::AllGather => Collective::AllGather,
        Tests::ReduceScatter => Collective::ReduceScatter,
        Tests::AllToAll => Collective::AllToAll,
        _ => return None,
    };
    let nodes = known.shape.0.or(number(run, "nodes"))?;
    let gpus = known.shape.1.or_else(|| number(run, "ranks").map(|r| r / nodes.max(1))).filter(|g| *g > 0);
    let all: Vec<CollectiveCeiling> = match (&known.node, &known.links) {
        (Some((analysis, extra)), _) => {
            let extra = Extra { nodes: Some(nodes), ..extra.clone() };
            let Ceilings { intra, inter, .. } = node_ceilings(analysis, &extra);
            if nodes > 1 { inter } else { intra }
        }
        (None, Some(links)) if nodes > 1 => {
            let total = NicTotal::of_equal(links.count, &links.port.payload("port")?)?;
            between(Shape { nodes, gpus: gpus? }, &total)
        }
        _ => return None,
    };
    let of = |algorithm| all.iter().find(|c| c.collective == collective && c.algorithm == algorithm);
    let first = if collective == Collective::AllToAll { Algorithm::Pairwise } else { Algorithm::Ring };
    let ring = of(first)?;
    let mut ceiling = told(&ring.bus, format!("{} of {}", ring.algorithm, ring.bus.limiting.name), false);
    for other in all.iter().filter(|c| c.collective == collective && c.algorithm != ring.algorithm) {
        ceiling.derivation.push(format!("{}: {} GB/s at most", other.algorithm, other.bus.result));
    }
    Some(ceiling)
}

/// RDMA between two ports, in Gb/s.
fn rdma(run: &Run, known: &Known) -> Option<Ceiling> {
    let text = |key: &str| match run.params.get(key) {
        Some(Param::Text(t)) => Some(t.as_str()),
        _ => None,
    };
    let seen = known.node.as_ref().and_then(|(_, extra)| extra.ports.get(text("device")?).copied());
    let mut port = seen.or_else(|| known.links.map(|l| l.port))?;
    // The run's own header is nearer to what it did.
    port.mtu = number(run, "mtu").or(port.mtu);
    if port.protocol.is_none() && port.infiniband.is_none() {
        port.infiniband = text("link").map(|l| l.eq_ignore_ascii_case("IB") || l.eq_ignore_ascii_case("InfiniBand"));
    }
    let both = run.params.get("bidirectional") == Some(&Param::Flag(true));
    let device = text("device").unwrap_or("the port");
    let mut ceiling = told(&port.payload(device)?, format!("payload of {device}"), both);
    if both {
        ceiling.derivation.push("both directions: twice that".to_owned());
    }
    Some(ceiling)
}

/// IP packets on Ethernet: 14 of header, 4 of checksum, 8 of preamble, 12 of gap around each; in it 20 of IPv4 and 32 of TCP with
/// time stamps, which Linux uses by default (RFC 791, RFC 9293, RFC 7323; IEEE 802.3).
const AROUND: f64 = 38.0;
const WITHIN: f64 = 52.0;

/// TCP over one port, in Gb/s: of a link that was named.
fn tcp(known: &Known) -> Option<Ceiling> {
    let links = known.links.as_ref()?;
    let Port { rate: Some(rate), .. } = links.port else { return None };
    let share = |mtu: f64| (mtu - WITHIN) / (mtu + AROUND);
    let (low, high) = match links.ip_mtu {
        Some(mtu) => (f64::from(mtu), f64::from(mtu)),
        None => (1500.0, 9000.0),
    };
    let how = match links.ip_mtu {
        Some(mtu) => format!("{rate} Gb/s × ({mtu} − 52) / ({mtu} + 38)"),
        None => format!("{rate} Gb/s × (MTU − 52) / (MTU + 38), MTU not known: 1500 to 9000"),
    };
    Some(Ceiling {
        low: rate * share(low),
        high: rate * share(high),
        unit: Unit::Gbps,
        by: format!("TCP payload of a {rate} Gb/s port"),
        derivation: vec![how],
    })
}

fn told(d: &Derivation, by: String, twice: bool) -> Ceiling {
    let factor = if twice { 2.0 } else { 1.0 };
    let unit = match d.unit {
        linerate_topology::ceiling::Unit::Gigabytes => Unit::GBps,
        _ => Unit::Gbps,
    };
    Ceiling {
        low: d.result.low * factor,
        high: d.result.high * factor,
        unit,
        by,
        derivation: d.steps.iter().map(ToString::to_string).collect(),
    }
}
