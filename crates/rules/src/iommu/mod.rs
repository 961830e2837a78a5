//! IOMMU: is one in use, does it translate what GPUs and NICs do, and what people believe about it.

mod active;
mod arm_peer_to_peer;
mod domain_not_as_asked;
pub(crate) mod ends;
mod faults;
mod guest_viommu;
mod log_line_trap;
mod shared_group;
mod snp_needs_translation;
mod strict_invalidation;
mod translated_domain;

use crate::rule::Rule;

pub(crate) static RULES: &[&Rule] = &[
    &translated_domain::RULE,
    &faults::RULE,
    &active::RULE,
    &domain_not_as_asked::RULE,
    &guest_viommu::RULE,
    &shared_group::RULE,
    &arm_peer_to_peer::RULE,
    &snp_needs_translation::RULE,
    &strict_invalidation::RULE,
    &log_line_trap::RULE,
];
