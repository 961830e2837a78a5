//! One line, by the error of the logarithm.

use super::Segment;
use crate::dist::t_quantile;
use crate::interval::Interval;
use std::cmp::Ordering;

const STEPS: usize = 100;

/// `T = α + b·s` with α, b ≥ 0 and least squares of `ln T`: weighted lines with weights from the fit before (iteratively reweighted
/// least squares), then Gauss–Newton. `None` for no points.
pub(super) fn fit(points: &[(f64, f64)]) -> Option<Segment> {
    let (from, to) = (points.first()?.0, points.last()?.0);
    let n = points.len();
    // In units of the largest size and of a time among them, so that nothing over- or underflows.
    let unit_t = points.iter().map(|p| p.1).fold(0.0, f64::max);
    let unit_s = if to > 0.0 { to } else { 1.0 };
    let scaled: Vec<(f64, f64)> = points.iter().map(|(s, t)| (s / unit_s, t / unit_t)).collect();
    let measured: Vec<f64> = scaled.iter().map(|p| p.1).collect();
    let mut line = weighted(&scaled, &measured);
    for _ in 0..STEPS {
        let fitted: Vec<f64> = scaled.iter().map(|p| line.0 + line.1 * p.0).collect();
        if fitted.iter().any(|f| f.partial_cmp(&0.0) != Some(Ordering::Greater)) {
            // A line through zero does not fit a size of zero: the unrefined line is kept.
            line = weighted(&scaled, &measured);
            break;
        }
        // The working response of ln T about the fit: T̂·(1 + ln(T/T̂)).
        let working: Vec<(f64, f64)> =
            scaled.iter().zip(&fitted).map(|((s, t), f)| (*s, f * (1.0 + (t / f).ln()))).collect();
        let next = weighted(&working, &fitted);
        let moved = (next.0 - line.0).abs() + (next.1 - line.1).abs();
        line = next;
        if moved <= 1e-14 * (line.0 + line.1) {
            break;
        }
    }
    let (alpha, slope) = line;
    let squares: f64 = scaled.iter().map(|(s, t)| (t / (alpha + slope * s).max(f64::MIN_POSITIVE)).ln().powi(2)).sum();
    let beta = |slope: f64| unit_s / unit_t / slope;
    let (alpha_interval, slope_interval) = intervals(&scaled, line, squares);
    Some(Segment {
        from,
        to,
        n,
        alpha_s: alpha * unit_t,
        alpha_interval: alpha_interval.map(|i| Interval { low: i.low.max(0.0) * unit_t, high: i.high * unit_t, ..i }),
        beta_bytes_per_s: (slope > 0.0).then(|| beta(slope)).filter(|b| b.is_finite()),
        beta_interval: slope_interval.map(|i| Interval {
            low: beta(i.high),
            high: if i.low > 0.0 { beta(i.low) } else { f64::INFINITY },
            ..i
        }),
        relative_error: (squares / n as f64).sqrt(),
    })
}

/// Least squares of (T − α − b·s)/f with α, b ≥ 0.
fn weighted(points: &[(f64, f64)], f: &[f64]) -> (f64, f64) {
    let [uu, uv, vv, uy, vy] = sums(points, f);
    let determinant = uu * vv - uv * uv;
    if determinant > 1e-14 * uu * vv {
        let (alpha, slope) = ((vv * uy - uv * vy) / determinant, (uu * vy - uv * uy) / determinant);
        if alpha >= 0.0 && slope >= 0.0 {
            return (alpha, slope);
        }
    }
    let gain = |y: f64, square: f64| if square > 0.0 { y * y / square } else { 0.0 };
    if gain(uy, uu) >= gain(vy, vv) { (uy.max(0.0) / uu, 0.0) } else { (0.0, vy.max(0.0) / vv) }
}

fn sums(points: &[(f64, f64)], f: &[f64]) -> [f64; 5] {
    let mut sum = [0.0; 5];
    for ((s, t), f) in points.iter().zip(f) {
        let (u, v, y) = (1.0 / f, s / f, t / f);
        for (total, term) in sum.iter_mut().zip([u * u, u * v, v * v, u * y, v * y]) {
            *total += term;
        }
    }
    sum
}

/// 95 % intervals of α and slope from the scatter of ln T about the line, to first order.
fn intervals(points: &[(f64, f64)], line: (f64, f64), squares: f64) -> (Option<Interval>, Option<Interval>) {
    const LEVEL: f64 = 0.95;
    let df = points.len() as f64 - 2.0;
    let fitted: Vec<f64> = points.iter().map(|p| line.0 + line.1 * p.0).collect();
    let [uu, uv, vv, ..] = sums(points, &fitted);
    let determinant = uu * vv - uv * uv;
    // On the edge (no latency, or no growth) the first order says nothing.
    if df < 2.0 || line.0 <= 0.0 || line.1 <= 0.0 || determinant <= 1e-14 * uu * vv {
        return (None, None);
    }
    let half = t_quantile(0.5 + 0.5 * LEVEL, df) * (squares / df).sqrt();
    let around = |centre: f64, inverse: f64| {
        let half = half * inverse.sqrt();
        Some(Interval { low: centre - half, high: centre + half, level: LEVEL })
    };
    (around(line.0, vv / determinant), around(line.1, uu / determinant))
}
