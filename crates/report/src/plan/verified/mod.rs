//! What a node that was read again says about a plan.

pub(super) mod markdown;
pub(super) mod text;

use linerate_remedy::verify::Proved;

/// Rules that regressed and changes shown before the rest becomes a number.
const ROWS: usize = 20;

/// What proves a step is true, and the line that says it has what was read and where.
fn says_what_was_read(line: &str, p: &Proved) -> bool {
    p.outcome.name() == "effective" && !p.read.is_empty() && line.contains(&p.at) && line.ends_with(&p.read)
}
