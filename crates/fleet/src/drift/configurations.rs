//! Whole configurations: which nodes are the same in everything that drifts.

use super::{Members, Odd};
use std::cmp::Reverse;
use std::collections::HashMap;

/// Nodes that differ in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configuration {
    /// The nodes.
    pub members: Members,
    /// Where they differ from the norm: number of the fact, number of the value. Empty: as most.
    pub differs: Vec<(usize, usize)>,
}

/// The configurations of a class, the most frequent first.
pub(super) fn of(members: &Members, facts: &[Odd]) -> Vec<Configuration> {
    let mut of_node: HashMap<u32, Vec<(usize, usize)>> = members.iter().map(|n| (n, Vec::new())).collect();
    for (f, fact) in facts.iter().enumerate().filter(|(_, f)| f.has_norm) {
        for (v, value) in fact.values.iter().enumerate().skip(1) {
            for node in value.members.iter() {
                of_node.entry(node).or_default().push((f, v));
            }
        }
    }
    let mut alike: HashMap<Vec<(usize, usize)>, Vec<u32>> = HashMap::new();
    for (node, differs) in of_node {
        alike.entry(differs).or_default().push(node);
    }
    let mut out: Vec<Configuration> = alike
        .into_iter()
        .map(|(differs, mut nodes)| {
            nodes.sort_unstable();
            Configuration { members: nodes.into_iter().collect(), differs }
        })
        .collect();
    out.sort_by_key(|c| (Reverse(c.members.len()), c.members.iter().next()));
    out
}
