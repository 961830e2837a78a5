//! What holds for any numbers.

use linerate_stats::checks::{check_replicates, runs_test, shapiro_wilk};
use linerate_stats::*;
use proptest::prelude::*;

/// Any double, the awkward ones often.
fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        -10.0..10.0f64,
        0.5..2.0f64,
        prop::sample::select(vec![
            0.0,
            -0.0,
            1.0,
            -1.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MAX,
            f64::MIN,
            f64::MIN_POSITIVE,
            5e-324,
        ])
    ]
}

fn any_sample() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        prop::collection::vec(any_number(), 0..40),
        prop::collection::vec(prop::num::f64::POSITIVE | prop::num::f64::SUBNORMAL, 0..40),
        (any_number(), 0..40usize).prop_map(|(v, n)| vec![v; n]),
    ]
}

fn positive() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.5..2.0f64, 5..30)
}

fn sound(i: &Interval) -> bool {
    !i.low.is_nan() && !i.high.is_nan() && i.low <= i.high
}

/// Doubles nearby in relative terms.
fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-8 * (a.abs() + b.abs()) || a == b
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(a in any_sample(), b in any_sample(), level in any_number(), seed in any::<u64>()) {
        let level = if seed % 2 == 0 { 0.95 } else { level };
        let order: Vec<f64> = (0..a.len()).map(|i| 2.0 * i as f64).collect();
        let order_b: Vec<f64> = (0..b.len()).map(|i| 2.0 * i as f64 + 1.0).collect();
        let estimates = [
            ratio(&a, &b, level).ok(),
            ratio_with_drift(Times { a: &order, b: &order_b }, &a, &b, level).ok().map(|r| r.ratio),
            ratio_series(&a, &b, level).ok().map(|r| r.ratio),
        ];
        for e in estimates.into_iter().flatten() {
            prop_assert!(sound(&e.interval), "{e:?}");
            prop_assert!(e.estimate.is_finite() && e.p.is_none_or(|p| (0.0..=1.0).contains(&p)), "{e:?}");
            prop_assert_eq!(e.no_spread, e.p.is_none());
            let tost = equivalent(&e, 0.02).unwrap();
            prop_assert!(tost.p.is_none_or(|p| (0.0..=1.0).contains(&p)), "{tost:?}");
            let _ = (runs_needed(&e, None, 0.02, 0.8), e.interval_at(level));
        }
        let resampled = [bootstrap_ratio(&a, &b, level, 100, seed), hierarchical_bootstrap(&[&a, &b, &a, &b, &a], &[&b, &a, &b, &a, &b], level, 100, seed)];
        for r in resampled.into_iter().flatten() {
            prop_assert!(sound(&r.interval) && sound(&r.percentile), "{r:?}");
        }
        let _ = (describe(&a), quantile(&a, level), transient(&a), autocorrelation(&a, 9), effective_sample_size(&a));
        let _ = (drift(&a, level), shapiro_wilk(&a), runs_test(&a));
        let _ = (check_replicates(&a, &b), outliers(&a), two_sided_outliers(&a, &b), holm(&a));
        let points: Vec<(f64, f64)> = a.iter().copied().zip(b.iter().copied()).collect();
        let _ = alpha_beta(&points);
    }

    #[test]
    fn plans_never_panic(sd_a in any_number(), sd_b in any_number(), n_a in any::<u32>(), n_b in any::<u32>(), x in any_number(), y in any_number()) {
        let plan = Plan { sd_a, n_a, sd_b, n_b };
        let _ = (plan.power(x, y), plan.power_equivalent(x, y, 0.05), minimal_detectable_effect(plan, 0.05, y));
        let _ = (minimal_detectable_effect(plan, 0.05, 0.8), runs_per_side(x, (sd_a, sd_b), 0.02, 0.8));
    }

    #[test]
    fn order_does_not_matter(a in positive(), b in positive(), seed in any::<u64>()) {
        let (mut a2, mut b2) = (a.clone(), b.clone());
        let mut rng = rng::Rng::new(seed);
        for x in [&mut a2, &mut b2] {
            for i in (1..x.len()).rev() {
                x.swap(i, rng.below(i + 1));
            }
        }
        let (e, f) = (ratio(&a, &b, 0.95).unwrap(), ratio(&a2, &b2, 0.95).unwrap());
        prop_assert_eq!((e.estimate, e.interval, e.p, e.method), (f.estimate, f.interval, f.p, f.method));
        prop_assert_eq!(bootstrap_ratio(&a, &b, 0.95, 100, 1), bootstrap_ratio(&a2, &b2, 0.95, 100, 1));
        prop_assert_eq!(describe(&a), describe(&a2));
    }

    #[test]
    fn units_do_not_matter_and_sides_invert(a in positive(), b in positive(), exponent in -200i32..200) {
        let e = ratio(&a, &b, 0.95).unwrap();
        let unit = 10f64.powi(exponent);
        let scaled = |x: &[f64]| x.iter().map(|v| v * unit).collect::<Vec<f64>>();
        let f = ratio(&scaled(&a), &scaled(&b), 0.95).unwrap();
        prop_assert!(near(e.estimate, f.estimate) && near(e.interval.low, f.interval.low) && e.method == f.method, "{e:?} {f:?}");
        let back = ratio(&b, &a, 0.95).unwrap();
        prop_assert!(near(e.estimate, 1.0 / back.estimate), "{e:?} {back:?}");
        prop_assert!(near(e.interval.low, 1.0 / back.interval.high) && near(e.interval.high, 1.0 / back.interval.low));
        prop_assert!(near(e.p.unwrap(), back.p.unwrap()));
        prop_assert!(e.interval.contains(1.0) == (e.p.unwrap() > 0.05));
    }

    #[test]
    fn adjusted_p_values_are_no_smaller(p in prop::collection::vec(0.0..=1.0f64, 1..40)) {
        prop_assert!(p.iter().zip(holm(&p)).all(|(p, q)| q >= *p && q <= 1.0));
    }

    #[test]
    fn more_runs_show_more(sd in 0.001..0.2f64, n in 2u32..60, d in 0.0..0.2f64) {
        let plan = |n| Plan { sd_a: sd, n_a: n, sd_b: sd, n_b: n };
        prop_assert!(plan(n + 1).power(d, 0.05) >= plan(n).power(d, 0.05) - 1e-9);
        let mde = |n| minimal_detectable_effect(plan(n), 0.05, 0.8).unwrap();
        prop_assert!(mde(n + 1) <= mde(n) * (1.0 + 1e-9));
    }

    #[test]
    fn a_lone_line_is_found(alpha in 1e-7..1e-4f64, gigabytes in 0.5..500.0f64) {
        let beta = gigabytes * 1e9;
        let points: Vec<(f64, f64)> = (3..31).map(|k| f64::from(1u32 << k)).map(|s| (s, alpha + s / beta)).collect();
        let fit = alpha_beta(&points).unwrap();
        prop_assert!(fit.segments.len() == 1 && fit.relative_error < 1e-6, "{fit:?}");
        prop_assert!((fit.alpha_s / alpha - 1.0).abs() < 1e-6);
        prop_assert!((fit.beta_bytes_per_s.unwrap() / beta - 1.0).abs() < 1e-5, "{fit:?}");
    }
}

