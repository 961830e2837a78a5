//! Known truth: how often the intervals cover it, and how often something is found where there is nothing. The seeds are fixed, so
//! that a cell passes or fails for good. `cargo test -p linerate-stats --test coverage -- --nocapture` shows the table; more
//! comparisons a cell: `examples/coverage.rs`.

#![allow(clippy::print_stdout, reason = "the table is for readers")]

mod simulate;

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
