//! What NCCL concludes from a wrong topology.

mod virtual_link_speed;

use crate::causes::Cause;

pub(super) static CAUSES: &[&Cause] = &[&virtual_link_speed::CAUSE];
