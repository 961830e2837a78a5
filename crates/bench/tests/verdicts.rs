//! What may be concluded, simulated with known truth: thousands of whole comparisons, not of one number.
#![allow(clippy::unwrap_used, clippy::panic)]

use linerate_bench::compare::{Input, Options, Verdict, compare};
use linerate_bench::{Better, Kind, Metric, Run, Unit};

/// SplitMix64 and Box–Muller: the simulation has its own numbers, so that it stays what it is.
struct Numbers(u64);

impl Numbers {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().max(1e-300).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

const SIZES: u32 = 30;

/// `n` runs of a sweep; `shift` is the true change at every size, 0.01 for 1 %.
fn runs(numbers: &mut Numbers, n: usize, noise: f64, shift: f64) -> Vec<Run> {
    let one = |numbers: &mut Numbers| {
        let mut run = Run { kind: Kind::NcclTests, tool: Some("all_reduce_perf".into()), ..Run::default() };
        let busbw = Metric::new("busbw", Unit::GBps, Better::Higher);
        for k in 0..SIZES {
            let level = 90.0 * (1.0 + f64::from(k) / 30.0) * (1.0 + shift);
            let value = level * (noise * numbers.normal()).exp();
            run.series_mut(busbw.clone(), &[]).push(Some(1 << k), None, value);
        }
        run
    };
    (0..n).map(|_| one(numbers)).collect()
}

fn verdicts(a: &[Run], b: &[Run]) -> Vec<Verdict> {
    let side = |name, runs| Input { name, runs, hosts: &[], facts: &[], known: None };
    let answer = compare(&side("A", a), &side("B", b), &Options { power: false, ..Options::default() });
    assert_eq!(answer.comparisons.len(), SIZES as usize);
    answer.comparisons.iter().map(|c| c.verdict).collect()
}

/// Of comparisons between equals, at most 5 in 100 may find any difference at any of 30 sizes; of 2,000 that is 100, and by chance
/// (two standard errors) up to 120.
#[test]
fn equals_are_rarely_told_apart_at_any_size() {
    for (n, noise) in [(3, 0.02), (5, 0.03), (10, 0.01)] {
        let mut numbers = Numbers(n as u64);
        let wrong = (0..2_000)
            .filter(|_| {
                let (a, b) = (runs(&mut numbers, n, noise, 0.0), runs(&mut numbers, n, noise, 0.0));
                verdicts(&a, &b).iter().any(|v| matches!(v, Verdict::Better | Verdict::Worse))
            })
            .count();
        assert!(wrong <= 120, "n = {n}: {wrong} of 2,000 comparisons of equals found a difference");
    }
}

/// At the margin itself, "equivalent" is wrong; at any of 30 sizes in at most 5 of 100 comparisons.
#[test]
fn what_differs_by_the_threshold_is_rarely_called_equivalent() {
    let mut numbers = Numbers(7);
    let wrong = (0..2_000)
        .filter(|_| {
            let (a, b) = (runs(&mut numbers, 6, 0.005, 0.0), runs(&mut numbers, 6, 0.005, 0.02));
            verdicts(&a, &b).contains(&Verdict::Equivalent)
        })
        .count();
    assert!(wrong <= 120, "{wrong} of 2,000 comparisons at the margin were called equivalent");
}

/// Differences and equality that are there are found: caution that never decides would be of no use.
#[test]
fn what_is_there_is_found() {
    let mut numbers = Numbers(11);
    let (mut better, mut equivalent) = (0, 0);
    for _ in 0..200 {
        let a = runs(&mut numbers, 6, 0.005, 0.0);
        let (faster, same) = (runs(&mut numbers, 6, 0.005, 0.08), runs(&mut numbers, 6, 0.003, 0.0));
        better += verdicts(&a, &faster).iter().filter(|v| **v == Verdict::Better).count();
        equivalent += verdicts(&a, &same).iter().filter(|v| **v == Verdict::Equivalent).count();
    }
    let all = 200 * SIZES as usize;
    assert!(better * 100 >= all * 95, "better: {better} of {all}");
    assert!(equivalent * 100 >= all * 80, "equivalent: {equivalent} of {all}");
}

#[test]
fn one_run_a_side_never_decides_however_far_apart() {
    let mut numbers = Numbers(13);
    for factor in [0.0, 0.5, -0.9, 100.0] {
        let (a, b) = (runs(&mut numbers, 1, 0.01, 0.0), runs(&mut numbers, 5, 0.01, factor));
        for (x, y) in [(&a, &b), (&b, &a)] {
            assert!(verdicts(x, y).iter().all(|v| *v == Verdict::Inconclusive));
        }
    }
}
