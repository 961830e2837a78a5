//! What a comparison comes to, in sentences.

use super::answer::{Comparison, Comparisons, Verdict, Weight};
use crate::ceiling::Ceiling;
use crate::model::Metric;
use linerate_formats::units::Bytes;
use std::collections::BTreeMap;

/// Below this share of a ceiling something else limits.
const FAR: f64 = 0.8;
/// Shares that differ by less than this are the same limit.
const ALIKE: f64 = 0.05;

/// A ratio as a difference: `+3.1 %`.
pub(super) fn percent(ratio: f64) -> String {
    let v = (ratio - 1.0) * 100.0;
    let digits = if v.abs() < 10.0 { 1 } else { 0 };
    // No minus before a zero.
    let text = format!("{v:+.digits$} %");
    if text.starts_with("-0.0 ") { "+0.0 %".to_owned() } else { text }
}

/// A share: `2 %`, `0.5 %`.
pub(super) fn share(v: f64) -> String {
    let v = v * 100.0;
    if (v - v.round()).abs() < 1e-9 { format!("{v:.0} %") } else { format!("{v:.1} %") }
}

/// A value beside its ceiling.
pub(super) fn against(
    ceiling: &Ceiling,
    metric: &Metric,
    a: (Option<f64>, Option<f64>),
    b: (Option<f64>, Option<f64>),
) -> String {
    let range = if (ceiling.high - ceiling.low).abs() < 0.005 * ceiling.high {
        number(ceiling.high)
    } else {
        format!("{} to {}", number(ceiling.low), number(ceiling.high))
    };
    let of = |v: f64, s: f64| {
        let v = metric.unit.convert(v, &ceiling.unit).unwrap_or(v);
        format!("{} of {range} {}: {:.0} %", number(v), ceiling.unit, s * 100.0)
    };
    let told = |(v, s): (Option<f64>, Option<f64>)| v.zip(s).map(|(v, s)| of(v, s));
    let values = match (told(a), told(b)) {
        (Some(x), Some(y)) => format!("A {x}, B {y}"),
        (Some(x), None) => format!("A {x}"),
        (None, Some(y)) => format!("B {y}"),
        (None, None) => String::new(),
    };
    let mut text = format!("{values} of the bound by {}", ceiling.by);
    if let (Some(x), Some(y)) = (a.1, b.1) {
        if x.max(y) > 1.02 {
            text.push_str(
                "; above this bound: another algorithm ran than the bound is for, or the links are not as given",
            );
        } else if x.max(y) < FAR && (x - y).abs() < ALIKE {
            text.push_str(
                "; both sides share a limit below that of the links, so the comparison cannot show what either setting would do without it",
            );
        }
    }
    text
}

/// Four digits are enough for people.
pub(super) fn number(v: f64) -> String {
    let digits = match v.abs() {
        100.0.. => 0,
        10.0..100.0 => 1,
        _ => 2,
    };
    format!("{v:.digits$}")
}

/// What it comes to: a sentence for each metric, and what stands in the way.
pub(super) fn conclusions(all: &Comparisons) -> Vec<String> {
    let mut list = Vec::new();
    if all.comparisons.is_empty() {
        list.push("nothing was compared: the sides have no valid measurement in common".to_owned());
    }
    let mut groups: BTreeMap<(crate::Kind, String), Vec<&Comparison>> = BTreeMap::new();
    for c in &all.comparisons {
        groups.entry((c.kind, name(c))).or_default().push(c);
    }
    for ((_, name), cells) in &groups {
        list.push(format!("{name}: {}", group(cells, all.threshold)));
    }
    list.extend(ceilings(&all.comparisons));
    if let Some(c) = all.confounds.iter().find(|c| c.weight == Weight::Decisive && c.what == "nodes") {
        list.push(format!(
            "different nodes without cross-over (A: {}; B: {}): any difference may come from the nodes",
            c.a, c.b
        ));
    }
    let others = all.confounds.iter().filter(|c| c.weight <= Weight::Strong && c.what != "nodes").count();
    if others > 0 {
        let others = linerate_formats::counted(others, "other difference", "other differences");
        list.push(format!("{others} between the sides could explain a result by themselves; listed, worst first"));
    }
    list
}

/// Program and metric: `all_reduce_perf busbw`.
fn name(c: &Comparison) -> String {
    let metric = crate::model::Metric {
        name: c.metric.clone(),
        unit: c.unit.clone(),
        stat: c.stat,
        better: crate::Better::Neither,
    };
    match &c.tool {
        Some(tool) => format!("{tool} {metric}"),
        None if c.kind == crate::Kind::Series => metric.to_string(),
        None => format!("{} {metric}", c.kind),
    }
}

