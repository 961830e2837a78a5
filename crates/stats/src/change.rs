//! Where a series changes its level once: Pettitt's test (A. N. Pettitt, "A non-parametric approach to the change-point problem", Applied
//! Statistics 28, 1979), by ranks, so that neither outliers nor the form of the distribution matter. It takes values for independent: those of
//! a training are not quite, so that its probability is one of several things to ask for.

/// The likeliest place of a change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Index of the first value behind it.
    pub at: usize,
    /// The largest of the statistic's absolute values.
    pub k: f64,
    /// Probability of as large a one without a change: 2·exp(−6K²/(n³+n²)), at most 1.
    pub p: f64,
}

/// The likeliest change of a series; `None`: fewer than two values, or one that is not finite.
#[must_use]
pub fn change(x: &[f64]) -> Option<Change> {
    let n = x.len();
    if n < 2 || x.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let ranks = ranks(x);
    let count = n as f64;
    let (mut sum, mut best) = (0.0, (0_usize, 0.0_f64));
    for (i, rank) in ranks.iter().enumerate().take(n - 1) {
        sum += rank;
        let u = 2.0 * sum - (i as f64 + 1.0) * (count + 1.0);
        if u.abs() > best.1 {
            best = (i + 1, u.abs());
        }
    }
    let (at, k) = best;
    let p = (2.0 * (-6.0 * k * k / (count.powi(3) + count.powi(2))).exp()).min(1.0);
    Some(Change { at, k, p })
}

/// Ranks from 1; equal values share the mean of theirs.
fn ranks(x: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..x.len()).collect();
    let value = |i: &usize| x.get(*i).copied().unwrap_or_default();
    order.sort_by(|a, b| value(a).total_cmp(&value(b)));
    let mut out = vec![0.0; x.len()];
    let mut from = 0;
    for group in order.chunk_by(|a, b| value(a) == value(b)) {
        let mean = from as f64 + (group.len() as f64 + 1.0) / 2.0;
        for i in group {
            if let Some(slot) = out.get_mut(*i) {
                *slot = mean;
            }
        }
        from += group.len();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of pyhomogeneity 1.1, `pettitt_test(x, sim=None)`.
    #[test]
    fn as_another_implementation_has_it() {
        let x = [
            1.0, 1.1, 0.9, 1.05, 1.0, 0.95, 1.02, 1.08, 0.97, 1.01, 1.5, 1.6, 1.45, 1.55, 1.52, 1.48, 1.61, 1.57, 1.49,
            1.53,
        ];
        let c = change(&x).unwrap();
        assert_eq!((c.at, c.k), (10, 100.0));
        assert!((c.p - 0.001_580_980_646_239_932_3).abs() < 1e-15, "{c:?}");
    }

    #[test]
    fn nothing_changes_where_all_are_equal_or_none_is_there() {
        assert_eq!(change(&[2.0; 30]).map(|c| (c.k, c.p)), Some((0.0, 1.0)));
        assert_eq!(change(&[1.0]), None);
        assert_eq!(change(&[1.0, f64::NAN, 2.0]), None);
    }

    /// Scaling and shifting change nothing; the series backwards changes at the mirrored place.
    #[test]
    fn the_units_do_not_matter() {
        let x: Vec<f64> = (0..40_u32).map(|i| f64::from(i * 7919 % 97) + if i >= 23 { 60.0 } else { 0.0 }).collect();
        let scaled: Vec<f64> = x.iter().map(|v| v * 3.0 + 5.0).collect();
        assert_eq!(change(&x), change(&scaled));
        let back: Vec<f64> = x.iter().rev().copied().collect();
        assert_eq!(change(&back).map(|c| c.at), change(&x).map(|c| 40 - c.at));
        assert_eq!(change(&x).map(|c| c.at), Some(23));
    }
}
