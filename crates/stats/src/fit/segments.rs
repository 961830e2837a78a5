//! The division of a sweep into segments.

use statrs::function::beta::checked_beta_reg;
use std::cmp::Ordering;

/// Fewest different sizes of a segment.
const FEWEST_SIZES: usize = 3;
/// Most segments.
const MOST: usize = 5;
/// Relative error below which no better fit is sought: tools print about three digits.
const FINEST: f64 = 2e-3;
/// Chance at which a seam is made where there is none.
const ALPHA: f64 = 0.01;

/// Divides points, sorted by size, into runs that one line each fits.
pub(super) fn divide(points: &[(f64, f64)]) -> Vec<&[(f64, f64)]> {
    // A segment begins with a new size.
    let mut starts = vec![0];
    for chunk in points.chunk_by(|a, b| a.0 == b.0) {
        starts.push(starts.last().copied().unwrap_or(0) + chunk.len());
    }
    let sizes = starts.len() - 1;
    let sums = Sums::of(points);
    let cost = |from: usize, to: usize| match (starts.get(from), starts.get(to)) {
        (Some(&f), Some(&t)) => sums.cost(f, t),
        _ => f64::INFINITY,
    };
    // best[k][j]: least cost of the first j sizes in k + 1 segments, and where the last begins.
    let mut best: Vec<Vec<(f64, usize)>> = Vec::new();
    best.push((0..=sizes).map(|j| if j >= FEWEST_SIZES { (cost(0, j), 0) } else { (f64::INFINITY, 0) }).collect());
    for k in 1..MOST.min(sizes / FEWEST_SIZES) {
        let Some(before) = best.get(k - 1) else { break };
        let row = (0..=sizes).map(|j| {
            let last = (k * FEWEST_SIZES..=j.saturating_sub(FEWEST_SIZES)).map(|i| {
                let so_far = before.get(i).map_or(f64::INFINITY, |b| b.0);
                (so_far + cost(i, j), i)
            });
            last.fold((f64::INFINITY, 0), |a, b| if b.0 < a.0 { b } else { a })
        });
        let row = row.collect();
        best.push(row);
    }
    let n = points.len() as f64;
    let squares = |row: &Vec<(f64, usize)>| row.get(sizes).map_or(f64::INFINITY, |b| b.0.max(n * FINEST * FINEST));
    let mut k = 0;
    let mut least = best.first().map_or(f64::INFINITY, squares);
    for (more, row) in best.iter().enumerate().skip(1) {
        let finer = squares(row);
        if chance(least, finer, more - k, more + 1, n, sizes) < ALPHA {
            (k, least) = (more, finer);
        }
    }
    // From the end back.
    let (mut end, mut out) = (sizes, Vec::new());
    for row in best.iter().take(k + 1).rev() {
        let begin = row.get(end).map_or(0, |b| b.1);
        let range = starts.get(begin).copied().unwrap_or(0)..starts.get(end).copied().unwrap_or(points.len());
        out.extend(points.get(range));
        end = begin;
    }
    out.reverse();
    out
}

/// Chance that `added` further seams lower the sum of squares so far where there are none: Chow's F test (Econometrica 28, 1960)
/// of two parameters a seam, times the number of places in which the seams could be.
fn chance(coarse: f64, fine: f64, added: usize, segments: usize, n: f64, sizes: usize) -> f64 {
    let (d1, d2) = (2.0 * added as f64, n - 2.0 * segments as f64);
    if d2 < 1.0 || fine.partial_cmp(&coarse) != Some(Ordering::Less) {
        return 1.0;
    }
    let f = (coarse - fine) / d1 / (fine / d2);
    let p = checked_beta_reg(0.5 * d2, 0.5 * d1, 1.0 / (1.0 + d1 * f / d2)).unwrap_or(1.0);
    let places: f64 = (0..added).map(|i| sizes.saturating_sub(1 + i) as f64 / (i + 1) as f64).product();
    p * places
}

/// Sums from the first point up to each, of what a line by relative error needs.
struct Sums {
    up_to: Vec<[f64; 6]>,
}

impl Sums {
    fn of(points: &[(f64, f64)]) -> Self {
        let mut sum = [0.0; 6];
        let mut up_to = vec![sum];
        let unit = points.last().map_or(1.0, |p| p.0);
        for (size, seconds) in points {
            // 1/T and s/T: the residual of α/T + b·s/T against 1 is the relative error.
            let (u, v) = (1.0 / seconds, size / unit / seconds);
            for (s, term) in sum.iter_mut().zip([u * u, u * v, v * v, u, v, 1.0]) {
                *s += term;
            }
            up_to.push(sum);
        }
        Self { up_to }
    }

    /// Least sum of squared relative errors of a line with α ≥ 0 and slope ≥ 0.
    fn cost(&self, from: usize, to: usize) -> f64 {
        let (Some(a), Some(b)) = (self.up_to.get(from), self.up_to.get(to)) else { return f64::INFINITY };
        let mut d = [0.0; 6];
        for (d, (a, b)) in d.iter_mut().zip(a.iter().zip(b)) {
            *d = b - a;
        }
        let [uu, uv, vv, u, v, n] = d;
        let determinant = uu * vv - uv * uv;
        if determinant > 1e-14 * uu * vv {
            let (alpha, slope) = ((vv * u - uv * v) / determinant, (uu * v - uv * u) / determinant);
            if alpha >= 0.0 && slope >= 0.0 {
                return (n - alpha * u - slope * v).max(0.0);
            }
        }
        let constant = if uu > 0.0 { n - u * u / uu } else { n };
        let through_zero = if vv > 0.0 { n - v * v / vv } else { n };
        constant.min(through_zero).max(0.0)
    }
}
