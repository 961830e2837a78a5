//! Data with known truth.

use linerate_stats::rng::Rng;

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
}

impl Count {
    pub fn add(&mut self, interval: Option<linerate_stats::Interval>, truth: f64) {
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

    /// Share of comparisons in which the interval lies above the truth: a false "better", percent.
    pub fn false_better(&self) -> f64 {
        100.0 * f64::from(self.above) / f64::from(self.trials.max(1))
    }
}
