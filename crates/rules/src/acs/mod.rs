//! Access Control Services: which ports send peer-to-peer traffic on a detour, and where that is right.

mod redirect_on_p2p_path;

use crate::rule::Rule;

pub(crate) static RULES: &[&Rule] = &[&redirect_on_p2p_path::RULE];