#[test]
fn one_run_says_nothing() {
    assert_eq!(ratio(&[1.0], &[1.0, 2.0], 0.95), Err(Refused::TooFew { side: Side::A, n: 1, needs: 2 }));
    assert_eq!(ratio(&[1.0, 2.0], &[], 0.95), Err(Refused::TooFew { side: Side::B, n: 0, needs: 2 }));
    let why = ratio(&[1.0, f64::INFINITY], &[1.0, 2.0], 0.95).unwrap_err();
    assert_eq!(why, Refused::NotFinite { side: Side::A, index: 1, value: f64::INFINITY });
    assert!(why.to_string().contains("value 1 of side A"), "{why}");
    assert!(matches!(ratio(&[-1.0, -2.0], &[1.0, 2.0], 0.95), Err(Refused::BaselineNearZero { .. })));
    assert!(matches!(ratio(&[1.0, 2.0], &[1.0, 2.0], 1.0), Err(Refused::Argument { name: "level", .. })));
}

#[test]
fn equal_values_show_nothing() {
    let e = ratio(&[3.0; 5], &[3.3; 5], 0.95).unwrap();
    assert!(e.no_spread && e.p.is_none() && e.interval.low == e.interval.high);
    assert!(!equivalent(&e, 0.5).unwrap().shown(0.05));
    assert_eq!(runs_needed(&e, None, 0.02, 0.8), None);
    // Spread on one side is spread.
    let e = ratio(&[3.0; 5], &[3.3, 3.31, 3.29, 3.3, 3.32], 0.95).unwrap();
    assert!(!e.no_spread && e.df() == 4.0, "{e:?}");
    // A mere difference in rounding does not count.
    let e = ratio(&[0.3, 0.1 + 0.2, 0.3], &[0.3, 0.3, 0.1 + 0.2], 0.95).unwrap();
    assert!(e.no_spread && e.outliers.is_empty(), "{e:?}");
}

