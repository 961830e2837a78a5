//! Where the series of a metric and its labels lies among those of a run.

use super::{Label, Metric, Series};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// An index over the series of a run. It says nothing that the series do not say: it is no part of what a run is.
#[derive(Debug, Clone, Default)]
pub struct Places {
    of: HashMap<u64, Vec<u32>>,
    known: usize,
    hasher: RandomState,
}

impl PartialEq for Places {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Places {
    /// The place of a series; what was added since is taken up.
    pub(super) fn of(&mut self, series: &[Series], metric: &Metric, labels: &[Label]) -> Option<usize> {
        if self.known > series.len() {
            (self.known, self.of) = (0, HashMap::new());
        }
        for (n, s) in series.iter().enumerate().skip(self.known) {
            self.of.entry(self.key(&s.metric, &s.labels)).or_default().push(u32::try_from(n).ok()?);
        }
        self.known = series.len();
        let is = |n: &usize| series.get(*n).is_some_and(|s| s.metric == *metric && s.labels == labels);
        self.of.get(&self.key(metric, labels))?.iter().map(|n| *n as usize).find(is)
    }

    fn key(&self, metric: &Metric, labels: &[Label]) -> u64 {
        let mut h = self.hasher.build_hasher();
        h.write(metric.name.as_bytes());
        for l in labels {
            h.write(&[0]);
            h.write(l.key.as_bytes());
            h.write(&[1]);
            h.write(l.value.as_bytes());
        }
        h.finish()
    }
}
