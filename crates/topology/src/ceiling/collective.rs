//! Bounds of collectives, in bus bandwidth as nccl-tests counts it.
//!
//! With `n` GPUs in `N` nodes of `g`, and `W` GB/s of NIC payload per node and direction:
//!
//! | algorithm | what a node sends for S bytes | bus bandwidth |
//! |---|---|---|
//! | ring | 2(n−1)/n·S (all-reduce), (n−1)/n·S | W |
//! | double tree | S, 1.5 S, 2 S for N = 2, 3, more | W/1, W/1.5, W/2 · 2(n−1)/n |
//! | hierarchical | 2(N−1)/N·S (all-reduce), (N−1)/N·S | W · N/(N−1) · (n−1)/n |
//! | all-to-all | g·(n−g)/n·S | W · (n−1)/(g(n−g)) |
//!
//! No algorithm that reduces at the ends sends less than the hierarchical one. Reduction in the network (SHARP) is not covered.

use std::fmt;

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Collective {
    /// Sum for all.
    AllReduce,
    /// Everyone's part for all.
    AllGather,
    /// A part of the sum for each.
    ReduceScatter,
    /// A part of each for each.
    AllToAll,
}

impl Collective {
    /// All.
    pub const ALL: [Collective; 4] = [Self::AllReduce, Self::AllGather, Self::ReduceScatter, Self::AllToAll];

    /// Bus bandwidth per algorithm bandwidth, of `n` ranks (nccl-tests, `doc/PERFORMANCE.md`).
    #[must_use]
    pub fn factor(self, n: u32) -> f64 {
        let n = f64::from(n.max(1));
        let once = (n - 1.0) / n;
        if self == Self::AllReduce { 2.0 * once } else { once }
    }
}

impl fmt::Display for Collective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::AllReduce => "all-reduce",
            Self::AllGather => "all-gather",
            Self::ReduceScatter => "reduce-scatter",
            Self::AllToAll => "all-to-all",
        })
    }
}

/// How it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// One ring through all GPUs.
    Ring,
    /// NCCL's double binary tree between nodes.
    Tree,
    /// Within the node first, then between nodes: the least that NICs must carry.
    Hierarchical,
    /// Reduction and multicast in the NVLink switch.
    Nvls,
    /// Each with each.
    Pairwise,
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ring => "ring",
            Self::Tree => "tree",
            Self::Hierarchical => "hierarchical",
            Self::Nvls => "NVLS",
            Self::Pairwise => "pairwise",
        })
    }
}

/// Nodes of a job, all alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Nodes.
    pub nodes: u32,
    /// GPUs of each.
    pub gpus: u32,
}

impl Shape {
    /// GPUs of all nodes.
    #[must_use]
    pub fn ranks(self) -> u32 {
        self.nodes.saturating_mul(self.gpus)
    }

    /// What bus bandwidth 1 GB/s of NICs per node allows, and how that is written. `None` where the algorithm is not one of this
    /// collective between nodes, or where there is but one node.
    #[must_use]
    pub fn per_nic(self, collective: Collective, algorithm: Algorithm) -> Option<(f64, String)> {
        let (nn, g, n) = (self.nodes, self.gpus, self.ranks());
        if nn < 2 || g == 0 {
            return None;
        }
        let (fnodes, fg, fr) = (f64::from(nn), f64::from(g), f64::from(n));
        match (collective, algorithm) {
            (Collective::AllToAll, Algorithm::Pairwise) => {
                Some(((fr - 1.0) / (fg * (fr - fg)), format!("({n} − 1) / ({g} × ({n} − {g}))")))
            }
            (Collective::AllToAll, _) | (_, Algorithm::Pairwise | Algorithm::Nvls) => None,
            (_, Algorithm::Ring) => Some((1.0, "1".to_owned())),
            (Collective::AllReduce, Algorithm::Tree) => {
                let sent = tree_sends(nn);
                let over = if nn == 2 { String::new() } else { format!(" / {sent}") };
                Some((collective.factor(n) / sent, format!("2({n} − 1)/{n}{over}")))
            }
            (_, Algorithm::Tree) => None,
            (_, Algorithm::Hierarchical) => {
                Some((fnodes / (fnodes - 1.0) * (fr - 1.0) / fr, format!("{nn}/({nn} − 1) × ({n} − 1)/{n}")))
            }
        }
    }

    /// From the bus bandwidth of one node to what the whole job can see of it, when each node does its part within: the ratio of the
    /// factors. `None` with one GPU per node, whose part within is nothing.
    #[must_use]
    pub(crate) fn of_intra(self, collective: Collective) -> Option<f64> {
        (self.gpus > 1).then(|| collective.factor(self.ranks()) / collective.factor(self.gpus))
    }
}

/// How often the busiest node sends the data in a double binary tree.
#[must_use]
pub fn tree_sends(nodes: u32) -> f64 {
    match nodes {
        // Each node is the root of one tree and the leaf of the other: half of the data down, half up.
        ..=2 => 1.0,
        // Chains: the middle one of a chain sends half of the data both ways.
        3 => 1.5,
        // Two children and a parent in one tree, a parent in the other, each with half of the data.
        _ => 2.0,
    }
}

/// Bus bandwidth of an all-reduce in the NVLink switch per GB/s of a GPU's NVLinks: every GPU's links carry S/n for its own part and S
/// for the others', each way.
#[must_use]
pub fn nvls_factor(gpus: u32) -> f64 {
    let n = f64::from(gpus.max(1));
    2.0 * (n - 1.0) / (n + 1.0)
}
