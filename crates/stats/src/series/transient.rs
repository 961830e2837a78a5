//! The initial transient of a series: warm-up.

use super::ar1::{Coefficient, Posterior};
use super::drift::drift;
use crate::describe::moments;

/// How a transient was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransientMethod {
    /// Marginal standard error rule on single values, below 50 of them (White, Simulation 69, 1997).
    Mser,
    /// The same on means of five (White, Cobb & Spratt, Winter Simulation Conference 2000).
    Mser5,
}

/// Where a series becomes steady.
#[derive(Debug, Clone, PartialEq)]
pub struct Transient {
    /// Values to cut from the start; `None` if no steady state was reached, or if there are too few values to say.
    pub cut: Option<usize>,
    /// How it was found.
    pub method: TransientMethod,
    /// Why, in words.
    pub reason: String,
}

/// Fewest values (or means of five) that a steady state is made of.
const FEWEST: usize = 5;
/// Standard errors by which the cut part must differ from the rest.
const CLEARLY: f64 = 3.0;
/// Standard errors up to which a part agrees with the rest.
const AGREES: f64 = 3.0;
/// p value below which the rest is said to drift.
const DRIFTS: f64 = 0.01;

/// Initial transient by the marginal standard error rule: the cut within the first half that minimises the standard error of the
/// rest's mean, taken back as far as what it cuts agrees with the rest. No steady state was reached if the cut takes the whole
/// first half, or if the rest still drifts ([`super::drift`]). A cut whose part does not clearly differ from the rest (three
/// standard errors, autocorrelation respected) is not made. `None` if a value is not finite.
#[must_use]
pub fn transient(x: &[f64]) -> Option<Transient> {
    if x.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let (method, size) = if x.len() < 50 { (TransientMethod::Mser, 1) } else { (TransientMethod::Mser5, 5) };
    let say = |cut, reason: String| Some(Transient { cut, method, reason });
    // An incomplete batch is left at the end, where it cannot look like a start.
    let batches: Vec<f64> = x.chunks_exact(size).map(|c| moments(c).mean).collect();
    let n = batches.len();
    if n < 2 * FEWEST {
        return say(None, format!("n = {} is too few to find a transient", x.len()));
    }
    let Some(least) = minimum(&batches) else { return say(Some(0), "all values are the same".to_owned()) };
    let best = walk_back(&batches, least);
    let cut = best * size;
    if 2 * best + 1 >= n {
        return say(None, format!("no steady state: a cut of {cut} of {} values would be needed", x.len()));
    }
    let (head, rest) = batches.split_at_checked(best)?;
    if let Some(p) = drift(rest, 0.95).ok().and_then(|d| d.p).filter(|p| *p < DRIFTS) {
        return say(
            None,
            format!("no steady state: behind a cut of {cut} values the series still drifts (p = {p:.4})"),
        );
    }
    if cut == 0 {
        return say(Some(0), "no start that differs from the rest".to_owned());
    }
    let (h, r) = (moments(head), moments(rest));
    // Of a mean of k correlated values the variance is that of k·(effective share) independent ones.
    let share = share_of(rest);
    let error = r.sd * (1.0 / (h.n * share).max(1.0) + 1.0 / (r.n * share)).sqrt();
    let distance = (h.mean - r.mean).abs() / error;
    if distance < CLEARLY {
        let why = format!("the first {cut} values do not clearly differ from the rest ({distance:.1} standard errors)");
        return say(Some(0), why);
    }
    say(Some(cut), format!("the first {cut} values differ from the rest by {distance:.1} standard errors"))
}

/// Where the transient ends: at the cut of least standard error, or before, as long as what lies between agrees with the rest (three
/// standard errors). The least standard error alone tends to cut more than the transient, and what luck leaves is too quiet.
fn walk_back(z: &[f64], least: usize) -> usize {
    let Some((head, rest)) = z.split_at_checked(least) else { return least };
    let r = moments(rest);
    let share = share_of(rest);
    let (mut count, mut off) = (0.0, 0.0);
    for (d, v) in head.iter().enumerate().rev() {
        count += 1.0;
        off += v / r.sd - r.mean / r.sd;
        let error = (1.0 / (count * share).max(1.0) + 1.0 / (r.n * share)).sqrt();
        // A rest without spread agrees with nothing else: not a number is no agreement either.
        if (off / count).abs().partial_cmp(&(AGREES * error)).is_none_or(|o| o.is_gt()) {
            return d + 1;
        }
    }
    0
}

/// The d up to n/2 that minimises Σ_{i≥d}(zᵢ − z̄)²/(n − d)², by Welford's recurrence from the end; `None` for no spread at all.
fn minimum(z: &[f64]) -> Option<usize> {
    let all = moments(z);
    if all.sd <= 0.0 {
        return None;
    }
    let (mut n, mut mean, mut squares) = (0.0, 0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for (d, v) in z.iter().enumerate().rev() {
        let v = v / all.sd - all.mean / all.sd;
        n += 1.0;
        let delta = v - mean;
        mean += delta / n;
        squares += delta * (v - mean);
        // The least of equals is the earliest: a constant tail is kept whole.
        if 2 * d <= z.len() && squares / (n * n) <= best.0 {
            best = (squares / (n * n), d);
        }
    }
    Some(best.1)
}

/// Of n correlated values, the share of independent ones that would tell as much of their mean: (1 − φ)/(1 + φ). φ is estimated as for
/// the mean's interval, since the sample's own autocorrelation is too low in short series.
fn share_of(x: &[f64]) -> f64 {
    let m = moments(x);
    let y: Vec<f64> = x.iter().map(|v| v / m.sd - m.mean / m.sd).collect();
    let phi = Posterior::of(&y, Coefficient::Level).map_or(0.0, |p| p.mean_phi().max(0.0));
    (1.0 - phi) / (1.0 + phi)
}
