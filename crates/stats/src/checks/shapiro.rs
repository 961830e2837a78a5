//! Shapiro and Wilk's test of normality.

use crate::describe::{moments, sorted};
use crate::dist::{normal_cdf, normal_quantile};
use crate::refused::{Refused, Side, finite};
use std::f64::consts::{FRAC_PI_3, PI};

/// Result of the test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShapiroWilk {
    /// Squared correlation of the values with normal scores: 1 for normal ones.
    pub w: f64,
    /// p value of normality.
    pub p: f64,
}

/// Shapiro and Wilk's test, with Royston's weights and p value (Algorithm AS R94, Applied Statistics 44, 1995).
///
/// # Errors
/// Fewer than 3 or more than 5,000 values, values that are not finite or all the same.
pub fn shapiro_wilk(x: &[f64]) -> Result<ShapiroWilk, Refused> {
    finite(Side::Only, x, 3)?;
    let n = x.len();
    if n > 5_000 {
        return Err(Refused::Argument { name: "n", value: n as f64, permitted: "3 to 5000" });
    }
    let sorted = sorted(x);
    let m = moments(&sorted);
    if m.sd <= 1e-15 * m.mean.abs() {
        return Err(Refused::Argument { name: "spread", value: m.sd, permitted: "a spread above rounding" });
    }
    let weights = weights(n);
    // The weights are antisymmetric: the i-th smallest against the i-th largest.
    let pairs = weights.iter().zip(&sorted).zip(sorted.iter().rev());
    let b: f64 = pairs.map(|((w, low), high)| w * (high / m.sd - low / m.sd)).sum();
    let w = (b * b / (m.n - 1.0)).min(1.0);
    Ok(ShapiroWilk { w, p: p_value(w, n) })
}

/// Positive half of the weights, for the largest value first.
fn weights(n: usize) -> Vec<f64> {
    if n == 3 {
        return vec![0.5f64.sqrt()];
    }
    let half = n / 2;
    let size = n as f64;
    let scores: Vec<f64> = (1..=half).map(|i| -normal_quantile((i as f64 - 0.375) / (size + 0.25))).collect();
    let squares = 2.0 * scores.iter().map(|m| m * m).sum::<f64>();
    let u = 1.0 / size.sqrt();
    let (m1, m2) = (scores.first().copied().unwrap_or(0.0), scores.get(1).copied().unwrap_or(0.0));
    let a1 = polynomial(&[0.0, 0.221157, -0.147981, -2.07119, 4.434685, -2.706056], u) + m1 / squares.sqrt();
    if n <= 5 {
        let phi = (squares - 2.0 * m1 * m1) / (1.0 - 2.0 * a1 * a1);
        return std::iter::once(a1).chain(scores.iter().skip(1).map(|m| m / phi.sqrt())).collect();
    }
    let a2 = polynomial(&[0.0, 0.042981, -0.293762, -1.752461, 5.682633, -3.582633], u) + m2 / squares.sqrt();
    let phi = (squares - 2.0 * m1 * m1 - 2.0 * m2 * m2) / (1.0 - 2.0 * a1 * a1 - 2.0 * a2 * a2);
    [a1, a2].into_iter().chain(scores.iter().skip(2).map(|m| m / phi.sqrt())).collect()
}

fn p_value(w: f64, n: usize) -> f64 {
    if n == 3 {
        // Exact: W is at least ¾.
        return (6.0 / PI * (w.max(0.75).sqrt().asin() - FRAC_PI_3)).clamp(0.0, 1.0);
    }
    let (size, ln_n) = (n as f64, (n as f64).ln());
    let y = (1.0 - w).ln();
    if n <= 11 {
        let gamma = polynomial(&[-2.273, 0.459], size);
        if y >= gamma {
            return 0.0;
        }
        let mean = polynomial(&[0.5440, -0.39978, 0.025054, -6.714e-4], size);
        let sd = polynomial(&[1.3822, -0.77857, 0.062767, -0.0020322], size).exp();
        return normal_cdf(-(-(gamma - y).ln() - mean) / sd);
    }
    let mean = polynomial(&[-1.5861, -0.31082, -0.083751, 0.0038915], ln_n);
    let sd = polynomial(&[-0.4803, -0.082676, 0.0030302], ln_n).exp();
    normal_cdf(-(y - mean) / sd)
}

/// Coefficients of rising powers.
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}
