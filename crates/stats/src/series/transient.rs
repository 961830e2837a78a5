//! The initial transient of a series: warm-up.

use super::effective_sample_size;
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
    /// Values to cut from the start; `None` if no steady state was reached within the first half, or if there are too few
    /// values to say.
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

/// Initial transient by the marginal standard error rule: the cut that minimises the standard error of the rest's mean. A cut
/// beyond the first half means that no steady state was reached; one whose part does not clearly differ from the rest (three standard
/// errors, autocorrelation respected) is not made. `None` if a value is not finite.
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
    let Some(best) = minimum(&batches) else { return say(Some(0), "all values are the same".to_owned()) };
    let cut = best * size;
    if cut == 0 {
        return say(Some(0), "the standard error of the mean is least with all values".to_owned());
    }
    let (head, rest) = x.split_at_checked(cut)?;
    let (h, r) = (moments(head), moments(rest));
    // Of a mean of k correlated values the variance is that of k·(effective share) independent ones.
    let share = effective_sample_size(rest).map_or(1.0, |e| e / r.n);
    let error = r.sd * (1.0 / (h.n * share).max(1.0) + 1.0 / (r.n * share)).sqrt();
    let distance = (h.mean - r.mean).abs() / error;
    if distance < CLEARLY {
        let why = format!("the first {cut} values do not clearly differ from the rest ({distance:.1} standard errors)");
        return say(Some(0), why);
    }
    if best > n / 2 {
        return say(
            None,
            format!("no steady state: the least standard error needs a cut of {cut} of {} values", x.len()),
        );
    }
    say(Some(cut), format!("the first {cut} values differ from the rest by {distance:.1} standard errors"))
}

/// The d that minimises Σ_{i≥d}(zᵢ − z̄)²/(n − d)², by Welford's recurrence from the end; `None` for no spread at all.
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
        if n >= FEWEST as f64 && squares / (n * n) <= best.0 {
            best = (squares / (n * n), d);
        }
    }
    Some(best.1)
}
