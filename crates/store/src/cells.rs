//! What a run says of each of its subjects at each size: one value, because a run is one repetition.

use linerate_bench::{Label, Metric, Run};
use smol_str::SmolStr;
use std::collections::HashMap;

/// A metric under the labels that tell measurements apart; ranks and streams, which are many of one, are left out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Subject {
    pub(crate) metric: Metric,
    /// Sorted.
    pub(crate) labels: Vec<Label>,
}

impl Subject {
    /// What looks it up.
    pub(crate) fn key(&self) -> Key {
        key(&self.metric, &self.labels)
    }
}

/// What looks a subject up. Subjects of one key differ in unit, statistic or direction only, so they are few.
pub(crate) type Key = (SmolStr, Vec<Label>);

/// The key of a metric under labels, which are sorted.
pub(crate) fn key(metric: &Metric, labels: &[Label]) -> Key {
    (metric.name.clone(), labels.to_vec())
}

/// A run's valid points of one subject at one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Cell {
    /// Into [`Cells::subjects`].
    pub(crate) subject: usize,
    /// Bytes; -1: the points have none. What is beyond 2⁶³ counts as that.
    pub(crate) size: i64,
    pub(crate) n: i64,
    /// Of members (ranks, streams): the mean of their means, so that each weighs the same.
    pub(crate) mean: f64,
    /// Of members: the mean of their medians.
    pub(crate) median: f64,
}

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Cells {
    pub(crate) subjects: Vec<Subject>,
    /// Of each series, in order, its subject.
    pub(crate) of_series: Vec<usize>,
    /// None of a run that is no valid result.
    pub(crate) cells: Vec<Cell>,
}

/// The size of a point as the database has it.
pub(crate) fn size(size: Option<u64>) -> i64 {
    size.map_or(-1, |s| i64::try_from(s).unwrap_or(i64::MAX))
}

/// The labels that tell measurements apart, sorted.
pub(crate) fn telling(labels: &[Label]) -> Vec<Label> {
    let mut telling: Vec<Label> = labels.iter().filter(|l| !l.is_member()).cloned().collect();
    telling.sort();
    telling
}

pub(crate) fn cells(run: &Run) -> Cells {
    let mut out = Cells::default();
    let mut known: HashMap<_, Vec<usize>> = HashMap::new();
    for s in &run.series {
        let subject = Subject { metric: s.metric.clone(), labels: telling(&s.labels) };
        let same = known.entry(subject.key()).or_default();
        let place = same.iter().copied().find(|k| out.subjects.get(*k) == Some(&subject));
        out.of_series.push(place.unwrap_or_else(|| {
            same.push(out.subjects.len());
            out.subjects.push(subject);
            out.subjects.len() - 1
        }));
    }
    if !run.is_valid() {
        return out;
    }
    // Of each subject, its series.
    let mut series = vec![Vec::new(); out.subjects.len()];
    for (s, of) in run.series.iter().zip(&out.of_series) {
        series[*of].push(s);
    }
    for (subject, of) in series.into_iter().enumerate() {
        let mut members: Vec<Cell> = Vec::new();
        for s in of {
            let mut values: Vec<(i64, f64)> = Vec::with_capacity(s.points.len());
            values.extend(s.points.valid().filter(|p| p.value.is_finite()).map(|p| (size(p.size), p.value)));
            values.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            members.extend(values.chunk_by(|a, b| a.0 == b.0).filter_map(|same| member(subject, same)));
        }
        members.sort_by_key(|c| c.size);
        out.cells.extend(members.chunk_by(|a, b| a.size == b.size).filter_map(together));
    }
    out
}

/// Sorted values of one size.
fn member(subject: usize, values: &[(i64, f64)]) -> Option<Cell> {
    let (&(size, min), &(_, max)) = (values.first()?, values.last()?);
    let (low, high) = (values.get((values.len() - 1) / 2)?.1, values.get(values.len() / 2)?.1);
    // Each divided before they are added: the sum of large values overflows.
    let n = values.len() as f64;
    let mean = if values.len() == 1 { min } else { values.iter().map(|v| v.1 / n).sum::<f64>().clamp(min, max) };
    let median = if low == high { low } else { low / 2.0 + high / 2.0 };
    Some(Cell { subject, size, n: values.len() as i64, mean, median })
}

fn together(members: &[Cell]) -> Option<Cell> {
    let (first, rest) = members.split_first()?;
    if rest.is_empty() {
        return Some(*first);
    }
    let k = members.len() as f64;
    let mean = |of: fn(&Cell) -> f64| members.iter().map(|c| of(c) / k).sum::<f64>();
    Some(Cell { n: members.iter().map(|c| c.n).sum(), mean: mean(|c| c.mean), median: mean(|c| c.median), ..*first })
}

#[cfg(test)]
mod tests {
    use super::*;
    use linerate_bench::{Better, Fault, Point, Unit};

    #[test]
    fn ranks_weigh_the_same_and_invalid_points_nothing() {
        let mut run = Run::default();
        let metric = Metric::new("tps", Unit::TokensPerSecond, Better::Higher);
        run.series_mut(metric.clone(), &[Label::new("rank", "0")]).push(None, Some(1.0), 100.0);
        let second = run.series_mut(metric.clone(), &[Label::new("rank", "1")]);
        for (at, value) in [(1.0, 190.0), (2.0, 200.0), (3.0, 240.0)] {
            second.push(None, Some(at), value);
        }
        second.points.push(Point { size: None, at: Some(4.0), value: 1e9, valid: false });
        run.series_mut(metric, &[Label::new("phase", "eval")]).push(Some(8), None, 7.0);
        let found = cells(&run);
        assert_eq!(found.of_series, [0, 0, 1]);
        assert_eq!(found.cells.len(), 2);
        let c = found.cells[0];
        assert_eq!((c.size, c.n, c.mean, c.median), (-1, 4, 155.0, 150.0));
        assert_eq!((found.cells[1].size, found.cells[1].mean), (8, 7.0));
        run.faults.push(Fault { what: "out of bounds".into(), line: None, whole_run: true });
        assert!(cells(&run).cells.is_empty());
    }

    #[test]
    fn large_values_do_not_overflow() {
        let mut run = Run::default();
        let s = run.series_mut(Metric::new("x", Unit::One, Better::Neither), &[]);
        s.push(Some(u64::MAX), None, f64::MAX);
        s.push(Some(u64::MAX), None, f64::MAX);
        let c = cells(&run).cells[0];
        assert!(c.mean.is_finite() && c.median == f64::MAX && c.size == i64::MAX);
    }
}
