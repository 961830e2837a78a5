//! Resampling of a series in blocks.

use super::interval::Resampled;
use super::{BootstrapRatio, count};
use crate::describe::moments;
use crate::refused::{Refused, Side, finite, fraction, logs};
use crate::rng::Rng;

/// Ratio of geometric means of two stationary series, B over A, by the stationary bootstrap (Politis & Romano, J. Am. Stat. Assoc.
/// 89, 1994) with [`block_length`]'s mean block length. Assumes no form of correlation, and pays for it: its
/// percentile interval at 95 % covers 82 % of simulated series of 40 values with φ = 0.5, and 91 % of those of 600.
/// [`crate::ratio_series`] is the one to use; this one is for comparison on long series. `interval` is the percentile interval here.
///
/// # Errors
/// Fewer than 20 values on a side, values that are not finite or not positive, a level outside (0, 1), fewer than 100 resamples.
pub fn block_bootstrap(a: &[f64], b: &[f64], level: f64, resamples: u32, seed: u64) -> Result<BootstrapRatio, Refused> {
    fraction("level", level)?;
    let draws = count(resamples)?;
    let (a, b) = (Blocks::of(Side::A, a)?, Blocks::of(Side::B, b)?);
    let estimate = b.mean - a.mean;
    let mut rng = Rng::new(seed);
    let differences: Vec<f64> = (0..draws).map(|_| estimate + b.draw(&mut rng) - a.draw(&mut rng)).collect();
    let se = moments(&differences).sd;
    // One standard error for all: the studentised interval becomes the basic one, mirrored below into percentiles.
    let t = differences.iter().map(|d| (estimate - d) / se.max(f64::MIN_POSITIVE)).collect();
    Resampled { estimate, se, differences, t, acceleration: None }.ratio(level)
}

/// One side's logarithms about their mean, and the chance that a block ends.
struct Blocks {
    off: Vec<f64>,
    mean: f64,
    end: f64,
}

impl Blocks {
    fn of(side: Side, x: &[f64]) -> Result<Self, Refused> {
        let y = logs(side, x, 20)?;
        let m = moments(&y);
        let end = 1.0 / block_length(&y)?;
        Ok(Self { off: y.into_iter().map(|v| v - m.mean).collect(), mean: m.mean, end })
    }

    fn draw(&self, rng: &mut Rng) -> f64 {
        let n = self.off.len();
        let (mut at, mut sum) = (rng.below(n), 0.0);
        for _ in 0..n {
            sum += self.off.get(at).copied().unwrap_or(0.0);
            // The series is a circle.
            at = if rng.uniform() < self.end { rng.below(n) } else { (at + 1) % n };
        }
        sum / n as f64
    }
}

/// Best mean block length of the stationary bootstrap for the mean of a series (Politis & White, Econometric Reviews 23, 2004,
/// corrected by Patton, Politis & White, ibid. 28, 2009): at least 1.
///
/// # Errors
/// Fewer than 20 values, or values that are not finite.
pub fn block_length(x: &[f64]) -> Result<f64, Refused> {
    finite(Side::Only, x, 20)?;
    let m = moments(x);
    if m.sd <= 0.0 {
        return Ok(1.0);
    }
    let y: Vec<f64> = x.iter().map(|v| v / m.sd - m.mean / m.sd).collect();
    let n = y.len();
    let size = n as f64;
    let covariance = |k: usize| y.iter().zip(y.iter().skip(k)).map(|(a, b)| a * b).sum::<f64>() / size;
    let window = (size.log10().sqrt().ceil() as usize).max(5);
    let most_lag = (size.sqrt().ceil() as usize + window).min(n - 1);
    let c0 = covariance(0);
    let gamma: Vec<f64> = (0..=most_lag).map(covariance).collect();
    let small = 2.0 * (size.log10() / size).sqrt();
    let insignificant: Vec<bool> = gamma.iter().skip(1).map(|g| (g / c0).abs() < small).collect();
    // The first lag after which `window` correlations in a row are insignificant; else the last significant one.
    let quiet = insignificant.windows(window).position(|w| w.iter().all(|i| *i));
    let lag = quiet.unwrap_or_else(|| insignificant.iter().rposition(|i| !*i).map_or(1, |k| k + 1));
    let bandwidth = (2 * lag.max(1)).min(most_lag);
    let (mut g, mut long_run) = (0.0, gamma.first().copied().unwrap_or(0.0));
    for (k, c) in gamma.iter().enumerate().take(bandwidth + 1).skip(1) {
        let share = k as f64 / bandwidth as f64;
        // Flat-top window.
        let weight = if share <= 0.5 { 1.0 } else { 2.0 * (1.0 - share) };
        g += 2.0 * weight * k as f64 * c;
        long_run += 2.0 * weight * c;
    }
    let d = 2.0 * long_run * long_run;
    let length = if d > 0.0 { (2.0 * g * g / d).cbrt() * size.cbrt() } else { 1.0 };
    Ok(length.clamp(1.0, (3.0 * size.sqrt()).min(size / 3.0).ceil()))
}
