//! Shared memory between the ranks of a node.

mod disabled_by_env;
mod too_small;

use crate::causes::Cause;

pub(super) static CAUSES: &[&Cause] = &[&disabled_by_env::CAUSE, &too_small::CAUSE];
