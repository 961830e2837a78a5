//! Which values of which runs are drawn.

use crate::bench::runs::{Group, View, telling};
use crate::bench::words;
use linerate_bench::compare::Comparison;
use linerate_bench::{Label, Metric, Run, Stat, Unit};
use std::collections::BTreeMap;

/// Runs that are drawn in one colour.
#[derive(Debug, Clone, Copy)]
pub struct PlotSide<'a> {
    /// In the legend.
    pub name: &'a str,
    /// Those that are no valid result are left out, and counted in the note.
    pub runs: &'a [&'a Run],
}

/// Which series of a run: its metric, the statistic, and all labels but those that name one of many (rank, stream).
#[derive(Debug, Clone, PartialEq)]
pub struct Select {
    /// Name of the metric.
    pub metric: String,
    /// Which statistic of it.
    pub stat: Stat,
    /// What tells it from other series, in any order.
    pub labels: Vec<Label>,
}

impl Select {
    /// What a comparison is of.
    #[must_use]
    pub fn of(c: &Comparison) -> Self {
        let labels = c.labels.iter().filter(|l| !l.is_member()).cloned().collect();
        Select { metric: c.metric.to_string(), stat: c.stat, labels }
    }

    /// What one would quote of a run. `None` where it holds no value.
    #[must_use]
    pub fn main(run: &Run) -> Option<Self> {
        let comparable = |s: &&linerate_bench::Series| !s.points.is_empty() && s.metric.stat.is_comparable();
        let s = run.series.iter().filter(comparable).min_by_key(|s| words::importance(&s.metric))?;
        Some(Select { metric: s.metric.name.to_string(), stat: s.metric.stat, labels: telling(s) })
    }

    fn fits(&self, metric: &Metric, labels: &[Label]) -> bool {
        metric.name == self.metric
            && metric.stat == self.stat
            && labels.len() == self.labels.len()
            && labels.iter().all(|l| self.labels.contains(l))
    }

    /// `busbw out-of-place`.
    pub(super) fn name(&self) -> String {
        let labels = words::labels(&self.labels);
        let metric = words::metric(&self.metric, self.stat);
        if labels.is_empty() { metric } else { format!("{metric} {labels}") }
    }
}

/// The chosen values of one run.
pub(super) struct Chosen<'a> {
    pub(super) run: &'a Run,
    group: Group<'a>,
    /// Their unit in the unit of the plot.
    factor: f64,
}

/// The chosen values of all sides, in one unit.
pub(super) struct Choice<'a> {
    pub(super) metric: Option<&'a Metric>,
    pub(super) sides: Vec<(&'a str, Vec<Chosen<'a>>)>,
    /// Runs that are no valid result.
    pub(super) invalid: usize,
}

impl<'a> Choice<'a> {
    pub(super) fn of(sides: &[PlotSide<'a>], select: &Select) -> Self {
        let mut choice = Choice { metric: None, sides: Vec::new(), invalid: 0 };
        for side in sides {
            let mut chosen = Vec::new();
            for run in side.runs {
                if !run.is_valid() {
                    choice.invalid += 1;
                    continue;
                }
                let view = View::of(run);
                let groups = view.sweeps.into_iter().chain(view.times).chain(view.singles);
                let Some(group) = groups.into_iter().find(|g| select.fits(g.metric, &g.labels)) else { continue };
                let metric = *choice.metric.get_or_insert(group.metric);
                // Other units of the same thing are converted, other things are not drawn.
                let Some(factor) = group.metric.unit.convert(1.0, &metric.unit) else { continue };
                chosen.push(Chosen { run, group, factor });
            }
            choice.sides.push((side.name, chosen));
        }
        choice
    }

    /// `busbw, GB/s`.
    pub(super) fn label(&self, select: &Select) -> String {
        let name = words::metric(&select.metric, select.stat);
        match self.metric.map(|m| &m.unit) {
            None | Some(Unit::One) => name,
            Some(unit) => format!("{name}, {unit}"),
        }
    }
}

impl Chosen<'_> {
    /// The run's value at each size: the mean where a size was measured more than once.
    pub(super) fn by_size(&self) -> BTreeMap<u64, f64> {
        let mut sums: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
        for ((size, _), v) in self.group.by_size() {
            if v.valid && v.value.is_finite() {
                let sum = sums.entry(size).or_default();
                *sum = (sum.0 + v.value, sum.1 + 1.0);
            }
        }
        sums.into_iter().map(|(size, (sum, n))| (size, sum / n * self.factor)).collect()
    }

    /// Its values over time: the mean of the members at each place. Without times, their numbers.
    pub(super) fn over_time(&self) -> Vec<(f64, f64)> {
        let timed = self.group.members.iter().find(|s| s.points.in_time());
        let longest = self.group.members.iter().map(|s| s.points.len()).max().unwrap_or(0);
        let at = |i: usize| match timed {
            Some(s) => s.points.get(i).and_then(|p| p.at),
            None => Some(i as f64),
        };
        let value = |i: usize| {
            let points = self.group.members.iter().filter_map(|s| s.points.get(i));
            let valid: Vec<f64> = points.filter(|p| p.valid && p.value.is_finite()).map(|p| p.value).collect();
            let n = valid.len() as f64;
            (!valid.is_empty()).then(|| valid.iter().map(|v| v / n).sum::<f64>())
        };
        (0..longest).filter_map(|i| Some((at(i)?, value(i)? * self.factor))).collect()
    }

    /// Whether it is a series over time: many values, not of several sizes.
    pub(super) fn is_timed(&self) -> bool {
        let same =
            |s: &linerate_bench::Series| s.points.iter().zip(s.points.iter().skip(1)).all(|(a, b)| a.size == b.size);
        self.group.members.iter().any(|s| s.points.len() > 1 && same(s))
    }
}
