//! Runs above and below the median.

use crate::describe::median;
use crate::dist::normal_cdf;
use crate::refused::{Refused, Side, finite};

/// Wald and Wolfowitz's test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunsTest {
    /// Runs of values on one side of the median.
    pub runs: usize,
    /// Standardised: negative for few, long runs (drift, autocorrelation).
    pub z: f64,
    /// Two-sided p value, normal approximation.
    pub p: f64,
}

/// Runs above and below the median (Wald & Wolfowitz, Ann. Math. Stat. 11, 1940); values equal to the median are left out.
///
/// # Errors
/// Values that are not finite, or fewer than two on a side of the median.
pub fn runs_test(x: &[f64]) -> Result<RunsTest, Refused> {
    finite(Side::Only, x, 4)?;
    let m = median(x);
    let above: Vec<bool> = x.iter().filter(|v| **v != m).map(|v| *v > m).collect();
    let n1 = above.iter().filter(|a| **a).count();
    let n2 = above.len() - n1;
    if n1.min(n2) < 2 {
        return Err(Refused::TooFew { side: Side::Only, n: n1.min(n2), needs: 2 });
    }
    let runs = 1 + above.iter().zip(above.iter().skip(1)).filter(|(a, b)| a != b).count();
    let (f1, f2) = (n1 as f64, n2 as f64);
    let n = f1 + f2;
    let mean = 2.0 * f1 * f2 / n + 1.0;
    let variance = (mean - 1.0) * (mean - 2.0) / (n - 1.0);
    let z = (runs as f64 - mean) / variance.sqrt();
    Ok(RunsTest { runs, z, p: (2.0 * normal_cdf(-z.abs())).min(1.0) })
}
