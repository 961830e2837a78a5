//! Data with known truth, and what the intervals make of them.

#![allow(dead_code, unreachable_pub, reason = "a part of the test and of the example, each of which uses its share")]

use linerate_stats::rng::Rng;
use linerate_stats::{
    Interval, Times, bootstrap_ratio, equivalent, holm, ratio, ratio_series, ratio_with_drift, transient,
};

/// Replicates per side that are simulated.
pub const SIZES: [usize; 6] = [5, 8, 10, 20, 40, 80];

/// What one value is, without its typical size.
pub type Draw = fn(&mut Rng) -> f64;

/// Kinds of independent noise, as factors.
pub const NOISES: [(&str, Draw); 9] = [
    ("normal, 5 %", |r| 1.0 + 0.05 * r.normal()),
    ("lognormal, σ = 0.5", |r| (0.5 * r.normal()).exp()),
    ("exponential", Rng::exponential),
    ("gamma, shape 3", |r| r.exponential() + r.exponential() + r.exponential()),
    ("latency: 10 + exponential", |r| 10.0 + r.exponential()),
    ("Student's t, 3 df, on logs", |r| (0.03 * t3(r)).exp()),
    ("5 % of values × 10 spread", |r| (0.01 * contaminated(r, 0.05)).exp()),
    ("10 % of values × 10 spread", |r| (0.01 * contaminated(r, 0.10)).exp()),
    ("8 % of runs lose up to half", |r| {
        let stall = if r.uniform() < 0.08 { 0.5 * r.uniform() } else { 0.0 };
        (0.01 * r.normal() - stall).exp()
    }),
];

fn t3(r: &mut Rng) -> f64 {
    let z = r.normal();
    let chi2 = r.normal().powi(2) + r.normal().powi(2) + r.normal().powi(2);
    z / (chi2 / 3.0).sqrt()
}

fn contaminated(r: &mut Rng, share: f64) -> f64 {
    let spread = if r.uniform() < share { 10.0 } else { 1.0 };
    spread * r.normal()
}

/// `n` independent values around `typical`.
pub fn sample(r: &mut Rng, draw: Draw, n: usize, typical: f64) -> Vec<f64> {
    (0..n).map(|_| typical * draw(r)).collect()
}

/// Stationary first-order autoregression on logarithms, standard deviation `sd`.
pub fn ar1(r: &mut Rng, n: usize, phi: f64, sd: f64) -> Vec<f64> {
    let mut x = r.normal();
    let step = (1.0 - phi * phi).sqrt();
    let mut out = Vec::with_capacity(n);
    for _ in 0..n {
        out.push((sd * x).exp());
        x = phi * x + step * r.normal();
    }
    out
}

/// Counts of a simulation.
#[derive(Debug, Clone, Copy, Default)]
pub struct Count {
    pub trials: u32,
    pub covered: u32,
    pub above: u32,
    pub below: u32,
    pub refused: u32,
    pub flagged: u32,
}

impl Count {
    pub fn add(&mut self, interval: Option<Interval>, truth: f64) {
        self.trials += 1;
        match interval {
            None => self.refused += 1,
            Some(i) if i.low > truth => self.above += 1,
            Some(i) if i.high < truth => self.below += 1,
            Some(_) => self.covered += 1,
        }
    }

    /// Share of the answers whose interval covers the truth, percent.
    pub fn coverage(&self) -> f64 {
        100.0 * f64::from(self.covered) / f64::from((self.trials - self.refused).max(1))
    }

    /// Share of comparisons whose interval lies above the truth, or below it, whichever is more often: a false "better", percent.
    pub fn false_better(&self) -> f64 {
        100.0 * f64::from(self.above.max(self.below)) / f64::from(self.trials.max(1))
    }

    /// Share refused or flagged, percent.
    pub fn warned(&self) -> f64 {
        100.0 * f64::from(self.refused + self.flagged) / f64::from(self.trials.max(1))
    }
}

