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
mod shape;
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

/// What a search leaves out because it cannot change the answer.
#[derive(Debug, Clone, Copy)]
struct Shortcuts {
    /// What is known from before is not walked again.
    memory: bool,
    /// A way without any choice is not walked step by step.
    leaps: bool,
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
        Self::walk(analysis, nodes, Shortcuts { memory: true, leaps: true })
    }

    /// Whether a search of one is a search of the other: they differ in names at most, in bus ids and the like, which no search reads.
    #[must_use]
    pub fn is_of_both(a: &Analysis, b: &Analysis) -> bool {
        shape::alike(a, b)
    }

    /// The same, with more or less left out that cannot change the answer.
    fn walk(analysis: &Analysis, nodes: u32, shortcuts: Shortcuts) -> Search {
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
mod tests;
