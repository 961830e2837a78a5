//! GPUs as targets of peer-to-peer traffic.

mod bar1_size;
mod bar_unassigned;
mod gdr_capable;

use crate::rule::{Rule, Source};

pub(crate) static RULES: &[&Rule] = &[&gdr_capable::RULE, &bar_unassigned::RULE, &bar1_size::RULE];

const GDR_DOC: Source =
    Source { title: "GPUDirect RDMA, overview and PCI BAR sizes", at: "https://docs.nvidia.com/cuda/gpudirect-rdma/" };
