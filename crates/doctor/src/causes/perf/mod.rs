//! Benchmarks below what the links allow.

mod below_ceiling;

use crate::causes::Cause;

pub(super) static CAUSES: &[&Cause] = &[&below_ceiling::CAUSE];
