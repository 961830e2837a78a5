//! Why GPUs of one node do not talk directly.

mod acs_redirects;
mod containers_isolated;
mod disabled_by_env;
mod iommu_translates;
mod refused_by_driver;

use crate::case::Case;
use crate::causes::{Cause, nccl};
use crate::observe::ranks::Carrier;
use linerate_rules::Source;
use std::collections::BTreeSet;

pub(super) static CAUSES: &[&Cause] = &[
    &disabled_by_env::CAUSE,
    &refused_by_driver::CAUSE,
    &containers_isolated::CAUSE,
    &acs_redirects::CAUSE,
    &iommu_translates::CAUSE,
];

const P2P_CC: Source = nccl(
    "NCCL, src/transport/p2p.cc and src/graph/paths.cc: ncclTopoCheckP2p",
    "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/graph/paths.cc",
);

/// Which carriers connect ranks of a node.
pub(crate) fn carriers(c: &Case<'_>) -> BTreeSet<Carrier> {
    c.ranks().flat_map(|r| r.cells.iter().map(|cell| cell.carrier)).collect()
}

pub(crate) fn has_p2p(all: &BTreeSet<Carrier>) -> bool {
    all.iter().any(|c| *c <= Carrier::P2pOther)
}