#[test]
fn order_that_decides_is_refused() {
    let times = Times { a: &[0.0, 1.0, 2.0, 3.0], b: &[40.0, 41.0, 42.0, 43.0] };
    let r = ratio_with_drift(times, &[1.0, 1.1, 1.0, 1.2], &[1.0, 1.1, 1.2, 1.1], 0.95);
    assert_eq!(r, Err(Refused::OrderDecides));
}

#[test]
fn warm_up_is_cut() {
    let mut rng = rng::Rng::new(4);
    let steady: Vec<f64> = (0..60).map(|_| 100.0 + rng.normal()).collect();
    assert_eq!(transient(&steady).unwrap().cut, Some(0));
    let mut warm = steady.clone();
    for (i, v) in warm.iter_mut().take(12).enumerate() {
        *v -= 40.0 * (-(i as f64) / 3.0).exp();
    }
    let cut = transient(&warm).unwrap().cut.unwrap();
    assert!((10..=20).contains(&cut), "{cut}");
    // The first step alone is slow: short series.
    let mut first: Vec<f64> = steady[..20].to_vec();
    first[0] = 20.0;
    assert_eq!(transient(&first).unwrap().cut, Some(1));
    let rising: Vec<f64> = (0..60).map(|i| f64::from(i) + rng.normal()).collect();
    assert_eq!(transient(&rising).unwrap().cut, None);
    assert!(drift(&rising, 0.95).unwrap().p.unwrap() < 1e-6);
    assert!(drift(&steady, 0.95).unwrap().interval.contains(0.0));
    assert_eq!(transient(&steady[..6]).unwrap().cut, None);
}

#[test]
fn protocols_are_told_apart() {
    // Small messages 2 µs and 1 GB/s; from 64 KiB 20 µs and 20 GB/s; noise of 1 %.
    let mut rng = rng::Rng::new(9);
    let mut points = Vec::new();
    for k in 3..30 {
        let size = f64::from(1u32 << k);
        let seconds = if k < 16 { 2e-6 + size / 1e9 } else { 20e-6 + size / 20e9 };
        points.push((size, seconds * (0.01 * rng.normal()).exp()));
    }
    let fit = alpha_beta(&points).unwrap();
    assert_eq!(fit.switch_points(), [(32768.0, 65536.0)]);
    assert!((fit.alpha_s / 2e-6 - 1.0).abs() < 0.02 && (fit.beta_bytes_per_s.unwrap() / 20e9 - 1.0).abs() < 0.02);
    let [small, large] = &fit.segments[..] else { panic!("{fit:?}") };
    assert!(small.alpha_interval.unwrap().contains(2e-6) && large.beta_interval.unwrap().contains(20e9));
    // Half of 20 GB/s: s/(20 µs + s/20 GB/s) = 10 GB/s at 400 kB.
    assert!((fit.half_bandwidth_size.unwrap() / 400e3 - 1.0).abs() < 0.05, "{fit:?}");
    assert!(fit.r2.unwrap() > 0.999 && fit.relative_error < 0.02);
    assert!(matches!(alpha_beta(&points[..2]), Err(Refused::TooFew { needs: 3, .. })));
    let one_size = [(8.0, 1.0), (8.0, 2.0), (8.0, 3.0)];
    assert!(matches!(alpha_beta(&one_size), Err(Refused::TooFew { n: 1, .. })));
}
