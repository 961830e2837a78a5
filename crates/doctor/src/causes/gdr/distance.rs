//! Distances between GPU and NIC, and the limits that apply.

use crate::case::Case;
use crate::observe::Pair;
use crate::observe::groups::Group;
use linerate_formats::nccl_log::distance;

/// Levels below what NCCL takes by default, by name and by the old numbers (`levelsOldToNew`).
pub(super) fn is_low(level: &str) -> bool {
    matches!(level.trim().to_ascii_uppercase().as_str(), "LOC" | "NVL" | "NVB" | "C2C" | "PIX" | "0" | "1")
}

/// `GPU 7000 and NIC 0: PHB, allowed PXB`, in the release's own scale.
pub(super) fn distance_words(c: &Case<'_>, p: &Pair, g: &Group) -> Option<(String, String)> {
    let (minor, patch) = c.release_of(g.first_process)?;
    let far = distance::name(minor, patch, p.distance)?;
    let limit = distance::name(minor, patch, p.allowed())?;
    Some((far.to_owned(), limit.to_owned()))
}

/// A pair that is refused at a limit below the default.
pub(super) fn low_limit<'a>(c: &Case<'a>) -> Option<(String, &'a Group)> {
    c.of(&c.o.pairs).filter(|(p, _)| p.is_too_far()).find_map(|(p, g)| {
        // The lowest of any scale is LOC.
        let limit = distance_words(c, &p, g)
            .map(|(_, limit)| limit)
            .or_else(|| (p.allowed() <= 0).then(|| "LOC".to_owned()))?;
        is_low(&limit).then_some((limit, g))
    })
}
