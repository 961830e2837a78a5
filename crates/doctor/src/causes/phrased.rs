//! Causes by an expert's phrases: what remains where nothing else was found.

use super::{Cause, Found, causes};
use crate::answer::{Confidence, Evidence};
use crate::observe::Observer;
use crate::observe::groups::Group;
use crate::observe::phrases::phrases;
use crate::place::Quote;

/// Causes at most: a text in which many are named is a list of them, and no report.
const MAX: usize = 6;

/// The causes that phrases name outside of what somebody writes about such messages: never more than possible, in the order of the lines.
pub(crate) fn by_phrases(o: &Observer) -> Vec<(&'static Cause, Found)> {
    let mut groups: Vec<(usize, Vec<Evidence>, &Group)> = o
        .phrases
        .found
        .list
        .iter()
        .map(|(which, g)| (*which, g.quotes.iter().map(|q| evidence(o, q)).collect(), g))
        .filter(|(_, quotes, _): &(usize, Vec<Evidence>, &Group)| !quotes.iter().all(|e| o.is_quoted(e)))
        .collect();
    groups.sort_by_key(|(.., g)| (g.first.file, g.first.line));
    let mut out: Vec<(&'static Cause, Found)> = Vec::new();
    for (which, quotes, _) in groups {
        let Some(phrase) = phrases().get(which) else { continue };
        let Some(k) = causes().find(|k| k.id == phrase.cause) else { continue };
        if let Some((_, found)) = out.iter_mut().find(|(cause, _)| cause.id == k.id) {
            found.evidence.extend(quotes.into_iter().take(1));
            continue;
        }
        let because = format!(
            "{} uses these words for it, but the line has none of its known forms: it may be quoted, or mean something else",
            phrase.program
        );
        out.push((k, Found::new(Confidence::Possible, phrase.means, because).with(quotes.into_iter().take(2))));
    }
    if out.len() > MAX { Vec::new() } else { out }
}

fn evidence(o: &Observer, q: &Quote) -> Evidence {
    Evidence::of(q, o.file_name(q.place.file))
}
