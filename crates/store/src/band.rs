//! What was ever measured, as bands: "194–309 GB/s" with its n.

use crate::filter::Measured;
use linerate_bench::{Better, RunId};

/// Which number stands for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Typical {
    /// The mean of its values.
    #[default]
    Mean,
    /// Their median: of a time series, hardly moved by how it began.
    Median,
}

/// What runs say of one measurement at one size. A run counts once, whatever it repeats within itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// What is measured.
    pub of: Measured,
    /// Bytes.
    pub size: Option<u64>,
    /// One value of each run, ascending. Never empty.
    pub values: Vec<f64>,
    /// When the first of the runs began (or was stored): seconds of the Unix epoch.
    pub first: f64,
    /// When the last did.
    pub last: f64,
    /// The run with the smallest value, and the one with the largest.
    pub ends: [RunId; 2],
}

impl Band {
    /// Runs: the n of every statement about it.
    #[must_use]
    pub fn n(&self) -> usize {
        self.values.len()
    }

    /// Smallest value.
    #[must_use]
    pub fn min(&self) -> f64 {
        self.quantile(0.0)
    }

    /// Largest value.
    #[must_use]
    pub fn max(&self) -> f64 {
        self.quantile(1.0)
    }

    /// A quantile, q in 0..=1, linear between neighbours (type 7 of Hyndman and Fan, 1996: R's and NumPy's default).
    #[must_use]
    pub fn quantile(&self, q: f64) -> f64 {
        linerate_stats::quantile_sorted(&self.values, q.clamp(0.0, 1.0))
    }

    /// The typical value.
    #[must_use]
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// A 95 % interval of the median that assumes nothing about the values but that they are independent: the order statistics between
    /// which it lies with that probability (David and Nagaraja, *Order Statistics*, 2003, §7.1). Below six runs there is none.
    ///
    /// Runs of one afternoon on one node are hardly independent: it is then an interval of that afternoon.
    #[must_use]
    pub fn median_interval(&self) -> Option<[f64; 2]> {
        let k = below_with_2_5_percent(self.values.len())?;
        Some([*self.values.get(k)?, *self.values.get(self.values.len() - 1 - k)?])
    }

    /// The share of runs with a smaller value, those with the same counted half: 0.9 is the 90th percentile.
    #[must_use]
    pub fn rank(&self, value: f64) -> f64 {
        let below = self.values.partition_point(|v| *v < value);
        let same = self.values.partition_point(|v| *v <= value) - below;
        (below as f64 + same as f64 / 2.0) / self.values.len() as f64
    }

    /// The best value and its run; `None` where neither direction is good.
    #[must_use]
    pub fn best(&self) -> Option<(f64, RunId)> {
        let [low, high] = self.ends;
        match self.of.metric.better {
            Better::Higher => Some((self.max(), high)),
            Better::Lower => Some((self.min(), low)),
            Better::Neither => None,
        }
    }
}

/// How many values at each end lie outside a 95 % interval of the median of n; `None` where even all do not suffice.
fn below_with_2_5_percent(n: usize) -> Option<usize> {
    // P(fewer than k + 1 of n coins) ≤ 0.025, in logarithms: 2⁻ⁿ is no number for large n.
    let (mut log, mut sum, mut k) = (-(n as f64) * std::f64::consts::LN_2, 0.0, None);
    for i in 0..n {
        sum += log.exp();
        if sum > 0.025 {
            return k;
        }
        k = Some(i);
        log += ((n - i) as f64 / (i + 1) as f64).ln();
    }
    k
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_medians_are_those_of_tables() {
        // Conover, Practical Nonparametric Statistics; R: qbinom(0.025, n, 0.5) - 1 where pbinom does not exceed 0.025.
        for (n, want) in [
            (0, None),
            (5, None),
            (6, Some(0)),
            (8, Some(0)),
            (9, Some(1)),
            (12, Some(2)),
            (20, Some(5)),
            (50, Some(17)),
            (100, Some(39)),
            (1000, Some(468)),
        ] {
            assert_eq!(below_with_2_5_percent(n), want, "{n}");
        }
        assert!(below_with_2_5_percent(100_000).is_some_and(|k| (49_688..=49_692).contains(&k)));
    }
}
