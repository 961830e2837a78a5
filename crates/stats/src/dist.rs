//! Distributions: `statrs`' special functions, and quantiles polished on them.

use statrs::function::{beta::checked_beta_reg, erf, gamma::ln_gamma};
use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

/// Above this the t distribution is the normal one to within 1e-8 of its quantiles.
const NORMAL_FROM: f64 = 1e8;

/// Density of the standard normal distribution.
#[must_use]
pub fn normal_pdf(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * PI).sqrt()
}

/// Φ, the distribution function of the standard normal distribution.
#[must_use]
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * erf::erfc(-x * FRAC_1_SQRT_2)
}

/// Φ⁻¹; infinite at 0 and 1, `NaN` outside.
#[must_use]
pub fn normal_quantile(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if p > 0.5 {
        // The upper half loses digits in 1 − p no sooner than p itself has.
        return -normal_quantile(1.0 - p);
    }
    let z = -SQRT_2 * erf::erfc_inv(2.0 * p);
    let density = normal_pdf(z);
    if density > 0.0 { z - (normal_cdf(z) - p) / density } else { z }
}

/// Density of Student's t with `df` degrees of freedom (any positive number).
#[must_use]
pub fn t_pdf(t: f64, df: f64) -> f64 {
    if df >= NORMAL_FROM {
        return normal_pdf(t);
    }
    let ln = ln_gamma(0.5 * (df + 1.0)) - ln_gamma(0.5 * df) - 0.5 * (df * PI).ln();
    (ln - 0.5 * (df + 1.0) * (t * t / df).ln_1p()).exp()
}

/// P(T > t) for Student's t; `NaN` unless `df` > 0. Exact in the tail: `I_{ν/(ν+t²)}(ν/2, ½) / 2`.
#[must_use]
pub fn t_sf(t: f64, df: f64) -> f64 {
    if t.is_nan() || df.is_nan() || df <= 0.0 {
        return f64::NAN;
    }
    if df >= NORMAL_FROM {
        return normal_cdf(-t);
    }
    let square = t * t;
    // For small t the complement keeps the digits.
    let tail = if square < df {
        let inner = checked_beta_reg(0.5, 0.5 * df, square / (df + square));
        0.5 - 0.5 * inner.unwrap_or(f64::NAN)
    } else {
        let outer = checked_beta_reg(0.5 * df, 0.5, 1.0 / (1.0 + square / df));
        0.5 * outer.unwrap_or(f64::NAN)
    };
    if t >= 0.0 { tail } else { 1.0 - tail }
}

/// Two-sided p value of a t statistic.
#[must_use]
pub fn t_two_sided(t: f64, df: f64) -> f64 {
    (2.0 * t_sf(t.abs(), df)).min(1.0)
}

/// Quantile of Student's t: the normal quantile, expanded after Hill (Algorithm 396, CACM 13, 1970), then Newton steps that
/// a bracket keeps from leaving. Infinite at 0 and 1, `NaN` outside or unless `df` > 0.
#[must_use]
pub fn t_quantile(p: f64, df: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) || df.is_nan() || df <= 0.0 {
        return f64::NAN;
    }
    if p < 0.5 { -upper(p, df) } else { upper(1.0 - p, df) }
}

/// The t ≥ 0 with P(T > t) = `tail`, which is at most ½.
fn upper(tail: f64, df: f64) -> f64 {
    if tail <= 0.0 {
        return f64::INFINITY;
    }
    if tail >= 0.5 {
        return 0.0;
    }
    if df >= NORMAL_FROM {
        return -normal_quantile(tail);
    }
    if df == 1.0 {
        return 1.0 / (PI * tail).tan();
    }
    if df == 2.0 {
        return (1.0 - 2.0 * tail) / (2.0 * tail * (1.0 - tail)).sqrt();
    }
    let z = -normal_quantile(tail);
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut t = z * (1.0 + (z * z + 1.0) / (4.0 * df) + (5.0 * z.powi(4) + 16.0 * z * z + 3.0) / (96.0 * df * df));
    for _ in 0..200 {
        let excess = t_sf(t, df) - tail;
        if excess > 0.0 {
            low = t
        } else {
            high = t
        }
        // Newton on the logarithm of the tail, which is nearly straight where the tail itself is flat.
        let sf = excess + tail;
        let step = if sf > 0.0 { (sf / tail).ln() * sf / t_pdf(t, df) } else { f64::NEG_INFINITY };
        let mut next = t + step;
        if !(next > low && next < high) {
            next = if high.is_finite() { 0.5 * (low + high) } else { 2.0 * t.max(0.5) };
        }
        if (next - t).abs() <= 4.0 * f64::EPSILON * next.abs() || !next.is_finite() {
            return next;
        }
        t = next;
    }
    t
}

/// Nodes and weights of Gauss–Legendre quadrature on (`low`, `high`), by Newton on the Legendre polynomial.
pub(crate) fn gauss_legendre(n: usize, low: f64, high: f64) -> Vec<(f64, f64)> {
    let (half, middle) = (0.5 * (high - low), 0.5 * (high + low));
    let mut out = Vec::with_capacity(n);
    for i in 0..n {
        let mut x = (PI * (i as f64 + 0.75) / (n as f64 + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..50 {
            let (mut p, mut before) = (1.0, 0.0);
            for k in 0..n {
                let k = k as f64;
                (p, before) = (((2.0 * k + 1.0) * x * p - k * before) / (k + 1.0), p);
            }
            slope = n as f64 * (x * p - before) / (x * x - 1.0);
            let step = p / slope;
            x -= step;
            if step.abs() < 1e-15 {
                break;
            }
        }
        out.push((middle + half * x, half * 2.0 / ((1.0 - x * x) * slope * slope)));
    }
    out
}