/// Two equal sides of independent replicates.
pub fn replicates(draw: Draw, n: usize, trials: u32) -> Count {
    let (mut count, mut r) = (Count::default(), Rng::new(n as u64));
    for _ in 0..trials {
        let (a, b) = (sample(&mut r, draw, n, 50.0), sample(&mut r, draw, n, 50.0));
        count.add(ratio(&a, &b, 0.95).ok().map(|e| e.interval), 1.0);
    }
    count
}

/// Equal typical values, B with three times the spread (on logarithms) and twice the replicates.
pub fn unequal(n: usize, trials: u32) -> Count {
    let (mut count, mut r) = (Count::default(), Rng::new(n as u64));
    for _ in 0..trials {
        let a: Vec<f64> = (0..n).map(|_| (0.02 * r.normal()).exp()).collect();
        let b: Vec<f64> = (0..2 * n).map(|_| (0.06 * r.normal()).exp()).collect();
        count.add(ratio(&a, &b, 0.95).ok().map(|e| e.interval), 1.0);
    }
    count
}

/// Two stationary series of correlation `phi`.
pub fn series(phi: f64, n: usize, trials: u32) -> Count {
    let (mut count, mut r) = (Count::default(), Rng::new(100 + n as u64));
    for _ in 0..trials {
        let (a, b) = (ar1(&mut r, n, phi, 0.03), ar1(&mut r, n, phi, 0.03));
        let answer = ratio_series(&a, &b, 0.95).ok();
        count.flagged += u32::from(answer.as_ref().is_some_and(|e| e.correlation_unknown));
        count.add(answer.map(|e| e.ratio.interval), 1.0);
    }
    count
}

/// The same with a warm-up before about `n` steady values, which is looked for and cut.
pub fn warming_series(phi: f64, n: usize, trials: u32) -> Count {
    let (mut count, mut r) = (Count::default(), Rng::new(200 + n as u64));
    for _ in 0..trials {
        let mut side = || {
            let mut x = ar1(&mut r, n + n / 8, phi, 0.03);
            // Starts at 30 % and rises within a few steps.
            let pace = n as f64 / 24.0;
            x.iter_mut().enumerate().for_each(|(i, v)| *v *= 1.0 - 0.7 * (-(i as f64) / pace).exp());
            let cut = transient(&x).and_then(|t| t.cut)?;
            x.get(cut..).map(<[f64]>::to_vec)
        };
        let sides = side().zip(side());
        let answer = sides.and_then(|(a, b)| ratio_series(&a, &b, 0.95).ok());
        count.flagged += u32::from(answer.as_ref().is_some_and(|e| e.correlation_unknown));
        count.add(answer.map(|e| e.ratio.interval), 1.0);
    }
    count
}

/// Replicates with 2 % of noise in the order A B B A …, while everything drifts by 10 %: beside the drift, and as if there were none.
pub fn drifting(n: usize, trials: u32) -> (Count, Count) {
    let (mut beside, mut ignored, mut r) = (Count::default(), Count::default(), Rng::new(300 + n as u64));
    let order: Vec<bool> = (0..).map(|i| i % 4 == 1 || i % 4 == 2).take(2 * n).collect();
    let times = |of_b: bool| -> Vec<f64> {
        order.iter().enumerate().filter(|(_, b)| **b == of_b).map(|(i, _)| i as f64).collect()
    };
    let (ta, tb) = (times(false), times(true));
    for _ in 0..trials {
        let mut side = |t: &[f64]| -> Vec<f64> {
            t.iter().map(|t| 93.0 * (0.1 * t / (2 * n) as f64 + 0.02 * r.normal()).exp()).collect()
        };
        let (a, b) = (side(&ta), side(&tb));
        let answer = ratio_with_drift(Times { a: &ta, b: &tb }, &a, &b, 0.95).ok();
        beside.add(answer.map(|e| e.ratio.interval), 1.0);
        ignored.add(ratio(&a, &b, 0.95).ok().map(|e| e.interval), 1.0);
    }
    (beside, ignored)
}

