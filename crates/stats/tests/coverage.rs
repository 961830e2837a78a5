//! Known truth: how often the intervals cover it, and how often something is found where there is nothing. The seeds are fixed, so
//! that a cell passes or fails for good. `cargo test -p linerate-stats --test all coverage:: -- --nocapture` shows the table; more
//! comparisons a cell: `examples/coverage.rs`.

#![allow(clippy::print_stdout, reason = "the table is for readers")]

use crate::simulate;

use linerate_stats::rng::Rng;
use linerate_stats::{alpha_beta, check_replicates, drift};
use simulate::*;

/// Comparisons of a cell: the standard error of a coverage of 95 % is 0.3.
const TRIALS: u32 = 5_000;

/// A shown row, and what is wrong with it.
#[derive(Default)]
struct Rows {
    wrong: Vec<String>,
}

impl Rows {
    fn cell(&mut self, what: &str, n: usize, value: f64, least: f64, most: f64) {
        println!("{what:45} n = {n:2}: {value:5.1}");
        if !(least..=most).contains(&value) {
            self.wrong.push(format!("{what}, n = {n}: {value:.2} is not within {least}…{most}"));
        }
    }

    fn covers(&mut self, what: &str, n: usize, count: Count) {
        self.cell(what, n, count.coverage(), 93.0, 97.0);
        self.cell(&format!("{what}: false better"), n, count.false_better(), 0.0, 5.0);
    }

    #[track_caller]
    fn end(self) {
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
    }
}

#[test]
fn replicates_of_every_shape() {
    let mut rows = Rows::default();
    for (name, draw) in NOISES {
        for n in SIZES {
            rows.covers(name, n, replicates(draw, n, TRIALS));
        }
    }
    for n in SIZES {
        rows.covers("B with three times the spread, twice the n", n, unequal(n, TRIALS));
    }
    rows.end();
}

/// Correlation that a series of this length can tell: n ≥ 8 is covered; at n = 5 the interval errs on the wide side and says so.
fn correlated(phi: f64) {
    let mut rows = Rows::default();
    for n in SIZES {
        let count = series(phi, n, 6_000);
        let what = format!("two series, φ = {phi}");
        rows.cell(&what, n, count.coverage(), 93.0, if n < 8 { 100.0 } else { 97.0 });
        rows.cell(&format!("{what}: false better"), n, count.false_better(), 0.0, 5.0);
        if n < 20 {
            rows.cell(&format!("{what}: refused or flagged"), n, count.warned(), 100.0, 100.0);
        }
    }
    rows.end();
}

#[test]
fn series_of_correlation_03() {
    correlated(0.3);
}

#[test]
fn series_of_correlation_05() {
    correlated(0.5);
}

#[test]
fn series_of_correlation_07() {
    correlated(0.7);
}

/// A correlation of 0.9 is beyond short series: they are refused or flagged, nearly always.
#[test]
fn series_that_hardly_forget_are_flagged() {
    let mut rows = Rows::default();
    for n in SIZES {
        rows.cell("two series, φ = 0.9: refused or flagged", n, series(0.9, n, 1_000).warned(), 80.0, 100.0);
    }
    rows.end();
}

/// What is left of a warm-up adds to the spread, so that the interval errs a little on the wide side.
#[test]
fn series_after_a_warm_up() {
    let mut rows = Rows::default();
    for n in [20, 40, 80] {
        let count = warming_series(0.5, n, 2_000);
        rows.cell("two series, φ = 0.5, warm-up cut", n, count.coverage(), 93.0, 98.0);
        rows.cell(
            "two series, φ = 0.5, warm-up cut: refused",
            n,
            100.0 * f64::from(count.refused) / f64::from(count.trials),
            0.0,
            15.0,
        );
    }
    rows.end();
}

#[test]
fn interleaved_replicates_while_everything_drifts() {
    let mut rows = Rows::default();
    for n in SIZES {
        let (beside, ignored) = drifting(n, TRIALS);
        rows.covers("beside a drift", n, beside);
        rows.cell("the drift ignored: too wide", n, ignored.coverage(), 99.0, 100.0);
    }
    rows.end();
}

/// At the margin equivalence is found in 5 % of comparisons; three standard errors of the simulation are allowed.
#[test]
fn equivalence_at_the_margin() {
    let mut rows = Rows::default();
    for (i, (name, draw)) in NOISES.into_iter().enumerate() {
        let threshold = if (1..=3).contains(&i) { 0.5 } else { 0.1 };
        for n in SIZES {
            let found = false_equivalence(draw, n, threshold, TRIALS);
            rows.cell(&format!("{name}: false equivalence"), n, found, 0.0, 5.0 + 3.0 * 0.31);
        }
    }
    rows.end();
}

