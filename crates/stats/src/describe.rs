//! What a sample looks like.

/// Makes the median absolute deviation of normal data their standard deviation: 1/Φ⁻¹(¾).
pub const MAD_TO_SD: f64 = 1.482_602_218_505_602;

/// Description of a sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Count.
    pub n: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation with n − 1; `None` for a single value, and where it is beyond the range of a double.
    pub sd: Option<f64>,
    /// Median.
    pub median: f64,
    /// Median absolute deviation from the median, not scaled; times [`MAD_TO_SD`] it estimates the standard deviation of
    /// normal data (Hampel 1974).
    pub mad: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// First quartile, as [`quantile`] gives it.
    pub q1: f64,
    /// Third quartile.
    pub q3: f64,
    /// Geometric mean; `None` unless all values are positive.
    pub geometric_mean: Option<f64>,
    /// Adjusted Fisher–Pearson skewness G₁ (Joanes & Gill, The Statistician 47, 1998); needs three values and spread.
    pub skewness: Option<f64>,
    /// Standard deviation over |mean|; `None` without a standard deviation or around zero.
    pub cv: Option<f64>,
}

/// Describes a sample; `None` if it is empty or a value is not finite.
#[must_use]
pub fn describe(x: &[f64]) -> Option<Summary> {
    let first = *x.first()?;
    if x.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let sorted = sorted(x);
    let m = moments(&sorted);
    let median = quantile_sorted(&sorted, 0.5);
    let logs = || sorted.iter().map(|v| v.ln()).collect::<Vec<f64>>();
    let sd = (x.len() > 1 && m.sd.is_finite()).then_some(m.sd);
    Some(Summary {
        n: x.len(),
        mean: m.mean,
        sd,
        median,
        mad: mad(&sorted, median),
        min: sorted.first().copied().unwrap_or(first),
        max: sorted.last().copied().unwrap_or(first),
        q1: quantile_sorted(&sorted, 0.25),
        q3: quantile_sorted(&sorted, 0.75),
        geometric_mean: sorted.first().is_some_and(|v| *v > 0.0).then(|| moments(&logs()).mean.exp()),
        skewness: skewness(&sorted, &m),
        cv: sd.filter(|_| m.mean != 0.0).map(|s| s / m.mean.abs()).filter(|c| c.is_finite()),
    })
}

/// Mean and spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moments {
    pub(crate) n: f64,
    pub(crate) mean: f64,
    /// With n − 1; 0 for a single value and where all values are the same but for rounding.
    pub(crate) sd: f64,
}

impl Moments {
    /// Standard error of the mean.
    pub(crate) fn se(&self) -> f64 {
        self.sd / self.n.sqrt()
    }
}

/// Mean and standard deviation by Welford's recurrence (Technometrics 4, 1962), on values scaled by a power of two so that
/// neither huge nor tiny ones leave the range of a double. Zeros for an empty sample.
pub(crate) fn moments(x: &[f64]) -> Moments {
    let scale = scale(x);
    let (mut n, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for v in x {
        let v = v / scale;
        n += 1.0;
        let delta = v - mean;
        mean += delta / n;
        squares += delta * (v - mean);
    }
    let sd = if n > 1.0 { (squares / (n - 1.0)).max(0.0).sqrt() } else { 0.0 };
    // Equal values must have no spread, whatever the rounding of the mean.
    let equal = x.iter().zip(x.iter().skip(1)).all(|(a, b)| a == b);
    Moments { n, mean: mean * scale, sd: if equal { 0.0 } else { sd * scale } }
}

/// The power of two just below the largest magnitude; 1 for zeros.
fn scale(x: &[f64]) -> f64 {
    let max = x.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    if max.is_normal() { max.log2().floor().clamp(-1000.0, 1000.0).exp2() } else { 1.0 }
}

fn skewness(x: &[f64], m: &Moments) -> Option<f64> {
    if x.len() < 3 || m.sd <= 0.0 {
        return None;
    }
    let n = m.n;
    let cubes: f64 = x.iter().map(|v| ((v - m.mean) / m.sd).powi(3)).sum();
    Some(n / ((n - 1.0) * (n - 2.0)) * cubes).filter(|s| s.is_finite())
}

pub(crate) fn sorted(x: &[f64]) -> Vec<f64> {
    let mut out = x.to_vec();
    out.sort_unstable_by(f64::total_cmp);
    out
}

/// Quantile of a sample by linear interpolation between order statistics, definition 7 of Hyndman & Fan (The American
/// Statistician 50, 1996), the default of NumPy and R. `None` for an empty sample, values that are not finite, or `p`
/// outside 0…1.
#[must_use]
pub fn quantile(x: &[f64], p: f64) -> Option<f64> {
    if x.is_empty() || !(0.0..=1.0).contains(&p) || x.iter().any(|v| !v.is_finite()) {
        return None;
    }
    Some(quantile_sorted(&sorted(x), p))
}

/// As [`quantile`], of a sorted sample that is not empty (`NaN` if it is).
#[must_use]
pub fn quantile_sorted(sorted: &[f64], p: f64) -> f64 {
    let at = (sorted.len().saturating_sub(1)) as f64 * p;
    let below = at.floor();
    let low = sorted.get(below as usize).copied().unwrap_or(f64::NAN);
    let high = sorted.get(at.ceil() as usize).copied().unwrap_or(low);
    // Weighted sum, not low + w·(high − low): the difference of two huge values may overflow. Between equal values it is that value,
    // not a rounded sum.
    let w = at - below;
    if w > 0.0 && low != high { low * (1.0 - w) + high * w } else { low }
}

/// Median of values in any order; `NaN` for none.
pub(crate) fn median(x: &[f64]) -> f64 {
    quantile_sorted(&sorted(x), 0.5)
}

/// Median absolute deviation, not scaled.
pub(crate) fn mad(x: &[f64], centre: f64) -> f64 {
    let away: Vec<f64> = x.iter().map(|v| (v - centre).abs()).collect();
    median(&away)
}
