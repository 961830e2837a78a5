//! Every routine against numbers of SciPy 1.17 and statsmodels 0.15; each test says the call that gave them.

use linerate_stats::checks::{runs_test, shapiro_wilk};
use linerate_stats::dist::{normal_cdf, normal_quantile, t_quantile, t_sf};
use linerate_stats::*;

const A: [f64; 8] = [93.1, 92.8, 93.4, 93.0, 92.9, 94.1, 92.2, 93.6];
const B: [f64; 7] = [95.2, 94.1, 96.0, 95.5, 93.9, 95.8, 97.3];
const SERIES: [f64; 22] = [
    0.47, 0.38, 0.55, 0.61, 0.48, 0.33, 0.29, 0.41, 0.52, 0.66, 0.71, 0.58, 0.44, 0.39, 0.31, 0.42, 0.49, 0.57, 0.63,
    0.55, 0.46, 0.40,
];

#[track_caller]
fn near(got: f64, want: f64, relative: f64) {
    let close = (got - want).abs() <= relative * want.abs().max(f64::MIN_POSITIVE);
    assert!(close, "{got:e} is not {want:e} to {relative:e}");
}

#[test]
fn quantiles_of_t_and_normal() {
    // scipy.stats.t.ppf(p, df)
    for (p, df, want) in [
        (0.975, 1.0, 12.706204736174694),
        (0.975, 2.0, 4.302652729749462),
        (0.975, 3.0, 3.1824463052837078),
        (0.975, 4.5, 2.6589123472044034),
        (0.9, 0.5, 10.27032441023451),
        (0.975, 8.0, 2.306004135204166),
        (0.995, 30.0, 2.7499956535672254),
        (0.9999, 7.3, 6.850381320312414),
        (0.6, 12.0, 0.25903274567688733),
        (0.025, 20.0, -2.0859634472658652),
        (0.975, 1e6, 1.959966356814107),
        (0.975, 1e9, 1.959963986912325),
        (1e-10, 5.0, -156.82559270889433),
        (0.975, 0.3, 6582.0356994007525),
    ] {
        near(t_quantile(p, df), want, 2e-9);
    }
    // scipy.stats.t.sf(t, df)
    for (t, df, want) in [
        (0.1, 3.0, 0.46332617440040297),
        (2.0, 4.0, 0.05805826175840778),
        (5.0, 2.5, 0.011725594985430925),
        (-1.5, 10.0, 0.9177463367772799),
        (30.0, 12.0, 5.886590953509468e-13),
        (1e-9, 5.0, 0.4999999996203933),
        (8.0, 1000.0, 1.7133307411957489e-15),
    ] {
        // Far in the tail of many degrees of freedom digits are lost: 2e-17 are more than a p value needs.
        assert!((t_sf(t, df) - want).abs() <= 1e-10 * want + 2e-17, "{t} {df} {}", t_sf(t, df));
    }
    // scipy.stats.norm.ppf(p), .cdf(x)
    for (p, want) in
        [(0.975, 1.959963984540054), (1e-12, -7.034483825301131), (0.9, 1.2815515655446004), (0.3, -0.5244005127080409)]
    {
        near(normal_quantile(p), want, 1e-10);
    }
    for (x, want) in [(-8.0, 6.22096057427174e-16), (-1.0, 0.15865525393145707), (0.5, 0.6914624612740131)] {
        near(normal_cdf(x), want, 1e-10);
    }
}

#[test]
fn description() {
    // numpy mean, std(ddof=1), median, quantile; scipy.stats median_abs_deviation, gmean, skew(bias=False)
    let s = describe(&A).unwrap();
    near(s.mean, 93.1375, 1e-14);
    near(s.sd.unwrap(), 0.5705573715987828, 1e-11);
    near(s.median, 93.05, 1e-14);
    near(s.mad, 0.30000000000000426, 1e-13);
    near(s.q1, 92.875, 1e-14);
    near(s.q3, 93.45, 1e-14);
    near(s.geometric_mean.unwrap(), 93.13597141523191, 1e-13);
    near(s.skewness.unwrap(), 0.13354150188700328, 1e-10);
    near(s.cv.unwrap(), 0.0061259682898809065, 1e-11);
    assert_eq!((s.n, s.min, s.max), (8, 92.2, 94.1));
    // A spread of one in 10^15 of the mean is not lost.
    near(describe(&[1e9, 1e9 + 1.0, 1e9 + 2.0]).unwrap().sd.unwrap(), 1.0, 1e-9);
    near(describe(&[-1e308, 1e308]).unwrap().sd.unwrap(), 2f64.sqrt() * 1e308, 1e-12);
    assert_eq!(describe(&[-1.7e308, 1.7e308]).unwrap().sd, None);
    assert_eq!(describe(&[]), None);
    assert_eq!(describe(&[1.0, f64::NAN]), None);
}

