//! What a node that was read again says about a plan.

pub(super) mod markdown;
pub(super) mod text;

use super::fold::FEW;
use crate::compact;
use linerate_formats::counted;
use linerate_remedy::Proof;
use linerate_remedy::verify::Proved;

/// Rules that regressed and changes shown before the rest becomes a number.
const ROWS: usize = 20;

/// What proves a step is true, and the line that says it has what was read and where.
fn says_what_was_read(line: &str, p: &Proved) -> bool {
    p.outcome.name() == "effective" && !p.read.is_empty() && line.contains(&p.at) && line.ends_with(&p.read)
}

/// The rule and the subject of a proof that holds.
fn passed(p: &Proved) -> Option<(&str, &str)> {
    match &p.proof {
        Proof::Rule { rule, subject } if p.outcome.name() == "effective" => Some((rule, subject)),
        _ => None,
    }
}

/// Whether two proofs are passes of one rule.
fn are_alike(a: &Proved, b: &Proved) -> bool {
    passed(a).zip(passed(b)).is_some_and(|((a, _), (b, _))| a == b)
}

/// Many passes of one rule, and where the first was read; `None`: they are few, or others.
fn many_pass(alike: &[Proved]) -> Option<(String, String)> {
    let first = alike.first().filter(|_| alike.len() > FEW)?;
    let (rule, _) = passed(first)?;
    let subjects = compact::texts(alike.iter().filter_map(passed).map(|(_, subject)| subject), alike.len());
    let pass = format!("{rule} passes for {}: {subjects}", counted(alike.len(), "subject", "subjects"));
    let read = format!("{} places, the first: {}: {} (--format json has all)", alike.len(), first.at, first.read);
    Some((pass, read))
}
