//! Autocorrelation, and how many independent values a series is worth.

use crate::describe::moments;

/// Autocorrelation at lags 0…`lags`: `Σ(x_t − x̄)(x_{t+k} − x̄)/Σ(x_t − x̄)²` (Box & Jenkins). Stops at n − 1 lags. Empty for a
/// series without spread or with values that are not finite.
#[must_use]
pub fn autocorrelation(x: &[f64], lags: usize) -> Vec<f64> {
    let Some(at) = at_lag(x) else { return Vec::new() };
    (0..=lags.min(x.len().saturating_sub(1))).map(at).collect()
}

/// The autocorrelation at a lag; `None` for a series without spread or with values that are not finite.
fn at_lag(x: &[f64]) -> Option<impl Fn(usize) -> f64> {
    let m = moments(x);
    if x.iter().any(|v| !v.is_finite()) || m.sd <= 0.0 {
        return None;
    }
    let y: Vec<f64> = x.iter().map(|v| v / m.sd - m.mean / m.sd).collect();
    let all: f64 = y.iter().map(|v| v * v).sum();
    Some(move |k: usize| y.iter().zip(y.iter().skip(k)).map(|(a, b)| a * b).sum::<f64>() / all)
}

/// Count of independent values that would tell as much of the mean: n over the integrated autocorrelation time by Geyer's
/// initial monotone sequence (Statistical Science 7, 1992), between 1 and n. `None` for fewer than four values or no spread.
#[must_use]
pub fn effective_sample_size(x: &[f64]) -> Option<f64> {
    let n = x.len();
    if n < 4 {
        return None;
    }
    // Lags are summed until a pair is negative, so they are taken one by one: a long series needs few.
    let at = at_lag(x)?;
    let (mut tau, mut least) = (-1.0, f64::INFINITY);
    for pair in 0..n / 2 {
        let sum = at(2 * pair) + at(2 * pair + 1);
        if sum <= 0.0 {
            break;
        }
        least = least.min(sum);
        tau += 2.0 * least;
    }
    let n = n as f64;
    Some((n / tau.max(f64::MIN_POSITIVE)).clamp(1.0, n))
}