#[test]
fn ratio_by_welch_on_logarithms() {
    // scipy.stats.ttest_ind(log B, log A, equal_var=False)
    let r = ratio(&A, &B, 0.95).unwrap();
    assert_eq!(r.method, Method::WelchOnLogs);
    near(r.estimate, 1.024243655567409, 1e-12);
    near(r.p.unwrap(), 0.0012595763209000493, 1e-9);
    near(r.df(), 8.586719128235638, 1e-10);
    near(r.interval.low, 1.0124350500525974, 1e-12);
    near(r.interval.high, 1.0361899915610273, 1e-12);
    assert!(r.outliers.is_empty());
    // statsmodels.stats.weightstats.ttost_ind(log B, log A, log(1 - t), log(1 + t), usevar='unequal')
    for (threshold, p_low, p_high) in [
        (0.02, 7.768094188454363e-06, 0.7817021345640397),
        (0.03, 1.4845351915841323e-06, 0.15032422886022415),
        (0.04, 3.602527427057542e-07, 0.00787742966218465),
    ] {
        let t = equivalent(&r, threshold).unwrap();
        near(t.p_low.unwrap(), p_low, 1e-8);
        near(t.p_high.unwrap(), p_high, 1e-8);
        assert_eq!(t.p, t.p_high);
        assert_eq!(t.shown(0.05), p_high < 0.05);
        let within = t.interval90.unwrap();
        assert_eq!(t.shown(0.05), t.low < within.low && within.high < t.high);
    }
}

#[test]
fn ratio_by_yuen_with_outliers() {
    // scipy.stats.ttest_ind(log B, log A, equal_var=False, trim=.2)
    let a: Vec<f64> = A.into_iter().chain([60.0, 93.3]).collect();
    let b: Vec<f64> = B.into_iter().chain([95.0, 95.3, 70.0]).collect();
    let r = ratio(&a, &b, 0.95).unwrap();
    assert_eq!(r.method, Method::YuenOnLogs);
    near(r.estimate, 1.0221889607875867, 1e-12);
    near(r.p.unwrap(), 0.0021983471959345934, 1e-9);
    near(r.df(), 6.369650227168192, 1e-10);
    near(r.interval.low, 1.011288966727894, 1e-12);
    near(r.interval.high, 1.0332064384493065, 1e-12);
    let found: Vec<(Side, usize, f64)> = r.outliers.iter().map(|o| (o.side, o.index, o.value)).collect();
    assert_eq!(found, [(Side::A, 8, 60.0), (Side::B, 9, 70.0)]);
    assert_eq!(r.beside.unwrap().method, Method::WelchOnLogs);
}

#[test]
fn ratio_by_fieller() {
    // scipy.optimize.brentq on |mean B − r·mean A| = t.ppf(.975, df)·sqrt(var B + r²·var A), Satterthwaite's df
    let (a, b) = ([2.0, 0.0, 3.0, 2.5, 1.5, 2.2], [3.0, 2.0, 4.5, 0.0, 3.5, 2.8]);
    let r = ratio(&a, &b, 0.95).unwrap();
    assert_eq!(r.method, Method::Fieller);
    near(r.estimate, 1.4107142857142858, 1e-12);
    near(r.df(), 9.98336366987398, 1e-10);
    near(r.interval.low, 0.6035342680629375, 1e-8);
    near(r.interval.high, 3.1997603304999265, 1e-8);
    near(r.p.unwrap(), 0.33475356516955873, 1e-9);
}

#[test]
fn ratio_beside_a_drift() {
    // statsmodels.api.OLS(log y, [1, side, time]).fit()
    let times = Times { a: &[0.0, 3.0, 4.0, 7.0], b: &[1.0, 2.0, 5.0, 6.0] };
    let r = ratio_with_drift(times, &[100.0, 101.2, 101.9, 103.1], &[102.3, 102.9, 104.2, 104.4], 0.95).unwrap();
    near(r.ratio.estimate, 1.0187355603858286, 1e-12);
    near(r.ratio.interval.low, 1.0163852064176668, 1e-11);
    near(r.ratio.interval.high, 1.0210913494623928, 1e-11);
    near(r.ratio.p.unwrap(), 4.920646868546774e-6, 1e-7);
    near(r.drift, 0.030442605696552022, 1e-9);
    near(r.drift_p.unwrap(), 3.7281057823547873e-06, 1e-7);
    assert_eq!(r.ratio.df(), 5.0);
    near(r.variance_inflation, 1.0, 1e-12);
}

