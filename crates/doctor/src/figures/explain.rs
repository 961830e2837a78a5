//! An explanation of a figure, and what nodes say of it.

use super::connections::Said;
use crate::answer::{Explanation, Note};
use crate::nodes::NodeView;

/// What an explanation rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Basis {
    /// Arithmetic from a standard.
    Derived,
    /// Figures that others measured.
    Measured,
    /// Experience: the range is wide.
    Estimate,
}

impl Basis {
    fn name(self) -> &'static str {
        match self {
            Basis::Derived => "derived",
            Basis::Measured => "measured elsewhere",
            Basis::Estimate => "estimate",
        }
    }
}

/// What makes a benchmark slow. Each has its rules on a node, and what commands show of it (`ask.rs`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Why {
    PortRate,
    PcieStep,
    GpuBehindCpu,
    Detour,
    Translated,
    FarMemory,
    Ordering,
    TooSmall,
    FewReads,
    Congestion,
    OneOfBond,
    FewRails,
    Sockets,
    NoGdr,
    NoNvlink,
    NoMulticast,
    Straggler,
    Asleep,
    Events,
    FarHost,
    Throttled,
    LostRail,
    Input,
    Periodic,
}

impl Why {
    /// Stable id.
    pub(super) fn id(self) -> &'static str {
        match self {
            Why::PortRate => "link/rate",
            Why::PcieStep => "pcie/step",
            Why::GpuBehindCpu => "path/gpu-behind-cpu",
            Why::Detour => "path/detour",
            Why::Translated => "path/translated",
            Why::FarMemory => "path/far-memory",
            Why::Ordering => "path/strict-ordering",
            Why::TooSmall => "test/too-small",
            Why::FewReads => "test/few-reads",
            Why::Congestion => "fabric/congestion",
            Why::OneOfBond => "link/one-of-bond",
            Why::FewRails => "job/few-rails",
            Why::Sockets => "job/sockets",
            Why::NoGdr => "job/no-gpudirect",
            Why::NoNvlink => "job/no-nvlink",
            Why::NoMulticast => "job/no-multicast",
            Why::Straggler => "job/straggler",
            Why::Asleep => "cpu/asleep",
            Why::Events => "test/events",
            Why::FarHost => "fabric/far-host",
            Why::Throttled => "gpu/throttled",
            Why::LostRail => "job/lost-rail",
            Why::Input => "job/input",
            Why::Periodic => "job/periodic",
        }
    }

    /// Rules that judge it on a node.
    pub(super) fn rules(self) -> &'static [&'static str] {
        match self {
            Why::PortRate => &["rdma/port-rate"],
            Why::PcieStep => &["pcie/link-speed", "pcie/link-width", "pcie/path-bottleneck", "pcie/nic-fits-port"],
            Why::GpuBehindCpu => &["numa/no-shared-switch", "numa/cross-socket-nic"],
            Why::Detour => &[
                "acs/redirect-on-p2p-path",
                "ats/not-enabled-with-vm",
                "acs/vmhost-direct-translated",
                "acs/translation-blocking",
            ],
            Why::Translated => &["iommu/translated-domain"],
            Why::FarMemory => &["numa/cross-socket-nic"],
            Why::Ordering => &["pcie/relaxed-ordering"],
            Why::Congestion => &["rdma/roce-errors", "rdma/global-pause", "rdma/port-errors"],
            Why::OneOfBond => &["rdma/bond"],
            Why::FewRails | Why::LostRail => &["rdma/port-state"],
            Why::NoGdr => &["gpumem/registration-path"],
            Why::NoNvlink => &["gpumem/nvlink-fabric"],
            Why::Asleep => &["cpu/idle-states", "cpu/governor"],
            _ => &[],
        }
    }
}

/// An explanation that fits.
#[derive(Debug, Clone)]
pub(super) struct Fit {
    pub(super) why: Why,
    /// What it is here, with its values.
    pub(super) what: String,
    /// What it predicts, and from what.
    pub(super) because: String,
    pub(super) basis: Basis,
    /// How much it counts beside others: 1 where its prediction is narrow and meets the figure.
    pub(super) weight: f64,
    /// Ports of a node that it takes to be used.
    pub(super) ports: Option<usize>,
}

impl Fit {
    pub(super) fn new(
        why: Why,
        basis: Basis,
        weight: f64,
        what: impl Into<String>,
        because: impl Into<String>,
    ) -> Self {
        Fit { why, what: what.into(), because: because.into(), basis, weight, ports: None }
    }
}

/// An explanation, and what the nodes say of it.
#[derive(Debug, Clone)]
pub(super) struct Weighed {
    pub(super) fit: Fit,
    /// A rule that fails on a node.
    on_node: Option<String>,
    /// What the log beside the figure shows of it.
    in_log: Option<String>,
}

impl Weighed {
    pub(super) fn answer(self) -> Explanation {
        let Weighed { fit, on_node, in_log } = self;
        Explanation {
            id: fit.why.id(),
            what: fit.what,
            because: fit.because,
            basis: fit.basis.name(),
            rules: fit.why.rules().to_vec(),
            on_node,
            in_log,
        }
    }
}

/// How much more an explanation counts that a rule on a node, or the log, shows.
const SHOWN: f64 = 8.0;

/// The explanations with what the log beside the figure and the nodes say of them, those that count most first; and those that they exclude.
pub(super) fn weigh(
    fits: Vec<Fit>,
    nodes: &[NodeView<'_>],
    say: &dyn Fn(&Fit) -> Option<Said>,
) -> (Vec<Weighed>, Vec<Note>) {
    let (mut kept, mut excluded) = (Vec::new(), Vec::new());
    for mut fit in fits {
        match say(&fit) {
            Some(Said::Excluded(why, evidence)) => {
                excluded.push(Note { what: fit.what, why, evidence: vec![evidence] });
                continue;
            }
            Some(Said::Shown(seen)) => {
                fit.weight *= SHOWN;
                kept.push(Weighed { fit, on_node: None, in_log: Some(seen) });
                continue;
            }
            None => {}
        }
        let rules = fit.why.rules();
        let failing = nodes.iter().find_map(|n| n.failing(rules).into_iter().next());
        if let Some(f) = failing {
            fit.weight *= SHOWN;
            let on_node = Some(format!("{} fails: {}", f.rule, f.message));
            kept.push(Weighed { fit, on_node, in_log: None });
            continue;
        }
        // Every node must show that it is right: the other end of the test may be one that was not given.
        let passed = rules.iter().find(|r| !nodes.is_empty() && nodes.iter().all(|n| n.passes(r)));
        let all = !rules.is_empty() && rules.iter().all(|r| nodes.iter().all(|n| n.passes(r) || n.not_applicable(r)));
        match passed.filter(|_| all) {
            Some(rule) => excluded.push(Note {
                what: fit.what,
                why: format!("{rule} passes on the nodes that were given"),
                evidence: Vec::new(),
            }),
            None => kept.push(Weighed { fit, on_node: None, in_log: None }),
        }
    }
    kept.sort_by(|a, b| b.fit.weight.total_cmp(&a.fit.weight));
    (kept, excluded)
}
