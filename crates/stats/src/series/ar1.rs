//! Mean and slope of a series with first-order autoregressive noise, whose correlation φ is not known: integrated out.
//!
//! Given φ, generalised least squares has a t distribution. φ has the restricted likelihood (Cheang & Reinsel, J. Am. Stat.
//! Assoc. 95, 2000) times a prior ∝ (1 − φ)⁻ᵃ(1 + φ)⁻ᵇ on (−0.95, 0.98); a = b = ½ would be Berger & Yang's reference prior
//! (Econometric Theory 10, 1994). The posterior is a mixture of t distributions. Ours is a prior that matches probabilities:
//! a = 0.1 + 2.5/n + 7/n² and b = 1 + 1/n were chosen because with them the 95 % interval of a ratio of two series covers 93 to 97 %, in
//! simulations, for n = 8…80 and φ = 0.3…0.7. It stays above 93 % at n = 5, where it is often wider than it need be.

use crate::dist::{gauss_legendre, t_pdf, t_quantile, t_sf};
use std::sync::OnceLock;

const NODES: usize = 48;
const LOWEST: f64 = -0.95;
const HIGHEST: f64 = 0.98;
/// Nodes with less than this of the greatest weight are left out.
const NEGLIGIBLE: f64 = 1e-7;

/// Posterior of one coefficient.
#[derive(Debug, Clone)]
pub(crate) struct Posterior {
    parts: Vec<Part>,
    df: f64,
}

#[derive(Debug, Clone, Copy)]
struct Part {
    weight: f64,
    centre: f64,
    scale: f64,
    phi: f64,
}

/// What the posterior is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coefficient {
    /// The level of a series without drift.
    Level,
    /// The slope per step of a series with a straight drift.
    Slope,
}

/// φ and its quadrature weight; nodes are dense towards both ends (φ = sin θ).
fn nodes() -> &'static [(f64, f64)] {
    static NODES_OF_PHI: OnceLock<Vec<(f64, f64)>> = OnceLock::new();
    NODES_OF_PHI.get_or_init(|| {
        let theta = gauss_legendre(NODES, LOWEST.asin(), HIGHEST.asin());
        theta.into_iter().map(|(t, w)| (t.sin(), w * t.cos())).collect()
    })
}

impl Posterior {
    /// `None` for a series that is too short, or that the model fits without any residual.
    pub(crate) fn of(y: &[f64], coefficient: Coefficient) -> Option<Self> {
        let columns = if coefficient == Coefficient::Level { 1.0 } else { 2.0 };
        let n = y.len() as f64;
        let df = n - columns;
        if df < 1.0 {
            return None;
        }
        let (a, b) = (0.1 + 2.5 / n + 7.0 / (n * n), 1.0 + 1.0 / n);
        let fit = |&(phi, w): &(f64, f64)| {
            let g = Gls::of(y, phi);
            let (centre, rss, ln_det, information) = match coefficient {
                Coefficient::Level => g.level(),
                Coefficient::Slope => g.slope(),
            };
            if rss <= 0.0 {
                return None;
            }
            let prior = -a * (-phi).ln_1p() - b * phi.ln_1p();
            let likelihood = 0.5 * (1.0 - phi * phi).ln() - 0.5 * ln_det - 0.5 * df * rss.ln();
            let scale = (rss / (df * information)).sqrt();
            Some(Part { weight: w.ln() + prior + likelihood, centre, scale, phi })
        };
        let mut parts: Vec<Part> = nodes().iter().map(fit).collect::<Option<_>>()?;
        let most = parts.iter().fold(f64::NEG_INFINITY, |m, p| m.max(p.weight));
        parts.iter_mut().for_each(|p| p.weight = (p.weight - most).exp());
        parts.retain(|p| p.weight > NEGLIGIBLE && p.scale > 0.0 && p.centre.is_finite());
        let sum: f64 = parts.iter().map(|p| p.weight).sum();
        parts.iter_mut().for_each(|p| p.weight /= sum);
        (!parts.is_empty()).then_some(Self { parts, df })
    }

    pub(crate) fn mean(&self) -> f64 {
        self.parts.iter().map(|p| p.weight * p.centre).sum()
    }

    pub(crate) fn mean_phi(&self) -> f64 {
        self.parts.iter().map(|p| p.weight * p.phi).sum()
    }

    /// P(φ > `phi`).
    pub(crate) fn phi_above(&self, phi: f64) -> f64 {
        self.parts.iter().filter(|p| p.phi > phi).map(|p| p.weight).sum()
    }

    /// P(coefficient > x).
    pub(crate) fn sf(&self, x: f64) -> f64 {
        self.parts.iter().map(|p| p.weight * t_sf((x - p.centre) / p.scale, self.df)).sum()
    }

