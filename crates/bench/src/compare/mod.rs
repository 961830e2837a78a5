//! Two sides compared: for each metric and size an estimate, its interval, and a verdict that the data can carry.
//!
//! ```text
//! runs of A, B ─► select (the same measurement on both sides) ─► judge (estimate, interval, p) ─► verdict (all sizes at once)
//!                                                                                                     │
//! facts, hosts, parameters ─► design, confounds ─────────────────────────────► words ◄────────────────┘
//! ```

mod answer;
mod confounds;
mod design;
mod judge;
mod methods;
mod select;
mod side;
mod split;
mod verdict;
mod words;

pub use answer::{
    Check, Comparison, Comparisons, Confound, Design, Excluded, MethodNote, Outlier, RunRef, Side, SideSummary,
    Transient, Verdict, Weight,
};

use crate::ceiling::{AgainstCeiling, Ceiling, Known, ceiling};
use crate::facts::Facts;
use crate::model::{Kind, Metric, Run, Series, Stat};
use select::{Cell, Key};
use smol_str::SmolStr;
use std::collections::{BTreeMap, HashMap};

/// A side of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// As the user calls it.
    pub name: &'a str,
    /// Its runs.
    pub runs: &'a [Run],
    /// Hosts that the user gave.
    pub hosts: &'a [SmolStr],
    /// Facts of its nodes.
    pub facts: &'a [Facts],
    /// What its links allow.
    pub known: Option<&'a Known>,
}

/// How to compare.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Differences below this share count as none.
    pub threshold: f64,
    /// Confidence of intervals.
    pub level: f64,
    /// Only these metrics; empty: the ones that matter of each kind.
    pub metrics: Vec<String>,
    /// Resamples of a bootstrap beside the method; `None`: no bootstrap.
    pub resamples: Option<u32>,
    /// Also the difference that could be seen, and the runs that would decide: most of a comparison's time.
    pub power: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { threshold: 0.02, level: 0.95, metrics: Vec::new(), resamples: None, power: true }
    }
}

impl Options {
    /// Series of a run that are compared. Of the statistics of one metric the nearest to a typical value, and the 99th percentile.
    pub(crate) fn wanted<'r>(&'r self, run: &'r Run) -> impl Iterator<Item = &'r Series> {
        const TYPICAL: [Stat; 3] = [Stat::Value, Stat::Median, Stat::Mean];
        // The nearest that each metric has: a run may have as many metrics as its text has lines.
        let mut nearest: HashMap<&str, usize> = HashMap::new();
        for s in &run.series {
            if let Some(place) = TYPICAL.iter().position(|t| *t == s.metric.stat) {
                let there = nearest.entry(s.metric.name.as_str()).or_insert(place);
                *there = place.min(*there);
            }
        }
        let asked =
            |m: &Metric| m.stat.is_comparable() && self.metrics.iter().any(|n| *n == m.name || *n == m.to_string());
        run.series.iter().filter(move |s| {
            let metric = &s.metric;
            if !self.metrics.is_empty() {
                return asked(metric);
            }
            let typical = nearest.get(metric.name.as_str()).and_then(|n| TYPICAL.get(*n));
            let secondary = run.kind.benchmark().secondary.contains(&metric.name.as_str());
            !secondary && (typical == Some(&metric.stat) || metric.stat == Stat::Percentile(99.0))
        })
    }
}

/// Compares B with A.
#[must_use]
pub fn compare(a: &Input<'_>, b: &Input<'_>, options: &Options) -> Comparisons {
    let (cells, excluded) = select::cells(a, b, options);
    let design = design::design(a, b);
    let judged: Vec<(Key, Cell, judge::Judged)> = cells
        .into_iter()
        .map(|(key, cell)| {
            let judged = judge::judge(&cell, design.is_interleaved(), options);
            (key, cell, judged)
        })
        .collect();
    let verdicts = verdict::verdicts(&judged, options);
    let mut ceilings = Ceilings { sides: [a, b], found: BTreeMap::new() };
    let mut comparisons: Vec<Comparison> = Vec::with_capacity(judged.len());
    for ((key, cell, j), (verdict, reason, p_adjusted)) in judged.into_iter().zip(verdicts) {
        let metric = Metric { name: key.metric.clone(), unit: cell.unit.clone(), stat: cell.stat, better: cell.better };
        let against = ceilings.against(&key, &metric, &j);
        comparisons.push(Comparison {
            kind: key.kind,
            tool: key.tool,
            metric: key.metric,
            stat: cell.stat,
            unit: cell.unit,
            labels: key.labels,
            size: key.size,
            a: j.a,
            b: j.b,
            estimate: j.estimate,
            interval: j.interval,
            interval_of: j.interval_of,
            verdict,
            reason,
            p: j.p,
            p_adjusted,
            detectable: j.detectable,
            further_runs: if verdict == Verdict::Inconclusive { j.further } else { None },
            method: j.method,
            checks: j.checks,
            ceiling: against,
        });
    }
    let mut confounds = confounds::confounds(a, b, &design);
    confounds.sort_by_key(|c| c.weight);
    let mut answer = Comparisons {
        a: side::side(a),
        b: side::side(b),
        threshold: options.threshold,
        level: options.level,
        methods: methods::used(&comparisons),
        comparisons,
        design: design.told(),
        excluded,
        confounds,
        conclusions: Vec::new(),
    };
    answer.conclusions = words::conclusions(&answer);
    if answer.comparisons.is_empty() {
        // TCP on one side and RDMA on the other: no verdict, but what the figures are worth can be said.
        let all: Vec<Run> = a.runs.iter().chain(b.runs).cloned().collect();
        let side_by_side = crate::summary::summary(&all, &Known::default(), None, None).against;
        if !side_by_side.is_empty() {
            answer
                .conclusions
                .push("different tools measured different things, so there is no verdict; side by side:".to_owned());
            answer.conclusions.extend(side_by_side);
            answer.conclusions.push("`linerate bench summary` says what that means to training".to_owned());
        }
    }
    answer
}

/// Ceilings of both sides. They are of a metric, whatever the size: a node's is derived once for all of them.
struct Ceilings<'a> {
    sides: [&'a Input<'a>; 2],
    found: BTreeMap<(Kind, Option<SmolStr>, SmolStr), [Option<Ceiling>; 2]>,
}

impl Ceilings<'_> {
    /// Both sides beside their ceiling. Where both are known and differ, each has its own share, and A's is shown.
    fn against(&mut self, key: &Key, metric: &Metric, j: &judge::Judged) -> Option<AgainstCeiling> {
        let of = |side: &Input<'_>| -> Option<Ceiling> {
            let run = side.runs.iter().find(|r| r.kind == key.kind && (r.tool == key.tool || r.tool.is_none()))?;
            ceiling(run, metric, side.known?)
        };
        let place = (key.kind, key.tool.clone(), key.metric.clone());
        let [ca, cb] = self.found.entry(place).or_insert_with(|| self.sides.map(of));
        let share = |c: &Option<Ceiling>, v: Option<f64>| c.as_ref()?.share(v?, &metric.unit);
        let (share_a, share_b) = (share(ca, j.a.typical), share(cb, j.b.typical));
        let ceiling = ca.as_ref().or(cb.as_ref())?.clone();
        let sentence = words::against(&ceiling, metric, (j.a.typical, share_a), (j.b.typical, share_b));
        Some(AgainstCeiling { ceiling, share_a, share_b, sentence })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests;
