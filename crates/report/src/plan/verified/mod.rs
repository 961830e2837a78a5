//! What a node that was read again says about a plan.

pub(super) mod markdown;
pub(super) mod text;

/// Rules that regressed and changes shown before the rest becomes a number.
const ROWS: usize = 20;
