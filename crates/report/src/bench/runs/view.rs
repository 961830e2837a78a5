//! A run as it is read: what belongs together side by side.

use crate::bench::words;
use linerate_bench::{Label, Metric, Run, Series};
use std::collections::{BTreeMap, BTreeSet};

/// Series that differ only in which of many they come from: ranks, streams.
pub(in crate::bench) struct Group<'a> {
    pub(in crate::bench) metric: &'a Metric,
    pub(in crate::bench) labels: Vec<Label>,
    pub(in crate::bench) members: Vec<&'a Series>,
}

/// A value of a group: the mean of its members.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::bench) struct Value {
    pub(in crate::bench) value: f64,
    pub(in crate::bench) valid: bool,
}

/// How the values of a run lie.
#[derive(Default)]
pub(in crate::bench) struct View<'a> {
    /// Over several sizes.
    pub(in crate::bench) sweeps: Vec<Group<'a>>,
    /// Over time, or one size again and again.
    pub(in crate::bench) times: Vec<Group<'a>>,
    /// One or a few.
    pub(in crate::bench) singles: Vec<Group<'a>>,
}

/// The labels that tell measurements apart.
pub(in crate::bench) fn telling(series: &Series) -> Vec<Label> {
    series.labels.iter().filter(|l| !l.is_member()).cloned().collect()
}

impl<'a> View<'a> {
    pub(in crate::bench) fn of(run: &'a Run) -> Self {
        let mut groups: Vec<Group<'a>> = Vec::new();
        let mut places: BTreeMap<(&str, String, String, Vec<Label>), usize> = BTreeMap::new();
        for s in &run.series {
            let labels = telling(s);
            let m = &s.metric;
            let key = (m.name.as_str(), m.stat.to_string(), m.unit.name().to_owned(), labels.clone());
            let place = *places.entry(key).or_insert(groups.len());
            match groups.get_mut(place) {
                Some(g) => g.members.push(s),
                None => groups.push(Group { metric: m, labels, members: vec![s] }),
            }
        }
        // Among equals the order of the output stays.
        groups.sort_by_key(|g| words::importance(g.metric));
        let sizes: BTreeSet<u64> = run.series.iter().flat_map(|s| s.points.iter()).filter_map(|p| p.size).collect();
        let mut view = View::default();
        for g in groups {
            let longest = g.members.iter().map(|s| s.points.len()).max().unwrap_or(0);
            let sized = g.members.iter().flat_map(|s| s.points.iter()).any(|p| p.size.is_some());
            let list = if sizes.len() > 1 && sized {
                &mut view.sweeps
            } else if longest > 1 {
                &mut view.times
            } else {
                &mut view.singles
            };
            list.push(g);
        }
        view
    }
}

impl Group<'_> {
    /// Values by size, and by how often that size came before.
    pub(in crate::bench) fn by_size(&self) -> BTreeMap<(u64, usize), Value> {
        let mut sums: BTreeMap<(u64, usize), (f64, f64, bool)> = BTreeMap::new();
        for s in &self.members {
            let mut seen: BTreeMap<u64, usize> = BTreeMap::new();
            for p in s.points.iter() {
                let Some(size) = p.size else { continue };
                let times = seen.entry(size).or_default();
                let sum = sums.entry((size, *times)).or_insert((0.0, 0.0, true));
                *times += 1;
                *sum = (sum.0 + p.value, sum.1 + 1.0, sum.2 && p.valid);
            }
        }
        sums.into_iter().map(|(key, (sum, n, valid))| (key, Value { value: sum / n, valid })).collect()
    }

    /// Values in the order of the output: the mean of the members at each place.
    pub(in crate::bench) fn in_order(&self) -> Vec<f64> {
        let longest = self.members.iter().map(|s| s.points.len()).max().unwrap_or(0);
        let mut sums = vec![(0.0, 0.0); longest];
        for s in &self.members {
            for (sum, p) in sums.iter_mut().zip(s.points.iter()) {
                if p.valid && p.value.is_finite() {
                    *sum = (sum.0 + p.value, sum.1 + 1.0);
                }
            }
        }
        sums.into_iter().filter(|(_, n)| *n > 0.0).map(|(sum, n)| sum / n).collect()
    }

    /// Its first value, or the mean of the members' first ones.
    pub(in crate::bench) fn single(&self) -> Option<Value> {
        let firsts = || self.members.iter().filter_map(|s| s.points.first());
        let n = firsts().count() as f64;
        let valid = firsts().all(|p| p.valid);
        (n > 0.0).then(|| Value { value: firsts().map(|p| p.value / n).sum(), valid })
    }

    /// The size of its first value.
    pub(in crate::bench) fn size(&self) -> Option<u64> {
        self.members.first().and_then(|s| s.points.first()).and_then(|p| p.size)
    }

    /// `busbw in-place`; labels that all have are left out.
    pub(in crate::bench) fn name(&self, common: &[Label]) -> String {
        let metric = words::metric(&self.metric.name, self.metric.stat);
        let own = self.own_labels(common);
        if own.is_empty() { metric } else { format!("{metric} {}", words::labels(&own)) }
    }

    /// Its labels that not all others have, too.
    pub(in crate::bench) fn own_labels(&self, common: &[Label]) -> Vec<Label> {
        self.labels.iter().filter(|l| !common.contains(l)).cloned().collect()
    }
}

/// Labels that all groups have.
pub(in crate::bench) fn common(groups: &[Group<'_>]) -> Vec<Label> {
    let first = groups.first().map(|g| g.labels.clone()).unwrap_or_default();
    first.into_iter().filter(|l| groups.iter().all(|g| g.labels.contains(l))).collect()
}
