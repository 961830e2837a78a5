//! The time of a transfer over its size: latency, bandwidth, and where the protocol changes.
//!
//! Hockney's model (Parallel Computing 20, 1994): `T(s) = α + s/β`. Fitted to logarithms of time, so that a microsecond of a small
//! message weighs as much as a millisecond of a large one. Where one line does not fit, the sizes are divided into segments with a
//! line each: dynamic programming over all divisions (Bellman & Roth, J. Am. Stat. Assoc. 64, 1969), their number by
//! Chow's test (Econometrica 28, 1960), corrected for the number of places in which a seam could be.

mod line;
mod segments;

use crate::describe::moments;
use crate::interval::Interval;
use crate::refused::{Refused, Side};

/// Most points of a sweep.
const MOST_POINTS: usize = 2_000;

/// One line over a range of sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// Smallest size in it, bytes.
    pub from: f64,
    /// Largest size in it, bytes.
    pub to: f64,
    /// Points in it.
    pub n: usize,
    /// α: time of an empty message as these sizes tell it, seconds.
    pub alpha_s: f64,
    /// 95 % interval of α, from the scatter about the line; needs four points.
    pub alpha_interval: Option<Interval>,
    /// β, bytes per second; `None` where time does not grow with size.
    pub beta_bytes_per_s: Option<f64>,
    /// 95 % interval of β; its upper end is infinite where the data do not bound it.
    pub beta_interval: Option<Interval>,
    /// Root mean square of ln(measured/fitted): relative error.
    pub relative_error: f64,
}

impl Segment {
    fn seconds(&self, size: f64) -> f64 {
        self.alpha_s + self.beta_bytes_per_s.map_or(0.0, |b| size / b)
    }
}

/// Fit of a size sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// α of the smallest sizes, seconds: latency.
    pub alpha_s: f64,
    /// β of the largest sizes, bytes per second: asymptotic bandwidth; `None` where time does not grow with size.
    pub beta_bytes_per_s: Option<f64>,
    /// Size at which the fitted bandwidth first reaches half of β (Hockney's n½), bytes; `None` if not within the sweep.
    pub half_bandwidth_size: Option<f64>,
    /// Lines by rising size; their seams are [`Fit::switch_points`].
    pub segments: Vec<Segment>,
    /// Root mean square of ln(measured/fitted) over all points.
    pub relative_error: f64,
    /// Share of the variance of the logarithm of time that is explained; `None` if time is constant.
    pub r2: Option<f64>,
}

impl Fit {
    /// Where the protocol seems to change: last size before and first size after.
    #[must_use]
    pub fn switch_points(&self) -> Vec<(f64, f64)> {
        self.segments.iter().zip(self.segments.iter().skip(1)).map(|(a, b)| (a.to, b.from)).collect()
    }

    /// Fitted seconds of a size within the sweep; `None` outside and between segments.
    #[must_use]
    pub fn seconds(&self, size: f64) -> Option<f64> {
        self.segments.iter().find(|s| s.from <= size && size <= s.to).map(|s| s.seconds(size))
    }
}

/// Alpha–beta fit of a sweep of (size in bytes, seconds); sizes in any order and any number of times.
///
/// # Errors
/// Fewer than three different sizes, more than 2,000 points, sizes that are negative, times that are not positive, values
/// that are not finite.
pub fn alpha_beta(points: &[(f64, f64)]) -> Result<Fit, Refused> {
    let side = Side::Only;
    for (index, &(size, seconds)) in points.iter().enumerate() {
        if let Some(value) = [size, seconds].into_iter().find(|v| !v.is_finite()) {
            return Err(Refused::NotFinite { side, index, value });
        }
        if size < 0.0 || seconds <= 0.0 {
            return Err(Refused::NotPositive { side, index, value: if size < 0.0 { size } else { seconds } });
        }
    }
    if points.len() > MOST_POINTS {
        return Err(Refused::Argument { name: "points", value: points.len() as f64, permitted: "at most 2000" });
    }
    let mut points = points.to_vec();
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let sizes = points.chunk_by(|a, b| a.0 == b.0).count();
    if sizes < 3 {
        return Err(Refused::TooFew { side, n: sizes, needs: 3 });
    }
    let segments: Vec<Segment> = segments::divide(&points).into_iter().filter_map(line::fit).collect();
    let (Some(first), Some(last)) = (segments.first(), segments.last()) else { return Err(Refused::OutOfRange) };
    let squares: f64 = segments.iter().map(|s| s.relative_error.powi(2) * s.n as f64).sum();
    let logs: Vec<f64> = points.iter().map(|p| p.1.ln()).collect();
    let m = moments(&logs);
    let total = m.sd * m.sd * (m.n - 1.0);
    let fit = Fit {
        alpha_s: first.alpha_s,
        beta_bytes_per_s: last.beta_bytes_per_s,
        half_bandwidth_size: last.beta_bytes_per_s.and_then(|beta| half(&segments, beta)),
        relative_error: (squares / m.n).sqrt(),
        r2: (total > 0.0).then(|| 1.0 - squares / total),
        segments,
    };
    let finite = fit.segments.iter().all(|s| s.alpha_s.is_finite() && s.relative_error.is_finite());
    if finite { Ok(fit) } else { Err(Refused::OutOfRange) }
}

/// The smallest size whose fitted bandwidth is half of β: s/(α + s/βₖ) = β/2 within a segment, or at its first size.
fn half(segments: &[Segment], beta: f64) -> Option<f64> {
    segments.iter().find_map(|s| {
        if s.from > 0.0 && s.from / s.seconds(s.from) >= 0.5 * beta {
            return Some(s.from);
        }
        let share = 1.0 - s.beta_bytes_per_s.map_or(0.0, |b| 0.5 * beta / b);
        let size = 0.5 * s.alpha_s * beta / share;
        (share > 0.0 && s.from <= size && size <= s.to).then_some(size)
    })
}