/// Holm's family-wise error over 30 sizes; three standard errors of the simulation are allowed.
#[test]
fn family_of_thirty_sizes() {
    let mut rows = Rows::default();
    for shared in [0.0, 0.5] {
        for n in SIZES {
            let wrong = family_wise(NOISES[0].1, n, shared, 2_000);
            rows.cell(&format!("Holm over 30 sizes, {shared} shared"), n, wrong, 0.0, 5.0 + 3.0 * 0.49);
        }
    }
    rows.end();
}

#[test]
fn resampling() {
    let mut rows = Rows::default();
    for (name, draw) in [NOISES[0], NOISES[2]] {
        for n in [5, 10, 20, 80] {
            let (studentised, _) = bootstrap(draw, n, 2_000);
            rows.cell(&format!("{name}: studentised bootstrap"), n, studentised.coverage(), 93.0, 97.0);
        }
    }
    for n in [5, 10, 20] {
        let (by_level, by_mean, flat) = hierarchical(n, 2_000);
        rows.cell("runs and samples: hierarchical bootstrap", n, by_level.coverage(), 93.0, 97.0);
        rows.cell("runs and samples: ratio of run means", n, by_mean.coverage(), 93.0, 97.0);
        // What taking samples for runs does.
        rows.cell("runs and samples: samples taken for runs", n, flat.coverage(), 0.0, 80.0);
    }
    rows.end();
}

/// Correlated noise alone does not pass for a drift; a drift of three standard deviations over the series is seen.
#[test]
fn drifts_of_series() {
    let mut rows = Rows::default();
    for n in [10, 20, 40, 80] {
        let mut r = Rng::new(n as u64);
        let (mut wrong, mut seen) = (0u32, 0u32);
        for _ in 0..2_000 {
            let mut x = ar1(&mut r, n, 0.5, 0.03);
            wrong += u32::from(drift(&x, 0.95).unwrap().p.unwrap() < 0.05);
            x.iter_mut().enumerate().for_each(|(i, v)| *v += 0.15 * i as f64 / n as f64);
            seen += u32::from(drift(&x, 0.95).unwrap().p.unwrap() < 0.05);
        }
        rows.cell("no drift, φ = 0.5: found all the same", n, f64::from(wrong) / 20.0, 0.0, 7.0);
        if n >= 40 {
            rows.cell("a drift of five standard deviations: seen", n, f64::from(seen) / 20.0, 80.0, 100.0);
        }
    }
    rows.end();
}

/// Checks that speak: rarely where all is well, mostly where it is not.
#[test]
fn checks_of_assumptions() {
    let mut rows = Rows::default();
    for n in [10, 20, 40, 80] {
        let mut r = Rng::new(n as u64);
        let (mut normality, mut independence, mut skew, mut correlation) = (0u32, 0u32, 0u32, 0u32);
        let failed = |a: &[f64], b: &[f64], at: usize| {
            u32::from(check_replicates(a, b).get(at).is_some_and(|c| c.holds == Some(false)))
        };
        for _ in 0..2_000 {
            let (a, b) = (sample(&mut r, NOISES[1].1, n, 1.0), sample(&mut r, NOISES[1].1, n, 1.0));
            normality += failed(&a, &b, 0);
            independence += failed(&a, &b, 1);
            skew += failed(&sample(&mut r, NOISES[7].1, n, 1.0), &b, 0);
            correlation += failed(&ar1(&mut r, n, 0.7, 0.03), &b, 1);
        }
        let percent = |count: u32| f64::from(count) / 20.0;
        rows.cell("normal logarithms: doubted", n, percent(normality), 0.0, 2.0);
        rows.cell("independent replicates: doubted", n, percent(independence), 0.0, 2.0);
        if n >= 40 {
            rows.cell("outliers: normality doubted", n, percent(skew), 80.0, 100.0);
            rows.cell("correlation 0.7: seen", n, percent(correlation), 80.0, 100.0);
        }
    }
    rows.end();
}

/// One line with noise is rarely divided.
#[test]
fn lines_stay_whole() {
    let mut rows = Rows::default();
    for n in [10, 20, 28] {
        let mut r = Rng::new(n as u64);
        let mut divided = 0u32;
        for _ in 0..1_000 {
            let point = |k: usize| {
                let size = (1u64 << (k + 3)) as f64;
                (size, (3e-6 + size / 12e9) * (0.03 * r.normal()).exp())
            };
            let points: Vec<(f64, f64)> = (0..n).map(point).collect();
            divided += u32::from(alpha_beta(&points).unwrap().segments.len() > 1);
        }
        rows.cell("one line: divided", n, f64::from(divided) / 10.0, 0.0, 5.0);
    }
    rows.end();
}
