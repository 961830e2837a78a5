//! The rings and trees that NCCL finds (`src/graph/search.cc`, 2.30): how many channels, over which GPUs and NICs, how fast.
//!
//! NCCL walks the graph depth first and takes bandwidth off every link that a channel uses, for a demand that it lowers from a
//! table of speeds until something fits; then it doubles channels and raises the demand again. What it finds depends on the
//! order of each choice and on a budget of steps, so both are NCCL's here. It counts steps, not time: the answer is always the same.
//!
//! Bandwidths of links are counted in MB/s, to which NCCL rounds them after each step.

mod bound;
mod compute;
mod flow;
mod lists;
mod memo;
mod plan;
mod speeds;
mod walk;

use crate::Analysis;
use crate::MAX_CHANNELS;
use crate::path::PathType;
use crate::system::NodeId;
use compute::Computer;
use plan::Plan;

/// What a channel's GPUs form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Pattern {
    /// A tree whose traffic with the network is shared by the first two GPUs.
    BalancedTree,
    /// A tree whose traffic with the network is all the first GPU's.
    Tree,
    /// A ring.
    Ring,
}

/// A channel.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Channel {
    /// Ranks, in their order.
    pub ranks: Vec<i32>,
    /// The NICs by which data comes and goes; `None` where all ranks are on this node, or where there is no NIC.
    pub nets: Option<(NodeId, NodeId)>,
}

/// Channels of a pattern.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Graph {
    /// The pattern: for trees NCCL may have settled for a simpler one than it sought.
    pub pattern: Pattern,
    /// The channels.
    pub channels: Vec<Channel>,
    /// GB/s of each channel between GPUs.
    pub bw_intra: f32,
    /// GB/s of each channel to and from the network.
    pub bw_inter: f32,
    /// The farthest type of path between GPUs that was admitted.
    pub type_intra: PathType,
    /// The farthest type of path to NICs that was admitted. It means nothing where all ranks are on this node.
    pub type_inter: PathType,
    /// 0: a channel comes and goes by the same rail; 1: it need not; 2: two channels in a row swap theirs.
    pub cross_nic: u8,
    /// Whether all channels take the same way.
    pub same_channels: bool,
    /// Links in all of the channels that were found, before they were doubled: what NCCL keeps low.
    pub hops: i32,
    /// Nothing fits: the GPUs in their order, at a token bandwidth.
    pub fallback: bool,
}

impl Graph {
    /// GB/s of all channels between GPUs.
    #[must_use]
    pub fn total_intra(&self) -> f32 {
        self.channels.len() as f32 * self.bw_intra
    }

    /// GB/s of all channels to and from the network.
    #[must_use]
    pub fn total_inter(&self) -> f32 {
        self.channels.len() as f32 * self.bw_inter
    }
}

/// What NCCL finds on a node.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// Rings.
    pub ring: Graph,
    /// Trees: as many as rings.
    pub tree: Graph,
    /// Channels of the communicator, if all nodes are alike and no setting says otherwise: each of the channels that both
    /// patterns have comes twice or more.
    pub channels: usize,
    /// GB/s of the fastest way that a channel could take (`maxBw`): from GPUs to NICs, or to each other on one node.
    pub max_bandwidth: f32,
    /// GB/s of the links of the best-connected GPU (`totalBw`).
    pub total_bandwidth: f32,
    /// Whether there are ranks elsewhere.
    pub inter: bool,
    /// Steps that were walked.
    pub steps: u64,
}

impl Search {
    /// Searches for a job on so many nodes, all like this one; 0 counts as 1.
    #[must_use]
    pub fn new(analysis: &Analysis, nodes: u32) -> Search {
        Self::walk(analysis, nodes, true)
    }

    /// The same, with or without leaving out what cannot change the answer.
    fn walk(analysis: &Analysis, nodes: u32, shortcuts: bool) -> Search {
        let ranks = analysis.domains.iter().map(Vec::len).sum::<usize>();
        let here = analysis.system.gpus().count();
        let inter = nodes > 1 || here != ranks;
        let mut computer = Computer::new(analysis, inter, shortcuts);
        let ring = computer.compute(Pattern::Ring, 1, MAX_CHANNELS as usize / 2);
        let tree = computer.compute(Pattern::BalancedTree, ring.channels, ring.channels);
        let mut channels = (ring.channels.min(tree.channels) * 2).min(MAX_CHANNELS as usize);
        if computer.sm >= 90 && inter && ring.bw_intra > 45.0 && channels < 16 {
            channels *= 2;
        }
        Search {
            channels,
            max_bandwidth: computer.max_bandwidth,
            total_bandwidth: computer.total_bandwidth,
            inter,
            steps: computer.steps(),
            ring: graph(analysis, &ring, inter),
            tree: graph(analysis, &tree, inter),
        }
    }
}

