//! Why NICs do not read and write GPU memory directly.

mod default_off_behind_cpu;
mod distance;
mod dmabuf_disabled_by_env;
mod gdrcopy;
mod level_forces_far;
mod level_too_low_by_env;
mod no_peer_memory;
mod peermem_not_loaded;
mod read_disabled_by_env;
pub(crate) mod read_off_by_design;
pub(crate) mod seen;
mod too_far;

use crate::causes::{Cause, nccl};
use linerate_rules::Source;

pub(super) static CAUSES: &[&Cause] = &[
    &dmabuf_disabled_by_env::CAUSE,
    &no_peer_memory::CAUSE,
    &level_too_low_by_env::CAUSE,
    &read_disabled_by_env::CAUSE,
    &read_off_by_design::CAUSE,
    &default_off_behind_cpu::CAUSE,
    &too_far::CAUSE,
    &level_forces_far::CAUSE,
    &peermem_not_loaded::CAUSE,
    &gdrcopy::CAUSE,
];

const PATHS_CC: Source = nccl(
    "NCCL, src/graph/paths.cc: ncclTopoCheckGdr",
    "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/graph/paths.cc",
);

const GDR_CC: Source = nccl(
    "NCCL, src/transport/net_ib: ncclIbGdrSupport, ncclIbDmaBufSupport",
    "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/transport/net_ib/gdr.cc",
);