#[test]
fn multiplicity() {
    // statsmodels.stats.multitest.multipletests(p, method='holm')
    let p = [0.01, 0.04, 0.03, 0.005, 0.2, 0.011];
    let close = |got: Vec<f64>, want: [f64; 6]| got.iter().zip(want).for_each(|(g, w)| near(*g, w, 1e-12));
    close(holm(&p), [0.05, 0.09, 0.09, 0.03, 0.2, 0.05]);
    let with_nan = holm(&[0.02, f64::NAN, 0.03]);
    assert!(with_nan[1].is_nan());
    near(with_nan[0], 0.04, 1e-12);
}

#[test]
fn power_of_the_difference() {
    // statsmodels.stats.power.TTestIndPower().power(d, n, .05)
    for (n, d, want) in [
        (5, 1.5, 0.549385597762396),
        (10, 1.0, 0.5620066465861491),
        (20, 0.5, 0.3379390289250411),
        (80, 0.3, 0.47051166096726943),
    ] {
        let plan = Plan { sd_a: 1.0, n_a: n, sd_b: 1.0, n_b: n };
        near(plan.power(d, 0.05), want, 1e-8);
    }
    // TTestIndPower().solve_power(None, n, .05, .8)
    for (n, want) in
        [(3, 3.070892269599019), (5, 2.024440145655355), (10, 1.324947368330822), (40, 0.634298508579496f64)]
    {
        let plan = Plan { sd_a: 0.01, n_a: n, sd_b: 0.01, n_b: n };
        near(minimal_detectable_effect(plan, 0.05, 0.8).unwrap(), (0.01 * want).exp(), 1e-8);
    }
    // TTestIndPower().solve_power(d, None, .05, .8): 63.8, 16.7, 5.1; a threshold too fine for equivalence
    for (d, want) in [(0.5, 64), (1.0, 17), (2.0, 6)] {
        assert_eq!(runs_per_side((0.01f64 * d).exp(), (0.01, 0.01), 1e-4, 0.8).unwrap(), Some(want));
    }
}

#[test]
fn power_of_equivalence() {
    // scipy.integrate.quad of the conditional probability over chi's density (Phillips 1990)
    for (n, sd, d, threshold, want) in [
        (10, 0.015, 0.0, 0.02, 0.7781193309287455),
        (20, 0.03, 0.005, 0.03, 0.7938030680561865),
        (5, 0.01, -0.002, 0.02, 0.7685969383221339),
    ] {
        let plan = Plan { sd_a: sd, n_a: n, sd_b: sd, n_b: n };
        near(plan.power_equivalent(d, threshold, 0.05), want, 1e-7);
    }
    // No difference, 1.5 % spread, 2 %: 10 runs have 77.8 %, 11 suffice.
    assert_eq!(runs_per_side(1.0, (0.015, 0.015), 0.02, 0.8).unwrap(), Some(11));
    assert_eq!(runs_per_side(1.0, (0.5, 0.5), 0.001, 0.8).unwrap(), None);
}

#[test]
fn normality() {
    // scipy.stats.shapiro(x)
    let x = [148.0, 154.0, 158.0, 160.0, 161.0, 162.0, 166.0, 170.0, 182.0, 195.0, 236.0];
    let waves: Vec<f64> = (1..=50).map(|i| f64::from(i).sin()).collect();
    let logs: Vec<f64> = (1..=1000).map(|i| f64::from(i).ln()).collect();
    for (x, w, p) in [
        (&x[..], 0.7888146948631716, 0.006703814061898823),
        (&x[..3], 0.9868421052631581, 0.7804408148790196),
        (&A[..], 0.9819421157735754, 0.9718695583675157),
        (&[1.0, 2.0, 4.0, 8.0][..], 0.9202026788806026, 0.5380837777759025),
        (&[1.0, 2.0, 4.0, 8.0, 9.0][..], 0.900963268768698, 0.41523242670712146),
        (&waves[..], 0.8968586641498492, 0.0003790244319822419),
        (&logs[..], 0.8243047017206865, 1.038270698953358e-31),
    ] {
        let t = shapiro_wilk(x).unwrap();
        near(t.w, w, 1e-6);
        // The published coefficients are rounded; SciPy's code has W in single steps of the same algorithm.
        near(t.p, p, 1e-4);
    }
}

