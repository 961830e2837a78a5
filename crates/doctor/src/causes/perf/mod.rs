//! Benchmarks below what the links allow.

mod below_ceiling;

pub(crate) use below_ceiling::{counts_whole_node, ranks_per_host};

use crate::causes::Cause;

pub(super) static CAUSES: &[&Cause] = &[&below_ceiling::CAUSE];