fn graph(analysis: &Analysis, plan: &Plan, inter: bool) -> Graph {
    let gpus: Vec<i32> = analysis.system.gpus().map(|(_, g)| g.rank).collect();
    let nets: Vec<NodeId> = analysis.system.nets().map(|(id, _)| id).collect();
    let net = |n: u16| nets.get(usize::from(n)).copied();
    let channel = |c: usize| Channel {
        ranks: plan.row(c).iter().filter_map(|g| gpus.get(usize::from(*g)).copied()).collect(),
        nets: plan.nets.get(c).filter(|_| inter).and_then(|[a, b]| Some((net(*a)?, net(*b)?))),
    };
    Graph {
        pattern: plan.pattern,
        channels: (0..plan.channels).map(channel).collect(),
        bw_intra: plan.bw_intra,
        bw_inter: plan.bw_inter,
        type_intra: plan::path_type(plan.type_intra),
        type_inter: plan::path_type(plan.type_inter),
        cross_nic: plan.cross_nic,
        same_channels: plan.same,
        hops: plan.hops,
        fallback: plan.fallback,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::{Dialect, Element};
    use crate::{Config, Document, Input};

    /// Two CPUs, four switches, a GPU and a NIC at each, NVLinks of different numbers between the GPUs.
    fn node(sm: u32, switched: bool) -> Document {
        let number = |n: usize| n.to_string();
        let mut cpus: Vec<Element> = (0..2)
            .map(|n| {
                Element::new("cpu").with("numaid", number(n)).with("arch", "x86_64").with("vendor", "GenuineIntel")
            })
            .map(|c| c.with("familyid", "6").with("modelid", "85"))
            .collect();
        for n in 0..4_usize {
            let pci = |id: &str, class: &str| {
                Element::new("pci")
                    .with("busid", format!("0000:{n}{id}:00.0"))
                    .with("class", class.to_owned())
                    .with("link_speed", "8.0 GT/s PCIe")
                    .with("link_width", "16")
            };
            let gpu = Element::new("gpu").with("dev", number(n)).with("rank", number(n));
            let mut gpu = gpu.with("sm", sm.to_string()).with("gdr", "1");
            if switched {
                let link = Element::new("nvlink").with("target", "fffffff:ffff:ff");
                gpu = gpu.holding(link.with("count", "6").with("tclass", "0x068000"));
            } else {
                for peer in (0..4).filter(|p| *p != n) {
                    let link = Element::new("nvlink").with("target", format!("0000:{peer}1:00.0"));
                    gpu = gpu.holding(link.with("count", number(1 + (n + peer) % 2)).with("tclass", "0x030200"));
                }
            }
            let net = Element::new("net").with("name", format!("mlx5_{n}")).with("dev", number(n)).with("port", "1");
            let net = net.with("speed", "100000").with("guid", number(n + 16)).with("maxconn", "64").with("gdr", "1");
            let nic = pci("2", "0x020700").holding(Element::new("nic").holding(net));
            let switch = pci("0", "0x060400").holding(pci("1", "0x030200").holding(gpu)).holding(nic);
            if let Some(cpu) = cpus.get_mut(n / 2) {
                cpu.children.push(switch);
            }
        }
        Document { system: cpus.into_iter().fold(Element::new("system").with("version", "1"), Element::holding) }
    }

    #[test]
    fn shortcuts_change_nothing() {
        for (sm, switched) in [(70, false), (80, true), (90, true), (100, false)] {
            let text = node(sm, switched).to_xml(Dialect::Lenient);
            let document = Document::parse(text.as_bytes(), Dialect::Lenient).unwrap();
            for (nodes, cross_nic) in [(1, 2), (2, 0), (2, 1), (2, 2)] {
                let mut config = Config { nodes, input: Input::Fused, ..Config::default() };
                config.env.cross_nic = cross_nic;
                let analysis = Analysis::new(&document, &config).unwrap();
                let (short, long) = (Search::walk(&analysis, nodes, true), Search::walk(&analysis, nodes, false));
                assert!(short.steps <= long.steps);
                assert_eq!(short, Search { steps: short.steps, ..long }, "sm {sm}, {nodes} nodes, {cross_nic}");
            }
        }
    }
}
