//! Verdicts, once all cells are known: the more sizes are looked at, the more evidence each needs.

use super::Options;
use super::answer::Verdict;
use super::judge::Judged;
use super::select::{Cell, Key};
use super::words::{percent, share};
use crate::model::Better;
use linerate_stats as stats;
use std::collections::BTreeMap;

/// Verdict, reason, and the corrected p value of each.
pub(super) fn verdicts(judged: &[(Key, Cell, Judged)], options: &Options) -> Vec<(Verdict, String, Option<f64>)> {
    let difference = corrected(judged, |j| j.p);
    let equivalence = corrected(judged, |j| j.p_equivalent);
    let each = judged.iter().zip(difference.into_iter().zip(equivalence));
    each.map(|((_, cell, j), (p, q))| {
        let (verdict, reason) = decide(cell, j, p, q, options);
        (verdict, reason, p)
    })
    .collect()
}

/// Holm's correction within each metric: its sizes and labels are one family.
fn corrected(judged: &[(Key, Cell, Judged)], p: impl Fn(&Judged) -> Option<f64>) -> Vec<Option<f64>> {
    let mut families: BTreeMap<(crate::Kind, Option<&str>, &str, &str), Vec<usize>> = BTreeMap::new();
    for (place, (key, _, j)) in judged.iter().enumerate() {
        if j.barred.is_none() && p(j).is_some() {
            let family = (key.kind, key.tool.as_deref(), key.metric.as_str(), key.stat.as_str());
            families.entry(family).or_default().push(place);
        }
    }
    let mut all = vec![None; judged.len()];
    for places in families.into_values() {
        let raw: Vec<f64> = places.iter().filter_map(|i| p(&judged.get(*i)?.2)).collect();
        for (place, corrected) in places.into_iter().zip(stats::holm(&raw)) {
            if let Some(slot) = all.get_mut(place) {
                *slot = Some(corrected);
            }
        }
    }
    all
}

fn decide(cell: &Cell, j: &Judged, p: Option<f64>, q: Option<f64>, options: &Options) -> (Verdict, String) {
    let alpha = 1.0 - options.level;
    if let Some(why) = &j.barred {
        return (Verdict::Inconclusive, why.clone());
    }
    let Some(estimate) = j.estimate else {
        return (Verdict::Inconclusive, "no value that counts".to_owned());
    };
    let interval = j.interval.map_or_else(String::new, |[l, h]| format!(" [{}, {}]", percent(l), percent(h)));
    let seen = format!("{}{interval}, n = {} and {}", percent(estimate), j.a.runs, j.b.runs);
    let threshold = share(options.threshold);
    if q.is_some_and(|q| q <= alpha) {
        return (Verdict::Equivalent, format!("{seen}: within ±{threshold}"));
    }
    if p.is_some_and(|p| p <= alpha) {
        let higher = estimate > 1.0;
        let verdict = match cell.better {
            Better::Higher if higher => Verdict::Better,
            Better::Lower if !higher => Verdict::Better,
            Better::Neither => {
                return (
                    Verdict::Inconclusive,
                    format!("{seen}: they differ, but which direction is better is not known"),
                );
            }
            _ => Verdict::Worse,
        };
        return (verdict, seen);
    }
    let why = match p {
        Some(p) if j.p.is_some_and(|raw| raw <= alpha) => {
            format!("alone it would be a difference, among all sizes it is not (p = {p:.2})")
        }
        Some(_) => format!("neither a difference nor equality within ±{threshold} is shown"),
        None => format!("equality within ±{threshold} is not shown by so few runs"),
    };
    (Verdict::Inconclusive, format!("{seen}: {why}"))
}
