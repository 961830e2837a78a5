//! A sweep over sizes as latency and bandwidth: `T(S) = α + S/β`, with the sizes at which the protocol changes.

use crate::model::{Dimension, Kind, Run, Series, Unit};
use linerate_stats::{Fit, Refused, alpha_beta};
use smol_str::SmolStr;

/// A fit, and what brings it back into the metric that was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepFit {
    /// Over seconds and bytes.
    pub fit: Fit,
    /// Unit of the metric.
    pub unit: Unit,
    /// Metric per byte per second; for a time, seconds of the unit.
    factor: f64,
    is_time: bool,
}

impl SweepFit {
    /// What the fit says of the metric at a size; `None` outside of the sweep.
    #[must_use]
    pub fn value(&self, size: f64) -> Option<f64> {
        let seconds = self.fit.seconds(size).filter(|s| *s > 0.0)?;
        Some(if self.is_time { seconds / self.factor } else { size / seconds * self.factor })
    }

    /// Bandwidth of the largest sizes, in the metric's unit; `None` for a time, or where none is reached.
    #[must_use]
    pub fn asymptote(&self) -> Option<f64> {
        self.fit.beta_bytes_per_s.filter(|_| !self.is_time).map(|b| b * self.factor)
    }
}

/// Why a series has no fit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NoFit {
    /// The metric is of another dimension.
    #[error("{metric} is neither a time nor a bandwidth")]
    Dimension {
        /// Its name.
        metric: SmolStr,
    },
    /// Too few sizes, or nothing that a line can be laid through.
    #[error(transparent)]
    Refused(#[from] Refused),
}

/// Fits a series of a run. Of nccl-tests the times are taken, which are printed with more digits than bandwidths.
///
/// # Errors
/// Nothing is measured over at least three sizes, or it is neither a time nor a bandwidth.
pub fn fit(run: &Run, series: &Series) -> Result<SweepFit, NoFit> {
    let (dimension, scale) = series.metric.unit.dimension();
    let is_time = match dimension {
        Dimension::Time => true,
        Dimension::Bandwidth => false,
        Dimension::Only(_) => return Err(NoFit::Dimension { metric: series.metric.name.clone() }),
    };
    let sizes = |s: &Series, seconds: &dyn Fn(f64, f64) -> f64| -> Vec<(f64, f64)> {
        let points = s.points.valid();
        let each = points.filter_map(|p| Some((p.size? as f64, p.value)));
        each.map(|(size, v)| (size, seconds(size, v))).filter(|(s, t)| *s > 0.0 && *t > 0.0 && t.is_finite()).collect()
    };
    let of_time = |s: &Series, scale: f64| sizes(s, &|_, v| v * scale);
    if is_time {
        let fit = alpha_beta(&of_time(series, scale))?;
        return Ok(SweepFit { fit, unit: series.metric.unit.clone(), factor: scale, is_time });
    }
    // Bandwidth per byte per second: 1 for what was sent, the collective's factor for bus bandwidth.
    let time = run.series.iter().find(|s| {
        run.kind == Kind::NcclTests
            && s.metric.name == "time"
            && s.metric.stat == series.metric.stat
            && s.labels == series.labels
    });
    let Some(time) = time else {
        let fit = alpha_beta(&sizes(series, &|size, v| size / (v * scale)))?;
        return Ok(SweepFit { fit, unit: series.metric.unit.clone(), factor: 1.0 / scale, is_time });
    };
    let (_, unit) = time.metric.unit.dimension();
    let fit = alpha_beta(&of_time(time, unit))?;
    let largest = series.points.valid().filter(|p| p.size > Some(0)).max_by_key(|p| p.size);
    let factor = largest.and_then(|p| {
        let t = time.points.iter().find(|t| t.size == p.size)?.value * unit;
        Some(p.value * t / p.size? as f64).filter(|f| f.is_finite() && *f > 0.0)
    });
    Ok(SweepFit { fit, unit: series.metric.unit.clone(), factor: factor.unwrap_or(1.0 / scale), is_time })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::model::{Better, Label, Metric};

    #[test]
    fn a_sweep_of_nccl_tests_gives_back_what_it_was_made_of() {
        // 20 µs and 100 GB/s of algorithm bandwidth; bus bandwidth is 1.75 times that among 8 ranks.
        let mut run = Run { kind: Kind::NcclTests, ..Run::default() };
        let place = [Label::new("place", "out-of-place")];
        for k in 10..34 {
            let size = 1_u64 << k;
            let us = 20.0 + size as f64 / 100e3;
            run.series_mut(Metric::new("time", Unit::Microseconds, Better::Lower), &place).push(Some(size), None, us);
            let busbw = size as f64 / us / 1e3 * 1.75;
            run.series_mut(Metric::new("busbw", Unit::GBps, Better::Higher), &place).push(Some(size), None, busbw);
        }
        let fit = fit(&run, &run.series[1]).unwrap();
        assert!((fit.fit.alpha_s - 20e-6).abs() < 1e-9, "{fit:?}");
        assert!((fit.asymptote().unwrap() - 175.0).abs() < 1e-6);
        assert!((fit.value((1_u64 << 30) as f64).unwrap() - run.series[1].points.get(20).unwrap().value).abs() < 1e-6);
        assert!((fit.fit.half_bandwidth_size.unwrap() - 2e6).abs() < 1.0);
        assert!(fit.fit.switch_points().is_empty());
    }
}