    /// As [`Self::sf`], to 1e-12 or so: for quantiles, where the tail's last digits do not matter.
    fn roughly(&self, x: f64) -> f64 {
        self.parts.iter().map(|p| p.weight * t_sf_roughly((x - p.centre) / p.scale, self.df)).sum()
    }

    fn pdf(&self, x: f64) -> f64 {
        let power = -0.5 * (self.df + 1.0);
        let at = |p: &Part| p.weight / p.scale * (power * (((x - p.centre) / p.scale).powi(2) / self.df).ln_1p()).exp();
        t_pdf(0.0, self.df) * self.parts.iter().map(at).sum::<f64>()
    }

    /// The x with P(coefficient > x) = `tail`: Newton within a bracket.
    pub(crate) fn upper(&self, tail: f64) -> f64 {
        let t = t_quantile(1.0 - tail, self.df);
        let ends = self.parts.iter().map(|p| p.centre + t * p.scale);
        let (mut low, mut high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
        let typical: f64 = self.parts.iter().map(|p| p.weight * (p.centre + t * p.scale)).sum();
        let (mut x, tolerance) = (typical.clamp(low, high), 1e-9 * (high - low));
        for _ in 0..100 {
            let excess = if tail > 1e-6 { self.roughly(x) } else { self.sf(x) } - tail;
            if excess > 0.0 {
                low = x
            } else {
                high = x
            }
            let mut next = x + excess / self.pdf(x);
            if !(next > low && next < high) {
                next = 0.5 * (low + high);
            }
            if (next - x).abs() <= tolerance {
                return next;
            }
            x = next;
        }
        x
    }
}

/// P(T > t) by the finite series for whole degrees of freedom (Abramowitz & Stegun 26.7.3–4) where that is short.
fn t_sf_roughly(t: f64, df: f64) -> f64 {
    if df > 128.0 || df.fract() != 0.0 {
        return t_sf(t, df);
    }
    let theta = (t / df.sqrt()).atan();
    let (sine, cosine) = theta.sin_cos();
    let square = cosine * cosine;
    let odd = df % 2.0 == 1.0;
    // Terms rise by two from 1 (even) or cos θ (odd).
    let (mut term, mut sum, mut k) = if odd { (cosine, 0.0, 3.0) } else { (1.0, 0.0, 2.0) };
    while k <= df {
        sum += term;
        term *= square * (k - 1.0) / k;
        k += 2.0;
    }
    let inside = if odd { (theta + sine * sum) * std::f64::consts::FRAC_2_PI } else { sine * sum };
    0.5 - 0.5 * inside
}

/// Sums of a series, ones and centred times, each made white for one φ.
struct Gls {
    one_one: f64,
    one_time: f64,
    time_time: f64,
    one_y: f64,
    time_y: f64,
    y_y: f64,
}

impl Gls {
    /// `y` should be centred, or digits are lost.
    fn of(y: &[f64], phi: f64) -> Self {
        let middle = 0.5 * (y.len() as f64 - 1.0);
        let mut g = Self { one_one: 0.0, one_time: 0.0, time_time: 0.0, one_y: 0.0, time_y: 0.0, y_y: 0.0 };
        let mut before: Option<(f64, f64)> = None;
        for (i, &y) in y.iter().enumerate() {
            let t = i as f64 - middle;
            let (o, u, v) = match before {
                None => {
                    let first = (1.0 - phi * phi).sqrt();
                    (first, first * t, first * y)
                }
                Some((t0, y0)) => (1.0 - phi, t - phi * t0, y - phi * y0),
            };
            g.one_one += o * o;
            g.one_time += o * u;
            g.time_time += u * u;
            g.one_y += o * v;
            g.time_y += u * v;
            g.y_y += v * v;
            before = Some((t, y));
        }
        g
    }

    /// Level, residual sum of squares, ln|X'X|, information.
    fn level(&self) -> (f64, f64, f64, f64) {
        let level = self.one_y / self.one_one;
        (level, self.y_y - level * self.one_y, self.one_one.ln(), self.one_one)
    }

    /// Slope, residual sum of squares, ln|X'X|, information.
    fn slope(&self) -> (f64, f64, f64, f64) {
        let determinant = self.one_one * self.time_time - self.one_time * self.one_time;
        let slope = (self.one_one * self.time_y - self.one_time * self.one_y) / determinant;
        let level = (self.one_y - slope * self.one_time) / self.one_one;
        let rss = self.y_y - level * self.one_y - slope * self.time_y;
        (slope, rss, determinant.ln(), determinant / self.one_one)
    }
}
