//! Resampling of runs, and of samples within them.

use super::iid::studentised;
use super::interval::Resampled;
use super::{BootstrapRatio, count};
use crate::describe::moments;
use crate::refused::{Refused, Side, fraction, logs};
use crate::rng::Rng;

/// Ratio of geometric means, B over A, where each side has several runs of several samples each: runs are drawn with
/// replacement, then samples within a drawn run (Davison & Hinkley 1997, §3.8, strategy 2). Every run weighs the same. The interval is
/// studentised by the spread between runs: samples of one run are no replicates of it.
///
/// # Errors
/// Fewer than 5 runs on a side, an empty run, values that are not finite or not positive, a level outside (0, 1), fewer than
/// 100 resamples.
pub fn hierarchical_bootstrap(
    a: &[&[f64]],
    b: &[&[f64]],
    level: f64,
    resamples: u32,
    seed: u64,
) -> Result<BootstrapRatio, Refused> {
    fraction("level", level)?;
    let draws = count(resamples)?;
    let (a, b) = (Runs::of(Side::A, a)?, Runs::of(Side::B, b)?);
    let estimate = b.mean - a.mean;
    let mut rng = Rng::new(seed);
    let (mut differences, mut t) = (Vec::with_capacity(draws), Vec::with_capacity(draws));
    for _ in 0..draws {
        let (off_a, se2_a) = a.draw(&mut rng);
        let (off_b, se2_b) = b.draw(&mut rng);
        differences.push(estimate + (off_b - off_a));
        t.push(studentised(off_b - off_a, se2_a + se2_b));
    }
    Resampled { estimate, se: (a.se2 + b.se2).sqrt(), differences, t, acceleration: None }.ratio(level)
}

/// One side's runs: logarithms about the mean of the run means.
struct Runs {
    runs: Vec<Vec<f64>>,
    mean: f64,
    se2: f64,
}

impl Runs {
    fn of(side: Side, groups: &[&[f64]]) -> Result<Self, Refused> {
        if groups.len() < 5 {
            return Err(Refused::TooFew { side, n: groups.len(), needs: 5 });
        }
        let mut runs = groups.iter().map(|g| logs(side, g, 1)).collect::<Result<Vec<_>, _>>()?;
        let means: Vec<f64> = runs.iter().map(|r| moments(r).mean).collect();
        let m = moments(&means);
        runs.iter_mut().flatten().for_each(|v| *v -= m.mean);
        let sd = if m.sd > 1e-13 { m.sd } else { 0.0 };
        Ok(Self { runs, mean: m.mean, se2: sd * sd / m.n })
    }

    /// Mean of a resample about the mean, and the square of its standard error from the spread between the drawn runs.
    fn draw(&self, rng: &mut Rng) -> (f64, f64) {
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..self.runs.len() {
            let Some(run) = self.runs.get(rng.below(self.runs.len())) else { continue };
            let drawn: f64 = (0..run.len()).filter_map(|_| run.get(rng.below(run.len()))).sum();
            let mean = drawn / run.len() as f64;
            sum += mean;
            squares += mean * mean;
        }
        let n = self.runs.len() as f64;
        let variance = (squares - sum * sum / n) / (n - 1.0);
        (sum / n, if variance > 1e-26 { variance / n } else { 0.0 })
    }
}
