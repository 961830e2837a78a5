//! Do the assumptions hold?

mod runs;
mod shapiro;

pub use runs::{RunsTest, runs_test};
pub use shapiro::{ShapiroWilk, shapiro_wilk};

use crate::describe::moments;
use crate::dist::normal_cdf;

/// An assumption and whether the data speak against it.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// What is assumed.
    pub name: &'static str,
    /// False where the data speak against it, `None` where they cannot tell.
    pub holds: Option<bool>,
    /// What was seen, and what follows.
    pub detail: String,
}

/// Error rate of each check: low, since a report makes several.
const ALPHA: f64 = 0.01;

/// Checks of what [`crate::ratio`] assumes of two sides' replicates, given in the order of measurement: logarithms near
/// normal, replicates independent. Equal spread is not among them: Welch's test does not need it.
#[must_use]
pub fn check_replicates(a: &[f64], b: &[f64]) -> Vec<Check> {
    if a.iter().chain(b).any(|v| !v.is_finite()) {
        return vec![Check {
            name: "finite values",
            holds: Some(false),
            detail: "a value is not a finite number".to_owned(),
        }];
    }
    let positive = a.iter().chain(b).all(|v| *v > 0.0);
    let scaled = |x: &[f64]| -> Vec<f64> { if positive { x.iter().map(|v| v.ln()).collect() } else { x.to_vec() } };
    let (a, b) = (scaled(a), scaled(b));
    vec![
        normality(&a, &b),
        independence("independent replicates of A", &a),
        independence("independent replicates of B", &b),
    ]
}

/// Shapiro and Wilk's test of both sides' residuals, each side divided by its own standard deviation.
fn normality(a: &[f64], b: &[f64]) -> Check {
    let name = "residuals near normal";
    let mut rest = Vec::with_capacity(a.len() + b.len());
    for side in [a, b] {
        let m = moments(side);
        if m.sd > 0.0 {
            rest.extend(side.iter().map(|v| v / m.sd - m.mean / m.sd));
        }
    }
    match shapiro_wilk(&rest) {
        Ok(test) => {
            let holds = test.p >= ALPHA;
            let what = if holds {
                "no evidence against it"
            } else {
                "not normal; the interval keeps its level if both sides have the same shape"
            };
            let detail = format!("Shapiro–Wilk W = {:.3}, p = {:.3}, n = {}: {what}", test.w, test.p, rest.len());
            Check { name, holds: Some(holds), detail }
        }
        Err(why) => Check { name, holds: None, detail: format!("not tested: {why}") },
    }
}

/// Does a replicate resemble the one before? Lag-1 autocorrelation, with its bias −1/n and its error about 1/√n under independence.
fn independence(name: &'static str, x: &[f64]) -> Check {
    let n = x.len() as f64;
    let Some(r) = crate::autocorrelation(x, 1).get(1).copied().filter(|_| x.len() >= 8) else {
        let detail = format!("n = {n} without spread, or fewer than 8: cannot be tested");
        return Check { name, holds: None, detail };
    };
    // Moments of r under independence: Kendall & Stuart, vol. 3; the variance is exact to order 1/n².
    let z = (r + 1.0 / n) / ((n - 2.0) * (n - 2.0) / (n * n * (n - 1.0))).sqrt();
    let p = 2.0 * normal_cdf(-z.abs());
    let runs =
        runs_test(x).map_or_else(|_| String::new(), |t| format!("; {} runs about the median (p = {:.3})", t.runs, t.p));
    let holds = p >= ALPHA;
    let what = match (holds, r > 0.0) {
        (true, _) => "no evidence against it",
        (false, true) => "each resembles the one before, so intervals for independent replicates are too narrow",
        (false, false) => "each is opposed to the one before, so intervals for independent replicates are too wide",
    };
    Check { name, holds: Some(holds), detail: format!("lag-1 autocorrelation {r:.2}, p = {p:.3}{runs}: {what}") }
}