#[test]
fn series() {
    // statsmodels.tsa.stattools.acf(y, nlags=4)
    let r = autocorrelation(&SERIES, 4);
    for (got, want) in
        r.iter().zip([1.0, 0.5878054174567807, -0.11159925105385939, -0.6158595173092928, -0.6985671100272409])
    {
        near(*got, want, 1e-11);
    }
    // Geyer's sequence written out in NumPy on that acf
    near(effective_sample_size(&SERIES).unwrap(), 10.112102609046842, 1e-11);
    // statsmodels.sandbox.stats.runs.runstest_1samp(y, cutoff='median', correction=False)
    let runs = runs_test(&SERIES).unwrap();
    near(runs.z, -2.184657243763257, 1e-11);
    near(runs.p, 0.028913987342994333, 1e-9);
}

#[test]
fn slope_of_a_series() {
    // The posterior written out in NumPy on 20,000 values of φ (matrices inverted, no recurrence), scipy.stats.t.cdf,
    // scipy.optimize.brentq
    let d = drift(&SERIES, 0.95).unwrap();
    near(d.slope, -0.0010599436582112564, 1e-3);
    near(d.interval.low, -0.02570790504593345, 2e-3);
    near(d.interval.high, 0.021251938801230587, 2e-3);
    near(d.p.unwrap(), 2.0 * (1.0 - 0.5295089928545234), 1e-4);
}

#[test]
fn bootstrap_against_scipy() {
    // scipy.stats.bootstrap((log A, log B), difference of means, n_resamples=400000, method='BCa'); the ends differ by the
    // noise of resampling
    let r = bootstrap_ratio(&A, &B, 0.95, 200_000, 7).unwrap();
    let i = r.bca.unwrap();
    near(i.low, 1.0151210131092252, 2e-4);
    near(i.high, 1.0340809745536543, 2e-4);
    near(r.log_se, 0.004725496792745788, 0.01);
    let a = [1.0, 1.2, 1.1, 3.5, 1.05, 1.3, 9.0, 1.15];
    let b = [1.38, 9.9, 1.3, 1.365, 4.375, 1.54, 1.32, 1.2];
    let i = bootstrap_ratio(&a, &b, 0.95, 200_000, 7).unwrap().bca.unwrap();
    near(i.low, 0.5784012120427355, 0.01);
    near(i.high, 2.3895243911480852, 0.01);
    // The same seed, the same numbers.
    assert_eq!(bootstrap_ratio(&a, &b, 0.95, 1000, 1), bootstrap_ratio(&a, &b, 0.95, 1000, 1));
    assert_ne!(bootstrap_ratio(&a, &b, 0.95, 1000, 1), bootstrap_ratio(&a, &b, 0.95, 1000, 2));
}

#[test]
fn line_of_a_sweep() {
    // scipy.optimize.least_squares on ln T − ln(α + s/β); intervals from its Jacobian and scipy.stats.t.ppf(.975, 6)
    let points = [
        (8.0, 2.1e-6),
        (64.0, 2.0e-6),
        (512.0, 2.3e-6),
        (4096.0, 4.2e-6),
        (32768.0, 1.9e-5),
        (262_144.0, 1.36e-4),
        (2_097_152.0, 1.05e-3),
        (16_777_216.0, 8.5e-3),
    ];
    let fit = alpha_beta(&points).unwrap();
    let [line] = &fit.segments[..] else { panic!("{fit:?}") };
    near(fit.alpha_s, 2.0413148993108338e-06, 1e-7);
    near(fit.beta_bytes_per_s.unwrap(), 1963588203.0766132, 1e-7);
    near(fit.relative_error, 0.019111155763213344, 1e-7);
    near(fit.half_bandwidth_size.unwrap(), 4008.3018550512775, 1e-6);
    let (alpha, beta) = (line.alpha_interval.unwrap(), line.beta_interval.unwrap());
    near(alpha.low, 1.977140891273079e-06, 1e-6);
    near(alpha.high, 2.1054889073485885e-06, 1e-6);
    near(beta.low, 1911656744.3436458, 1e-6);
    near(beta.high, 2018419957.274723, 1e-6);
}
