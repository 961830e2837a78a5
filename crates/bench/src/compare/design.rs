//! How the measurements are laid out: on which nodes, in which order. What a difference can be blamed on follows from it.

use super::Input;
use super::answer::Design;
use super::side::hosts;

/// Where the sides were measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nodes {
    Same,
    Different,
    Overlapping,
    Unknown,
}

/// In which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Interleaved,
    Blocks,
    Mixed,
    Unknown,
}

/// The layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) nodes: Nodes,
    pub(super) order: Order,
}

pub(super) fn design(a: &Input<'_>, b: &Input<'_>) -> Layout {
    let (ha, hb) = (hosts(a), hosts(b));
    let nodes = match (ha.is_empty() || hb.is_empty(), ha == hb, ha.iter().any(|h| hb.binary_search(h).is_ok())) {
        (true, ..) => Nodes::Unknown,
        (_, true, _) => Nodes::Same,
        (_, _, true) => Nodes::Overlapping,
        _ => Nodes::Different,
    };
    Layout { nodes, order: order(a, b) }
}

fn order(a: &Input<'_>, b: &Input<'_>) -> Order {
    let times = |side: &Input<'_>| -> Option<Vec<f64>> { side.runs.iter().map(crate::Run::order).collect() };
    let (Some(ta), Some(tb)) = (times(a), times(b)) else { return Order::Unknown };
    if ta.is_empty() || tb.is_empty() {
        return Order::Unknown;
    }
    let mut all: Vec<(f64, bool)> = ta.iter().map(|t| (*t, false)).chain(tb.iter().map(|t| (*t, true))).collect();
    all.sort_by(|x, y| x.0.total_cmp(&y.0));
    let switches = all.windows(2).filter(|w| matches!(w, [x, y] if x.1 != y.1)).count();
    // A B, A A B B: whatever changed in between is with one side. A B B A and A B A B are laid out on purpose.
    match switches {
        0 | 1 => Order::Blocks,
        s if s >= ta.len().min(tb.len()) => Order::Interleaved,
        _ => Order::Mixed,
    }
}

impl Layout {
    pub(super) fn is_interleaved(self) -> bool {
        self.order == Order::Interleaved
    }

    pub(super) fn told(self) -> Design {
        let nodes = match self.nodes {
            Nodes::Same => ("same-nodes", "both sides on the same nodes"),
            Nodes::Different => (
                "different-nodes",
                "each side on its own nodes, without cross-over: a difference may come from the nodes as well as from the setting",
            ),
            Nodes::Overlapping => (
                "overlapping-nodes",
                "the sides share some nodes: a difference may come from the other nodes as well as from the setting",
            ),
            Nodes::Unknown => ("unknown", "which nodes were measured is not known"),
        };
        let order = match self.order {
            Order::Interleaved => ("interleaved", "runs of both sides took turns, so a drift affects both"),
            Order::Blocks => {
                ("blocks", "one side was measured after the other: what changed meanwhile affects one side only")
            }
            Order::Mixed => ("mixed", "runs of both sides partly took turns"),
            Order::Unknown => ("unknown", "the order of the runs is not known"),
        };
        Design { nodes: nodes.0, order: order.0, sentence: format!("{}; {}", nodes.1, order.1) }
    }
}
