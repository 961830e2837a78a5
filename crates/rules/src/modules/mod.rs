//! Parameters of kernel modules: do they exist, are they in force, are they wise.

mod dma_remap_peer_mmio;
mod grdma_topo_override;
mod imex_channel0;
mod modules_from_cmdline;
mod nvidia;
mod nvidia_parameter_not_effective;
mod nvlink_disabled;
mod parameter_unknown;
mod relaxed_ordering_mode;

use crate::rule::Rule;

pub(crate) static RULES: &[&Rule] = &[
    &grdma_topo_override::RULE,
    &dma_remap_peer_mmio::RULE,
    &nvlink_disabled::RULE,
    &nvidia_parameter_not_effective::RULE,
    &parameter_unknown::RULE,
    &imex_channel0::RULE,
    &relaxed_ordering_mode::RULE,
    &modules_from_cmdline::RULE,
];
