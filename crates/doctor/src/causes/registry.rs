//! The table of all causes: area modules, nothing else.

use super::Cause;

/// The lists of the areas. The order decides only among causes that are equally sure and equally severe.
static AREAS: &[&[&Cause]] = &[
    super::net::CAUSES,
    super::gdr::CAUSES,
    super::p2p::CAUSES,
    super::shm::CAUSES,
    super::topo::CAUSES,
    super::ib::CAUSES,
    super::kernel::CAUSES,
    super::gpu::CAUSES,
    super::job::CAUSES,
    super::env::CAUSES,
    super::perf::CAUSES,
];

/// Every cause, in the order of the areas.
pub fn causes() -> impl Iterator<Item = &'static Cause> {
    AREAS.iter().flat_map(|area| area.iter().copied())
}