/// One metric over its sizes.
fn group(cells: &[&Comparison], threshold: f64) -> String {
    let with = |v: Verdict| cells.iter().filter(|c| c.verdict == v).collect::<Vec<_>>();
    let (better, worse) = (with(Verdict::Better), with(Verdict::Worse));
    let (equivalent, open) = (with(Verdict::Equivalent), with(Verdict::Inconclusive));
    let span = |cells: &[&&Comparison]| -> String {
        let ratios = || cells.iter().filter_map(|c| c.estimate);
        let (low, high) = (ratios().fold(f64::INFINITY, f64::min), ratios().fold(f64::NEG_INFINITY, f64::max));
        if low > high {
            String::new()
        } else if percent(low) == percent(high) {
            format!(" ({})", percent(low))
        } else {
            format!(" ({} to {})", percent(low), percent(high))
        }
    };
    let count = |n: usize, total: usize| {
        if total == 1 {
            String::new()
        } else if n == total {
            format!(" at all {n} sizes")
        } else {
            format!(" at {n} of {total} sizes")
        }
    };
    let total = cells.len();
    let mut parts = Vec::new();
    for (what, list) in [("better", &better), ("worse", &worse), ("equivalent", &equivalent)] {
        if !list.is_empty() {
            parts.push(format!("B is {what}{}{}", count(list.len(), total), span(list)));
        }
    }
    if !open.is_empty() {
        parts.push(inconclusive(&open, total, &span(&open), &count(open.len(), total), threshold));
    }
    if let Some(worst) = worse.iter().min_by(|x, y| cost(x).total_cmp(&cost(y))).filter(|_| worse.len() > 1) {
        parts.push(format!("worst at {}", size(worst)));
    }
    parts.join("; ")
}

fn cost(c: &Comparison) -> f64 {
    // The largest change counts, whichever direction is the bad one.
    -c.estimate.map_or(0.0, |r| r.ln().abs())
}

fn size(c: &Comparison) -> String {
    c.size.map_or_else(|| "its only size".to_owned(), |s| Bytes(s).to_string())
}

fn inconclusive(open: &[&&Comparison], total: usize, span: &str, count: &str, threshold: f64) -> String {
    let single = open.iter().all(|c| c.a.runs.min(c.b.runs) <= 1);
    let mut text = if single && total == open.len() {
        // What lies within the threshold at every size is no difference that anybody would act on; it is not shown to be none either.
        let alike = open.iter().filter_map(|c| c.estimate).all(|r| (r - 1.0).abs() <= threshold);
        let series = open.iter().any(|c| c.interval_of == Some("within the runs"));
        let what = if alike && !series { "no difference shown" } else { "inconclusive" };
        format!("{what}{span}; n = 1 per {}", if total > 1 { "cell" } else { "side" })
    } else {
        format!("inconclusive{count}{span}")
    };
    if let Some(further) = open.iter().filter_map(|c| c.further_runs).max() {
        let runs = linerate_formats::counted(further, "further run", "further runs");
        text.push_str(&match single {
            true => format!("; at least {runs} per side needed to see how runs differ"),
            false => format!("; {runs} per side would probably decide"),
        });
    }
    let transients = open.iter().flat_map(|c| c.a.transients.iter().chain(&c.b.transients)).collect::<Vec<_>>();
    if let Some(t) = transients.first() {
        let more = if t.unsettled {
            "a time series that does not settle".to_owned()
        } else {
            format!(
                "the first {} of {} values are a transient and move the mean by {}",
                t.cut,
                t.of,
                percent(t.mean_before / t.mean_after)
            )
        };
        text.push_str(&format!("; {more}"));
    }
    text
}

/// The ceiling at the largest size of each metric.
fn ceilings(cells: &[Comparison]) -> Vec<String> {
    let mut largest: BTreeMap<(crate::Kind, String), &Comparison> = BTreeMap::new();
    for c in cells.iter().filter(|c| c.ceiling.is_some()) {
        let slot = largest.entry((c.kind, name(c))).or_insert(c);
        if c.size > slot.size || c.size == slot.size && c.a.typical > slot.a.typical {
            *slot = c;
        }
    }
    let sentence = |(name, c): (String, &Comparison)| {
        let at = c.size.map_or_else(String::new, |s| format!(" at {}", Bytes(s)));
        c.ceiling.as_ref().map(|x| format!("{name}{at}: {}", x.sentence))
    };
    largest.into_iter().filter_map(|((_, name), c)| sentence((name, c))).collect()
}