/// Share of comparisons, percent, that find equivalence within 1 ± `threshold` where the ratio is 1 + `threshold`.
pub fn false_equivalence(draw: Draw, n: usize, threshold: f64, trials: u32) -> f64 {
    let (mut found, mut r) = (0u32, Rng::new(400 + n as u64));
    for _ in 0..trials {
        let (a, b) = (sample(&mut r, draw, n, 1.0), sample(&mut r, draw, n, 1.0 + threshold));
        let shown = ratio(&a, &b, 0.95).and_then(|e| equivalent(&e, threshold)).is_ok_and(|t| t.shown(0.05));
        found += u32::from(shown);
    }
    100.0 * f64::from(found) / f64::from(trials)
}

/// Share of sweeps of 30 equal sizes, percent, in which Holm's method finds any difference. `shared` is the share of each
/// run's noise that all its sizes have in common.
pub fn family_wise(draw: Draw, n: usize, shared: f64, trials: u32) -> f64 {
    let (mut wrong, mut r) = (0u32, Rng::new(500 + n as u64));
    for _ in 0..trials {
        let mut runs = || -> Vec<f64> { (0..n).map(|_| draw(&mut r).ln()).collect() };
        let (common_a, common_b) = (runs(), runs());
        let mut side = |common: &[f64]| -> Vec<f64> {
            common.iter().map(|c| (shared * c + (1.0 - shared) * draw(&mut r).ln()).exp()).collect()
        };
        let p: Vec<f64> =
            (0..30).filter_map(|_| ratio(&side(&common_a), &side(&common_b), 0.95).ok().and_then(|e| e.p)).collect();
        wrong += u32::from(holm(&p).iter().any(|p| *p < 0.05));
    }
    100.0 * f64::from(wrong) / f64::from(trials)
}

/// As [`replicates`], by the studentised bootstrap and by BCa.
pub fn bootstrap(draw: Draw, n: usize, trials: u32) -> (Count, Count) {
    let (mut studentised, mut bca, mut r) = (Count::default(), Count::default(), Rng::new(600 + n as u64));
    for seed in 0..trials {
        let (a, b) = (sample(&mut r, draw, n, 1.0), sample(&mut r, draw, n, 1.0));
        let answer = bootstrap_ratio(&a, &b, 0.95, 1000, u64::from(seed)).ok();
        studentised.add(answer.map(|e| e.interval), 1.0);
        bca.add(answer.and_then(|e| e.bca), 1.0);
    }
    (studentised, bca)
}

/// Runs of 20 samples each, the spread within a run twice that between runs: by the hierarchical bootstrap, by the replicates of
/// run means, and as if all samples were replicates.
pub fn hierarchical(runs: usize, trials: u32) -> (Count, Count, Count) {
    let (mut by_level, mut by_mean, mut flat) = (Count::default(), Count::default(), Count::default());
    let mut r = Rng::new(700 + runs as u64);
    for seed in 0..trials {
        let mut side = || -> Vec<Vec<f64>> {
            let mut run = || {
                let own = 0.02 * r.normal();
                (0..20).map(|_| (own + 0.04 * r.normal()).exp()).collect()
            };
            (0..runs).map(|_| run()).collect()
        };
        let (a, b) = (side(), side());
        let (ra, rb): (Vec<&[f64]>, Vec<&[f64]>) =
            (a.iter().map(Vec::as_slice).collect(), b.iter().map(Vec::as_slice).collect());
        let answer = linerate_stats::hierarchical_bootstrap(&ra, &rb, 0.95, 1000, u64::from(seed)).ok();
        by_level.add(answer.map(|e| e.interval), 1.0);
        let means = |x: &[Vec<f64>]| -> Vec<f64> {
            x.iter().map(|r| (r.iter().map(|v| v.ln()).sum::<f64>() / r.len() as f64).exp()).collect()
        };
        by_mean.add(ratio(&means(&a), &means(&b), 0.95).ok().map(|e| e.interval), 1.0);
        flat.add(ratio(&a.concat(), &b.concat(), 0.95).ok().map(|e| e.interval), 1.0);
    }
    (by_level, by_mean, flat)
}
